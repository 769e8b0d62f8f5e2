import { describe, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import type { SidEntry } from '../learned/routers.ts';
import { address, formatAddress } from '../model/address.ts';
import { membersIn } from '../model/group.fixture.ts';
import type { GroupMember } from '../model/group.ts';
import type { TopologyReport } from '../model/topology.ts';
import type { Facts } from './facts.ts';
import type { LearnedAboutGroups } from './group-view.ts';
import { planGroups } from './groups.ts';
import { FACTS } from './inputs.fixture.ts';
import type { MulticastListPlan } from './multicast-plan.ts';
import { originated } from './origination.ts';

const SIDS =
  'srv6: { core-ports: [eth2], end-mt: { locator: 2001:db8:e::/48 }, replication: { locator: 2001:db8:e::/48 } }\n';
const GROUP = 'name: g, proxy-address: 2001:db8:aa::1, designated-qpn: 4096';
const SOURCE = 'source: { address: 2001:db8:1::1, qpn: 77 }';
const groups = (...entries: readonly string[]): string =>
  `groups:\n${entries.map((one) => `  - { ${one} }\n`).join('')}`;
const ROOTED = `${ROUTER}${SIDS}${groups(`${GROUP}, ${SOURCE}, receivers: [{ address: 2001:db8:2::1, qpn: 201 }]`)}`;
const [OWN_EDGE, OWN_REPLICATION] = ['2001:db8:e::c1:0:0', '2001:db8:e::c2:0:0'];

const BEHAVIORS = { edge: 0x8001, replication: 0x8003 } as const;
const sid = (text: string, kind: keyof typeof BEHAVIORS, originator: string): SidEntry => ({
  ...{ sid: address(text), behavior: BEHAVIORS[kind], carrier: 'isis', originator },
});
const receiver = (host: string, node: string, change: Partial<GroupMember> = {}): GroupMember => ({
  ...{ group: address('2001:db8:aa::1'), role: 'receiver', address: address(host), qpn: 300, node: address(node) },
  psnDelta: 0,
  ...change,
});

/** This router r1, then r2 to which r3 and r4 are connected; the cnpd of each is a stub beside it. */
function line(): TopologyReport {
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

const E3 = '2001:db8:e3::1';
const E4 = '2001:db8:e4::1';
const R2 = '2001:db8:e2::2';
const LEARNED: LearnedAboutGroups = {
  sids: () => [sid(E3, 'edge', 'c3'), sid(E4, 'edge', 'c4'), sid(R2, 'replication', 'c2')],
  members: () => [receiver('2001:db8:3::1', E3), receiver('2001:db8:4::1', E4)],
  topologies: () => [line()],
};
const MTUS: Facts = { ...FACTS, links: FACTS.links.map((link) => ({ ...link, mtu: 1500 })) };

const plan = (text: string, learned: Partial<LearnedAboutGroups> = {}, facts = MTUS) =>
  planGroups(load(text), { ...LEARNED, ...learned }, facts);
const branches = (list: MulticastListPlan | undefined): string[] | undefined =>
  list?.branches.map((one) =>
    one.kind === 'local' ? 'local' : formatAddress(one.kind === 'child' ? one.sid : one.address),
  );

describe('what is advertised', () => {
  test('RMC-5.1-d: source and receivers of the file', () => {
    expect(membersIn(originated(load(ROOTED)))).toEqual([
      `receiver 2001:db8:aa::1 2001:db8:2::1 ${OWN_EDGE} 201 0`,
      `source 2001:db8:aa::1 2001:db8:1::1 ${OWN_REPLICATION} 4096 0`,
    ]);
    expect(membersIn(originated(load(`${ROUTER}${SIDS}`)))).toEqual([]);
  });
});

describe('the root', () => {
  test('RMC-5.2-b: copies go to the nearest router that replicates, and to its own receivers', () => {
    const { multicast } = plan(ROOTED);
    const [edge, tree] = multicast!.lists;
    expect([edge!.role, branches(edge)]).toEqual(['edge', ['2001:db8:2::1']]);
    expect([tree!.role, branches(tree), tree!.parent]).toEqual(['branching', ['local', R2], null]);
    const [headEnd] = multicast!.headEnds;
    expect([headEnd!.membersDigest, headEnd!.treeDigest]).toEqual([edge!.digest, tree!.digest]);
    expect(formatAddress(headEnd!.replicationSid)).toBe(OWN_REPLICATION);
    expect(multicast!.groups[0]!.source).toEqual({ address: address('2001:db8:1::1'), qpn: 77 });
    expect(plan(ROOTED).problems).toEqual([]);
  });

  test('RMC-5.1-f, RMC-7.2-f: a TLV for each edge', () => {
    const [headEnd] = plan(ROOTED).multicast!.headEnds;
    expect(
      headEnd!.endMtTlvs.map(({ edge, receivers }) => [
        formatAddress(edge),
        ...receivers.map((one) => `${formatAddress(one.address)} ${one.qpn}`),
      ]),
    ).toEqual([
      [OWN_EDGE, '2001:db8:2::1 201'],
      [E3, '2001:db8:3::1 300'],
      [E4, '2001:db8:4::1 300'],
    ]);
  });
});
