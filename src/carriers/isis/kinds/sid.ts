// SRv6 SIDs in TLV 27 (RFC 9352 §7). cnpd's locators are for signalling only, like its prefixes: metric 0xFE000001, so
// that nobody installs a route towards the veth on which cnpd speaks. That packets to the SID arrive is FRR's part
// (frr-configs/srv6-pe.conf): it advertises the SID's own route as an ordinary prefix, and a prefix comes before a
// locator (RFC 9352 §7.1).
import { warnLimited } from '../../effects.ts';
import { type IpAddress, address, addressBytes, isUnicastHost } from '../../../model/address.ts';
import type { AdvertisementKinds, AdvertisementOf } from '../../../model/advertisement.ts';
import { type Prefix, prefixContains, samePrefix } from '../../../model/prefix.ts';
import { concat, prefixBytes } from '../../../packet/bytes.ts';
import type { DecodeError } from '../../../packet/decode.ts';
import type { SubTlvReport } from '../../../packet/isis/tlv/codec.ts';
import { LOCATOR_DOWN, LOCATOR_FIXED } from '../../../packet/isis/tlv/srv6-locator.ts';
import type { IsisTlv, Locator, PrefixSubTlv, SourceRouterId, Srv6Locator } from '../../../packet/isis/types.ts';
import { FOREIGN_TOPOLOGIES, MT_IPV6, SIGNALLING_METRIC } from '../constants.ts';
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

/** What TLV 27 says of one End SID. */
interface SidFields {
  readonly kind: 'sid';
  readonly sid: IpAddress;
  readonly behavior: number;
  readonly locator: Prefix;
  readonly algorithm: number;
}

export interface SidEntry extends SidFields, EntryAttributes {}

/** As we originate it: always with the signalling metric. */
export interface OwnSid extends SidFields, OwnAttributes {
  readonly key: string;
}

const END_SID_TYPE = 5;
/** Sub-TLV 5 without sub-sub-TLVs. */
const END_SID_SIZE = 22;
/** Of a TLV 27, behind its topology. */
const TLV_CAPACITY = 253;
/** SRv6 Capabilities (RFC 9352 §2): sub-TLV 25 with no flag set. */
const SRV6_CAPABILITIES = Uint8Array.of(25, 2, 0, 0);
/**
 * Where there is no IPv4 address, TLV 242 has this router ID, and the IPv6 one in sub-TLV 12 (RFC 7981 §2, RFC 5316): a
 * router with SIDs has one always.
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
            'a SID that is not in its locator, or whose locator has no length, is not advertised',
          );
      }
      return { entries: [...desired.values()], fragment0: desired.size > 0 ? [routerCapability(identity)] : [] };
    },
    entries: {
      // A SID counts as a TLV of its own, which is what it takes at most.
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
      const found = new Map<string, SidEntry>();
      return {
        tlv(tlv, report) {
          if (tlv.kind === 'srv6-locator') readSids(tlv, codePoints['end-con-behavior'], found, report);
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

/** What a router that has SIDs must say of itself (RFC 9352 §2). */
const routerCapability = ({ v4, v6 }: NodeAddresses): IsisTlv => ({
  kind: 'router-capability',
  routerId: v4 ?? NO_ROUTER_ID,
  flags: 0,
  subTlvs:
    v4 || !v6 ? SRV6_CAPABILITIES : concat(Uint8Array.of(IPV6_TE_ROUTER_ID, 16), addressBytes(v6), SRV6_CAPABILITIES),
});

/**
 * A SID that is not from its locator MUST be ignored (RFC 9352 §7.2); one that is no host's address could not be
 * answered to.
 */
function unusable(sid: IpAddress, locator: Prefix): Pick<DecodeError, 'code' | 'detail'> | undefined {
  if (!prefixContains(locator, sid))
    return { code: 'sid-outside-locator', detail: 'an End SID that is not from its locator' };
  return isUnicastHost(sid) ? undefined : { code: 'sid-not-unicast', detail: "an End SID that is no host's address" };
}

/** Files the End SIDs of this behaviour by their key; of one that is listed twice the first counts. */
function readSids(tlv: Srv6Locator, behavior: number, into: Map<string, SidEntry>, report: SubTlvReport): void {
  if (FOREIGN_TOPOLOGIES.has(tlv.mtId)) return;
  for (const locator of tlv.locators) {
    for (const subTlv of locator.subTlvs) {
      if (subTlv.kind !== 'srv6-end-sid' || subTlv.behavior !== behavior) continue;
      const bad = unusable(subTlv.sid, locator.prefix);
      const key = sidKey(subTlv.sid);
      if (bad) report(END_SID_TYPE, { ...bad, offset: 0 });
      else if (!into.has(key)) into.set(key, entryOf(locator, subTlv.sid, behavior));
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
    // Views of the LSP, which is let go.
    flags: flags.slice(),
    ...(source4 && { source4 }),
    ...(source6 && { source6 }),
  };
}

/**
 * What we declare ourselves. Undefined for what may not be advertised: a SID outside its locator, a locator without
 * length (which makes FRR drop the LSP).
 */
function ownSid({ sid, locator, behavior }: AdvertisementKinds['sid']): OwnSid | undefined {
  if (sid.family !== 6 || locator.address.family !== 6 || locator.length === 0 || unusable(sid, locator))
    return undefined;
  return { kind: 'sid', key: sidKey(sid), sid, behavior, locator, algorithm: 0, down: false, flags: new Uint8Array() };
}

/** As the only one of its locator: at most what it takes. */
export function sidSize(own: OwnSid): number {
  const flags = own.flags.length > 0 ? 2 + own.flags.length : 0;
  return LOCATOR_FIXED + prefixBytes(own.locator.length) + 1 + flags + sourcesSize(own) + END_SID_SIZE;
}

const sameLocator = (a: OwnSid, b: OwnSid): boolean =>
  samePrefix(a.locator, b.locator) && a.algorithm === b.algorithm && sameAttributes(a, b);

/**
 * One TLV a locator with as many of its SIDs as fit, though a TLV may hold several locators: there are decoders that
 * read only the first (tshark 4.0).
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
  return { prefix, metric: SIGNALLING_METRIC, flags: down ? LOCATOR_DOWN : 0, algorithm, subTlvs };
}
