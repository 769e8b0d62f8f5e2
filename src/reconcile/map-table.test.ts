import { describe, expect, test } from 'vitest';
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

const removed = (steps: Iterable<boolean>): number => [...steps].filter(Boolean).length;

describe('map table', () => {
  test('moves an object whose key changed: the entry under the old key is deleted', () => {
    const table = memoryTable();
    const operations = tableOperations(table, codec);
    operations.update({ id: 'eth1', ifindex: 3, limit: 7 });
    operations.update({ id: 'eth1', ifindex: 9, limit: 7 });
    expect([...table.content]).toEqual([['09', '07']]);
    operations.delete('eth1');
    expect(table.content.size).toBe(0);
  });

  test('prunes entries of an earlier run and keeps desired ones', () => {
    const table = memoryTable();
    table.update(Uint8Array.of(1), Uint8Array.of(1));
    table.update(Uint8Array.of(2), Uint8Array.of(2));
    const operations = tableOperations(table, codec);
    operations.update({ id: 'eth1', ifindex: 1, limit: 1 });
    expect(removed(operations.prune(new Set(['eth1'])))).toBe(1);
    expect([...table.content]).toEqual([['01', '01']]);
    expect(removed(operations.prune(new Set()))).toBe(1);
    expect(table.content.size).toBe(0);
  });

  test('keeps the entry of an earlier run if the kernel refuses the object now', () => {
    const table = memoryTable();
    table.update(Uint8Array.of(1), Uint8Array.of(7));
    const operations = tableOperations(
      {
        ...table,
        update: () => {
          throw new Error('ENOMEM');
        },
      },
      codec,
    );
    expect(() => operations.update({ id: 'eth1', ifindex: 1, limit: 1 })).toThrow('ENOMEM');
    expect(removed(operations.prune(new Set(['eth1'])))).toBe(0);
    expect([...table.content]).toEqual([['01', '07']]);
  });

  test('evaluates during pruning which entries are desired', () => {
    const table = memoryTable();
    for (const key of [1, 2, 3]) table.update(Uint8Array.of(key), Uint8Array.of(key));
    const operations = tableOperations(table, codec);
    const desired = new Set<string>();
    const steps = operations.prune(desired)[Symbol.iterator]();
    // All three were looked at, none was desired, none is removed yet.
    for (let i = 0; i < 3; i++) steps.next();
    operations.update({ id: 'eth3', ifindex: 3, limit: 9 });
    desired.add('eth3');
    expect(removed({ [Symbol.iterator]: () => steps })).toBe(2);
    expect([...table.content]).toEqual([['03', '09']]);
    desired.delete('eth3');
    expect(removed(operations.prune(desired))).toBe(1);
  });

  test.each([
    ['one by one', false],
    ['together', true],
  ])('two objects that swap their keys keep both entries: %s', (_, together) => {
    const table = memoryTable();
    const operations = tableOperations(
      together
        ? {
            ...table,
            updateBatch: (all) => {
              for (const [key, value] of all) table.update(key, value);
            },
          }
        : table,
      codec,
    );
    const update = (ports: readonly Port[]): void =>
      void (together ? operations.updateMany!(ports) : ports.forEach((port) => operations.update(port)));
    update([
      { id: 'eth1', ifindex: 3, limit: 1 },
      { id: 'eth2', ifindex: 4, limit: 2 },
    ]);
    update([
      { id: 'eth1', ifindex: 4, limit: 1 },
      { id: 'eth2', ifindex: 3, limit: 2 },
    ]);
    expect([...table.content].sort()).toEqual([
      ['03', '02'],
      ['04', '01'],
    ]);
    expect(removed(operations.prune(new Set(['eth1', 'eth2'])))).toBe(0);
    operations.delete('eth1');
    expect([...table.content]).toEqual([['03', '02']]);
  });

  test('computes a fixed key once, and still deletes the entry of the object', () => {
    const table = memoryTable();
    let made = 0;
    const operations = tableOperations(table, {
      ...codec,
      fixed: true,
      key: (p: Port) => (made++, Uint8Array.of(p.ifindex)),
    });
    for (const limit of [1, 2, 3]) operations.update({ id: 'eth1', ifindex: 3, limit });
    expect({ made, content: [...table.content] }).toEqual({ made: 1, content: [['03', '03']] });
    operations.delete('eth1');
    expect(table.content.size).toBe(0);
    operations.update({ id: 'eth1', ifindex: 3, limit: 4 });
    expect({ made, content: [...table.content] }).toEqual({ made: 2, content: [['03', '04']] });
  });

  test('deleting an object keeps the entry that another object has under the same key by now', () => {
    const table = memoryTable();
    const operations = tableOperations(table, codec);
    operations.update({ id: 'old', ifindex: 3, limit: 1 });
    operations.update({ id: 'new', ifindex: 3, limit: 2 });
    operations.delete('old');
    expect([...table.content]).toEqual([['03', '02']]);
  });

  test('never deletes an entry to write it again: packets would miss it meanwhile', () => {
    const table = memoryTable();
    const removed: string[] = [];
    const operations = tableOperations({ ...table, delete: (key) => removed.push(`${key[0]}`) > 0 }, codec);
    for (const limit of [1, 2]) operations.update({ id: 'eth1', ifindex: 3, limit });
    operations.delete('never-there');
    expect({ removed, content: [...table.content] }).toEqual({ removed: [], content: [['03', '02']] });
  });

  test('notices an entry that another program changed', () => {
    const table = memoryTable();
    const operations = tableOperations(table, codec);
    const port = { id: 'eth1', ifindex: 1, limit: 1 };
    expect(operations.verify!(port)).toBe(false);
    operations.update(port);
    expect(operations.verify!(port)).toBe(true);
    table.update(Uint8Array.of(1), Uint8Array.of(99));
    expect(operations.verify!(port)).toBe(false);
  });

  test('updates in a batch; moved objects leave their old keys, also when two swap', () => {
    const table = memoryTable();
    let batches = 0;
    const updateBatch = (entries: Iterable<readonly [Uint8Array, Uint8Array]>): void => {
      batches++;
      for (const [key, value] of entries) table.update(key, value);
    };
    const operations = tableOperations({ ...table, updateBatch }, codec);
    operations.updateMany!([
      { id: 'eth1', ifindex: 3, limit: 1 },
      { id: 'eth2', ifindex: 4, limit: 2 },
      { id: 'eth3', ifindex: 5, limit: 3 },
    ]);
    operations.updateMany!([
      { id: 'eth1', ifindex: 4, limit: 1 },
      { id: 'eth2', ifindex: 3, limit: 2 },
      { id: 'eth3', ifindex: 6, limit: 3 },
    ]);
    expect([...table.content].sort()).toEqual([
      ['03', '02'],
      ['04', '01'],
      ['06', '03'],
    ]);
    expect(batches).toBe(2);
    expect(tableOperations(table, codec).updateMany).toBeUndefined();
  });
});

