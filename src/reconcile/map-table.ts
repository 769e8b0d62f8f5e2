// Reconciles a list of desired objects with the entries of one eBPF map. Which bytes an object is, the caller says
// (src/kernel/dataplane); this file only compares and writes. Entries that are in the map but not desired are an
// earlier run's, and go at the next full pass.
import type { Operations } from './operations.ts';

/** The part of a kernel map that is needed here; keys and values have the sizes that the map was made with. */
export interface Table {
  lookup(key: Uint8Array): Uint8Array | undefined;
  update(key: Uint8Array, value: Uint8Array): void;
  /** As update for each, in the order given; when it throws, some may have been set. */
  updateBatch?(entries: Iterable<readonly [Uint8Array, Uint8Array]>): void;
  /** False when there was no such entry. */
  delete(key: Uint8Array): boolean;
  keys(): Iterable<Uint8Array>;
}

export interface TableCodec<T> {
  readonly kind: string;
  /** An object's key follows from its id: it is made once. */
  readonly fixed?: true;
  key(object: T): Uint8Array;
  value(object: T): Uint8Array;
}

const text = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** A key of the map, and the object that was the last to want it, whether or not the kernel took it. */
interface Place {
  readonly key: Uint8Array;
  owner: string;
}

export function tableOperations<T extends { readonly id: string }>(table: Table, codec: TableCodec<T>): Operations<T> {
  const placeOf = new Map<string, Place>();
  /** By key. A place is there once, however many objects have wanted it. */
  const places = new Map<string, Place>();
  /**
   * Removes the object's entry, unless another object has its key by now: two ports that swap their names want each
   * other's.
   */
  const leave = (id: string): void => {
    const place = placeOf.get(id);
    if (place?.owner !== id) return;
    table.delete(place.key);
    places.delete(text(place.key));
  };
  /** The key of the object; an entry under the key that it had before is removed. */
  const place = (object: T): Uint8Array => {
    const { id } = object;
    const before = placeOf.get(id);
    // The usual case: thousands of objects, and where each of them is does not change.
    if (before?.owner === id && codec.fixed) return before.key;
    const key = codec.key(object);
    if (before && !sameBytes(before.key, key)) leave(id);
    const name = text(key);
    let now = places.get(name);
    if (now) now.owner = id;
    else places.set(name, (now = { key, owner: id }));
    placeOf.set(id, now);
    return now.key;
  };
  return {
    kind: codec.kind,
    update: (object) => table.update(place(object), codec.value(object)),
    ...(table.updateBatch && {
      updateMany: (objects) =>
        table.updateBatch!(objects.map((object) => [place(object), codec.value(object)] as const)),
    }),
    delete: (id) => {
      leave(id);
      placeOf.delete(id);
    },
    *prune(wanted) {
      const isStray = (key: Uint8Array): boolean => {
        const owner = places.get(text(key))?.owner;
        return owner === undefined || !wanted.has(owner);
      };
      const strays: Uint8Array[] = [];
      for (const key of table.keys()) {
        if (isStray(key)) strays.push(key);
        yield false;
      }
      // Not while reading: a trie whose last key read is gone is read from its beginning again. Each may have been
      // wanted meanwhile.
      for (const key of strays) yield isStray(key) && table.delete(key);
    },
    verify: (object) => {
      const found = table.lookup(codec.key(object));
      return found !== undefined && sameBytes(found, codec.value(object));
    },
  };
}
