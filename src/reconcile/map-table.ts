// Reconciles a list of desired objects with the entries of one eBPF map. Which bytes an object is, the caller says (src/kernel/dataplane); this
// file only compares and writes. Entries that are in the map but not desired are an earlier run's, and go at the next full pass.
import type { Operations } from './reconciler.ts';

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
  /** The key of the object; an entry under the key that it had before is removed. */
  const place = (object: T): Uint8Array => {
    const key = codec.key(object);
    const before = keyOf.get(object.id);
    if (before && Buffer.compare(before, key) !== 0) table.delete(before);
    return key;
  };
  return {
    kind: codec.kind,
    update: (object) => {
      const key = place(object);
      table.update(key, codec.value(object));
      keyOf.set(object.id, key);
    },
    ...(table.updateBatch && {
      updateMany: (objects) => {
        const entries = objects.map((object) => [place(object), codec.value(object)] as const);
        table.updateBatch!(entries);
        objects.forEach((object, i) => keyOf.set(object.id, entries[i]![0]));
      },
    }),
    delete: (id) => {
      const key = keyOf.get(id);
      if (key) table.delete(key);
      keyOf.delete(id);
    },
    prune: (wanted) => {
      const keep = new Set<string>();
      for (const object of wanted.values()) keep.add(text(codec.key(object)));
      const strays = [...table.keys()].filter((key) => !keep.has(text(key)));
      for (const key of strays) table.delete(key);
      return strays.length;
    },
    verify: (object) => {
      const found = table.lookup(codec.key(object));
      return found !== undefined && text(found) === text(codec.value(object));
    },
  };
}
