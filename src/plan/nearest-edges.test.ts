import { describe, expect, test } from 'vitest';
import type { Intent } from '../intent/intent.ts';
import { ROUTER, load } from '../intent/files.fixture.ts';
import { address, formatAddress } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { TopologyReport } from '../model/topology.ts';
import type { LearnedAboutGroups } from './group-view.ts';
import { planGroups } from './groups.ts';
import { FACTS } from './inputs.fixture.ts';
import { NearestEdges } from './nearest-edges.ts';

const HOST = '2001:db8:2::1';
const OWN = '2001:db8:e1::1';
const EDGES = { r3: '2001:db8:e3::1', r4: '2001:db8:e4::1' } as const;
const NONE_HERE = 'srv6: { core-ports: [eth2], replication: { sid: 2001:db8:c::1, locator: 2001:db8:c::/48 } }';
const EDGE_HERE = `srv6: { core-ports: [eth2], end-mt: { sid: ${OWN}, locator: 2001:db8:e1::/48 } }`;
const file = (srv6 = NONE_HERE): Intent =>
  load(
    `${ROUTER}${srv6}\ngroups:\n  - name: g\n    proxy-address: 2001:db8:aa::1\n    designated-qpn: 9\n` +
      `    receivers: [{ address: ${HOST}, qpn: 7 }, { address: 2001:db8:3::1, qpn: 8, edge: 2001:db8:f::1 }]\n`,
  );

/** r1 (this one) – r2 – r3 – r4; the cnpd of each is a stub beside it. r2 has none. */
function topology(): TopologyReport {
  const links = ['r1 r2', 'r2 r3', 'r3 r4', 'r1 c1', 'r3 c3', 'r4 c4'].map((text) => text.split(' '));
  const nodes = [...new Set(links.flat())].map((name) => {
    const others = links.flatMap(([a, b]) => (a === name ? [b!] : b === name ? [a!] : []));
    return [name, { originator: name, isTransit: true, links: others.map((to) => ({ to, cost: 10 })) }] as const;
  });
  return { carrier: 'isis', areas: [{ area: 'L2', self: 'c1', nodes: new Map(nodes) }] };
}
const TOPOLOGIES = [topology()];
const SIDS = Object.entries(EDGES).map(([router, sid]) => ({
  ...{ sid: address(sid), behavior: 0x8001, carrier: 'isis' as const, originator: router.replace('r', 'c') },
}));
const learned = (originator?: string, change: Partial<LearnedAboutGroups> = {}): LearnedAboutGroups => ({
  sids: () => SIDS,
  members: () => [],
  topologies: () => TOPOLOGIES,
  originatorOf: () => (originator === undefined ? undefined : { carrier: 'isis', originator }),
  ...change,
});

/** The edges of the members, and the receivers without. */
const decided = (intent: Intent, about = learned(), facts = FACTS) => {
  const [group] = new NearestEdges().decide(intent, about, facts).groups!;
  return [group!.members.map(({ node }) => formatAddress(node)), group!.nearest?.map(formatAddress)];
};
const edgeIs = (edge: string) => [[edge, '2001:db8:f::1'], undefined];

describe('RMC-5.1-d: the edge of a receiver that names none is the router that is nearest to it', () => {
  test.each([
    ['r3', EDGES.r3],
    ['r4', EDGES.r4],
    // Its own router has no edge: r3 is one hop away, r4 two.
    ['r2', EDGES.r3],
    ['c4', EDGES.r4],
  ])('%s advertises the longest prefix with its address', (originator, edge) => {
    expect(decided(file(), learned(originator))).toEqual(edgeIs(edge));
  });

  test('of edges at the same distance the lowest SID, wherever the decision is made', () => {
    const two = [...SIDS, { ...SIDS[0]!, sid: address('2001:db8:e2::1') }];
    expect(decided(file(), learned('r3', { sids: () => two }))).toEqual(edgeIs('2001:db8:e2::1'));
  });

  test('a router with a link to it is the edge itself, whoever else advertises the prefix', () => {
    const facts = { ...FACTS, onLink: [{ ifindex: 2, prefix: prefix('2001:db8:2::/64') }] };
    expect(decided(file(EDGE_HERE), learned('r4'), facts)).toEqual(edgeIs(OWN));
    expect(decided(file(EDGE_HERE), learned('r4'))).toEqual(edgeIs(EDGES.r4));
    expect(decided(file(), learned('r4'), facts), 'without an End.MT SID it is none').toEqual(edgeIs(EDGES.r4));
  });

  test('an edge takes those of which nobody knows anything; another router leaves them out, as groups.no-edge', () => {
    expect(decided(file(EDGE_HERE))).toEqual(edgeIs(OWN));
    expect(decided(file())).toEqual([['2001:db8:f::1'], [HOST]]);
    expect(decided(file(), learned('far'))).toEqual([['2001:db8:f::1'], [HOST]]);
    expect(decided(file(), learned('r3', { topologies: () => [] }))).toEqual([['2001:db8:f::1'], [HOST]]);
    for (const srv6 of [NONE_HERE, ''])
      expect(planGroups(new NearestEdges().decide(file(srv6), learned(), FACTS), learned(), FACTS).problems).toEqual([
        expect.objectContaining({
          code: 'groups.no-edge',
          problem: expect.stringContaining(`group 2001:db8:aa::1: no edge is known for the receiver ${HOST}`),
        }),
      ]);
  });

  test('in BGP it is the edge whose SID comes from the same router as the prefix', () => {
    const bgp = (hop: string) =>
      learned(undefined, {
        sids: () => [{ ...SIDS[1]!, carrier: 'bgp', originator: '2001:db8::4' }],
        originatorOf: () => ({ carrier: 'bgp', originator: hop }),
      });
    expect(decided(file(), bgp('2001:db8::4'))).toEqual(edgeIs(EDGES.r4));
    expect(decided(file(), bgp('2001:db8::5'))).toEqual([['2001:db8:f::1'], [HOST]]);
    const namesake = { ...SIDS[0]!, originator: '2001:db8::4' };
    const mixed = learned(undefined, {
      sids: () => [namesake, { ...SIDS[1]!, carrier: 'bgp', originator: '2001:db8::4' }],
      originatorOf: () => ({ carrier: 'bgp', originator: '2001:db8::4' }),
    });
    expect(decided(file(), mixed), 'an originator of another carrier is another router').toEqual(edgeIs(EDGES.r4));
  });
});

test('an answer that has not changed is the same object', () => {
  const [edges, intent] = [new NearestEdges(), file()];
  const first = edges.decide(intent, learned('r3'), FACTS);
  expect(edges.decide(intent, learned('r2'), FACTS)).toBe(first);
  expect(edges.decide(intent, learned('r4'), FACTS)).not.toBe(first);
  const named = load(ROUTER);
  expect(edges.decide(named, learned('r3'), FACTS)).toBe(named);
});
