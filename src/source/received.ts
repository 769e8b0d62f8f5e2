// The notifications that this router has taken for hosts behind it, for `cnpctl show sources` and `show received`: the
// latest thousand, and for each declared prefix how many and which was the last. Pure.
import type { IpAddress } from '../model/address.ts';
import { History, type Numbered } from '../model/history.ts';
import { type Prefix, prefixKey, prefixOf } from '../model/prefix.ts';
import type { SourceNotification } from '../model/source.ts';

/** What has come for the senders of a prefix. */
export interface ReceivedFor {
  readonly count: number;
  readonly last: SourceNotification | undefined;
}

const NOTHING: ReceivedFor = { count: 0, last: undefined };

export class ReceivedNotifications {
  readonly #history = new History<SourceNotification>();
  /** By prefixKey. Those no longer declared are removed, the others keep their counts. */
  #byPrefix = new Map<string, ReceivedFor>();
  /** Lengths of the declared prefixes by family, the longest first: a look-up for each finds the longest match. */
  #lengths: Readonly<Record<4 | 6, readonly number[]>> = { 4: [], 6: [] };

  /** After each plan. */
  configure(prefixes: readonly Prefix[]): void {
    const before = this.#byPrefix;
    this.#byPrefix = new Map(
      prefixes.map((prefix) => {
        const key = prefixKey(prefix);
        return [key, before.get(key) ?? NOTHING];
      }),
    );
    const lengthsOf = (family: 4 | 6): number[] => [
      ...new Set(prefixes.filter(({ address }) => address.family === family).map(({ length }) => length)),
    ];
    const longestFirst = (family: 4 | 6): number[] => lengthsOf(family).sort((a, b) => b - a);
    this.#lengths = { 4: longestFirst(4), 6: longestFirst(6) };
  }

  add(notification: SourceNotification): void {
    this.#history.add(notification);
    const key = this.#match(notification.flow.sender);
    if (key !== undefined) this.#byPrefix.set(key, { count: this.#byPrefix.get(key)!.count + 1, last: notification });
  }

  #match(sender: IpAddress): string | undefined {
    return this.#lengths[sender.family]
      .map((length) => prefixKey(prefixOf(sender, length)))
      .find((key) => this.#byPrefix.has(key));
  }

  of(prefix: Prefix): ReceivedFor {
    return this.#byPrefix.get(prefixKey(prefix)) ?? NOTHING;
  }

  /** The newest first. */
  latest(): Iterable<Numbered<SourceNotification>> {
    return this.#history.latest();
  }
}
