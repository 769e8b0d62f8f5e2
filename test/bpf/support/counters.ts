// The counters of a program, by their names.
import type { BpfObject } from '../../../src/kernel/bpf/object.ts';
import { COUNTERS_MAP, decodeCounters } from '../../../src/kernel/dataplane/counters.ts';

/** @throws Error when the program has no such counter: it would never move */
export function countOf(object: BpfObject, name: string): number {
  const found = decodeCounters(object.map(COUNTERS_MAP).entries()).get(name);
  if (found === undefined) throw new Error(`no counter ${name}`);
  return Number(found);
}

export function clearCounters(object: BpfObject): void {
  const map = object.map(COUNTERS_MAP);
  for (const [key] of [...map.entries()]) map.update(key, new Uint8Array(8));
}

/**
 * Every counter of End.MT that is not 0, by its name without `multicast.`. Not the kernel's own packets at the root's
 * encapsulating route, which come when they come.
 */
export const multicastCounts = (object: BpfObject): Record<string, number> =>
  Object.fromEntries(
    [...decodeCounters(object.map(COUNTERS_MAP).entries())]
      .filter(([name, value]) => name.startsWith('multicast.') && name !== 'multicast.root.link' && value > 0n)
      .map(([name, value]) => [name.slice('multicast.'.length), Number(value)]),
  );
