// Brings the maps of a loaded object back to what they were when it was loaded. The kernel's verifier takes a third of
// a second for a program, and many tests use the same one.
import type { BpfObject } from '../../../src/kernel/bpf/object.ts';
import type { BpfMap } from '../../../src/kernel/bpf/map.ts';
import { mapTypeName } from '../../../src/kernel/bpf/syscall.ts';
import { LITTLE_ENDIAN, u32Key, viewOf } from '../../../src/kernel/dataplane/layout.ts';

const WITH_KEYS: ReadonlySet<string> = new Set(['hash', 'lru_hash', 'percpu_hash', 'lru_percpu_hash', 'lpm_trie']);
const ARRAYS: ReadonlySet<string> = new Set(['array', 'percpu_array']);
/** Read as a whole; larger ones only where `_next` shows how much of them was used (bpf/lib/proxy/port-shares.h). */
const SMALL_ARRAY = 512;
const PLACES = '_places';
const NEXT = '_next';
/** Constants: the kernel lets no one write them. */
const CONSTANTS = ['.rodata', '.kconfig'];

/** @throws Error for a map that it does not know how to empty */
export function emptyMaps(object: BpfObject): void {
  // Places before the counters that tell how many of them were used.
  for (const name of object.mapNames.filter(isLargePlaces(object))) emptyPlaces(object, name);
  for (const name of object.mapNames) {
    const map = object.map(name);
    const type = mapTypeName(map.info.type);
    if (CONSTANTS.some((end) => name.endsWith(end)) || isLargePlaces(object)(name)) continue;
    if (WITH_KEYS.has(type)) for (const key of [...map.keys()]) map.delete(key);
    else if (ARRAYS.has(type) && map.info.maxEntries <= SMALL_ARRAY) zero(map);
    else throw new Error(`${object.path}: no way to empty ${name}, ${type} of ${map.info.maxEntries}`);
  }
}

const isLargePlaces =
  (object: BpfObject) =>
  (name: string): boolean =>
    name.endsWith(PLACES) && object.map(name).info.maxEntries > SMALL_ARRAY;

/** Sets the entries of an array map that are not zero to zero. */
export function zero(map: BpfMap): void {
  for (const [key, value] of [...map.entries()]) if (!isZero(value)) map.update(key, new Uint8Array(value.length));
}

let zeros = Buffer.alloc(0);

/** Compared as a whole: maps have megabytes. */
export function isZero(bytes: Uint8Array): boolean {
  if (zeros.length < bytes.length) zeros = Buffer.alloc(bytes.length);
  return zeros.compare(bytes, 0, bytes.length, 0, bytes.length) === 0;
}

/** Each share of the places is used in turn from its first one, as often as its counter says. */
function emptyPlaces(object: BpfObject, name: string): void {
  const places = object.map(name);
  const turns = [...object.map(name.slice(0, -PLACES.length) + NEXT).entries()];
  const size = places.info.maxEntries / turns.length;
  const none = new Uint8Array(places.valueBytes);
  for (const [key, value] of turns) {
    const first = viewOf(key).getUint32(0, LITTLE_ENDIAN) * size;
    const used = Math.min(size, viewOf(value).getUint32(0, LITTLE_ENDIAN));
    for (let i = first; i < first + used; i++) places.update(u32Key(i), none);
  }
}
