import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COUNTERS, decodeCounters } from './counters.ts';
import { structure, u32Key, LITTLE_ENDIAN } from './layout.ts';

const header = (name: string): string => readFileSync(new URL(`../../../bpf/lib/${name}`, import.meta.url), 'utf8');

const PROGRAMS = ['builder', 'detector', 'guard', 'proxy', 'srv6', 'multicast', 'source', 'hold', 'flow-control'];
const rows = PROGRAMS.flatMap((program) =>
  [...header(`${program}/counter-rows.h`).matchAll(/X\((\d+),[\s\\]*(\w+),[\s\\]*"([^"]+)",[\s\\]*"([^"]+)"\)/g)].map(
    ([, index, , dotted, meaning]) => ({
      index: Number(index),
      name: dotted!,
      meaning: meaning!,
    }),
  ),
);

describe('the counter table', () => {
  test('is the same in C and in TypeScript', () => {
    expect(rows.length).toBeGreaterThan(30);
    expect([...COUNTERS].sort((a, b) => a.index - b.index)).toEqual(rows.sort((a, b) => a.index - b.index));
  });

  test('names and numbers every counter once, within the map', () => {
    expect(new Set(COUNTERS.map((c) => c.index)).size).toBe(COUNTERS.length);
    expect(new Set(COUNTERS.map((c) => c.name)).size).toBe(COUNTERS.length);
    for (const { index, name } of COUNTERS) {
      expect(index).toBeLessThan(512);
      expect(name).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
    }
  });

  test('sums a counter over the CPUs and leaves out indexes that have no name', () => {
    const value = structure(16, (view) => {
      view.setBigUint64(0, 40n, LITTLE_ENDIAN);
      view.setBigUint64(8, 2n, LITTLE_ENDIAN);
    });
    const entries = [7, 511].map((index) => [u32Key(index), value] as const);
    expect([...decodeCounters(entries)]).toEqual([['egress.triggers', 42n]]);
  });

  test('sums beyond 32 bits exactly, also where a sum of halves carries', () => {
    const words = [2n ** 32n - 1n, 2n ** 32n - 1n, 2n ** 53n + 1n, 0n];
    const value = structure(8 * words.length, (view) =>
      words.forEach((word, cpu) => view.setBigUint64(8 * cpu, word, LITTLE_ENDIAN)),
    );
    expect([...decodeCounters([[u32Key(7), value]])]).toEqual([['egress.triggers', 2n ** 53n + 2n ** 33n - 1n]]);
  });
});
