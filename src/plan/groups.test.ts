import { describe, expect, test } from 'vitest';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { address, formatAddress } from '../model/address.ts';
import { membersIn } from '../model/group.fixture.ts';
import type { GroupMember } from '../model/group.ts';
import type { Facts, LinkFact } from './facts.ts';
import type { LearnedAboutGroups } from './group-view.ts';
import {
  E3,
  E4,
  GROUP,
  LEARNED,
  MTUS,
  OWN_EDGE,
  OWN_REPLICATION,
  R2,
  ROOTED,
  SIDS,
  plan,
  receiver,
  sid,
} from './groups.fixture.ts';
import { planGuarded } from './guard.ts';
import type { MulticastListPlan } from './multicast-plan.ts';
import { originated } from './origination.ts';

const branches = (list: MulticastListPlan | undefined): string[] | undefined =>
  list?.branches.map((one) =>
    one.kind === 'local' ? 'local' : formatAddress(one.kind === 'child' ? one.sid : one.address),
  );

test('the pair into the trees is no port: a packet of the source would be seen there a second time, from elsewhere', () => {
  const pair = ['cnpd-mc', 'cnpd-mc-peer'].map((name, i) => ({ ...MTUS.links[1]!, name, ifindex: 50 + i }));
  const { multicast } = plan(ROOTED, {}, { ...MTUS, links: [...MTUS.links, ...pair] });
  expect(multicast?.ports.map(({ interface: name }) => name)).toEqual(['eth1', 'eth2', 'eth3', 'wan', 'cnpd-isis']);
});

