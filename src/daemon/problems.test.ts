import { describe, expect, it } from 'vitest';
import { load } from '../intent/fixture.ts';
import type { Intent, OspfIntent } from '../intent/intent.ts';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { BgpSessionState, IsisNeighborState, OspfNeighborState } from '../model/carrier-state.ts';
import { advertisedIn } from './origination.ts';
import {
  adjacencyProblems,
  bgpProblems,
  borderProblems,
  carriageProblems,
  disputeProblems,
  ospfProblems,
  placementProblems,
  promiseProblems,
  reloadProblems,
} from './problems.ts';

const intent = { isis: { interface: 'cnpd-isis' } } as unknown as Intent;
const START = Date.parse('2026-01-01T00:00:00Z');
const neighbor = (state: IsisNeighborState['state'], since: number) => ({
  neighbors: () => [{ state, since: new Date(since).toISOString() } as IsisNeighborState],
});

describe('problems', () => {
  it('an adjacency that does not come up is one after half a minute', () => {
    const nobody = { neighbors: () => [] };
    expect(adjacencyProblems(intent, nobody, START, START + 29_999)).toEqual([]);
    expect(adjacencyProblems(intent, nobody, START, START + 30_000)).toHaveLength(1);
  });

  it('an adjacency that was lost is one half a minute after the loss, and none once it is back', () => {
    const lost = START + 3_600_000;
    expect(adjacencyProblems(intent, neighbor('initializing', lost), START, lost + 29_999)).toEqual([]);
    expect(adjacencyProblems(intent, neighbor('initializing', lost), START, lost + 30_000)[0]!.problem).toContain(
      'cnpd-isis',
    );
    expect(adjacencyProblems(intent, neighbor('up', START), START, lost)).toEqual([]);
  });

  it('no IS-IS declared, no problem', () => {
    expect(adjacencyProblems({} as Intent, undefined, START, START + 1e9)).toEqual([]);
  });

  it('prefixes without a place and a refused reload are told', () => {
    expect(placementProblems(intent, 'isis', 0)).toEqual([]);
    expect(placementProblems(intent, 'isis', 7)[0]!.problem).toMatch(/^7 prefixes are not advertised/);
    expect(placementProblems(intent, 'bgp', 1)).toMatchObject([
      {
        problem: '1 prefix is not advertised: a path in BGP needs a next hop of its own family',
        remedy: expect.stringContaining('bgp.next-hop'),
      },
    ]);
    expect(placementProblems(intent, 'ospfv2', 7)).toMatchObject([
      { feature: 'ospfv2', problem: expect.stringContaining('OSPFv2') },
    ]);
    expect(reloadProblems('f', false)).toEqual([]);
    expect(reloadProblems('/etc/cnpd/cnpd.yaml', true)[0]!.remedy).toContain('cnpd check /etc/cnpd/cnpd.yaml');
  });
});

