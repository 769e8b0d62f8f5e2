// Which fragment of our own LSP holds which entry. Placement is stable: an entry stays in its fragment as long as it
// exists and fits, so that a change floods one fragment again. A new entry goes into the lowest-numbered fragment with
// space (packed into TLVs of at most 255 bytes). Fragment 0 holds no entries: it has the adjacency, which changes for
// other reasons. The kind (kinds/) defines the size of an entry and its TLV.
import { FRAGMENTS } from '../constants.ts';
import type { OwnEntry, Packing } from '../kinds/kind.ts';
import type { IsisKinds } from '../kinds/table.ts';

/** Bytes used by the TLVs of one packing, and by the entries of the last TLV. */
interface Packed {
  bytes: number;
  last: number;
}

export interface Fragment {
  readonly number: number;
  readonly entries: Map<string, OwnEntry>;
  /** In the order of the packings of all kinds. */
  packed: Packed[];
  /** Bytes of all TLVs. */
  bytes: number;
}

export interface Placement {
  readonly kinds: IsisKinds;
  readonly fragments: Map<number, Fragment>;
  readonly whereIs: Map<string, number>;
  /** Fragments that cannot be issued now. */
  readonly closed: Set<number>;
}

export const newPlacement = (kinds: IsisKinds, closed: Iterable<number> = []): Placement => ({
  kinds,
  fragments: new Map(),
  whereIs: new Map(),
  closed: new Set(closed),
});

/** Closes a fragment that cannot be issued now. @returns its entries, to be placed elsewhere */
export function close(placement: Placement, number: number): OwnEntry[] {
  placement.closed.add(number);
  const entries = [...(placement.fragments.get(number)?.entries.values() ?? [])];
  for (const { key } of entries) unplace(placement, key);
  return entries;
}

/** Bytes of another TLV's header, if an entry of this size needs another TLV. */
const overheadOf = ({ capacity, overhead }: Packing, { bytes, last }: Packed, size: number): number =>
  bytes === 0 || last + size > capacity ? overhead : 0;

function pack(fragment: Fragment, { packings }: IsisKinds, index: number, size: number): void {
  const packed = fragment.packed[index]!;
  const overhead = overheadOf(packings[index]!, packed, size);
  packed.last = size + (overhead > 0 ? 0 : packed.last);
  packed.bytes += overhead + size;
  fragment.bytes += overhead + size;
}

function repack(fragment: Fragment, kinds: IsisKinds): void {
  fragment.packed = emptyPacked(kinds);
  fragment.bytes = 0;
  for (const entry of fragment.entries.values())
    pack(fragment, kinds, kinds.packingOf(entry), kinds.codecOf(entry).size(entry));
}

const emptyPacked = ({ packings }: IsisKinds): Packed[] => packings.map(() => ({ bytes: 0, last: 0 }));

/** Whether two entries with one key are encoded identically. */
export const sameEntry = (kinds: IsisKinds, a: OwnEntry, b: OwnEntry): boolean =>
  a.kind === b.kind && kinds.codecOf(a).same(a, b);

export interface Placed {
  /** False: all fragments are full. */
  readonly placed: boolean;
  /** Fragments whose contents changed; empty without a change. */
  readonly changed: readonly number[];
}

/** Adds or replaces an entry. @param capacity bytes of a fragment available to TLVs */
export function place(placement: Placement, entry: OwnEntry, capacity: number): Placed {
  const { kinds } = placement;
  const changed: number[] = [];
  const size = kinds.codecOf(entry).size(entry);
  const at = placement.whereIs.get(entry.key);
  if (at !== undefined) {
    const fragment = placement.fragments.get(at)!;
    const old = fragment.entries.get(entry.key)!;
    if (sameEntry(kinds, old, entry)) return { placed: true, changed };
    fragment.entries.set(entry.key, entry);
    if (kinds.codecOf(old).size(old) !== size) repack(fragment, kinds);
    if (fragment.bytes <= capacity) return { placed: true, changed: [at] };
    changed.push(...unplace(placement, entry.key));
  }
  const index = kinds.packingOf(entry);
  for (let number = 1; number < FRAGMENTS; number++) {
    if (placement.closed.has(number)) continue;
    const fragment = placement.fragments.get(number) ?? addFragment(placement, number);
    if (fragment.bytes + size > capacity) continue;
    const overhead = overheadOf(kinds.packings[index]!, fragment.packed[index]!, size);
    if (fragment.bytes + overhead + size > capacity) continue;
    fragment.entries.set(entry.key, entry);
    pack(fragment, kinds, index, size);
    placement.whereIs.set(entry.key, number);
    return { placed: true, changed: changed.includes(number) ? changed : [...changed, number] };
  }
  return { placed: false, changed };
}

function addFragment({ kinds, fragments }: Placement, number: number): Fragment {
  const fragment: Fragment = { number, entries: new Map(), packed: emptyPacked(kinds), bytes: 0 };
  fragments.set(number, fragment);
  return fragment;
}

/** Removes an entry. @returns the changed fragment, if any */
export function unplace(placement: Placement, key: string): number[] {
  const at = placement.whereIs.get(key);
  if (at === undefined) return [];
  placement.whereIs.delete(key);
  const fragment = placement.fragments.get(at)!;
  fragment.entries.delete(key);
  repack(fragment, placement.kinds);
  return [at];
}

/** The entries of one kind in a fragment. */
export const entriesOf = (fragment: Fragment, kind: string): OwnEntry[] =>
  [...fragment.entries.values()].filter((entry) => entry.kind === kind);
