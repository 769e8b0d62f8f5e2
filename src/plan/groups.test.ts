import { describe, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import type { SidEntry } from '../learned/routers.ts';
import { address, formatAddress } from '../model/address.ts';
import { membersIn } from '../model/group.fixture.ts';
import type { GroupMember } from '../model/group.ts';
import type { TopologyReport } from '../model/topology.ts';
import type { Facts } from './facts.ts';
import type { LearnedAboutGroups } from './group-view.ts';
import { planGuarded } from './guard.ts';
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
  originatorOf: () => undefined,
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

describe('a router that lies about groups', () => {
  const claim = (group: string, change: Partial<GroupMember>): GroupMember => ({
    ...receiver('2001:db8:66::1', '2001:db8:66::e', { group: address(group) }),
    ...change,
  });
  const source = (group: string, node = '2001:db8:66::2'): GroupMember =>
    claim(group, { role: 'source', address: address('2001:db8:66::5'), node: address(node) });
  const withLies = (...lies: readonly GroupMember[]): LearnedAboutGroups => ({
    ...LEARNED,
    members: () => [...lies, ...LEARNED.members()],
  });
  const guarded = (learned: LearnedAboutGroups): string[] =>
    planGuarded(load(`${ROOTED}border-ports: [wan]\n`), [], learned).map(({ id }) => id);

  test.each([
    ['a receiver', '2001:db8:3::1'],
    ['the edge of receivers', E3],
    ['the source', '2001:db8:1::1'],
  ])('takes nothing from %s by a group with its address: the group does not count', (_, victim) => {
    const learned = withLies(source(victim), claim(victim, {}));
    const { multicast, problems } = plan(ROOTED, learned);
    const honest = plan(ROOTED).multicast!;
    expect([multicast!.groups, multicast!.headEnds, multicast!.lists]).toEqual([
      honest.groups,
      honest.headEnds,
      honest.lists,
    ]);
    expect(problems.map(({ code }) => code)).toEqual(['groups.proxy-address-taken']);
    expect(problems[0]!.problem).toContain(`group ${victim}: does not count`);
    expect(guarded(learned)).toEqual(guarded(LEARNED));
  });

  test('makes nobody the root of what their hosts send: a router is that of sources which it declares', () => {
    const lies = withLies(
      source('2001:db8:bb::1', OWN_REPLICATION),
      claim('2001:db8:bb::1', { node: address(OWN_EDGE) }),
    );
    expect(plan(ROOTED, lies).multicast!.groups.map(({ id }) => id)).toEqual(['2001:db8:aa::1']);
    expect(plan(ROOTED, lies).multicast!.headEnds).toEqual(plan(ROOTED).multicast!.headEnds);
  });

  test.each(['2001:db8::1', OWN_REPLICATION])('takes nothing from %s, an address of this router', (own) => {
    const lies = withLies(source(own), claim(own, { node: address(OWN_EDGE) }));
    expect(plan(ROOTED, lies).multicast!.groups.map(({ id }) => id)).toEqual(['2001:db8:aa::1']);
  });

  test('Proxy Addresses of groups that count are not reachable from outside', () => {
    const other = withLies(source('2001:db8:bb::1'), claim('2001:db8:cc::1', {}));
    expect(guarded(other)).toEqual([...guarded(LEARNED), '2001:db8:bb::1']);
    expect(guarded(LEARNED)).toEqual([OWN_EDGE, OWN_REPLICATION, E3, E4, R2, '2001:db8:aa::1']);
  });
});

describe('what keeps groups from working', () => {
  const problems = (facts: Partial<Facts>): string[] =>
    plan(ROOTED, {}, { ...MTUS, ...facts }).problems.map(({ code, problem }) => `${code}: ${problem}`);

  test('RMC-5.1-e: a Proxy Address that this router has itself, which no rule about the file shows', () => {
    expect(problems({ addresses: [address('2001:db8:aa::2')] })).toEqual([]);
    expect(problems({ addresses: [address('2001:db8:aa::1')] })).toEqual([
      'groups.proxy-address-taken: group 2001:db8:aa::1: the Proxy Address is an address of this router, which ' +
        'keeps the packets',
    ]);
  });

  test('RMC-5.2-d: SIDs are named also where nothing can serve them, so that they are not advertised', () => {
    const both = [OWN_EDGE, OWN_REPLICATION];
    const state = (facts: Partial<Facts>) => {
      const { groupSids, multicast } = plan(ROOTED, {}, { ...MTUS, ...facts });
      return { groupSids, isServed: multicast !== undefined };
    };
    expect(state({})).toEqual({ groupSids: both, isServed: true });
    expect(state({ links: [] })).toEqual({ groupSids: both, isServed: false });
    const bpffs = { name: 'bpffs', ok: false, detail: 'not mounted', remedy: 'mount it' };
    expect(state({ features: [bpffs] })).toEqual({ groupSids: both, isServed: false });
  });

  test('a source without a Queue Pair gets no answers; the command that declares it is shown', () => {
    const { multicast, problems: found } = plan(ROOTED.replace(', qpn: 77', ''));
    expect(multicast!.groups[0]!.source!.qpn).toBeNull();
    expect(found.map(({ code }) => code)).toEqual(['groups.source-unknown']);
    expect(found[0]!.remedy).toContain('`cnpctl group join 2001:db8:aa::1 --source 2001:db8:1::1 --qpn N`');
  });

  test('no forwarding of IPv6; that of IPv4 does not matter', () => {
    expect(problems({ forwarding: { 4: false, 6: true } })).toEqual([]);
    expect(problems({ forwarding: { 4: true, 6: false } })).toEqual([
      expect.stringMatching(/^router\.not-forwarding: this router does not forward IPv6/),
    ]);
  });
});