/** Keys are the length of a prefix and its first byte. */
function memoryTrie(limit: number) {
  const content = new Map<string, number>();
  const nameOf = ([length, byte]: Uint8Array): string => `${byte! & (0xff00 >> length!)}/${length}`;
  const table: Table = {
    ...{ isReused: true, matchesPrefixes: true },
    lookup(key) {
      for (let length = key[0]!; length >= 0; length--) {
        const found = content.get(nameOf(Uint8Array.of(length, key[1]!)));
        if (found !== undefined) return Uint8Array.of(found);
      }
      return undefined;
    },
    update(key, [value]) {
      if (content.size === limit && !content.has(nameOf(key))) throw new Error('E2BIG');
      content.set(nameOf(key), value!);
    },
    delete: (key) => content.delete(nameOf(key)),
    keys: () => [...content.keys()].map((name) => Uint8Array.of(...name.split('/').map(Number).toReversed())),
  };
  return { table, content };
}

describe('prefixes of an earlier run', () => {
  const prefixes = {
    kind: 'prefix',
    key: (p: Port) => Uint8Array.of(p.ifindex === 0 ? 1 : 8, p.ifindex),
    value: (p: Port) => Uint8Array.of(p.limit),
  };
  /** The earlier run had 0/1 and others; this one has a longer prefix that 0/1 answers for. */
  const world = (limit: number) => {
    const { table, content } = memoryTrie(limit);
    content.set('200/8', 7).set('0/1', 7);
    const operations = tableOperations(table, prefixes);
    operations.update({ id: 'longer', ifindex: 5, limit: 7 });
    expect(content.has('5/8')).toBe(false);
    return { content, operations };
  };

  test('a full table: what is not desired makes room for what seemed to be there', () => {
    const { content, operations } = world(2);
    expect(removed(operations.prune(new Set(['longer'])))).toBe(2);
    expect([...content]).toEqual([['5/8', 7]]);
  });

  test('a full table: a deletion makes room, too', () => {
    const { content, operations } = world(2);
    operations.update({ id: 'other', ifindex: 200, limit: 7 });
    operations.delete('other');
    expect([...content]).toEqual([
      ['0/1', 7],
      ['5/8', 7],
    ]);
  });

  test('of several values of a key in one batch the last one counts', () => {
    const { table, content } = memoryTrie(9);
    content.set('5/8', 7);
    const updateBatch: Table['updateBatch'] = (all) => [...all].forEach(([key, value]) => table.update(key, value));
    const operations = tableOperations({ ...table, updateBatch }, prefixes);
    operations.updateMany!([9, 7].map((limit) => ({ id: `${limit}`, ifindex: 5, limit })));
    expect([...content]).toEqual([['5/8', 7]]);
  });

  test('one that comes while another is removed that answers for it', () => {
    const { content, operations } = world(9);
    const steps = operations.prune(new Set(['longer', 'late']))[Symbol.iterator]();
    // Both were looked at, and the first is removed.
    for (let i = 0; i < 3; i++) steps.next();
    operations.update({ id: 'late', ifindex: 6, limit: 7 });
    expect(removed({ [Symbol.iterator]: () => steps })).toBe(1);
    expect([...content]).toEqual([
      ['5/8', 7],
      ['6/8', 7],
    ]);
  });
});
