// What the fragments of our own LSP say. Every prefix and locator is for signalling only (PNC-5.1-b): metric
// 0xFE000001, so that no router installs a route because of it.
import { type IpAddress, address, addressBytes } from '../../../model/address.ts';
import { concat } from '../../../packet/bytes.ts';
import type { IsisTlv, PrefixReachability, PrefixSubTlv } from '../../../packet/isis/types.ts';
import { isActive } from '../adjacency/adjacency.ts';
import { LINK_METRIC, MT_IPV6, SIGNALLING_METRIC } from '../constants.ts';
import type { NodeAddresses } from '../kinds/entries.ts';
import { type Fragment, type OriginatedPrefix, isOriginatedSid, sidsIn, tlvGroups } from './placement.ts';
import { locatorTlvs } from '../kinds/sids.ts';
import type { LevelState, Speaker } from '../state.ts';

const NLPID_IPV4 = 0xcc;
const NLPID_IPV6 = 0x8e;
/** SRv6 Capabilities (RFC 9352 §2): sub-TLV 25 with no flag set. */
const SRV6_CAPABILITIES = Uint8Array.of(25, 2, 0, 0);
/**
 * Where there is no IPv4 address, TLV 242 has this router ID, and the IPv6 one in sub-TLV 12 (RFC 7981 §2, RFC 5316): a
 * router with SIDs has one always.
 */
const NO_ROUTER_ID: IpAddress = address('0.0.0.0');
const IPV6_TE_ROUTER_ID = 12;

/** Fragment 0: who we are and whom we are adjacent to. */
export function zeroTlvs(s: Speaker, level: LevelState): IsisTlv[] {
  const tlvs: IsisTlv[] = [
    { kind: 'protocols-supported', nlpids: [NLPID_IPV4, NLPID_IPV6] },
    { kind: 'area-addresses', areas: [s.config.area] },
  ];
  if (s.config.hostname) tlvs.push({ kind: 'hostname', name: s.config.hostname });
  tlvs.push(...routerTlvs(s));
  if (!isActive(s, level.level)) return tlvs;
  const neighbors = [
    { systemId: s.adjacency!.systemId, pseudonode: 0, metric: LINK_METRIC, subTlvs: new Uint8Array(0) },
  ];
  const topologies = [0, MT_IPV6].map((id) => ({ id, overload: id !== 0, attached: false }));
  if (s.adjacency!.mtIpv6) tlvs.push({ kind: 'multi-topology', topologies });
  tlvs.push({ kind: 'extended-is-reachability', neighbors });
  if (s.adjacency!.mtIpv6) tlvs.push({ kind: 'mt-is-reachability', mtId: MT_IPV6, neighbors });
  return tlvs;
}

/** Router addresses, and what a router that has SIDs must say of itself (RFC 9352 §2). */
function routerTlvs(s: Speaker): IsisTlv[] {
  const { v4, v6 } = s.routerAddresses;
  const hasSids = [...s.desired.values()].some(isOriginatedSid);
  return [
    ...(v4 ? [{ kind: 'ipv4-te-router-id', address: v4 } as const] : []),
    ...(v6 ? [{ kind: 'ipv6-te-router-id', address: v6 } as const] : []),
    ...(hasSids
      ? [
          {
            kind: 'router-capability',
            routerId: s.identity.v4 ?? NO_ROUTER_ID,
            flags: 0,
            subTlvs: capabilities(s.identity),
          } as const,
        ]
      : []),
  ];
}

const capabilities = ({ v4, v6 }: NodeAddresses): Uint8Array =>
  v4 || !v6 ? SRV6_CAPABILITIES : concat(Uint8Array.of(IPV6_TE_ROUTER_ID, 16), addressBytes(v6), SRV6_CAPABILITIES);

/** The other fragments: prefixes and SIDs. */
export function entryTlvs(s: Speaker, fragment: Fragment): IsisTlv[] {
  const mtIpv6 = s.adjacency?.mtIpv6 ?? false;
  const v4 = tlvGroups(fragment, 4).map((group): IsisTlv => ({
    kind: 'ipv4-reachability',
    prefixes: group.map(reachability),
  }));
  const v6 = tlvGroups(fragment, 6).map((group): IsisTlv => {
    const prefixes = group.map(reachability);
    return mtIpv6 ? { kind: 'mt-ipv6-reachability', mtId: MT_IPV6, prefixes } : { kind: 'ipv6-reachability', prefixes };
  });
  return [...v4, ...v6, ...locatorTlvs(sidsIn(fragment), mtIpv6 ? MT_IPV6 : 0)];
}

function reachability(p: OriginatedPrefix): PrefixReachability {
  const subTlvs: PrefixSubTlv[] = [{ kind: 'prefix-attribute-flags', flags: p.flags }];
  if (p.source4) subTlvs.push({ kind: 'ipv4-source-router-id', address: p.source4 });
  if (p.source6) subTlvs.push({ kind: 'ipv6-source-router-id', address: p.source6 });
  return { prefix: p.prefix, metric: SIGNALLING_METRIC, down: p.down, external: p.external, subTlvs };
}
