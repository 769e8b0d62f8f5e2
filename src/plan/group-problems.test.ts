// What an operator reads when groups do not work: one line for each kind of problem, and its remedy. Those that follow
// from lies of other routers are in groups.test.ts.
import { describe, expect, test } from 'vitest';
import { ROUTER } from '../intent/files.fixture.ts';
import type { SidEntry } from '../learned/routers.ts';
import { address } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import { prefix } from '../model/prefix.ts';
import type { Facts, LinkFact } from './facts.ts';
import type { LearnedAboutGroups } from './group-view.ts';
import { E3, E4, GROUP, LEARNED, MTUS, R2, ROOTED, SIDS, groups, plan, receiver, sid } from './groups.fixture.ts';

const shown = (text: string, learned: Partial<LearnedAboutGroups> = {}, facts: Facts = MTUS): string[] =>
  plan(text, learned, facts).problems.map(({ code, problem }) => `${code}: ${problem}`);
const remedyOf = (text: string, learned: Partial<LearnedAboutGroups> = {}, facts: Facts = MTUS): string =>
  plan(text, learned, facts).problems[0]!.remedy;
const withMembers = (...more: readonly GroupMember[]): Partial<LearnedAboutGroups> => ({
  members: () => [...LEARNED.members(), ...more],
});

test('a group without problems has none', () => {
  expect(shown(ROOTED)).toEqual([]);
});

test('core ports that do not exist, or have no Ethernet header', () => {
  for (const name of ['nope', 'lo'])
    expect(shown(ROOTED.replace('eth2', name))).toEqual([
      `groups.no-core-port: none of the core ports ${name} exists with an Ethernet header: no packet of a group ` +
        'leaves or arrives',
    ]);
});

describe('claims that exclude each other', () => {
  const source: GroupMember = { ...receiver('2001:db8:66::5', '2001:db8:ffff::9'), role: 'source', qpn: 4096 };

  test.each<[string, GroupMember, string]>([
    ['two sources', source, 'has two sources: 2001:db8:1::1 counts, and 2001:db8:66::5 does not'],
    [
      'two edges of a receiver',
      receiver('2001:db8:3::1', E4),
      `the receiver 2001:db8:3::1 is declared twice: with edge ${E3}, which counts, and with ${E4}, which does not`,
    ],
    [
      'two Queue Pairs of a receiver at one edge',
      receiver('2001:db8:3::1', E3, { qpn: 299 }),
      'the receiver 2001:db8:3::1 is declared twice: with Queue Pair 299, which counts, and with 300, which does not',
    ],
    [
      'two PSN deltas',
      receiver('2001:db8:3::1', E3, { psnDelta: 9 }),
      'the receiver 2001:db8:3::1 is declared twice: with psn-delta 0, which counts, and with 9, which does not',
    ],
    [
      'a receiver with and without what WRITEs need',
      receiver('2001:db8:3::1', E3, { write: { vaDelta: 2n ** 64n - 8n, rKey: 7 } }),
      'the receiver 2001:db8:3::1 is declared twice: with write none, which counts, and with va-delta -8, r-key 7, ' +
        'which does not',
    ],
    [
      'one source at two roots',
      { ...source, address: address('2001:db8:1::1') },
      'the source 2001:db8:1::1 is declared twice: with replication SID 2001:db8:e::c2:0:0, which counts, and with ' +
        '2001:db8:ffff::9, which does not',
    ],
    [
      'a source that is a receiver',
      receiver('2001:db8:1::1', E3),
      '2001:db8:1::1 is the source, and does not count as a receiver',
    ],
  ])('%s', (_, claim, text) => {
    expect(shown(ROOTED, withMembers(claim))).toEqual([`groups.contested: group 2001:db8:aa::1: ${text}`]);
    expect(remedyOf(ROOTED, withMembers(claim))).toContain(
      '`cnpctl show groups 2001:db8:aa::1 members` shows who claims what',
    );
  });

  test('are counted beyond the first, those of each kind for themselves', () => {
    const claims = [receiver('2001:db8:3::1', E4), receiver('2001:db8:4::1', E3), receiver('2001:db8:1::1', E3)];
    expect(shown(ROOTED, withMembers(...claims))).toEqual([
      expect.stringMatching(/is declared twice.* \(and 1 more like it\)$/),
      expect.stringMatching(/2001:db8:1::1 is the source, and does not count as a receiver$/),
    ]);
  });

  test('are no problem here in a group in which this router has no part', () => {
    const group = address('2001:db8:bb::1');
    const claims = [E3, E4].map((edge) => receiver('2001:db8:9::1', edge, { group }));
    expect(shown(ROOTED, withMembers(...claims))).toEqual([]);
  });
});

