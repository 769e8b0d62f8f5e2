import { describe, expect, it } from 'vitest';
import { type Table, tableOperations } from './map-table.ts';

function memoryTable(): Table & { readonly content: Map<string, string> } {
  const content = new Map<string, string>();
  const hex = (b: Uint8Array): string => Buffer.from(b).toString('hex');
  return {
    content,
    lookup: (k) => (content.has(hex(k)) ? new Uint8Array(Buffer.from(content.get(hex(k))!, 'hex')) : undefined),
    update: (k, v) => void content.set(hex(k), hex(v)),
    delete: (k) => content.delete(hex(k)),
    keys: () => [...content.keys()].map((k) => new Uint8Array(Buffer.from(k, 'hex'))),
  };
}

interface Port {
  readonly id: string;
  readonly ifindex: number;
  readonly limit: number;
}
const codec = { kind: 'port', key: (p: Port) => Uint8Array.of(p.ifindex), value: (p: Port) => Uint8Array.of(p.limit) };

describe('map table', () => {
  it('moves an object whose key changed: the entry under the old key goes', () => {
    const table = memoryTable();
    const operations = tableOperations(table, codec);
    operations.update({ id: 'eth1', ifindex: 3, limit: 7 });
    operations.update({ id: 'eth1', ifindex: 9, limit: 7 });
    expect([...table.content]).toEqual([['09', '07']]);
    operations.delete('eth1');
    expect(table.content.size).toBe(0);
  });

  it('prunes what an earlier run left and keeps what is wanted', () => {
    const table = memoryTable();
    table.update(Uint8Array.of(1), Uint8Array.of(1));
    table.update(Uint8Array.of(2), Uint8Array.of(2));
    const operations = tableOperations(table, codec);
    expect(operations.prune(new Map([['eth1', { id: 'eth1', ifindex: 1, limit: 1 }]]))).toBe(1);
    expect([...table.content]).toEqual([['01', '01']]);
  });

  it('notices an entry that somebody changed', () => {
    const table = memoryTable();
    const operations = tableOperations(table, codec);
    const port = { id: 'eth1', ifindex: 1, limit: 1 };
    expect(operations.verify!(port)).toBe(false);
    operations.update(port);
    expect(operations.verify!(port)).toBe(true);
    table.update(Uint8Array.of(1), Uint8Array.of(99));
    expect(operations.verify!(port)).toBe(false);
  });

  it('sets many at once; what moved leaves its old key, also when two change places', () => {
    const table = memoryTable();
    let batches = 0;
    const updateBatch = (entries: Iterable<readonly [Uint8Array, Uint8Array]>): void => {
      batches++;
      for (const [key, value] of entries) table.update(key, value);
    };
    const operations = tableOperations({ ...table, updateBatch }, codec);
    operations.updateMany!([{ id: 'eth1', ifindex: 3, limit: 1 }, { id: 'eth2', ifindex: 4, limit: 2 }, { id: 'eth3', ifindex: 5, limit: 3 }]);
    operations.updateMany!([{ id: 'eth1', ifindex: 4, limit: 1 }, { id: 'eth2', ifindex: 3, limit: 2 }, { id: 'eth3', ifindex: 6, limit: 3 }]);
    expect([...table.content].sort()).toEqual([['03', '02'], ['04', '01'], ['06', '03']]);
    expect(batches).toBe(2);
    expect(tableOperations(table, codec).updateMany).toBeUndefined();
  });
});