test('RMC-9-b: ports of a bridge or bond are none: routes lead to the bridge, and packets are judged there', () => {
  const link = (name: string, ifindex: number, of: Partial<LinkFact>) => ({ ...MTUS.links[1]!, name, ifindex, ...of });
  const links = [
    ...[link('br0', 50, { kind: 'bridge' }), link('bond0', 51, { kind: 'bond', master: 50 })],
    ...[link('eth7', 52, { master: 51 }), link('eth8', 53, { master: 50 }), link('eth9', 55, { master: 54 })],
    link('red', 54, { kind: 'vrf', etherLike: false }),
  ];
  const { multicast } = plan(ROOTED, {}, { ...MTUS, links: [...MTUS.links, ...links] });
  expect(multicast?.ports.map(({ interface: name }) => name).slice(5)).toEqual(['br0', 'eth9']);
  // Whom the operator names as a core port is one.
  const named = plan(ROOTED.replace('eth2', 'eth8'), {}, { ...MTUS, links: [...MTUS.links, ...links] });
  expect(named.multicast?.ports.filter(({ isCore }) => isCore).map(({ id }) => id)).toEqual(['eth8']);
});

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

  const discards = (text: string, learned: Partial<LearnedAboutGroups> = {}) =>
    plan(text, learned).multicast!.discards.map(({ id }) => id);

  test('what the source sends is dropped while no tree takes it; an edge drops nothing, its copies come from there', () => {
    expect(discards(ROOTED)).toEqual(['2001:db8:aa::1']);
    expect(discards(ROOTED, { members: () => [] })).toEqual(['2001:db8:aa::1']);
    expect(discards(ROOTED.replace(/source: \{[^}]*\}, /, ''))).toEqual([]);
  });

  test('nobody loses packets to a group of the same address that does not count, or whose source is elsewhere', () => {
    const group = address('2001:db8:aa::1');
    const lies: Record<string, Partial<LearnedAboutGroups>> = {
      member: {
        members: () => [...LEARNED.members(), receiver('2001:db8:aa::1', E3, { group: address('2001:db8:bb::1') })],
      },
      router: { routerAddresses: () => [group] },
      'other source': {
        members: () => [...LEARNED.members(), receiver('2001:db8:5::1', '2001:db8:0:1::', { group, role: 'source' })],
      },
    };
    for (const [what, learned] of Object.entries(lies)) expect(discards(ROOTED, learned), what).toEqual([]);
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

describe('every router', () => {
  test.each([
    ['', 50_000],
    [', cnp-window: 1us', 1000],
    [', cnp-window: 2ms', 2_000_000],
    [', cnp-window: 1s', 1_000_000_000],
  ])('RMC-5.3.3-d: the window T is that of the file: %j', (key, ns) => {
    const [group] = plan(ROOTED.replace(GROUP, `${GROUP}${key}`)).multicast!.groups;
    expect(group!.cnpWindowNs).toBe(ns);
  });

  test('RMC-8-e: has a branch for each router below it in the tree, and not for each receiver behind that', () => {
    const behind = (count: number) => () =>
      [E3, E4].flatMap((edge, e) =>
        Array.from({ length: count }, (_, i) => receiver(`2001:db8:${e + 3}::${(i + 1).toString(16)}`, edge)),
      );
    const tree = (count: number) => plan(ROOTED, { members: behind(count) }).multicast!.lists.map(branches);
    expect(tree(1)).toEqual([['2001:db8:2::1'], ['local', R2]]);
    expect(tree(60)).toEqual(tree(1));
  });
});

describe('a router that lies about groups', () => {
  const claim = (group: string, change: Partial<GroupMember>): GroupMember => ({
    ...receiver('2001:db8:66::1', '2001:db8:66::e', { group: address(group) }),
    ...change,
  });
  const source = (group: string, node = '2001:db8:66::2'): GroupMember =>
    claim(group, { role: 'source', address: address('2001:db8:66::5'), node: address(node) });
  const END_CON = '2001:db8:c::1';
  const FACTS_HERE = { addresses: [address('2001:db8:9::1')] };
  const withLies = (...lies: readonly GroupMember[]): LearnedAboutGroups => ({
    ...LEARNED,
    sids: () => [...LEARNED.sids(), { ...sid(END_CON, 'edge', 'c2'), behavior: 0x8000 }],
    routerAddresses: () => [address('2001:db8:ffff::9')],
    members: () => [...lies, ...LEARNED.members()],
  });
  const guarded = (learned: LearnedAboutGroups): string[] =>
    planGuarded(load(`${ROOTED}border-ports: [wan]\n`), [], learned, FACTS_HERE).map(({ id }) => id);

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

  test('makes no router the root of what that router’s hosts send: it is that of sources which it declares', () => {
    const lies = withLies(
      source('2001:db8:bb::1', OWN_REPLICATION),
      claim('2001:db8:bb::1', { node: address(OWN_EDGE) }),
    );
    expect(plan(ROOTED, lies).multicast!.groups.map(({ id }) => id)).toEqual(['2001:db8:aa::1']);
    expect(plan(ROOTED, lies).multicast!.headEnds).toEqual(plan(ROOTED).multicast!.headEnds);
  });

  test.each<[string, string]>([
    ['2001:db8::1', 'the Proxy Address is an address of this router, which keeps'],
    [OWN_REPLICATION, 'does not count: its Proxy Address belongs to the member'],
    ['2001:db8:9::1', 'the Proxy Address is an address of this router, which keeps'],
    ['2001:db8:ffff::9', 'the Proxy Address is an address or a SID of another router'],
    [END_CON, 'the Proxy Address is an address or a SID of another router'],
  ])('takes nothing from %s: %s …', (taken, what) => {
    const lies = withLies(source(taken), claim(taken, { node: address(OWN_EDGE) }));
    const { multicast, problems } = plan(ROOTED, lies, { ...MTUS, ...FACTS_HERE });
    expect(multicast!.groups.map(({ id }) => id)).toEqual(['2001:db8:aa::1']);
    expect(problems.map(({ code }) => code)).toEqual(['groups.proxy-address-taken']);
    expect(problems[0]!.problem).toContain(`group ${taken}: ${what}`);
    expect(guarded(lies)).toEqual(guarded(LEARNED));
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

  test('members beyond the limits, of whose groups packets are dropped here', () => {
    const found = (text: string) => plan(text, { membersLeftOut: () => ({ count: 7, originator: 'abr1' }) }).problems;
    expect(found(ROOTED).map(({ code, problem }) => [code, problem.slice(0, 40)])).toEqual([
      ['groups.members-left-out', '7 members of groups are advertised beyon'],
    ]);
    expect(found(ROUTER)).toEqual([]);
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