test('a Designated Queue Pair that is not that of the source’s router', () => {
  const text = `${ROUTER}${SIDS}${groups(`${GROUP}, receivers: [{ address: 2001:db8:2::1, qpn: 201 }]`)}`;
  const source: GroupMember = { ...receiver('2001:db8:1::1', R2), role: 'source', qpn: 4096 };
  expect(shown(text, withMembers(source))).toEqual([]);
  expect(shown(text.replace('4096', '4097'), withMembers(source))).toEqual([
    'groups.designated-qpn: group 2001:db8:aa::1: its Designated Queue Pair is 4097 here, and 4096, which counts, at ' +
      'the router of the source: what receivers answer to another one does not count',
  ]);
});

describe('more copies than a router makes of one packet', () => {
  const at = (edge: string, count: number): GroupMember[] =>
    Array.from({ length: count }, (_, n) => receiver(`2001:db8:5::${(n + 1).toString(16)}`, edge));

  test('at an edge: the 65th receiver stops the group', () => {
    const learned = (count: number): Partial<LearnedAboutGroups> => ({ members: () => at(E3, count) });
    expect(shown(ROOTED, learned(64))).toEqual([]);
    expect(plan(ROOTED, learned(64)).multicast!.headEnds).toHaveLength(1);
    expect(shown(ROOTED, learned(65))).toEqual([
      'groups.too-many-branches: group 2001:db8:aa::1: a router would have to make more than 64 copies of a packet, ' +
        'so none is sent',
    ]);
    expect(plan(ROOTED, learned(65)).multicast!.headEnds).toEqual([]);
  });
});

test('a replication SID in place of an edge: no router would make the copies, so none is sent', () => {
  const learned = withMembers(receiver('2001:db8:5::1', R2));
  expect(shown(ROOTED, learned)).toEqual([
    `groups.not-an-edge: group 2001:db8:aa::1: ${R2} is a replication SID, no edge of receivers; nothing is sent`,
  ]);
  expect(plan(ROOTED, learned).multicast!.headEnds).toEqual([]);
});

describe('an edge', () => {
  const lost = '2026-11-24T12:00:00.000Z';
  const heldE3 = { ...sid(E3, 'edge', 'c3'), heldUntil: lost };

  test('that no router advertises', () => {
    const learned = withMembers(receiver('2001:db8:5::1', '2001:db8:e9::1'));
    expect(shown(ROOTED, learned)).toEqual([
      'groups.unknown-edge: group 2001:db8:aa::1: no router advertises the End.MT SID 2001:db8:e9::1: its receivers ' +
        'get nothing, and the source waits for them',
    ]);
    expect(remedyOf(ROOTED, learned)).toContain('give the router srv6.end-mt with this SID');
  });

  test('whose router is unreachable', () => {
    const learned = { sids: () => [heldE3, ...LEARNED.sids().slice(1)] };
    expect(shown(ROOTED, learned)).toEqual([
      `groups.edge-lost: group 2001:db8:aa::1: the router of the End.MT SID ${E3}, or its cnpd, is unreachable, and ` +
        'the source waits for its receivers',
    ]);
    // In another carrier it is still reachable.
    const again: SidEntry = { ...sid(E3, 'edge', '3.3.3.3'), carrier: 'ospfv3' };
    expect(shown(ROOTED, { sids: () => [heldE3, again, ...LEARNED.sids().slice(1)] })).toEqual([]);
  });

  test('of another router’s group is no problem of a router that has only receivers of its own', () => {
    const other = withMembers(receiver('2001:db8:5::1', '2001:db8:e9::1'));
    const source: GroupMember = { ...receiver('2001:db8:1::1', R2), role: 'source', qpn: 4096 };
    const members = () => [source, receiver('2001:db8:2::1', '2001:db8:e::c1:0:0'), ...other.members!()];
    expect(shown(`${ROUTER}${SIDS}`, { members })).toEqual([]);
  });
});

