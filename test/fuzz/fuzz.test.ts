// A short run of every fuzz target with a fixed seed, the same on every machine; and that nothing that decodes is left
// out. `npm run fuzz` goes on from here.
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CORPUS, readCorpus } from './corpus.ts';
import { Finding, fuzz } from './engine.ts';
import { chance, mutated } from './mutate.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets.ts';

describe('whatever comes', () => {
  test.each(TARGETS.map((target) => [target.name, target] as const))('%s keeps its promises', (_name, target) => {
    fuzz(target, [...target.seeds(), ...readCorpus(target.name)], target.runs, 1);
  });
});

test('every decoder of src/packet is a target', () => {
  const decoders = readdirSync('src/packet', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) =>
      [
        ...readFileSync(`src/packet/${file}`, 'utf8').matchAll(
          /^export function ((?:decode|parse|find|walk)\w*)\((?:\w+: Version, )?(?:\w+: number, )?\w+: (?:Uint8Array|readonly PathAttribute)/gm,
        ),
      ].map(([, name]) => name!),
    );
  expect(decoders.length).toBeGreaterThan(30);
  const targets = ['targets-packet.ts', 'targets-routing.ts']
    .map((file) => readFileSync(`test/fuzz/${file}`, 'utf8'))
    .join('\n');
  expect(decoders.filter((name) => !new RegExp(`\\b${name}\\b`).test(targets))).toEqual([]);
});

test('every folder of the corpus is of a target', () => {
  const names = new Set(TARGETS.map(({ name }) => name));
  expect(readdirSync(CORPUS).filter((name) => name !== 'README.md' && !names.has(name))).toEqual([]);
});

describe('the engine', () => {
  const broken: Target = {
    name: 'broken',
    seeds: () => [Uint8Array.of(0, 0)],
    mostBytes: 8,
    runs: 0,
    run: (input) => {
      if (input[0] === 0x80) throw new Error('broke');
    },
  };

  test('finds what breaks, names the input, and finds the same again with the same seed', () => {
    const found = (): Finding => {
      try {
        fuzz(broken, broken.seeds(), 100_000, 7);
      } catch (error) {
        if (error instanceof Finding) return error;
      }
      throw new Error('nothing was found');
    };
    expect(found().message).toBe('broken: broke');
    expect(found().input[0]).toBe(0x80);
    expect(found().input).toEqual(found().input);
  });

  test('makes no input longer than the target takes, and other ones with another seed', () => {
    const make = (seed: number): Uint8Array[] => {
      const pick = chance(seed);
      return Array.from({ length: 500 }, () => mutated([new Uint8Array(40), Uint8Array.of()], pick, 50));
    };
    expect(Math.max(...make(1).map((input) => input.length))).toBeLessThanOrEqual(50);
    expect(make(1)).toEqual(make(1));
    expect(make(1)).not.toEqual(make(2));
  });
});
