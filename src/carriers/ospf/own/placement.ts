// Which of our LSAs says what. Placement is stable: an entry stays in its LSA for as long as it exists and fits, so
// that one change floods one LSA; a new one goes to the LSA with the lowest link-state ID that has space. One placement
// serves the LSAs of one kind in one area.
import type { Entry, EntryLsa } from '../kinds/kind.ts';
import type { OwnLsa } from '../version.ts';

interface Sized {
  readonly entry: Entry;
  readonly size: number;
}

interface Slot {
  readonly number: number;
  readonly entries: Map<string, Sized>;
  used: number;
  /** As it was built last; undefined after a change. */
  lsa: OwnLsa | undefined;
}

export interface Placement {
  readonly lsaKind: EntryLsa;
  /** Link-state ID of slot 0. */
  readonly firstId: number;
  /** Bytes of a body. */
  readonly capacity: number;
  /** By number, without gaps; they may be empty. */
  readonly slots: Slot[];
  readonly whereIs: Map<string, Slot>;
  /** Slots that changed since their LSA was built. */
  readonly stale: Set<Slot>;
  /** Below it no slot has space for the smallest entry that was seen. */
  openFrom: number;
  smallest: number;
}

export const newPlacement = (lsaKind: EntryLsa, firstId: number, capacity: number): Placement => ({
  lsaKind,
  firstId,
  capacity,
  slots: [],
  whereIs: new Map(),
  stale: new Set(),
  openFrom: 0,
  smallest: Infinity,
});

const fits = ({ lsaKind, capacity }: Placement, slot: Slot, size: number): boolean =>
  slot.entries.size < lsaKind.entries && lsaKind.overhead + slot.used + size <= capacity;

/** Adds or replaces an entry. @returns false when it fits nowhere, and it is in no LSA then */
export function place(placement: Placement, key: string, entry: Entry): boolean {
  const size = placement.lsaKind.size(entry);
  const home = placement.whereIs.get(key);
  if (home) {
    const free = placement.capacity - placement.lsaKind.overhead - home.used + home.entries.get(key)!.size;
    if (size <= free) {
      put(placement, home, key, { entry, size });
      return true;
    }
    unplace(placement, key);
  }
  const slot = slotFor(placement, size);
  if (!slot) return false;
  put(placement, slot, key, { entry, size });
  return true;
}

function put(placement: Placement, slot: Slot, key: string, sized: Sized): void {
  slot.used += sized.size - (slot.entries.get(key)?.size ?? 0);
  slot.entries.set(key, sized);
  spoil(placement, slot);
  placement.whereIs.set(key, slot);
}

function spoil({ stale }: Placement, slot: Slot): void {
  slot.lsa = undefined;
  stale.add(slot);
}

function slotFor(placement: Placement, size: number): Slot | undefined {
  if (size < placement.smallest) {
    placement.smallest = size;
    placement.openFrom = 0;
  }
  const { slots } = placement;
  while (placement.openFrom < slots.length && !fits(placement, slots[placement.openFrom]!, placement.smallest))
    placement.openFrom++;
  for (let number = placement.openFrom; number < slots.length; number++)
    if (fits(placement, slots[number]!, size)) return slots[number];
  if (slots.length >= placement.lsaKind.lsas || placement.lsaKind.overhead + size > placement.capacity)
    return undefined;
  const slot: Slot = { number: slots.length, entries: new Map(), used: 0, lsa: undefined };
  slots.push(slot);
  return slot;
}

/** @returns whether it was there */
export function unplace(placement: Placement, key: string): boolean {
  const slot = placement.whereIs.get(key);
  if (!slot) return false;
  slot.used -= slot.entries.get(key)!.size;
  slot.entries.delete(key);
  spoil(placement, slot);
  placement.whereIs.delete(key);
  placement.openFrom = Math.min(placement.openFrom, slot.number);
  return true;
}

/**
 * Builds LSAs that changed, until about as many entries are written.
 * @returns how many more may be written; 0 or less when there may be LSAs left to build
 */
export function buildLsas(placement: Placement, routerId: number, entries: number): number {
  let left = entries;
  for (const slot of placement.stale) {
    if (left <= 0) break;
    placement.stale.delete(slot);
    if (slot.entries.size > 0) slot.lsa = build(placement, slot, routerId);
    left -= Math.max(1, slot.entries.size);
  }
  return left;
}

const build = ({ lsaKind, firstId }: Placement, { number, entries }: Slot, routerId: number): OwnLsa => ({
  type: lsaKind.type,
  lsId: (firstId + number) >>> 0,
  body: lsaKind.body(
    [...entries.values()].map(({ entry }) => entry),
    routerId,
  ),
});

/** The LSAs as they are now. One that did not change is the same object as before. */
export function placedLsas(placement: Placement, routerId: number): OwnLsa[] {
  buildLsas(placement, routerId, Infinity);
  return placement.slots.flatMap(({ lsa }) => lsa ?? []);
}