test('a root without a topology around it makes all copies, which is a problem only beside an IGP', () => {
  const isis = 'isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis }\n';
  const none = { topologies: () => [] };
  expect(shown(ROOTED, none)).toEqual([]);
  expect(shown(`${ROOTED}${isis}`, none)).toEqual([
    'groups.no-topology: group 2001:db8:aa::1: no carrier knows the topology around this router, so it makes all 3 ' +
      'copies itself',
  ]);
});

describe('a source whose connections are too large for the core', () => {
  /** eth2 is the core port. */
  const facts = (mtus: Readonly<Record<string, number>>, of: Partial<LinkFact> = {}, onLink = 'eth1'): Facts => ({
    ...MTUS,
    links: MTUS.links.map((link) => ({ ...link, mtu: mtus[link.name] ?? 1500, ...(link.name === 'eth1' && of) })),
    onLink: [
      { ifindex: MTUS.links.find(({ name }) => name === onLink)!.ifindex, prefix: prefix('2001:db8:1::/64') },
      { ifindex: 6, prefix: prefix('2001:db8::/32') },
    ],
  });
  const TOO_LARGE =
    'groups.mtu: group 2001:db8:aa::1: a connection with an RoCEv2 MTU above 1024 would get nothing through: the port ' +
    'eth1 of the source allows 4096, whose packets have 4428 octets in the tree, and the core ports pass 1500';

  test('is reported by its own port, with both remedies', () => {
    expect(shown(ROOTED, {}, facts({ eth1: 9000 }))).toEqual([TOO_LARGE]);
    expect(remedyOf(ROOTED, {}, facts({ eth1: 9000 }))).toBe(
      'give the Queue Pairs of the source and of all receivers a path MTU of at most 1024; or raise the MTU of eth2, ' +
        'and of every other link of the core, to at least 4428',
    );
    expect(shown(ROOTED, {}, facts({ eth1: 9000, eth2: 4428 }))).toEqual([]);
  });

  test('not by a port of other hosts, however large', () => {
    expect(shown(ROOTED, {}, facts({ eth3: 9000 }))).toEqual([]);
    expect(shown(ROOTED, {}, facts({ eth1: 9000 }, {}, 'eth3'))).toEqual([]);
  });

  test('behind a gateway by the largest port that is up', () => {
    const { onLink: _, ...routed } = facts({ eth1: 9000 });
    expect(shown(ROOTED, {}, routed)).toEqual([TOO_LARGE]);
    const { onLink: _none, ...down } = facts({ eth1: 9000 }, { up: false });
    expect(shown(ROOTED, {}, down)).toEqual([]);
  });

  test('is reported with any connection where not even the smallest fits', () => {
    expect(shown(ROOTED, {}, facts({ eth2: 444 }))).toEqual([expect.stringContaining('RoCEv2 MTU above 256')]);
    expect(shown(ROOTED, {}, facts({ eth2: 443 }))).toEqual([
      'groups.mtu: group 2001:db8:aa::1: no connection fits: in the tree the packets of the smallest RoCEv2 MTU, 256, ' +
        'have 444 octets, and the core ports pass 443',
    ]);
    expect(remedyOf(ROOTED, {}, facts({ eth2: 443 }))).toBe(
      'raise the MTU of eth2, and of every other link of the core, to at least 1212',
    );
  });
});

test('a group of another router’s source is not measured here', () => {
  const member = groups(`${GROUP}, receivers: [{ address: 2001:db8:2::1, qpn: 201 }]`);
  expect(shown(`${ROUTER}${SIDS}${member}`, {}, MTUS)).toEqual([]);
});
