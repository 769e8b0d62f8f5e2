// Reads the counters of the programs. One map has those of all of them.
import { COUNTERS, decodeCounters } from '../kernel/dataplane/counters.ts';
import { u32Key } from '../kernel/dataplane/layout.ts';
import type { Steps } from '../model/work.ts';

const KEY = new Map(COUNTERS.map(({ name, index }) => [name, u32Key(index)]));

/** Counters decoded in one step. With 256 CPUs these are 16,384 words. */
const STEP = 64;

/**
 * All counters. The map is read in the first step, so that the values belong together. To decode them takes longer, and
 * the longer the more CPUs there are.
 */
export function* readCounters(map: {
  entries(): Iterable<readonly [Uint8Array, Uint8Array]>;
}): Steps<ReadonlyMap<string, bigint>> {
  const entries = [...map.entries()];
  const found = new Map<string, bigint>();
  for (let at = 0; at < entries.length; at += STEP) {
    yield;
    for (const [name, value] of decodeCounters(entries.slice(at, at + STEP))) found.set(name, value);
  }
  return found;
}

/** Some counters, with a look-up each. A name that no program has is left out. */
export function lookUpCounters(
  map: { lookup(key: Uint8Array): Uint8Array | undefined },
  names: Iterable<string>,
): ReadonlyMap<string, bigint> {
  const entries = [...new Set(names)].flatMap((name) => {
    const key = KEY.get(name);
    const value = key && map.lookup(key);
    return value ? [[key, value] as const] : [];
  });
  return new Map(decodeCounters(entries));
}
