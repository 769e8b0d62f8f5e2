// Reconciles a list of desired objects with the entries of one eBPF map. The caller supplies the encoding
// (src/kernel/dataplane); this file only compares and writes. Entries that are in the map but not desired come from an
// earlier run. The next full pass removes them.
import { LATER, type Later, type Operations } from './operations.ts';

/** The part of a kernel map that is needed here. Keys and values have the sizes given at the map's creation. */
export interface Table {
  lookup(key: Uint8Array): Uint8Array | undefined;
  update(key: Uint8Array, value: Uint8Array): void;
  /** Updates each in the order given. If it throws, some entries may have been written. */
  updateBatch?(entries: Iterable<readonly [Uint8Array, Uint8Array]>): void;
  /** Returns false if there was no such entry. */
  delete(key: Uint8Array): boolean;
  keys(): Iterable<Uint8Array>;
  /** Of the kernel's map, and how many entries it can have. */
  readonly name?: string;
  readonly limit?: number;
  /** It has the content of an earlier run, as far as is known. */
  readonly isReused?: boolean;
  /** A look-up finds the longest prefix that matches the key, rather than the key. */
  readonly matchesPrefixes?: boolean;
}

export interface TableCodec<T> {
  readonly kind: string;
  /** An object's key follows from its id, so it is computed once. */
  readonly fixed?: true;
  key(object: T): Uint8Array;
  value(object: T): Uint8Array;
}

const text = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** A key of the map and the last object that claimed it, whether or not the kernel accepted the entry. */
interface Place {
  readonly key: Uint8Array;
  owner: string;
}

/** Which object has which key of the map. */
class Places<T extends { readonly id: string }> {
  readonly #table: Pick<Table, 'delete'>;
  readonly #codec: TableCodec<T>;
  readonly #ofObject = new Map<string, Place>();
  /** By key. One place per key, however many objects have claimed it. */
  readonly #all = new Map<string, Place>();

  constructor(table: Pick<Table, 'delete'>, codec: TableCodec<T>) {
    this.#table = table;
    this.#codec = codec;
  }

  /** Returns the key of the object, and removes its entry under a former key. */
  keyOf(object: T): Uint8Array {
    const { id } = object;
    const before = this.#ofObject.get(id);
    // The usual case: thousands of objects whose keys do not change.
    if (before?.owner === id && this.#codec.fixed) return before.key;
    const key = this.#codec.key(object);
    if (before && !sameBytes(before.key, key)) this.#leave(id);
    const name = text(key);
    let now = this.#all.get(name);
    if (now) now.owner = id;
    // A copy: one that had a DataView keeps a buffer outside of the heap, several times as large as the key.
    else this.#all.set(name, (now = { key: key.slice(), owner: id }));
    this.#ofObject.set(id, now);
    return now.key;
  }

  has(id: string): boolean {
    return this.#ofObject.has(id);
  }

  delete(id: string): void {
    this.#leave(id);
    this.#ofObject.delete(id);
  }

  ownerOf(key: Uint8Array): string | undefined {
    return this.#all.get(text(key))?.owner;
  }

  /** Removes the object's entry, unless another object owns the key by now, as when two ports swap their names. */
  #leave(id: string): void {
    const place = this.#ofObject.get(id);
    if (place?.owner !== id) return;
    this.#table.delete(place.key);
    this.#all.delete(text(place.key));
  }
}

type Written = readonly [key: Uint8Array, value: Uint8Array];
type Named = readonly [name: string, entry: Written];

/** Assumed entries that are written in a step: less than a millisecond. */
const PART = 250;
/** The same in a step of a full pass, of which a turn takes many. */
const PASS_PART = 25;

/**
 * Prefixes of a table of an earlier run that need not be written, as it seems: a look-up finds their value. It may be
 * that of a shorter prefix. That makes no difference to packets until the table changes. So all of them are written
 * before the first change, and those that a walk through all keys does not find are written then. Both take many
 * steps. None of them changes what a look-up finds, so they may end anywhere: what is left is assumed as before.
 */
class Assumed {
  readonly #table: Table;
  readonly #byKey = new Map<string, Written>();
  /** Those that are still to be written, once that has begun. */
  #rest: Iterator<Named> | undefined;

  constructor(table: Table) {
    this.#table = table;
  }

