// SRv6 SIDs in TLV 27 (RFC 9352 §7). cnpd's locators are for signaling only, like its prefixes: with metric 0xFE000001
// no router installs a route toward cnpd's veth. FRR provides reachability of the SID (frr-configs/srv6-pe.conf): it
// advertises the SID's own route as an ordinary prefix, which takes precedence over a locator (RFC 9352 §7.1).
import { warnLimited } from '../../effects.ts';
import { type IpAddress, address, addressBytes, isUnicastHost } from '../../../model/address.ts';
import type { AdvertisementKinds, AdvertisementOf } from '../../../model/advertisement.ts';
import { sidBehaviors } from '../../../model/code-points.ts';
import { type Prefix, prefixContains, samePrefix } from '../../../model/prefix.ts';
import { concat, prefixBytes } from '../../../packet/bytes.ts';
import type { DecodeError } from '../../../packet/decode.ts';
import type { SubTlvReport } from '../../../packet/isis/tlv/codec.ts';
import { LOCATOR_DOWN, LOCATOR_FIXED } from '../../../packet/isis/tlv/srv6-locator.ts';
import type { IsisTlv, Locator, PrefixSubTlv, SourceRouterId, Srv6Locator } from '../../../packet/isis/tlv/types.ts';
import { FOREIGN_TOPOLOGIES, MT_IPV6, SIGNALING_METRIC } from '../constants.ts';
import {
  type EntryAttributes,
  type NodeAddresses,
  type OwnAttributes,
  copiedAttributes,
  isCopy,
  mayLeak,
  sameAttributes,
  sourceSubTlvs,
  sourcesSize,
} from './attributes.ts';
import { type IsisKind, NOTHING_FOUND } from './kind.ts';

/** The fields of one End SID in TLV 27. */
interface SidFields {
  readonly kind: 'sid';
  readonly sid: IpAddress;
  readonly behavior: number;
  readonly locator: Prefix;
  readonly algorithm: number;
}

export interface SidEntry extends SidFields, EntryAttributes {}

/** A SID as we originate it, always with the signaling metric. */
export interface OwnSid extends SidFields, OwnAttributes {
  readonly key: string;
}

const END_SID_TYPE = 5;
/** Sub-TLV 5 without sub-sub-TLVs. */
const END_SID_SIZE = 22;
/** Bytes of a TLV 27 after its topology. */
const TLV_CAPACITY = 253;
/** SRv6 Capabilities (RFC 9352 §2): sub-TLV 25 with no flag set. */
const SRV6_CAPABILITIES = Uint8Array.of(25, 2, 0, 0);
/**
 * Router ID of TLV 242 without an IPv4 address; the IPv6 one is then in sub-TLV 12 (RFC 7981 §2, RFC 5316). A router
 * with SIDs always has an IPv6 address.
 */
const NO_ROUTER_ID: IpAddress = address('0.0.0.0');
const IPV6_TE_ROUTER_ID = 12;

export const SID: IsisKind<AdvertisementOf<'sid'>, OwnSid, SidEntry> = {
  kind: 'sid',
  own: {
    addressOf: ({ sid }) => sid,
    desired(advertisements, s, identity) {
      const desired = new Map<string, OwnSid>();
      for (const advertisement of advertisements) {
        const own = ownSid(advertisement);
        if (own) desired.set(own.key, own);
        else
          warnLimited(
            s,
            'originate.unusable-sid',
            {},
            'SID not advertised: it is outside its locator, or the locator has length 0',
          );
      }
      return { entries: [...desired.values()], fragment0: desired.size > 0 ? [routerCapability(identity)] : [] };
    },
    entries: {
      // Each SID counts as a TLV to itself, which is its maximum size.
      packings: [{ capacity: 0, overhead: 4 }],
      packingOf: () => 0,
      size: sidSize,
      same: (a, b) => a.behavior === b.behavior && sameLocator(a, b),
      encode: (entries, mtIpv6) => locatorTlvs(entries, mtIpv6 ? MT_IPV6 : 0),
    },
  },
  received: {
    walked: [],
    reader(_lsp, { codePoints }) {
      const behaviors = sidBehaviors(codePoints);
      const found = new Map<string, SidEntry>();
      return {
        tlv(tlv, report) {
          if (tlv.kind === 'srv6-locator') readSids(tlv, behaviors, found, report);
        },
        end(_node, keepLeakable) {
          if (found.size === 0) return NOTHING_FOUND;
          const entries = [...found.values()];
          return { ...NOTHING_FOUND, entries, leakable: keepLeakable ? entries : [], cost: entries.length };
        },
      };
    },
    learned: (entries) => entries.map(({ kind, sid, behavior }) => ({ kind, sid, behavior })),
  },
  leaking: {
    keyOf: ({ sid }) => sidKey(sid),
    isCopy,
    mayLeak,
    compare: (a, b) => a.entry.metric - b.entry.metric,
    copy({ entry }, to) {
      const { kind, sid, behavior, locator, algorithm } = entry;
      return { kind, key: sidKey(sid), sid, behavior, locator, algorithm, ...copiedAttributes(entry, to) };
    },
  },
};

export const sidKey = (sid: IpAddress): string => `sid:${sid.value.toString(32)}`;

