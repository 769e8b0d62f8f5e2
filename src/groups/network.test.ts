import { describe, expect, test } from 'vitest';
import { type IpAddress, address, mapKey } from '../model/address.ts';
import type { AreaTopology, TopologyNode } from '../model/topology.ts';
import { type LocatedSid, networkOf } from './network.ts';

const EDGE = address('2001:db8:e::1');
const [OWN, OTHER] = [address('2001:db8:f::1'), address('2001:db8:f::2')];
const node = (originator: string | undefined, isTransit: boolean, ...links: readonly string[]): TopologyNode => ({
  ...(originator !== undefined && { originator }),
  isTransit,
  links: links.map((to) => ({ to, cost: 10 })),
});
/** cnpd a beside router ra, cnpd b beside rb behind a pseudonode. */
const NODES: readonly (readonly [string, TopologyNode])[] = [
  ['a', node('A', false, 'ra')],
  ['ra', node('RA', true, 'a', 'rb')],
  ['rb', node('RB', true, 'ra', 'rb.1')],
  ['rb.1', node(undefined, true, 'rb', 'b')],
  ['b', node('B', false, 'rb.1')],
];
const topology = (more: Partial<AreaTopology> = {}): AreaTopology => ({
  ...{ area: 'L2', self: 'a', nodes: new Map(NODES) },
  ...more,
});
const sid = (change: Partial<LocatedSid> = {}): LocatedSid => ({
  ...{ sid: OTHER, kind: 'replication', carrier: 'isis', originator: 'B' },
  ...change,
});
const areaOf = (sids: readonly LocatedSid[], area = topology()) => {
  const [found] = networkOf([{ carrier: 'isis', areas: [area] }], sids, { replication: OWN });
  return {
    at: [...found!.replicators].map(([router, { value }]) => [found!.graph.names[router], value]),
    advertisers: (of: IpAddress) => found!.advertisers.get(mapKey(of))?.map((agent) => found!.graph.names[agent.node]),
  };
};

describe('where SIDs are', () => {
  test('at the router beside which the cnpd is a stub, also through a pseudonode', () => {
    expect(areaOf([sid()]).at).toEqual([
      ['ra', OWN.value],
      ['rb', OTHER.value],
    ]);
  });

  test('this router has its own SIDs, whatever others advertise under its name', () => {
    expect(areaOf([sid({ originator: 'A' })]).at).toEqual([['ra', OWN.value]]);
  });

  test('an originator that is not in the area has none there; nor do SIDs of another carrier', () => {
    expect(areaOf([sid({ originator: 'X' }), sid({ carrier: 'ospfv3' })]).at).toEqual([['ra', OWN.value]]);
  });

  test('a cnpd that advertises several replication SIDs passes on those of others: none of them is at its router', () => {
    const { at, advertisers } = areaOf([sid(), sid({ sid: address('2001:db8:f::3') })]);
    expect(at).toEqual([['ra', OWN.value]]);
    expect(advertisers(OTHER)).toEqual(['b']);
  });

  test('several cnpds may be edges with one SID', () => {
    const edges = ['B', 'RA'].map((originator) => sid({ sid: EDGE, kind: 'edge', originator }));
    expect(areaOf(edges).advertisers(EDGE)).toEqual(['b', 'ra']);
  });
});

test('areas in which this router is not are left out; IS-IS comes first, then OSPFv3, then OSPFv2', () => {
  const at = (area: string): AreaTopology => topology({ area });
  const { self: _, ...without } = at('L1');
  const found = networkOf(
    [
      { carrier: 'ospfv2', areas: [at('0.0.0.9')] },
      { carrier: 'isis', areas: [at('L2'), without] },
      { carrier: 'ospfv3', areas: [at('0.0.0.1'), at('0.0.0.0')] },
    ],
    (['ospfv2', 'isis', 'ospfv3'] as const).map((carrier, i) => sid({ sid: address(`2001:db8:f::1${i}`), carrier })),
    {},
  );
  const [v2, isis, v3] = [0, 1, 2].map((i) => mapKey(address(`2001:db8:f::1${i}`)));
  expect(found.map(({ replicationSids }) => [...replicationSids])).toEqual([[isis], [v3], [v3], [v2]]);
});
