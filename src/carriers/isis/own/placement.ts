// Which fragment of our own LSP holds which prefix or SID. Placement is stable: an entry stays in its fragment for as
// long as it exists and fits, so that a change re-floods one fragment, and a new one goes to the lowest-numbered
// fragment that has space (packed into TLVs of at most 255 bytes). Fragment 0 is not used: it holds the adjacency,
// which changes for other reasons.
import type { Prefix } from '../../../model/prefix.ts';
import type { IpAddress } from '../../../model/address.ts';
import { sameOptional } from '../kinds/entries.ts';
import { FRAGMENTS } from '../constants.ts';
import { type OriginatedSid, sameSid, sidSize } from '../kinds/sids.ts';

/** A prefix as we originate it: always with the signalling metric. */
export interface OriginatedPrefix {
  readonly key: string;
  readonly prefix: Prefix;
  readonly down: boolean;
  readonly external: boolean;
  /** Sub-TLV 4. */
  readonly flags: Uint8Array;
  /** Sub-TLVs 11 and 12. */
  readonly source4?: IpAddress;
  readonly source6?: IpAddress;
}

export type Originated = OriginatedPrefix | OriginatedSid;

export const isOriginatedSid = (p: Originated): p is OriginatedSid => 'sid' in p;

/** The entries that go into TLVs of one type: 135; 236 or 237; 27. */
export type TlvKind = 4 | 6 | 'locator';

const TLV_KINDS: readonly TlvKind[] = [4, 6, 'locator'];
const tlvKind = (p: Originated): TlvKind => (isOriginatedSid(p) ? 'locator' : p.prefix.address.family);

/** Bytes used by the TLVs of one kind, and by the entries of the TLV being filled. */
interface Packing {
  bytes: number;
  last: number;
}

export interface Fragment {
  readonly number: number;
  readonly entries: Map<string, Originated>;
  readonly packing: Record<TlvKind, Packing>;
}

export interface Placement {
  readonly fragments: Map<number, Fragment>;
  readonly whereIs: Map<string, number>;
  /** Fragments that cannot be issued for now. */
  readonly closed: Set<number>;
}

export const newPlacement = (closed: Iterable<number> = []): Placement => ({
  fragments: new Map(),
  whereIs: new Map(),
  closed: new Set(closed),
});

/** A fragment cannot be issued for now. @returns what was in it, to be placed elsewhere */
export function close(placement: Placement, number: number): Originated[] {
  placement.closed.add(number);
  const entries = [...(placement.fragments.get(number)?.entries.values() ?? [])];
  for (const { key } of entries) unplace(placement, key);
  return entries;
}

/**
 * TLVs 27, 235 and 237 begin with a 2-byte topology; space for it is kept in TLV 236 too, because the neighbour may
 * turn topologies on at any time. A SID counts as a TLV of its own, which is what it takes at most (sids.ts).
 */
export const TLV_CAPACITY = { 4: 255, 6: 253, locator: 0 } as const;
const TLV_OVERHEAD = { 4: 2, 6: 4, locator: 4 } as const;

/** Encoded bytes of one entry of TLV 135 or 236 with its sub-TLVs, and at most those of one SID in TLV 27. */
export function entrySize(p: Originated): number {
  if (isOriginatedSid(p)) return sidSize(p);
  const fixed = p.prefix.address.family === 4 ? 5 : 6;
  const subTlvs = 2 + p.flags.length + (p.source4 ? 6 : 0) + (p.source6 ? 18 : 0);
  return fixed + Math.ceil(p.prefix.length / 8) + 1 + subTlvs;
}

function pack(packing: Packing, kind: TlvKind, size: number): void {
  if (packing.bytes === 0 || packing.last + size > TLV_CAPACITY[kind]) {
    packing.bytes += TLV_OVERHEAD[kind];
    packing.last = 0;
  }
  packing.bytes += size;
  packing.last += size;
}

