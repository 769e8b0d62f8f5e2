// What a subscriber has yet to get: for each leaf the newest value, and how many values came before it that were not
// sent. A client that does not read makes it no longer than a bound; beyond, everything in it is forgotten, and the
// stream sends all anew.
import { type LeafClass, leafClasses } from './leaf-class.ts';
import { type LeafName, type LeafValue, type Place, idOf, leavesOf } from './places.ts';
import type { Change } from './watch.ts';

interface Pending {
  value: LeafValue;
  duplicates: number;
}

export interface PendingPlace {
  readonly id: string;
  readonly place: Place;
  /** It was gone since the client was told last; then it may have come again. Which leaves were subscribed to. */
  readonly gone: readonly LeafName[];
  at: bigint;
  /** By place in the row. */
  readonly leaves: Map<number, Pending>;
}

/** What of a place a subscription selects. */
export interface Selected {
  readonly only: LeafName;
  readonly leaves: LeafClass | 'all';
}

/** Whether the leaf, by its place in the row, is among what is selected. */
export function isSelected({ only, leaves }: Selected, place: Place, leaf: number): boolean {
  if (only !== null && leavesOf(place.node)[leaf]!.name !== only) return false;
  return leaves === 'all' || leafClasses(place.node)[leaf] === leaves;
}

export class Queue {
  readonly #places = new Map<string, PendingPlace>();
  readonly #most: number;
  #size = 0;
  #hasOverflowed = false;
  #missed = 0;

  /** @param most leaves and places that are gone */
  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#size === 0 && !this.#hasOverflowed;
  }

  get size(): number {
    return this.#size;
  }

  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /** Whether what was in the queue was forgotten. Asking resets it. */
  takeOverflow(): boolean {
    const had = this.#hasOverflowed;
    this.#hasOverflowed = false;
    return had;
  }

  /** Values since the last time that are not sent: newer ones came first, or the queue was full. */
  takeMissed(): number {
    const missed = this.#missed;
    this.#missed = 0;
    return missed;
  }

  /** @param parts what of the place is subscribed to, once or several times */
  add({ place, row, leaves }: Change, at: bigint, parts: readonly Selected[]): void {
    if (this.#hasOverflowed) return;
    const id = idOf(place);
    if (!row) this.#gone(id, place, at, parts);
    else
      for (const leaf of leaves)
        if (parts.some((part) => isSelected(part, place, leaf))) this.#set(id, place, leaf, row[leaf], at);
    if (this.#size > this.#most) this.#overflow();
  }

  #overflow(): void {
    this.#missed += this.#size;
    this.#places.clear();
    this.#size = 0;
    this.#hasOverflowed = true;
  }

  #gone(id: string, place: Place, at: bigint, parts: readonly Selected[]): void {
    const known = this.#places.get(id);
    if (known) this.#remove(known);
    this.#missed += known?.leaves.size ?? 0;
    // At the end: what is inside the place follows it.
    const gone = parts.some(({ only }) => only === null) ? [null] : [...new Set(parts.map(({ only }) => only))];
    this.#places.set(id, { id, place, gone, at, leaves: new Map() });
    this.#size++;
  }

  #set(id: string, place: Place, leaf: number, value: LeafValue, at: bigint): void {
    let known = this.#places.get(id);
    if (!known) this.#places.set(id, (known = { id, place, gone: [], at, leaves: new Map() }));
    known.at = at;
    const pending = known.leaves.get(leaf);
    if (pending) {
      this.#missed++;
      pending.value = value;
      pending.duplicates++;
      return;
    }
    known.leaves.set(leaf, { value, duplicates: 0 });
    this.#size++;
  }

  /** The oldest place that waits; it is no longer in the queue. */
  take(): PendingPlace | undefined {
    const [first] = this.#places.values();
    if (first) this.#remove(first);
    return first;
  }

  #remove(pending: PendingPlace): void {
    this.#places.delete(pending.id);
    this.#size -= pending.leaves.size + (pending.gone.length > 0 ? 1 : 0);
  }
}