describe('problems of OSPF', () => {
  const ospf = (more: Partial<OspfIntent['areas'][number]> = {}): OspfIntent => ({
    version: 2,
    routerId: 1,
    helloSeconds: 10,
    deadSeconds: 40,
    retransmitMs: 5000,
    holdUnreachableMs: 120_000,
    areas: [{ areaId: 0, interface: 'cnpd-ospf0', mtu: 1500, ignoreMtu: false, instanceId: 0, keys: [], ...more }],
  });
  const says = (state: OspfNeighborState['state'], more: Partial<OspfNeighborState> = {}) => ({
    neighbors: (): OspfNeighborState[] => [
      {
        area: '0.0.0.0',
        interface: 'cnpd-ospf0',
        state,
        routerId: '192.0.2.1',
        deadTimeRemaining: 40,
        mtu: 1500,
        takesOpaque: true,
        unacknowledged: 0,
        databaseFull: false,
        routerIdContested: false,
        notFullSince: state === 'full' ? null : new Date(START).toISOString(),
        since: new Date(START).toISOString(),
        reason: '',
        ...more,
      },
    ],
  });
  const LATE = START + 3_600_000;

  it('an area whose neighbour is full has none', () =>
    expect(ospfProblems(ospf(), says('full'), START, LATE)).toEqual([]));

  it('an adjacency that does not come up is one after half a minute and a hello', () => {
    expect(ospfProblems(ospf(), says('init'), START, START + 39_999)).toEqual([]);
    expect(ospfProblems(ospf(), says('init'), START, START + 40_000)).toMatchObject([
      { feature: 'ospfv2', problem: expect.stringMatching(/cnpd-ospf0 \(area 0\.0\.0\.0\) but init/) },
    ]);
  });

  it('an adjacency that begins anew every few seconds is one as well: the time counts from when it was full last', () => {
    const flapping = says('ex-start', {
      since: new Date(LATE - 2000).toISOString(),
      reason: 'Database Description out of sequence',
    });
    expect(ospfProblems(ospf(), flapping, START, LATE)).toMatchObject([
      { problem: expect.stringContaining('ex-start (Database Description out of sequence)') },
    ]);
    const justLost = says('ex-start', {
      since: new Date(LATE - 2000).toISOString(),
      notFullSince: new Date(LATE - 39_999).toISOString(),
    });
    expect(ospfProblems(ospf(), justLost, START, LATE)).toEqual([]);
  });

  it('a neighbour that takes no opaque LSAs is one at once, with the line that mends it', () => {
    expect(ospfProblems(ospf(), says('full', { takesOpaque: false }), START, START)).toMatchObject([
      { remedy: expect.stringContaining('capability opaque') },
    ]);
  });

  it('an MTU larger than ours is one at once, unless it is to be ignored', () => {
    const larger = says('ex-start', { mtu: 9000 });
    expect(ospfProblems(ospf(), larger, START, START)).toMatchObject([
      { problem: expect.stringContaining('9000 to FRR and 1500 to cnpd') },
    ]);
    expect(ospfProblems(ospf({ ignoreMtu: true }), larger, START, START)).toEqual([]);
  });

  it('a smaller MTU at FRR is one when the exchange has not begun for as long: FRR may ignore it', () => {
    const smaller = says('ex-start', { mtu: 1400 });
    expect(ospfProblems(ospf(), smaller, START, START + 39_999)).toEqual([]);
    expect(ospfProblems(ospf(), smaller, START, LATE)).toMatchObject([
      { problem: expect.stringContaining('1400 to FRR and 1500 to cnpd') },
    ]);
    expect(ospfProblems(ospf(), says('full', { mtu: 1400 }), START, LATE)).toEqual([]);
  });

  it('a full database is told although the neighbour is full, with the table that shows whose LSAs they are', () => {
    const [told] = ospfProblems(ospf(), says('full', { databaseFull: true }), START, START);
    expect(told).toMatchObject({
      feature: 'ospfv2',
      problem: expect.stringContaining('database of area 0.0.0.0 is full'),
      remedy: expect.stringContaining('cnpctl show ospf database'),
    });
  });

  it('a router ID that another router has as well is told, with what mends it', () => {
    const [told] = ospfProblems(ospf(), says('full', { routerIdContested: true }), START, START);
    expect(told).toMatchObject({
      feature: 'ospfv2',
      problem: expect.stringContaining('has the router ID 0.0.0.1'),
      remedy: expect.stringContaining('ospfv2.router-id'),
    });
  });

  it('nothing declared, nothing missing', () => expect(ospfProblems(undefined, undefined, START, LATE)).toEqual([]));
});

