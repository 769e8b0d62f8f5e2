// The latest notifications of this node, for `cnpctl show notifications`: a ring, so that an episode of congestion
// costs no more than its last thousand. Pure.
import { formatAddress } from '../model/address.ts';
import type { SentNotification } from '../model/notification.ts';
import type { NotificationState } from '../model/state.ts';

export const HISTORY_LENGTH = 1000;

export class NotificationHistory {
  readonly #ring: SentNotification[] = [];
  #added = 0;

  add(notification: SentNotification): void {
    this.#ring[this.#added % HISTORY_LENGTH] = notification;
    this.#added++;
  }

  /** The newest first, each with its number, which begins at 1. */
  *latest(): Generator<{ readonly sequence: number; readonly sent: SentNotification }> {
    for (let sequence = this.#added; sequence > this.#added - this.#ring.length; sequence--)
      yield { sequence, sent: this.#ring[(sequence - 1) % HISTORY_LENGTH]! };
  }
}

const isLongHaul = ({ format }: SentNotification): boolean =>
  format === 'long-haul-icmpv6' || format === 'long-haul-roce';

/** How the northbound spells a port and a monotonic time. */
export interface Names {
  readonly port: (ifindex: number) => string;
  readonly timeOfDay: (ns: bigint) => string;
}

export function notificationState(sequence: number, n: SentNotification, names: Names): NotificationState {
  return {
    sequence,
    at: names.timeOfDay(n.atNs),
    port: names.port(n.ifindex),
    format: n.format,
    reason: n.reason,
    source: formatAddress(n.source),
    destination: formatAddress(n.destination),
    destinationQpn: n.destinationQpn,
    // 0: the program did not need it.
    sourceQpn: n.sourceQpn === 0 ? null : n.sourceQpn,
    endCon: n.endCon && formatAddress(n.endCon),
    queueBytes: n.queueBytes,
    level: n.level,
    action: isLongHaul(n) ? n.action : null,
    parameter: isLongHaul(n) ? n.parameter : null,
  };
}