  /** What of these entries has to be written. LATER: not yet; some of those that come before are written now. */
  sift(entries: readonly Written[]): readonly Written[] | Later {
    // The look-ups of each call would be for nothing.
    if (this.#rest && !this.writePart()) return LATER;
    const [seeming, missing] = this.#judge(entries);
    if (missing.length > 0) return this.writePart() ? [...seeming, ...missing] : LATER;
    for (const entry of seeming) this.#byKey.set(text(entry[0]), entry);
    return missing;
  }

  #judge(entries: readonly Written[]): readonly [seeming: readonly Written[], missing: readonly Written[]] {
    if (!this.#table.isReused || !this.#table.matchesPrefixes) return [[], entries];
    const [seeming, missing]: [Written[], Written[]] = [[], []];
    for (const entry of new Map(entries.map((one) => [text(one[0]), one])).values())
      (this.#seems(entry) ? seeming : missing).push(entry);
    return [seeming, missing];
  }

  #seems([key, value]: Written): boolean {
    const found = this.#table.lookup(key);
    return found !== undefined && sameBytes(found, value);
  }

  /** It is there, or is to go. */
  settle(key: Uint8Array): void {
    this.#byKey.delete(text(key));
  }

  /** Before a change, and after a walk. @returns whether all are written */
  writePart(limit = PART): boolean {
    const rest = (this.#rest ??= this.#byKey.entries());
    // Begins again after an error, and where this was the last part.
    this.#rest = undefined;
    const part: Named[] = [];
    for (let next = rest.next(); !next.done; next = rest.next()) if (part.push(next.value) === limit) break;
    this.#write(part);
    if (part.length === limit && this.#byKey.size > 0) this.#rest = rest;
    return this.#byKey.size === 0;
  }

  #write(part: readonly Named[]): void {
    if (part.length > 1 && this.#writeTogether(part)) return;
    for (const [name, [key, value]] of part) {
      this.#table.update(key, value);
      this.#byKey.delete(name);
    }
  }

  /** False if the kernel refused the batch: some may be written. One by one shows which it refuses. */
  #writeTogether(part: readonly Named[]): boolean {
    if (!this.#table.updateBatch) return false;
    try {
      this.#table.updateBatch(part.map(([, entry]) => entry));
    } catch {
      return false;
    }
    for (const [name] of part) this.#byKey.delete(name);
    return true;
  }

  /** Before a deletion: a full table has room only after it. @returns whether no more can be written */
  tryPart(limit = PART): boolean {
    try {
      return this.writePart(limit);
    } catch {
      return true;
    }
  }
}

export function tableOperations<T extends { readonly id: string }>(table: Table, codec: TableCodec<T>): Operations<T> {
  const assumed = new Assumed(table);
  /**
   * What it answers for is written before, or afterwards where there is no room before. Packets miss that meanwhile, so
   * it takes one turn.
   */
  const remove = (key: Uint8Array): boolean => {
    assumed.settle(key);
    while (!assumed.tryPart());
    const removed = table.delete(key);
    while (!assumed.writePart());
    return removed;
  };
  const places = new Places({ delete: remove }, codec);
  const entryOf = (object: T): Written => [places.keyOf(object), codec.value(object)];
  const updateMany = (objects: readonly T[]): Later | void => {
    const missing = assumed.sift(objects.map(entryOf));
    if (missing === LATER) return LATER;
    if (table.updateBatch && missing.length > 1) table.updateBatch(missing);
    else for (const [key, value] of missing) table.update(key, value);
  };
  return {
    kind: codec.kind,
    update: (object) => updateMany([object]),
    ...(table.updateBatch && { updateMany }),
    delete: (id) => {
      if (places.has(id) && !assumed.tryPart()) return LATER;
      return places.delete(id);
    },
    *prune(desired) {
      const isStray = (key: Uint8Array): boolean => {
        const owner = places.ownerOf(key);
        return owner === undefined || !desired.has(owner);
      };
      const strays: Uint8Array[] = [];
      for (const key of table.keys()) {
        assumed.settle(key);
        if (isStray(key)) strays.push(key);
        yield false;
      }
      // Delete only after the walk: when the last key read is gone, the kernel walks a trie from its beginning again. A
      // stray may have become desired meanwhile, and an update may have found its value.
      for (const key of strays) {
        while (!assumed.tryPart(PASS_PART)) yield false;
        yield isStray(key) && table.delete(key);
      }
      while (!assumed.writePart(PASS_PART)) yield false;
    },
    verify: (object) => {
      const found = table.lookup(codec.key(object));
      return found !== undefined && sameBytes(found, codec.value(object));
    },
  };
}
