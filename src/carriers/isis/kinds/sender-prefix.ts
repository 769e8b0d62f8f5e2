// Sender prefixes and their proxies (PNC §5.1): the P-flag in the Prefix Attribute Flags of TLVs 135, 235, 236 and 237,
// the proxy's address in sub-TLVs 11 and 12. An experimental sub-TLV says which notifications the senders understand,
// with the flag or without it. Ours are for signaling only (PNC-5.1-b): with metric 0xFE000001 no router
// installs a route for them. sender-prefix-reader.ts reads those of others.
import { count } from '../../effects.ts';
import { type IpAddress, compareAddresses } from '../../../model/address.ts';
import type { AdvertisementOf, LearnedOf } from '../../../model/advertisement.ts';
import { type Prefix, prefixKey } from '../../../model/prefix.ts';
import { prefixBytes } from '../../../packet/bytes.ts';
import { flagsOf } from '../../../packet/isis/attribute-flags.ts';
import type { IsisTlv, PrefixReachability } from '../../../packet/isis/tlv/types.ts';
import {
  type Supports,
  compareLeaked,
  sameSupports,
  supportsOf,
  supportsSize,
  supportsSubTlvs,
} from '../../supports.ts';
import { SUB_TLV_HEADER } from '../../../packet/isis/sub-tlvs.ts';
import { MT_IPV6, SIGNALING_METRIC } from '../constants.ts';
import {
  type OwnAttributes,
  copiedAttributes,
  isCopy,
  mayLeak,
  sameAttributes,
  sourceSubTlvs,
  sourcesSize,
} from './attributes.ts';
import type { Candidate, Desired, EntryCodec, IsisKind, LeakingRules, LspAddresses, NodeLookup } from './kind.ts';
import {
  type PlainEntry,
  type PrefixEntry,
  type ReadPrefix,
  WALKED_TLVS,
  isFull,
  proxyOf,
  reader,
} from './sender-prefix-reader.ts';

/** A prefix as we originate it, always with the signaling metric. */
export interface OwnPrefix extends OwnAttributes {
  readonly kind: 'sender-prefix';
  readonly key: string;
  readonly prefix: Prefix;
  readonly external: boolean;
  readonly supports?: Supports | undefined;
}

/**
 * TLVs 235 and 237 begin with a 2-byte topology. Space for it is reserved in TLV 236 too, because the neighbor may
 * enable topologies at any time.
 */
const PACKING = { 4: { capacity: 255, overhead: 2 }, 6: { capacity: 253, overhead: 4 } } as const;

const ENTRIES: EntryCodec<OwnPrefix> = {
  packings: [PACKING[4], PACKING[6]],
  packingOf: ({ prefix }) => (prefix.address.family === 4 ? 0 : 1),
  size: prefixSize,
  same: (a, b) => a.external === b.external && sameAttributes(a, b) && sameSupports(a.supports, b.supports),
  encode: (entries, mtIpv6) => [
    ...tlvGroups(entries, 4).map((group): IsisTlv => ({
      kind: 'ipv4-reachability',
      prefixes: group.map(reachability),
    })),
    ...tlvGroups(entries, 6).map((group): IsisTlv => {
      const prefixes = group.map(reachability);
      return mtIpv6
        ? { kind: 'mt-ipv6-reachability', mtId: MT_IPV6, prefixes }
        : { kind: 'ipv6-reachability', prefixes };
    }),
  ],
};

/**
 * The P-flag MUST be preserved when a prefix is leaked (PNC-5.1-c). What senders understand is leaked with it, or
 * without it. Other prefixes are not leaked, so the flag also stays clear.
 */
const LEAKING: LeakingRules<OwnPrefix, PrefixEntry> = {
  keyOf: ({ prefix }) => prefixKey(prefix),
  isCopy,
  mayLeak,
  compare: (a, b) => compareLeaked(a, b, resolved),
  /**
   * The copy names the proxy that the original resolves to, because the addresses of its node are unknown in the other
   * level.
   */
  copy(candidate, to) {
    const { kind, prefix, external, supports, ...entry } = candidate.entry;
    const attributes = copiedAttributes({ ...entry, ...sourceOf(resolved(candidate)) }, to);
    return { kind, key: prefixKey(prefix), prefix, external, ...attributes, ...(supports && { supports }) };
  },
};