describe('senders whose family no carrier carries', () => {
  const declared = (carriers: object, ...senders: string[]): Intent =>
    ({
      ...carriers,
      proxy: {
        address: address('2001:db8::1'),
        otherAddress: address('192.0.2.1'),
        senders: senders.map((text) => ({ prefix: prefix(text), format: 'standard-cnp' })),
      },
    }) as unknown as Intent;
  const both = ['198.51.100.0/24', '2001:db8:1::/64'] as const;

  it('OSPFv2 leaves out IPv6, OSPFv3 IPv4; together, or with IS-IS, none is left out', () => {
    const missing = (carriers: object): string[] =>
      carriageProblems(declared(carriers, ...both)).map(({ remedy }) => remedy);
    expect(missing({ ospfv2: {} })).toEqual(['add ospfv3 or isis to cnpd.yaml']);
    expect(missing({ ospfv3: {} })).toEqual(['add ospfv2 or isis to cnpd.yaml']);
    expect(missing({ ospfv2: {}, ospfv3: {} })).toEqual([]);
    expect(missing({ isis: {}, ospfv3: {} })).toEqual([]);
    expect(missing({})).toEqual([]);
  });

  it('BGP counts the senders that it has no next hop for itself', () => {
    const bgp = { nextHop6: address('2001:db8::1') };
    expect(carriageProblems(declared({ bgp }, ...both))).toEqual([]);
    const advertised = (...senders: string[]): string[] => {
      const asked = declared({ bgp, ospfv2: {} }, ...senders);
      return advertisedIn(asked, asked.proxy!.senders);
    };
    expect([advertised(both[0]), advertised(...both)]).toEqual([['ospfv2'], ['bgp', 'ospfv2']]);
  });

  it('what one carrier has no form for is a problem only where no other has one: one, not two', () => {
    const proxy = {
      address: address('2001:db8::1'),
      senders: both.map((text) => ({ prefix: prefix(text), format: 'standard-cnp' })),
    };
    const problems = (carriers: object, more: object = {}, counted = 1) => {
      const asked = { ...carriers, proxy: { ...proxy, ...more } } as unknown as Intent;
      return [...placementProblems(asked, 'ospfv2', counted), ...carriageProblems(asked)];
    };
    const [lacking] = problems({ ospfv2: {}, ospfv3: {} });
    expect(lacking).toMatchObject({
      feature: 'ospfv2',
      problem: expect.stringMatching(/^1 prefix is not advertised: OSPFv2 has no form for an IPv4 sender/),
      remedy: expect.stringContaining('proxy.address an address of each family'),
    });
    expect(problems({ ospfv2: {}, ospfv3: {} })).toHaveLength(1);
    expect(problems({ ospfv2: {}, ospfv3: {}, isis: {} })).toEqual([]);
    expect(problems({ ospfv2: {}, ospfv3: {} }, { otherAddress: address('192.0.2.1') }, 0)).toEqual([]);
    // What it has no room for stays one: who hears this carrier alone misses them.
    expect(problems({ ospfv2: {}, isis: {} }, {}, 4)).toMatchObject([
      { problem: expect.stringMatching(/^3 prefixes are not advertised/) },
    ]);
  });
});

describe('areas between which nothing is carried', () => {
  const inAreas = (...areaIds: number[]): Intent =>
    ({ ospfv2: { version: 2, areas: areaIds.map((areaId) => ({ areaId })) } }) as unknown as Intent;

  it('several without the backbone are a problem; one, or several with it, are none', () => {
    expect(borderProblems(inAreas(0x01010101, 0x02020202))).toMatchObject([
      {
        feature: 'ospfv2',
        problem: expect.stringContaining('nothing is carried between the areas of ospfv2'),
        remedy: expect.stringContaining('add the backbone to ospfv2.areas'),
      },
    ]);
    expect([inAreas(1), inAreas(0), inAreas(1, 0), inAreas(0, 1, 2), {} as Intent].flatMap(borderProblems)).toEqual([]);
  });
});

