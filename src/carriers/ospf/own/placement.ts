// Which entry goes into which of our LSAs. Placement is stable: an entry stays in its LSA for as long as it exists and
// fits, so that one change floods one LSA. A new entry goes into the LSA with the lowest link-state ID that has space.
// One placement serves the LSAs of one kind in one area.
import type { Entry, EntryLsa } from '../kinds/kind.ts';
import type { PrivateTypes } from '../../../packet/ospf/lsa.ts';
import type { OwnLsa } from '../version.ts';

interface Sized {
  readonly entry: Entry;
  readonly size: number;
}

interface FilledLsa {
  readonly number: number;
  readonly entries: Map<string, Sized>;
  used: number;
  /** The LSA as last built; undefined after a change. */
  lsa: OwnLsa | undefined;
}

export interface Placement {
  readonly lsaKind: EntryLsa;
  readonly type: number;
  /** Link-state ID of LSA 0. */
  readonly firstId: number;
  /** Bytes of a body. */
  readonly capacity: number;
  /** By number, without gaps. They may be empty. */
  readonly lsas: FilledLsa[];
  readonly whereIs: Map<string, FilledLsa>;
  /** Those that changed since they were built. */
  readonly stale: Set<FilledLsa>;
  /** No LSA with a lower number has space for the smallest entry seen so far. */
  openFrom: number;
  smallest: number;
}

export const newPlacement = (lsaKind: EntryLsa, types: PrivateTypes, capacity: number): Placement => ({
  lsaKind,
  type: lsaKind.type(types),
  firstId: lsaKind.firstId(types),
  capacity,
  lsas: [],
  whereIs: new Map(),
  stale: new Set(),
  openFrom: 0,
  smallest: Infinity,
});

const fits = ({ lsaKind, capacity }: Placement, filled: FilledLsa, size: number): boolean =>
  filled.entries.size < lsaKind.entries && lsaKind.overhead + filled.used + size <= capacity;

/** Adds or replaces an entry. @returns false if the entry fits into no LSA; it is in none then */
export function place(placement: Placement, key: string, entry: Entry): boolean {
  const size = placement.lsaKind.size(entry);
  const present = placement.whereIs.get(key);
  if (present) {
    const free = placement.capacity - placement.lsaKind.overhead - present.used + present.entries.get(key)!.size;
    if (size <= free) {
      put(placement, present, key, { entry, size });
      return true;
    }
    unplace(placement, key);
  }
  const filled = lsaFor(placement, size);
  if (!filled) return false;
  put(placement, filled, key, { entry, size });
  return true;
}

function put(placement: Placement, filled: FilledLsa, key: string, sized: Sized): void {
  filled.used += sized.size - (filled.entries.get(key)?.size ?? 0);
  filled.entries.set(key, sized);
  spoil(placement, filled);
  placement.whereIs.set(key, filled);
}

function spoil({ stale }: Placement, filled: FilledLsa): void {
  filled.lsa = undefined;
  stale.add(filled);
}

function lsaFor(placement: Placement, size: number): FilledLsa | undefined {
  if (size < placement.smallest) {
    placement.smallest = size;
    placement.openFrom = 0;
  }
  const { lsas } = placement;
  while (placement.openFrom < lsas.length && !fits(placement, lsas[placement.openFrom]!, placement.smallest))
    placement.openFrom++;
  for (let number = placement.openFrom; number < lsas.length; number++)
    if (fits(placement, lsas[number]!, size)) return lsas[number];
  if (lsas.length >= placement.lsaKind.lsas || placement.lsaKind.overhead + size > placement.capacity) return undefined;
  const filled: FilledLsa = { number: lsas.length, entries: new Map(), used: 0, lsa: undefined };
  lsas.push(filled);
  return filled;
}

/** @returns whether it was there */
export function unplace(placement: Placement, key: string): boolean {
  const filled = placement.whereIs.get(key);
  if (!filled) return false;
  filled.used -= filled.entries.get(key)!.size;
  filled.entries.delete(key);
  spoil(placement, filled);
  placement.whereIs.delete(key);
  placement.openFrom = Math.min(placement.openFrom, filled.number);
  return true;
}

/**
 * Builds LSAs that have changed, until about this many entries are written.
 * @returns how many more entries may be written; 0 or less if LSAs may be left to build
 */
export function buildLsas(placement: Placement, routerId: number, entries: number): number {
  let left = entries;
  for (const filled of placement.stale) {
    if (left <= 0) break;
    placement.stale.delete(filled);
    if (filled.entries.size > 0) filled.lsa = build(placement, filled, routerId);
    left -= Math.max(1, filled.entries.size);
  }
  return left;
}

const build = ({ lsaKind, type, firstId }: Placement, { number, entries }: FilledLsa, routerId: number): OwnLsa => ({
  type,
  lsId: (firstId + number) >>> 0,
  body: lsaKind.body(
    [...entries.values()].map(({ entry }) => entry),
    routerId,
  ),
});

/** The present LSAs. An unchanged LSA is the same object as before. */
export function placedLsas(placement: Placement, routerId: number): OwnLsa[] {
  buildLsas(placement, routerId, Infinity);
  return placement.lsas.flatMap(({ lsa }) => lsa ?? []);
}