export const SENDER_PREFIX: IsisKind<AdvertisementOf<'sender-prefix'>, OwnPrefix, ReadPrefix> = {
  kind: 'sender-prefix',
  own: {
    addressOf: ({ proxy }) => proxy,
    desired: (advertisements, s): Desired<OwnPrefix> => {
      const { 'isis-pnc-flag-bit': flagBit, 'isis-supports-sub-tlv': type } = s.config.codePoints;
      const [flagged, unflagged] = [flagsOf(flagBit), new Uint8Array()];
      const desired = new Map<string, OwnPrefix>();
      for (const { kind, prefix, proxy, supports } of advertisements) {
        const key = prefixKey(prefix);
        const known = desired.get(key);
        // Of two proxies for one prefix the lower address wins (decision D7).
        if (known) {
          count(s, 'originate.duplicate-prefix');
          const other = known.source6 ?? known.source4;
          if (!proxy || (other && compareAddresses(other, proxy) <= 0)) continue;
        }
        desired.set(key, {
          ...{ kind, key, prefix, down: false, external: false, flags: proxy ? flagged : unflagged },
          ...sourceOf(proxy),
          ...(supports && { supports: supportsOf(supports, type) }),
        });
      }
      return { entries: [...desired.values()], fragment0: [] };
    },
    entries: ENTRIES,
  },
  received: { walked: WALKED_TLVS, reader, learned: learnedPrefixes },
  leaking: LEAKING,
};

/** Encoded bytes of one entry of TLV 135 or 236 with its sub-TLVs. */
export function prefixSize(own: OwnPrefix): number {
  const fixed = own.prefix.address.family === 4 ? 5 : 6;
  const flags = own.flags.length > 0 ? SUB_TLV_HEADER + own.flags.length : 0;
  const subTlvs = flags + sourcesSize(own) + supportsSize(own.supports, SUB_TLV_HEADER);
  return fixed + prefixBytes(own.prefix.length) + (subTlvs > 0 ? 1 + subTlvs : 0);
}

const sourceOf = (proxy: IpAddress | undefined): Pick<OwnPrefix, 'source4' | 'source6'> =>
  !proxy ? {} : proxy.family === 4 ? { source4: proxy } : { source6: proxy };

/** The prefixes of one family, split into TLVs. */
export function tlvGroups(entries: Iterable<OwnPrefix>, family: 4 | 6): OwnPrefix[][] {
  const groups: OwnPrefix[][] = [];
  let size = Infinity;
  for (const own of entries) {
    if (own.prefix.address.family !== family) continue;
    const bytes = prefixSize(own);
    if (size + bytes > PACKING[family].capacity) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)!.push(own);
    size += bytes;
  }
  return groups;
}

const reachability = (own: OwnPrefix): PrefixReachability => ({
  prefix: own.prefix,
  metric: SIGNALING_METRIC,
  down: own.down,
  external: own.external,
  subTlvs: [
    ...(own.flags.length > 0 ? [{ kind: 'prefix-attribute-flags', flags: own.flags } as const] : []),
    ...sourceSubTlvs(own),
    ...supportsSubTlvs(own.supports),
  ],
});

const NO_ADDRESSES: LspAddresses = { routerIds: {}, interfaces: {} };

/** Usually the entries suffice and the node is not looked up. */
function learnedPrefixes(entries: readonly ReadPrefix[], node: NodeLookup): LearnedOf<'sender-prefix'>[] {
  const alone = entries.map((entry) => learnedPrefix(entry, NO_ADDRESSES));
  if (!alone.some(({ pnc, proxy }) => pnc && !proxy)) return alone;
  const addresses = node();
  return entries.map((entry) => learnedPrefix(entry, addresses));
}

function learnedPrefix(entry: PlainEntry | PrefixEntry, node: LspAddresses): LearnedOf<'sender-prefix'> {
  if (!isFull(entry)) return entry;
  const { kind, prefix, pnc, metric, supports } = entry;
  const learned = { kind, prefix, pnc, metric, ...(supports && { supports: supports.formats }) };
  return pnc ? { ...learned, proxy: proxyOf(entry, node) } : learned;
}

/** A prefix without the flag has none. */
const resolved = ({ entry, node }: Candidate<PrefixEntry>): IpAddress | undefined =>
  entry.pnc ? (proxyOf(entry, NO_ADDRESSES) ?? proxyOf(entry, node())) : undefined;
