// What the measured agent learns of many End.MT groups: edges behind its neighbor, each a router with a cnpd beside it,
// whose LSPs have the edge's SID and its receivers of all groups.
import { DEFAULT_CODE_POINTS } from '../../../model/code-points.ts';
import { GROUP_MEMBERSHIP } from '../../../carriers/isis/kinds/group-membership.ts';
import { SID, sidKey } from '../../../carriers/isis/kinds/sid.ts';
import { type IpAddress, address } from '../../../model/address.ts';
import { type GroupMember, memberKey } from '../../../model/group.ts';
import { prefixOf } from '../../../model/prefix.ts';
import { AGENT_SYSTEM, NEIGHBOR_SYSTEM, lsp, router, routerSystem, systemId } from './isis-network.ts';

/** Receivers in an LSP: five TLVs of 255 octets, with three of at most 72 octets each. */
const MEMBERS_A_FRAGMENT = 15;

const hex = (n: number): string => n.toString(16);
export const proxyOf = (group: number): IpAddress => address(`2001:db8:aa::${hex(group + 1)}`);
export const sourceOf = (group: number): IpAddress => address(`2001:db8:a::${hex(group + 1)}`);
export const edgeSid = (edge: number): IpAddress => address(`2001:db8:e:${hex(edge)}::1`);

/** The receiver of a group at an edge. @param version another one has another Queue Pair */
export const receiverOf = (group: number, edge: number, version: number): GroupMember => ({
  ...{ group: proxyOf(group), role: 'receiver', address: address(`2001:db8:b:${hex(edge)}::${hex(group + 1)}`) },
  ...{ qpn: 0x1000 * version + group + 2, node: edgeSid(edge), psnDelta: 0 },
});

/** The neighbor's LSP: it reaches the agent and the router of every edge. */
export const neighborOfEdges = (edges: number, sequence: number): Uint8Array =>
  lsp(
    { system: systemId(NEIGHBOR_SYSTEM), fragment: 0, sequence },
    router([systemId(AGENT_SYSTEM), ...Array.from({ length: edges }, (_, edge) => routerSystem(2 * edge))]),
  );

/** LSPs without members, of the edge's router and of its cnpd. */
export function edgeLsps(edge: number, sequence: number): Uint8Array[] {
  const [own, cnpd] = [routerSystem(2 * edge), routerSystem(2 * edge + 1)];
  const sid = edgeSid(edge);
  const entry = {
    ...({ kind: 'sid', key: sidKey(sid), sid, behavior: DEFAULT_CODE_POINTS['end-mt-behavior'] } as const),
    ...{ locator: prefixOf(sid, 64), algorithm: 0, down: false, flags: new Uint8Array() },
  };
  if (SID.own.entries === 'none') throw new Error('SIDs have no entries');
  return [
    lsp({ system: own, fragment: 0, sequence }, router([systemId(NEIGHBOR_SYSTEM), cnpd])),
    lsp({ system: cnpd, fragment: 0, sequence }, [...router([own]), ...SID.own.entries.encode([entry], false)]),
  ];
}

/** LSPs with the edge's receivers of all groups. */
export function memberLsps(edge: number, groups: number, { version, sequence }: { version: number; sequence: number }) {
  const { entries } = GROUP_MEMBERSHIP.own;
  if (entries === 'none') throw new Error('members have no entries');
  const applicationId = DEFAULT_CODE_POINTS['isis-group-application'];
  const all = Array.from({ length: groups }, (_, group) => {
    const member = receiverOf(group, edge, version);
    const key = `group:${memberKey(member)}`;
    return { kind: 'group-membership', ...member, key, applicationId, copy: false, down: false } as const;
  });
  return Array.from({ length: Math.ceil(groups / MEMBERS_A_FRAGMENT) }, (_, i) =>
    lsp(
      { system: routerSystem(2 * edge + 1), fragment: i + 1, sequence },
      entries.encode(all.slice(i * MEMBERS_A_FRAGMENT, (i + 1) * MEMBERS_A_FRAGMENT), false),
    ),
  );
}
