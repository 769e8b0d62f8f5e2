import { expect, test } from 'vitest';
import { COUNTERS } from '../kernel/dataplane/counters.ts';
import { LITTLE_ENDIAN, readU32Key, structure, u32Key } from '../kernel/dataplane/layout.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { lookUpCounters, readCounters } from './program-counters.ts';

const NAMES = ['egress.triggers', 'notice.built'];

/** A map as the kernel's, with as many CPUs. Every word of it is the value. */
function mapOf(cpus: number) {
  const seen = { walks: 0, lookups: 0, value: 1n };
  const words = (): Uint8Array =>
    structure(8 * cpus, (view) => {
      for (let cpu = 0; cpu < cpus; cpu++) view.setBigUint64(8 * cpu, seen.value, LITTLE_ENDIAN);
    });
  return {
    seen,
    *entries(): Generator<[Uint8Array, Uint8Array]> {
      seen.walks++;
      for (let index = 0; index < 512; index++) yield [u32Key(index), words()];
    },
    lookup: (key: Uint8Array): Uint8Array | undefined => {
      seen.lookups++;
      return readU32Key(key) < 512 ? words() : undefined;
    },
  };
}

test('all counters come from one walk in the first step, and are decoded at most 64 in a step', () => {
  const map = mapOf(4);
  const work = new ManualWork();
  let found: ReadonlyMap<string, bigint> | undefined;
  work.run(readCounters(map), { budgetMs: 0, onDone: (counters) => void (found = counters) });
  work.turn();
  map.seen.value = 1000n;
  work.settle();
  expect(map.seen.walks).toBe(1);
  expect(new Set(found!.values())).toEqual(new Set([4n]));
  expect(found!.size).toBe(COUNTERS.length);
  // The step that reads, and one for every 64 entries.
  expect(work.turns).toBe(1 + 512 / 64);
});

test('some counters cost a look-up each; what no program has is left out', () => {
  const map = mapOf(2);
  const found = lookUpCounters(map, [...NAMES, 'isis.lsp.sent']);
  expect([...found]).toEqual(NAMES.map((name) => [name, 2n]));
  expect(map.seen).toMatchObject({ walks: 0, lookups: 2 });
});
