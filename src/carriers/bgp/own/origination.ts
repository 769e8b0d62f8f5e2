// What the operator declares, made into paths: each kind of advertisement (../kinds/) says which prefixes speak for it,
// and what attribute 39 of their paths contains.
import type { Family, IpAddress } from '../../../model/address.ts';
import type { Origination } from '../../../model/advertisement.ts';
import { type Prefix, formatPrefix } from '../../../model/prefix.ts';
import { AFI, SAFI_UNICAST, encodeNhc } from '../../../packet/bgp/nhc.ts';
import { type Capabilities, characteristicCodes, writeCharacteristics } from '../../../packet/bgp/characteristics.ts';
import type { ContainerTlv } from '../../../packet/sid-container.ts';
import { NO_EXPORT, PATH_CAPACITY } from '../constants.ts';
import type { OwnEntry, OwnPaths, Placed } from '../kinds/kind.ts';
import type { BgpKinds } from '../kinds/table.ts';
import type { Content, ContentConfig } from '../state.ts';
import { samePaths } from '../gobgp/gobgp.ts';
import { type Drafts, type Draft, type Own, markDirty, ownOf } from './state.ts';

/**
 * Sets the whole of what we declare; each step is a prefix. A path for a new prefix is desired at once, so that the
 * first are with gobgpd while the others are still looked at; one that was desired before changes when everything has
 * been seen. A declaration that comes in between goes over all of it again.
 */
export function* declare(c: Content, origination: Origination): Generator<void> {
  const paths = new Drafting(c);
  for (const { kind, own } of c.kinds.rows) {
    const declared = origination.filter((one) => one.kind === kind);
    yield* own.declare(declared, paths, c);
  }
  c.unplaced = paths.unplaced;
  for (const own of c.own.paths.values()) {
    const { draft } = own;
    own.draft = undefined;
    if (draft?.of !== paths.drafts || draft.entries.length === 0) {
      own.desired = undefined;
      markDirty(c.own, own);
    } else if (!draft.done) setDesired(c, own, draft);
    yield;
  }
}

/** The paths of one declaration, while kinds place their entries. */
class Drafting implements OwnPaths {
  readonly #c: Content;
  readonly drafts: Drafts;
  readonly advertise: ContentConfig['advertise'];
  unplaced = 0;

  constructor(c: Content) {
    this.#c = c;
    this.drafts = { communities: ownCommunities(c.config), nhcs: new Map(), alone: { 4: new Map(), 6: new Map() } };
    this.advertise = c.config.advertise;
  }

  nextHopOf(family: Family): IpAddress | undefined {
    const { nextHop4, nextHop6 } = this.#c.config;
    return family === 4 ? nextHop4 : nextHop6;
  }

  place(entry: OwnEntry, prefix: Prefix, when: 'at-once' | 'at-end'): Placed {
    const c = this.#c;
    const nextHop = this.nextHopOf(prefix.address.family);
    if (!nextHop) return 'no-next-hop';
    const own = ownOf(c.own, formatPrefix(prefix), prefix);
    if (own.draft?.of !== this.drafts)
      own.draft = { of: this.drafts, nextHop, entries: [], left: PATH_CAPACITY, done: false };
    const { draft } = own;
    if (!putEntry(c, draft, entry)) return 'full';
    if (when === 'at-once' && !own.desired) setDesired(c, own, draft);
    return 'placed';
  }

  leaveOut(times: number): void {
    this.unplaced += times;
  }
}

/** @returns whether the path has it, or another of its key that is preferred */
function putEntry(c: Content, draft: Draft, entry: OwnEntry): boolean {
  const { entries } = draft;
  const codec = c.kinds.codecOf(entry);
  if (entries.length === 0) {
    const left = draft.left - codec.size(entry);
    if (left < 0) return false;
    [draft.entries, draft.left] = [[entry], left];
    return true;
  }
  const known = entries.find(({ kind, key }) => kind === entry.kind && key === entry.key);
  const better = known ? codec.preferred(known, entry, c) : entry;
  if (better === known) return true;
  const left = draft.left + (known ? codec.size(known) : 0) - codec.size(better);
  if (left < 0) return false;
  draft.entries = known ? entries.map((one) => (one === known ? better : one)) : [...entries, better];
  draft.left = left;
  draft.done = false;
  return true;
}

function setDesired(c: Content, own: Own, draft: Draft): void {
  const path = {
    prefix: own.prefix,
    nextHop: draft.nextHop,
    nhc: nhcOf(c, draft),
    communities: draft.of.communities,
    largeCommunities: c.config.largeCommunities,
  };
  draft.done = true;
  if (own.desired && samePaths(own.desired, path)) return;
  own.desired = path;
  markDirty(c.own, own);
}

/** Paths with the same entries share the attribute. */
function nhcOf({ kinds, config }: Content, { of: { alone, nhcs }, nextHop, entries }: Draft): Uint8Array {
  const { family } = nextHop;
  const only = entries.length === 1 ? entries[0] : undefined;
  const known = only && alone[family].get(only);
  if (known) return known;
  const characteristics = writeCharacteristics(together(kinds, entries), characteristicCodes(config.codePoints));
  const afi = family === 4 ? AFI.ipv4 : AFI.ipv6;
  const encoded = encodeNhc({ afi, safi: SAFI_UNICAST, nextHop, characteristics });
  const text = Buffer.from(encoded).toString('latin1');
  const nhc = nhcs.get(text) ?? encoded;
  nhcs.set(text, nhc);
  if (only) alone[family].set(only, nhc);
  return nhc;
}

/** A path has one container, and one entry about its senders. */
function together(kinds: BgpKinds, entries: readonly OwnEntry[]): Capabilities {
  let all: Capabilities = {};
  let tlvs: ContainerTlv[] | undefined;
  for (const entry of entries) {
    const { container, ...others } = kinds.codecOf(entry).encode(entry);
    all = { ...others, ...all };
    if (container) (tlvs ??= []).push(...container);
  }
  return { ...all, ...(tlvs && { container: tlvs }) };
}

/** Without a domain no path leaves the AS: gobgpd cannot take a single attribute off at its border (decision D9). */
const ownCommunities = ({ communities, domain }: ContentConfig): readonly number[] =>
  domain.size > 0 || communities.includes(NO_EXPORT) ? communities : [...communities, NO_EXPORT];
