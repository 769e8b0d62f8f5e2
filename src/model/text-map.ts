// A map by text for a table of hundreds of thousands: many small maps, chosen by a hash of the text. One Map that grows
// copies all that it has in one go, 14 ms for 131,072 entries, and several that hold the same prefixes do it in the
// same turn of the event loop; the small ones do it one by one. The first entries are together, so that a table small
// enough to be read has them in the order in which they came.

const FIRST = 4096;
const PARTS = 64;
/** The end of a text distinguishes neighbouring prefixes, the beginning does not. */
const HASHED_CHARACTERS = 16;

function partOf(key: string): number {
  let hash = 0;
  for (let i = Math.max(0, key.length - HASHED_CHARACTERS); i < key.length; i++)
    hash = (hash * 31 + key.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 6) ^ (hash >>> 12)) & (PARTS - 1);
}

/**
 * As Map, but the order of entries says nothing when there are many. Entries may be deleted and set on the way through
 * it: one that comes back is seen again, or for the first time.
 */
export class TextMap<V> implements Iterable<[string, V]> {
  readonly #first = new Map<string, V>();
  readonly #parts: readonly Map<string, V>[] = Array.from({ length: PARTS }, () => new Map<string, V>());
  /**
   * New entries go into the parts, even when the first has space again: an iteration of the map has passed that one.
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

  /** Where it is, or would be. */
  #mapOf(key: string): Map<string, V> {
    return this.#full && !this.#first.has(key) ? this.#parts[partOf(key)]! : this.#first;
  }
}
