// The latest notifications of this node, for `cnpctl show notifications`: a ring, so that an episode of congestion
// costs no more than its last thousand. Pure.
import type { SentNotification } from '../model/notification.ts';

export const HISTORY_LENGTH = 1000;

export interface NumberedNotification {
  /** From 1. */
  readonly sequence: number;
  readonly sent: SentNotification;
}

export class NotificationHistory {
  readonly #ring: SentNotification[] = [];
  #added = 0;

  add(notification: SentNotification): void {
    this.#ring[this.#added % HISTORY_LENGTH] = notification;
    this.#added++;
  }

  /** The newest first, each with its number. */
  *latest(): Generator<NumberedNotification> {
    for (let sequence = this.#added; sequence > this.#added - this.#ring.length; sequence--)
      yield { sequence, sent: this.#ring[(sequence - 1) % HISTORY_LENGTH]! };
  }
}