function repack(fragment: Fragment): void {
  for (const kind of TLV_KINDS) fragment.packing[kind] = { bytes: 0, last: 0 };
  for (const p of fragment.entries.values()) pack(fragment.packing[tlvKind(p)], tlvKind(p), entrySize(p));
}

const used = ({ packing }: Fragment): number => packing[4].bytes + packing[6].bytes + packing.locator.bytes;

function fits(fragment: Fragment, kind: TlvKind, size: number, capacity: number): boolean {
  if (used(fragment) + size > capacity) return false;
  const { bytes, last } = fragment.packing[kind];
  const overhead = bytes === 0 || last + size > TLV_CAPACITY[kind] ? TLV_OVERHEAD[kind] : 0;
  return used(fragment) + overhead + size <= capacity;
}

/** Whether two entries of one key say the same. */
export function sameOriginated(a: Originated, b: Originated): boolean {
  if (isOriginatedSid(a) || isOriginatedSid(b)) return isOriginatedSid(a) && isOriginatedSid(b) && sameSid(a, b);
  const attributes = a.down === b.down && a.external === b.external && Buffer.compare(a.flags, b.flags) === 0;
  return attributes && sameOptional(a.source4, b.source4) && sameOptional(a.source6, b.source6);
}

export interface Placed {
  /** False: all fragments are full. */
  readonly placed: boolean;
  /** Fragments whose contents changed; none when nothing did. */
  readonly changed: readonly number[];
}

/** Adds or replaces an entry. @param capacity bytes that a fragment has for TLVs */
export function place(placement: Placement, p: Originated, capacity: number): Placed {
  const changed: number[] = [];
  const at = placement.whereIs.get(p.key);
  if (at !== undefined) {
    const fragment = placement.fragments.get(at)!;
    const old = fragment.entries.get(p.key)!;
    if (sameOriginated(old, p)) return { placed: true, changed };
    fragment.entries.set(p.key, p);
    if (entrySize(old) !== entrySize(p)) repack(fragment);
    if (used(fragment) <= capacity) return { placed: true, changed: [at] };
    changed.push(...unplace(placement, p.key));
  }
  const kind = tlvKind(p);
  const size = entrySize(p);
  for (let number = 1; number < FRAGMENTS; number++) {
    if (placement.closed.has(number)) continue;
    const fragment = placement.fragments.get(number) ?? addFragment(placement, number);
    if (!fits(fragment, kind, size, capacity)) continue;
    fragment.entries.set(p.key, p);
    pack(fragment.packing[kind], kind, size);
    placement.whereIs.set(p.key, number);
    return { placed: true, changed: changed.includes(number) ? changed : [...changed, number] };
  }
  return { placed: false, changed };
}

function addFragment(placement: Placement, number: number): Fragment {
  const fragment: Fragment = {
    number,
    entries: new Map(),
    packing: { 4: { bytes: 0, last: 0 }, 6: { bytes: 0, last: 0 }, locator: { bytes: 0, last: 0 } },
  };
  placement.fragments.set(number, fragment);
  return fragment;
}

/** Removes an entry. @returns the fragment that changed, if any */
export function unplace(placement: Placement, key: string): number[] {
  const at = placement.whereIs.get(key);
  if (at === undefined) return [];
  placement.whereIs.delete(key);
  const fragment = placement.fragments.get(at)!;
  fragment.entries.delete(key);
  repack(fragment);
  return [at];
}

export const sidsIn = (fragment: Fragment): OriginatedSid[] => [...fragment.entries.values()].filter(isOriginatedSid);

/** The prefixes of one family in a fragment, split as they go into TLVs. */
export function tlvGroups(fragment: Fragment, family: 4 | 6): OriginatedPrefix[][] {
  const groups: OriginatedPrefix[][] = [];
  let size = Infinity;
  for (const p of fragment.entries.values()) {
    if (isOriginatedSid(p) || p.prefix.address.family !== family) continue;
    const entry = entrySize(p);
    if (size + entry > TLV_CAPACITY[family]) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)!.push(p);
    size += entry;
  }
  return groups;
}
