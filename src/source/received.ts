// The notifications that this router has taken for hosts behind it, for `cnpctl show sources` and `show received`: the
// latest thousand, and for each declared prefix how many and which was the last. Pure.
import { History, type Numbered } from '../model/history.ts';
import { type Prefix, prefixKey } from '../model/prefix.ts';
import type { SourceNotification } from '../model/source.ts';
import { LongestMatch } from './longest-match.ts';

/** What has come for the senders of a prefix. */
export interface ReceivedFor {
  readonly count: number;
  readonly last: SourceNotification | undefined;
}

const NOTHING: ReceivedFor = { count: 0, last: undefined };

/** What changes it. */
export const RECEIVED_EVENTS = ['configure', 'add'] as const;

export class ReceivedNotifications {
  readonly #history = new History<SourceNotification>();
  /** By prefixKey. Prefixes no longer declared are removed, the others keep their counts. */
  #byPrefix = new Map<string, ReceivedFor>();
  #match = new LongestMatch<string>([]);

  /** After each plan. */
  configure(prefixes: readonly Prefix[]): void {
    const before = this.#byPrefix;
    const keys = prefixes.map(prefixKey);
    this.#byPrefix = new Map(keys.map((key) => [key, before.get(key) ?? NOTHING]));
    this.#match = new LongestMatch(prefixes.map((prefix, i) => ({ prefix, value: keys[i]! })));
  }

  add(notification: SourceNotification): void {
    this.#history.add(notification);
    const key = this.#match.of(notification.flow.sender);
    if (key !== undefined) this.#byPrefix.set(key, { count: this.#byPrefix.get(key)!.count + 1, last: notification });
  }

  of(prefix: Prefix): ReceivedFor {
    return this.#byPrefix.get(prefixKey(prefix)) ?? NOTHING;
  }

  /** The newest first. */
  latest(): Iterable<Numbered<SourceNotification>> {
    return this.#history.latest();
  }
}
