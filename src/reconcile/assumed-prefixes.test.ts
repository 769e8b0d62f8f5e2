// Prefixes of an earlier run that are not written, since a shorter one seems to answer for them: what becomes of them
// when the shorter one changes, in many turns of the event loop.
import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { learnedTable } from './feature.ts';
import type { Table } from './map-table.ts';

interface Sender {
  readonly id: string;
  readonly length: number;
  readonly bits: number;
  readonly proxy: number;
}

const COUNT = 1000;
/** Two steps of the manual clock are a turn's budget. */
const MOST_A_TURN = 2 * 250;
const [OLD, NEW] = [7, 9];
const WIDE: Sender = { id: 'wide', length: 1, bits: 0, proxy: OLD };
const senderOf = (bits: number, proxy = OLD): Sender => ({ id: `${bits}`, length: 16, bits, proxy });
const LONGER = Array.from({ length: COUNT }, (_, bits) => senderOf(bits));
const codec = {
  kind: 'sender',
  key: ({ length, bits }: Sender) => Uint8Array.of(length, bits >> 8, bits & 0xff),
  value: ({ proxy }: Sender) => Uint8Array.of(proxy),
};

/** Prefixes of 16 bits. */
function memoryTrie() {
  const content = new Map<string, number>();
  const nameOf = (length: number, bits: number): string => `${length}/${(bits >> (16 - length)) << (16 - length)}`;
  const bitsOf = (key: Uint8Array): number => (key[1]! << 8) | key[2]!;
  const kernel = { limit: Infinity, written: 0 };
  const find = (bits: number, longest = 16): number | undefined => {
    for (let length = longest; length >= 0; length--) {
      const found = content.get(nameOf(length, bits));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const update = (key: Uint8Array, [value]: Uint8Array): void => {
    const name = nameOf(key[0]!, bitsOf(key));
    if (content.size >= kernel.limit && !content.has(name)) throw new Error('E2BIG');
    kernel.written++;
    content.set(name, value!);
  };
  const table: Table = {
    ...{ isReused: true, matchesPrefixes: true },
    lookup: (key) => {
      const found = find(bitsOf(key), key[0]);
      return found === undefined ? undefined : Uint8Array.of(found);
    },
    update,
    updateBatch: (all) => [...all].forEach(([key, value]) => update(key, value)),
    delete: (key) => content.delete(nameOf(key[0]!, bitsOf(key))),
    keys: () =>
      [...content.keys()].map((name) => {
        const [length, bits] = name.split('/').map(Number) as [number, number];
        return codec.key({ length, bits } as Sender);
      }),
  };
  return { kernel, content, table, find };
}

/** An earlier run had the wide prefix only. All longer ones have come since, with the same proxy. */
function world({ inSteps = true, mayForget = false } = {}) {
  const trie = memoryTrie();
  trie.content.set('1/0', OLD);
  const [clock, work] = [manualClock(), new ManualWork()];
  const dependencies = { clock, work, log: silentLog, count: () => {} };
  const options = { ...(inSteps && { atOnce: 100 }), retryMs: [100, 1000] as const };
  const reconciler = learnedTable(trie.table, codec, dependencies, () => mayForget, options);
  reconciler.replace([WIDE, ...LONGER]);
  work.settle();
  expect([...trie.content]).toEqual([['1/0', OLD]]);
  /** What packets of all senders find, each once. */
  const found = () => [...new Set(LONGER.map(({ bits }) => trie.find(bits)))];
  /** @returns entries written in each turn until nothing is left, or until that many turns are over */
  const turns = (limit = Infinity): number[] => {
    const each: number[] = [];
    for (let before = trie.kernel.written; work.waits && each.length < limit; before = trie.kernel.written) {
      work.turn();
      each.push(trie.kernel.written - before);
    }
    return each;
  };
  return { ...trie, clock, work, reconciler, found, turns };
}

const changed = { ...WIDE, proxy: NEW };

test('all are written before the shorter one changes, some of them a turn, and packets notice nothing', () => {
  const { kernel, content, reconciler, found, turns } = world();
  reconciler.change([changed], []);
  expect(kernel.written).toBe(250);
  while (!reconciler.isDone('wide')) {
    expect({ found: found(), wide: content.get('1/0') }).toEqual({ found: [OLD], wide: OLD });
    expect(turns(1)[0]).toBeLessThanOrEqual(MOST_A_TURN + 1);
  }
  expect({ found: found(), wide: content.get('1/0') }).toEqual({ found: [OLD], wide: NEW });
  // The shorter one is written twice: as it was assumed, and changed.
  expect({ written: kernel.written, entries: content.size }).toEqual({ written: COUNT + 2, entries: COUNT + 1 });
});

test('one that comes with the change is there before it, too', () => {
  const { reconciler, find, turns } = world();
  reconciler.change([senderOf(COUNT), changed], []);
  turns();
  expect(find(COUNT)).toBe(OLD);
});

test('changes that come meanwhile wait for their turn, and the last one of an object counts', () => {
  const { content, reconciler, find, found, turns } = world();
  reconciler.change([changed], []);
  turns(1);
  reconciler.change([senderOf(3, NEW), senderOf(COUNT, 5)], ['4']);
  reconciler.change([senderOf(COUNT - 1, 6), senderOf(COUNT, 8)], ['wide']);
  expect([found(), find(COUNT)]).toEqual([[OLD], OLD]);
  turns();
  expect([3, 4, 5, COUNT - 1, COUNT].map((bits) => find(bits))).toEqual([NEW, undefined, OLD, 6, 8]);
  expect([content.size, reconciler.unfinished()]).toEqual([COUNT, []]);
});

test('many changes that come meanwhile are not applied in one turn', () => {
  const { reconciler, found, turns } = world();
  reconciler.change([changed], []);
  reconciler.change(
    LONGER.map(({ bits }) => senderOf(bits, NEW)),
    [],
  );
  expect(Math.max(...turns())).toBeLessThanOrEqual(MOST_A_TURN + 1);
  expect(found()).toEqual([NEW]);
});

test('a new list that comes meanwhile is in force afterwards, and nothing else', () => {
  const { content, reconciler, turns } = world();
  reconciler.change([changed], []);
  turns(1);
  reconciler.replace([senderOf(1), senderOf(2, NEW)]);
  turns();
  expect([...content].sort()).toEqual([
    ['16/1', OLD],
    ['16/2', NEW],
  ]);
});

test('a deletion waits for them, too', () => {
  const { content, reconciler, found, turns } = world();
  reconciler.change([], ['wide']);
  expect(content.has('1/0')).toBe(true);
  expect(Math.max(...turns())).toBeLessThanOrEqual(MOST_A_TURN);
  expect([content.has('1/0'), content.size, found()]).toEqual([false, COUNT, [OLD]]);
});

test('what the kernel refuses halfway leaves packets as they were; the retry writes the rest, and then the change', () => {
  const { clock, kernel, content, reconciler, found, turns } = world();
  kernel.limit = 600;
  reconciler.change([changed], []);
  turns();
  expect(reconciler.status()[0]).toEqual({ id: 'wide', state: 'failed', attempts: 1, error: 'E2BIG' });
  expect({ found: found(), wide: content.get('1/0'), entries: content.size }).toEqual({
    ...{ found: [OLD], wide: OLD, entries: 600 },
  });
  kernel.limit = Infinity;
  kernel.written = 0;
  clock.advance(100);
  turns();
  expect({ found: found(), wide: content.get('1/0') }).toEqual({ found: [OLD], wide: NEW });
  expect(kernel.written).toBe(COUNT + 1 - 599);
});

test('many changes that are refused for the same reason do not write again and again', () => {
  const { kernel, reconciler, turns } = world();
  kernel.limit = 600;
  reconciler.change([changed, ...LONGER.map(({ bits }) => senderOf(bits + COUNT, NEW))], []);
  turns();
  expect(kernel.written).toBeLessThan(COUNT);
});

test('close() applies all within the call', () => {
  const { content, reconciler, found, turns } = world();
  reconciler.change([changed], []);
  turns(1);
  reconciler.change([senderOf(3, NEW)], []);
  reconciler.close();
  expect([content.get('1/0'), content.get('16/3'), content.size, found()]).toEqual([NEW, NEW, COUNT + 1, [OLD, NEW]]);
  expect(turns().filter((written) => written > 0)).toEqual([]);
});

test('a table whose users rely on a change is written within the call', () => {
  const { content, reconciler, found } = world({ inSteps: false });
  reconciler.change([changed], []);
  expect([content.get('1/0'), content.size, found()]).toEqual([NEW, COUNT + 1, [OLD]]);
});

test('so is a change that comes while a full pass waits for such a table', () => {
  const { content, reconciler, turns } = world({ inSteps: false });
  // Another program.
  content.set('1/0', 5);
  reconciler.fullPass();
  expect(content.get('1/0')).toBe(OLD);
  expect(content.size).toBeLessThan(COUNT);
  reconciler.change([senderOf(3, NEW)], []);
  expect([content.get('16/3'), content.size]).toEqual([NEW, COUNT + 1]);
  turns();
  expect(reconciler.unfinished()).toEqual([]);
});

test('a full pass writes what its walk has not found, some of it a turn, before it removes the shorter one', () => {
  const { kernel, content, reconciler, found, turns } = world({ mayForget: true });
  // Of an earlier run, and nobody advertises it any more.
  content.set('0/0', OLD);
  reconciler.fullPass();
  expect(kernel.written).toBeLessThanOrEqual(25 * 25);
  expect(content.has('0/0')).toBe(true);
  while (content.has('0/0')) {
    expect(found()).toEqual([OLD]);
    turns(1);
  }
  turns();
  expect([found(), content.size]).toEqual([[OLD], COUNT + 1]);
});

test('a full pass that removes nothing writes as little in a step', () => {
  const { kernel, content, reconciler, turns } = world({ mayForget: true });
  reconciler.fullPass();
  expect(kernel.written).toBeLessThanOrEqual(25 * 25);
  turns();
  expect(content.size).toBe(COUNT + 1);
});