describe('problems of BGP', () => {
  const session = (
    state: BgpSessionState['state'],
    reason = 'connect ECONNREFUSED',
    since = START,
  ): BgpSessionState => ({
    target: '127.0.0.1:50051',
    state,
    api: null,
    as: null,
    routerId: null,
    since: new Date(since).toISOString(),
    reason,
    originated: 0,
    wanted: 3,
    policy: 'installed',
    learned: 0,
    withProxy: 0,
  });
  const LATE = START + 3_600_000;

  it('a gobgpd that is there has none, nor has one that is being read', () => {
    expect(bgpProblems(undefined, 0, LATE)).toEqual([]);
    expect(bgpProblems(session('ready'), START, LATE)).toEqual([]);
    expect(bgpProblems(session('loading'), START, START + 119_999)).toEqual([]);
  });

  it('a gobgpd that does not take the paths is one at once, with what to do about it', () => {
    const refused = (refusal: string) => bgpProblems({ ...session('ready', 'connected'), refusal }, START, START);
    expect(refused('gobgpd accepts the connection and does not answer (Deadline exceeded)')).toMatchObject([
      {
        feature: 'bgp',
        problem: expect.stringMatching(/does not answer.*0 of 3 paths/),
        remedy: expect.stringContaining('restart gobgpd'),
      },
    ]);
    expect(refused('table is full')).toMatchObject([
      { problem: expect.stringContaining('(table is full)'), remedy: expect.stringContaining('log') },
    ]);
  });

  it('paths that gobgpd took and does not have are one, with what to do about its policy or its families', () => {
    const dropped = (more: object) => bgpProblems({ ...session('ready', 'connected'), ...more }, START, START);
    expect(dropped({ dropped: 2 })).toMatchObject([
      {
        feature: 'bgp',
        problem: expect.stringContaining("2 of cnpd's 3 paths"),
        remedy: expect.stringContaining('default-import-policy'),
      },
    ]);
    expect(dropped({ dropped: 1, noTable: ['ipv4-unicast'] })).toMatchObject([
      {
        problem: expect.stringContaining('ipv4-unicast'),
        remedy: expect.stringContaining('afi-safi-name = "ipv4-unicast"'),
      },
    ]);
  });

  it('two cnpd at one gobgpd are one', () => {
    expect(disputeProblems(false)).toEqual([]);
    expect(disputeProblems(true)).toMatchObject([
      {
        feature: 'bgp',
        problem: expect.stringContaining('again and again'),
        remedy: expect.stringContaining('bgp.gobgp.target'),
      },
    ]);
  });

  it('a gobgpd that is not through with its table after two minutes is one', () => {
    expect(bgpProblems(session('loading', 'reading what gobgpd has'), START, START + 120_000)).toHaveLength(1);
  });

  it.each(['connecting', 'waiting'] as const)(
    'a gobgpd that is away (%s) is one after half a minute, with where and why',
    (state) => {
      expect(bgpProblems(session(state), START, START + 29_999)).toEqual([]);
      expect(bgpProblems(session(state), START, START + 30_000)).toMatchObject([
        {
          feature: 'bgp',
          problem: expect.stringMatching(/127\.0\.0\.1:50051 \(connect ECONNREFUSED\)/),
          remedy: expect.stringContaining('--api-hosts 127.0.0.1:50051'),
        },
      ]);
    },
  );

  it('a gobgpd that was lost is one half a minute after the loss', () => {
    expect(bgpProblems(session('waiting', 'gone', LATE), START, LATE + 29_999)).toEqual([]);
    expect(bgpProblems(session('waiting', 'gone', LATE), START, LATE + 30_000)).toHaveLength(1);
  });
});

describe('PNC-6-a: border ports at which the file has something believed, as `cnpd check` and `show status` note them', () => {
  const file = (interfaces: string, router = '', border = '[eth9]'): Intent =>
    load(`router: { name: leaf1, loopback: { ipv6: 2001:db8:ffff::1 }${router} }
isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2, interface: cnpd-isis }
proxy: { address: 2001:db8:ffff::1, senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], accept-from: [2001:db8:ffff::/48]${interfaces} }
border-ports: ${border}
`);

  it('under proxy.interfaces: hosts outside would teach Queue Pairs', () => {
    expect(promiseProblems(file(', interfaces: [eth1, eth9]'))).toEqual([
      {
        feature: 'proxy',
        problem: expect.stringMatching(
          /^eth9 is a border port and under proxy\.interfaces: hosts outside the domain can teach and remove Queue Pairs/,
        ),
        remedy: expect.stringContaining('take eth9 out of proxy.interfaces'),
      },
    ]);
  });

  it('under router.core-ports; and none where they are apart, or no interface is named', () => {
    expect(promiseProblems(file('', ', core-ports: [eth2, eth9]'))).toMatchObject([
      { feature: 'router', problem: expect.stringContaining('eth9 is a border port and under router.core-ports') },
    ]);
    for (const apart of [file(', interfaces: [eth1]'), file(''), file('', ', core-ports: [eth2]')])
      expect(promiseProblems(apart)).toEqual([]);
  });
});
