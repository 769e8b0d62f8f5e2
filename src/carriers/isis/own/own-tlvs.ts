// The TLVs of our own LSP: those of each kind of advertisement (kinds/), and in fragment 0 our identity and our
// adjacency.
import { NLPID_IPV4, NLPID_IPV6 } from '../../../packet/isis/tlv/protocols-supported.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import { isActive } from '../adjacency/adjacency.ts';
import { LINK_METRIC, MT_IPV6 } from '../constants.ts';
import { type Fragment, entriesOf } from './placement.ts';
import type { LevelState, Speaker } from '../state.ts';

export function fragment0Tlvs(s: Speaker, level: LevelState): IsisTlv[] {
  const tlvs: IsisTlv[] = [
    { kind: 'protocols-supported', nlpids: [NLPID_IPV4, NLPID_IPV6] },
    { kind: 'area-addresses', areas: [s.config.area] },
  ];
  if (s.config.hostname) tlvs.push({ kind: 'hostname', name: s.config.hostname });
  tlvs.push(...s.fragment0);
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

/** TLVs of the other fragments. */
export const entryTlvs = (s: Speaker, fragment: Fragment): IsisTlv[] =>
  s.kinds.rows.flatMap(({ kind, own: { entries } }) =>
    entries === 'none' ? [] : entries.encode(entriesOf(fragment, kind), s.adjacency?.mtIpv6 ?? false),
  );
