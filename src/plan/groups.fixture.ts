// For tests: the root r1 of a group, with an own receiver and two more behind r2, and its plan.
import { ROUTER, load } from '../intent/files.fixture.ts';
import type { SidEntry } from '../learned/routers.ts';
import { address } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import type { TopologyReport } from '../model/topology.ts';
import type { Facts } from './facts.ts';
import type { LearnedAboutGroups } from './group-view.ts';
import { planGroups } from './groups.ts';
import { FACTS } from './inputs.fixture.ts';

export const SIDS =
  'srv6: { core-ports: [eth2], end-mt: { locator: 2001:db8:e::/48 }, replication: { locator: 2001:db8:e::/48 } }\n';
export const GROUP = 'name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 4096';
export const SOURCE = 'source: { address: 2001:db8:1::1, qpn: 77 }';
export const groups = (...entries: readonly string[]): string =>
  `groups:\n${entries.map((one) => `  - { ${one} }\n`).join('')}`;
export const ROOTED = `${ROUTER}${SIDS}${groups(`${GROUP}, ${SOURCE}, receivers: [{ address: 2001:db8:2::1, qpn: 201 }]`)}`;
export const [OWN_EDGE, OWN_REPLICATION] = ['2001:db8:e::c1:0:0', '2001:db8:e::c2:0:0'];

const BEHAVIORS = { edge: 0x8001, replication: 0x8003 } as const;
export const sid = (text: string, kind: keyof typeof BEHAVIORS, originator: string): SidEntry => ({
  ...{ sid: address(text), behavior: BEHAVIORS[kind], carrier: 'isis', originator },
});
export const receiver = (host: string, node: string, change: Partial<GroupMember> = {}): GroupMember => ({
  ...{ group: address('2001:db8:aa::1'), role: 'receiver', address: address(host), qpn: 300, node: address(node) },
  psnDelta: 0,
  ...change,
});

/** This router r1, then r2 to which r3 and r4 are connected; the cnpd of each is a stub beside it. */
export function line(): TopologyReport {
  const links: readonly (readonly [string, string])[] = [
    ['r1', 'r2'],
    ['r2', 'r3'],
    ['r2', 'r4'],
    ...['1', '2', '3', '4'].map((n) => [`r${n}`, `c${n}`] as const),
  ];
  const names = [...new Set(links.flat())];
  const nodes = new Map(
    names.map((name) => [
      name,
      {
        originator: name,
        isTransit: name.startsWith('r'),
        links: links.flatMap(([a, b]) => (a === name ? [b] : b === name ? [a] : [])).map((to) => ({ to, cost: 10 })),
      },
    ]),
  );
  return { carrier: 'isis', areas: [{ area: 'L2', self: 'c1', nodes }] };
}

export const E3 = '2001:db8:e3::1';
export const E4 = '2001:db8:e4::1';
export const R2 = '2001:db8:e2::2';
export const LEARNED: LearnedAboutGroups = {
  sids: () => [sid(E3, 'edge', 'c3'), sid(E4, 'edge', 'c4'), sid(R2, 'replication', 'c2')],
  members: () => [receiver('2001:db8:3::1', E3), receiver('2001:db8:4::1', E4)],
  topologies: () => [line()],
  originatorOf: () => undefined,
};
export const MTUS: Facts = { ...FACTS, links: FACTS.links.map((link) => ({ ...link, mtu: 1500 })) };

export const plan = (text: string, learned: Partial<LearnedAboutGroups> = {}, facts = MTUS) =>
  planGroups(load(text), { ...LEARNED, ...learned }, facts);
