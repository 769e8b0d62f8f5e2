// Reconciles a list of desired objects with the entries of one eBPF map. Which bytes an object is, the caller says (src/kernel/dataplane); this
// file only compares and writes. Entries that are in the map but not desired are an earlier run's, and go at the next full pass.
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
  key(object: T): Uint8Array;
  value(object: T): Uint8Array;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

export function tableOperations<T extends { readonly id: string }>(table: Table, codec: TableCodec<T>): Operations<T> {
  const keyOf = new Map<string, Uint8Array>();
  /** Key → the object that was the last to want it, whether or not the kernel took it. */
  const ownerOf = new Map<string, string>();
  /** Removes the object's entry, unless another object has its key by now: two ports that swap their names want each other's. */
  const leave = (id: string): void => {
    const key = keyOf.get(id);
    if (!key || ownerOf.get(text(key)) !== id) return;
    table.delete(key);
    ownerOf.delete(text(key));
  };
  /** The key of the object; an entry under the key that it had before is removed. */
  const place = (object: T): Uint8Array => {
    const key = codec.key(object);
    const before = keyOf.get(object.id);
    if (before && Buffer.compare(before, key) !== 0) leave(object.id);
    keyOf.set(object.id, key);
    ownerOf.set(text(key), object.id);
    return key;
  };
  return {
    kind: codec.kind,
    update: (object) => table.update(place(object), codec.value(object)),
    ...(table.updateBatch && {
      updateMany: (objects) => table.updateBatch!(objects.map((object) => [place(object), codec.value(object)] as const)),
    }),
    delete: (id) => {
      leave(id);
      keyOf.delete(id);
    },
    *prune(wanted) {
      const isStray = (key: Uint8Array): boolean => {
        const owner = ownerOf.get(text(key));
        return owner === undefined || !wanted.has(owner);
      };
      const strays: Uint8Array[] = [];
      for (const key of table.keys()) {
        if (isStray(key)) strays.push(key);
        yield false;
      }
      // Not while reading: a trie whose last key read is gone is read from its beginning again. Each may have been wanted meanwhile.
      for (const key of strays) yield isStray(key) && table.delete(key);
    },
    verify: (object) => {
      const found = table.lookup(codec.key(object));
      return found !== undefined && text(found) === text(codec.value(object));
    },
  };
}
