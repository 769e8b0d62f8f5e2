// A map with text keys for hundreds of thousands of entries: many small maps, chosen by a hash of the key. A single Map
// that grows copies all its entries at once, 14 ms for 131,072 entries. Several Maps with the same prefixes would do so
// in the same turn of the event loop; the small ones grow one by one. The first entries share one map, so that a table
// small enough to be read by people keeps its order of insertion.

const FIRST = 4096;
const PARTS = 64;
/** The end of a text distinguishes neighboring prefixes, the beginning does not. */
const HASHED_CHARACTERS = 16;

function partOf(key: string): number {
  let hash = 0;
  for (let i = Math.max(0, key.length - HASHED_CHARACTERS); i < key.length; i++)
    hash = (hash * 31 + key.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 6) ^ (hash >>> 12)) & (PARTS - 1);
}

/**
 * Like Map, but without a defined order when there are many entries. Entries may be deleted and set during iteration; a
 * deleted entry that is set again may be visited again.
 */
export class TextMap<V> implements Iterable<[string, V]> {
  readonly #first = new Map<string, V>();
  readonly #parts: readonly Map<string, V>[] = Array.from({ length: PARTS }, () => new Map<string, V>());
  /**
   * Once full, new entries go into the parts, even if the first map has space again: a running iteration has already
   * passed it.
   */
  #full = false;

  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.size, this.#first.size);
  }

  get(key: string): V | undefined {
    return this.#mapOf(key).get(key);
  }

  has(key: string): boolean {
    return this.#mapOf(key).has(key);
  }

  set(key: string, value: V): void {
    this.#mapOf(key).set(key, value);
    if (this.#first.size >= FIRST) this.#full = true;
  }

  /** @returns whether it was there */
  delete(key: string): boolean {
    return this.#mapOf(key).delete(key);
  }

  *values(): Generator<V> {
    yield* this.#first.values();
    for (const part of this.#parts) yield* part.values();
  }

  *[Symbol.iterator](): Generator<[string, V]> {
    yield* this.#first;
    for (const part of this.#parts) yield* part;
  }

  /** The part that holds the key, or would hold it. */
  #mapOf(key: string): Map<string, V> {
    return this.#full && !this.#first.has(key) ? this.#parts[partOf(key)]! : this.#first;
  }
}
