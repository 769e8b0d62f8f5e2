// Reconciles a list of desired objects with the entries of one eBPF map. The caller supplies the encoding
// (src/kernel/dataplane); this file only compares and writes. Entries that are in the map but not desired come from an
// earlier run. The next full pass removes them.
import type { Operations } from './operations.ts';

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

/**
 * Prefixes of a table of an earlier run that need not be written, as it seems: a look-up finds their value. It may be
 * that of a shorter prefix. That makes no difference to packets until the table changes. So all of them are written
 * before the first change, and those that a walk through all keys does not find are written then.
 */
class Assumed {
  readonly #table: Table;
  readonly #byKey = new Map<string, Written>();

  constructor(table: Table) {
    this.#table = table;
  }

  /** The entries that have to be written. */
  sift(entries: readonly Written[]): readonly Written[] {
    if (!this.#table.isReused || !this.#table.matchesPrefixes) return entries;
    const missing: Written[] = [];
    for (const [name, entry] of new Map(entries.map((one) => [text(one[0]), one]))) {
      if (this.#seems(entry)) this.#byKey.set(name, entry);
      else missing.push(entry);
    }
    return missing;
  }

  #seems([key, value]: Written): boolean {
    const found = this.#table.lookup(key);
    return found !== undefined && sameBytes(found, value);
  }

  /** It is there, or is to go. */
  settle(key: Uint8Array): void {
    this.#byKey.delete(text(key));
  }

  /** Before a change, and after a walk. */
  write(): void {
    if (this.#byKey.size === 0) return;
    const entries = [...this.#byKey.values()];
    if (this.#table.updateBatch) this.#table.updateBatch(entries);
    else for (const [key, value] of entries) this.#table.update(key, value);
    this.#byKey.clear();
  }

  /** Before a deletion: a full table has room only after it. @returns whether they are written */
  tryWrite(): boolean {
    try {
      this.write();
      return true;
    } catch {
      return false;
    }
  }
}

export function tableOperations<T extends { readonly id: string }>(table: Table, codec: TableCodec<T>): Operations<T> {
  const assumed = new Assumed(table);
  /** What it answers for is written before, or afterwards where there is no room before. */
  const remove = (key: Uint8Array): boolean => {
    assumed.settle(key);
    const isWritten = assumed.tryWrite();
    const removed = table.delete(key);
    if (!isWritten) assumed.write();
    return removed;
  };
  const places = new Places({ delete: remove }, codec);
  const entryOf = (object: T): Written => [places.keyOf(object), codec.value(object)];
  const toWrite = (objects: readonly T[]): readonly Written[] => {
    const missing = assumed.sift(objects.map(entryOf));
    if (missing.length > 0) assumed.write();
    return missing;
  };
  return {
    kind: codec.kind,
    update: (object) => toWrite([object]).forEach(([key, value]) => table.update(key, value)),
    ...(table.updateBatch && { updateMany: (objects) => table.updateBatch!(toWrite(objects)) }),
    delete: (id) => places.delete(id),
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
      let hasRoom = true;
      // Delete only after the walk: when the last key read is gone, the kernel walks a trie from its beginning again. A
      // stray may have become desired meanwhile, and an update may have found its value.
      for (const key of strays) {
        hasRoom &&= assumed.tryWrite();
        yield isStray(key) && table.delete(key);
      }
      assumed.write();
    },
    verify: (object) => {
      const found = table.lookup(codec.key(object));
      return found !== undefined && sameBytes(found, codec.value(object));
    },
  };
}