/** The TLV that a router with SIDs must advertise (RFC 9352 §2). */
const routerCapability = ({ v4, v6 }: NodeAddresses): IsisTlv => ({
  kind: 'router-capability',
  routerId: v4 ?? NO_ROUTER_ID,
  flags: 0,
  subTlvs:
    v4 || !v6 ? SRV6_CAPABILITIES : concat(Uint8Array.of(IPV6_TE_ROUTER_ID, 16), addressBytes(v6), SRV6_CAPABILITIES),
});

/**
 * A SID outside its locator MUST be ignored (RFC 9352 §7.2). A SID that is not a host's address could not be answered.
 */
function unusable(sid: IpAddress, locator: Prefix): Pick<DecodeError, 'code' | 'detail'> | undefined {
  if (!prefixContains(locator, sid)) return { code: 'sid-outside-locator', detail: 'End SID outside its locator' };
  return isUnicastHost(sid) ? undefined : { code: 'sid-not-unicast', detail: "End SID is not a host's address" };
}

/** Stores the End SIDs with these behaviors by key; of duplicates the first counts. */
function readSids(
  tlv: Srv6Locator,
  behaviors: ReadonlySet<number>,
  into: Map<string, SidEntry>,
  report: SubTlvReport,
): void {
  if (FOREIGN_TOPOLOGIES.has(tlv.mtId)) return;
  for (const locator of tlv.locators) {
    for (const subTlv of locator.subTlvs) {
      if (subTlv.kind !== 'srv6-end-sid' || !behaviors.has(subTlv.behavior)) continue;
      const bad = unusable(subTlv.sid, locator.prefix);
      const key = sidKey(subTlv.sid);
      if (bad) report(END_SID_TYPE, { ...bad, offset: 0 });
      else if (!into.has(key)) into.set(key, entryOf(locator, subTlv.sid, subTlv.behavior));
    }
  }
}

function entryOf(locator: Locator, sid: IpAddress, behavior: number): SidEntry {
  const flags = locator.subTlvs.find((t) => t.kind === 'prefix-attribute-flags')?.flags ?? new Uint8Array();
  const source = (kind: SourceRouterId['kind']): IpAddress | undefined =>
    locator.subTlvs.find((t): t is SourceRouterId => t.kind === kind)?.address;
  const [source4, source6] = [source('ipv4-source-router-id'), source('ipv6-source-router-id')];
  return {
    kind: 'sid',
    sid,
    behavior,
    locator: locator.prefix,
    algorithm: locator.algorithm,
    metric: locator.metric,
    down: (locator.flags & LOCATOR_DOWN) !== 0,
    // Copies, because these are views of the LSP, which is released.
    flags: flags.slice(),
    ...(source4 && { source4 }),
    ...(source6 && { source6 }),
  };
}

/**
 * The entry for a declared SID. Undefined when it must not be advertised: a SID outside its locator, or a locator of
 * length 0 (which makes FRR drop the LSP).
 */
function ownSid({ sid, locator, behavior }: AdvertisementKinds['sid']): OwnSid | undefined {
  if (sid.family !== 6 || locator.address.family !== 6 || locator.length === 0 || unusable(sid, locator))
    return undefined;
  return { kind: 'sid', key: sidKey(sid), sid, behavior, locator, algorithm: 0, down: false, flags: new Uint8Array() };
}

/** Maximum size: as the only SID of its locator. */
export function sidSize(own: OwnSid): number {
  const flags = own.flags.length > 0 ? 2 + own.flags.length : 0;
  return LOCATOR_FIXED + prefixBytes(own.locator.length) + 1 + flags + sourcesSize(own) + END_SID_SIZE;
}

const sameLocator = (a: OwnSid, b: OwnSid): boolean =>
  samePrefix(a.locator, b.locator) && a.algorithm === b.algorithm && sameAttributes(a, b);

/**
 * One TLV per locator with as many of its SIDs as fit. A TLV could hold several locators, but some decoders read only
 * the first (tshark 4.0).
 */
export function locatorTlvs(sids: readonly OwnSid[], mtId: number): Srv6Locator[] {
  const groups: OwnSid[][] = [];
  for (const own of sids) {
    const group = groups.find(
      ([first, ...others]) =>
        sameLocator(first!, own) && sidSize(first!) + (others.length + 1) * END_SID_SIZE <= TLV_CAPACITY,
    );
    if (group) group.push(own);
    else groups.push([own]);
  }
  return groups.map((group) => ({ kind: 'srv6-locator', mtId, locators: [locatorOf(group)] }));
}

function locatorOf(sids: readonly OwnSid[]): Locator {
  const [first] = sids as [OwnSid];
  const { locator: prefix, algorithm, down, flags } = first;
  const subTlvs: PrefixSubTlv[] = [];
  if (flags.length > 0) subTlvs.push({ kind: 'prefix-attribute-flags', flags });
  subTlvs.push(...sourceSubTlvs(first));
  for (const { sid, behavior } of sids)
    subTlvs.push({ kind: 'srv6-end-sid', flags: 0, behavior, sid, subSubTlvs: new Uint8Array() });
  return { prefix, metric: SIGNALING_METRIC, flags: down ? LOCATOR_DOWN : 0, algorithm, subTlvs };
}
