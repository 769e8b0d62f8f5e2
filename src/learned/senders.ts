// Which senders have which proxy at one moment of the learned table: all of them, or the changes since an earlier
// moment. A moment refers only to its successor, so changes are kept until their last reader has taken them, and no
// longer.
import { formatPrefix } from '../model/prefix.ts';
import type { ForwardingChanges, ForwardingEntry } from './forwarding.ts';

/** To be applied in order, upserts before deletes (forwarding.ts says why). */
export interface SenderChanges {
  readonly upserts: readonly ForwardingEntry[];
  readonly deletes: readonly string[];
}

export class Senders {
  readonly #walk: () => Iterable<ForwardingEntry>;
  #next: { readonly changes: SenderChanges; readonly senders: Senders } | undefined;

  /** @param walk all entries at the time of the call, possibly with changes later than this moment */
  constructor(walk: () => Iterable<ForwardingEntry>) {
    this.#walk = walk;
  }

  /** All entries, walked anew each time. */
  all(): Iterable<ForwardingEntry> {
    return this.#walk();
  }

  /**
   * The changes from `earlier` to this moment, in pieces; undefined if `earlier` is no earlier moment of the same
   * table.
   */
  since(earlier: object): SenderChanges[] | undefined {
    if (!(earlier instanceof Senders)) return undefined;
    const pieces: SenderChanges[] = [];
    let moment = earlier;
    while (moment !== this) {
      if (!moment.#next) return undefined;
      pieces.push(moment.#next.changes);
      moment = moment.#next.senders;
    }
    return pieces;
  }

  /** The moment after these changes; itself when there are none. */
  after({ upserts, deletes }: ForwardingChanges): Senders {
    if (upserts.length + deletes.length === 0) return this;
    const senders = new Senders(this.#walk);
    this.#next = { changes: { upserts, deletes: deletes.map(formatPrefix) }, senders };
    return senders;
  }
}
