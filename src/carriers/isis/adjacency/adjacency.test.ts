// The effects of a change of the adjacency: the neighbor's topologies, log lines, and what is discarded.
import { describe, expect, test } from 'vitest';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv, ThreeWayState } from '../../../packet/isis/tlv/types.ts';
import type { P2pHello } from '../../../packet/isis/types.ts';
import { threeWay } from './adjacency.ts';
import { A, B, C, adjacency, entry, hello, lsp, psnp } from '../hostile.fixture.ts';
import { Router } from '../router.fixture.ts';
import { Agent, Simulation, endCon, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';

const STATES: readonly ThreeWayState[] = ['down', 'initializing', 'up'];
const threeWayTlv = (state: ThreeWayState): IsisTlv => ({
  kind: 'three-way-adjacency',
  state,
  circuitId: 1,
  neighborSystemId: systemId(A),
  neighborCircuitId: 1,
});
const area: IsisTlv = { kind: 'area-addresses', areas: [Uint8Array.of(0x49, 0, 1)] };
const topologies = (...ids: number[]): IsisTlv => ({
  kind: 'multi-topology',
  topologies: ids.map((id) => ({ id, overload: false, attached: false })),
});
const hellosOf = ({ sent }: Agent): P2pHello[] =>
  sent.map((bytes) => decodePdu(bytes)).flatMap((pdu) => (pdu.ok && pdu.value.kind === 'p2p-hello' ? [pdu.value] : []));

test('RFC 5303 §3.2 c: the next state, by our state and the one that the neighbor reports', () => {
  expect(STATES.map((local) => STATES.map((received) => threeWay(local, received).next))).toEqual([
    ['initializing', 'up', 'down'],
    ['initializing', 'up', 'up'],
    ['initializing', 'up', 'up'],
  ]);
});

describe('log lines', () => {
  const changes = ({ logged }: Agent): unknown[] =>
    logged.flatMap(({ fields }) => ('neighbor' in fields && 'from' in fields ? [fields] : []));

  test('each change is logged once, with both states, the levels and the reason; a hello without a change is not', () => {
    const { simulation, a } = adjacency();
    expect(changes(a)).toMatchObject([
      { neighbor: B, from: 'none', to: 'initializing' },
      { neighbor: B, from: 'initializing', to: 'up', levels: [2] },
    ]);
    simulation.run(60_000);
    expect(changes(a)).toHaveLength(2);
    a.event({ type: 'link-down', reason: 'interface gone' });
    expect(changes(a).slice(2)).toMatchObject([{ from: 'up', to: 'down', reason: 'interface gone' }]);
    a.event({ type: 'link-down', reason: 'again' });
    expect(changes(a)).toHaveLength(3);
  });

  test('another system replaces one that is down', () => {
    const { simulation, a, b, give } = adjacency();
    b.kill();
    a.event({ type: 'link-down', reason: 'gone' });
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    const before = changes(a).length;
    give(hello({ systemId: systemId(C) }));
    simulation.run(10);
    expect(changes(a).slice(before)).toMatchObject([{ neighbor: C, from: 'down', to: 'down' }]);
  });

  test('`since` is the time of the last change; further hellos do not alter it', () => {
    const { simulation, a } = adjacency();
    const { since, reason } = a.speaker.adjacency!;
    simulation.run(30_000);
    expect(a.speaker.adjacency).toMatchObject({ since, reason, state: 'up' });
  });
});

describe('topologies (RFC 5120)', () => {
  /** An agent beside a router whose hellos the test writes. */
  const scene = (...ids: number[]) => {
    const net = adjacency();
    net.b.kill();
    const advertise = (...more: number[]): void =>
      net.give(
        hello({ holdingTime: 600 }, [area, threeWayTlv('up'), ...(more.length > 0 ? [topologies(...more)] : [])]),
      );
    net.a.event(originate([proxied('2001:db8:1::/64')], { sids: [endCon('2001:db8:c::1', '2001:db8:c::/48')] }));
    net.simulation.run(1000);
    advertise(...ids);
    net.simulation.run(1000);
    return { ...net, advertise };
  };
  const ownTlvs = (a: Agent): IsisTlv[] => {
    const stored = [...a.speaker.levels.get(2)!.lsdb.byKey.values()].filter(({ own, purged }) => own && !purged);
    return stored.flatMap(({ raw }) => {
      const pdu = decodePdu(raw);
      return pdu.ok && pdu.value.kind === 'lsp' ? pdu.value.tlvs : [];
    });
  };
  const kinds = (a: Agent): string[] =>
    ownTlvs(a).flatMap((tlv) =>
      /reachability|topology/.test(tlv.kind) ? [tlv.kind] : tlv.kind === 'srv6-locator' ? [`locator ${tlv.mtId}`] : [],
    );
  const SINGLE = ['extended-is-reachability', 'ipv6-reachability', 'locator 0'];
  const MULTI = [
    'multi-topology',
    'extended-is-reachability',
    'mt-is-reachability',
    'mt-ipv6-reachability',
    'locator 2',
  ];

  test.each([
    ['sends no TLV 229', [], SINGLE],
    ['runs only the standard topology', [0], SINGLE],
    ['runs IPv4 management', [0, 1], SINGLE],
    ['runs the IPv6 topology', [0, 2], MULTI],
    ['runs only the IPv6 topology', [2], MULTI],
    ['runs more', [0, 2, 4], MULTI],
  ])('beside a neighbor that %s', (_what, ids, expected) => {
    expect(kinds(scene(...ids).a)).toEqual(expected);
  });

  test('our hello lists both topologies at once when the neighbor runs both, and stops when the neighbor does', () => {
    const { a, advertise, simulation } = scene();
    const before = hellosOf(a).length;
    advertise(0, 2);
    const now = hellosOf(a).slice(before);
    expect(now).toHaveLength(1);
    expect(now[0]!.tlvs.filter(({ kind }) => kind === 'multi-topology')).toMatchObject([
      {
        topologies: [
          { id: 0, overload: false, attached: false },
          { id: 2, overload: false, attached: false },
        ],
      },
    ]);
    advertise(0, 2);
    expect(hellosOf(a)).toHaveLength(before + 1);
    simulation.run(1000);
    expect(kinds(a)).toEqual(MULTI);
    advertise();
    simulation.run(1000);
    expect(kinds(a)).toEqual(SINGLE);
  });

  test('our LSP also has the overload bit of the IPv6 topology, so that no transit crosses us', () => {
    expect(ownTlvs(scene(0, 2).a)).toContainEqual(
      expect.objectContaining({
        kind: 'multi-topology',
        topologies: [
          { id: 0, overload: false, attached: false },
          { id: 2, overload: true, attached: false },
        ],
      }),
    );
  });
});

describe('hellos', () => {
  test('name the neighbor and its circuit only while its hellos arrive', () => {
    const { simulation, a, b } = adjacency();
    const ours = (): unknown =>
      hellosOf(a)
        .at(-1)!
        .tlvs.find(({ kind }) => kind === 'three-way-adjacency');
    expect(ours()).toMatchObject({ state: 'up', circuitId: 1, neighborSystemId: systemId(B), neighborCircuitId: 1 });
    b.kill();
    simulation.run(40_000);
    expect(a.state).toBe('down');
    expect(ours()).toEqual({ kind: 'three-way-adjacency', state: 'down', circuitId: 1 });
  });

  test('are not sent without a link, and at once with one', () => {
    const { simulation, a } = adjacency();
    a.event({ type: 'link-down', reason: 'gone' });
    const before = a.count('isis.tx.hello');
    simulation.run(30_000);
    expect(a.count('isis.tx.hello')).toBe(before);
    a.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    expect(a.count('isis.tx.hello')).toBe(before + 1);
  });

  test.each([
    [3000, 10, 30],
    [100, 3, 1],
    [1500, 3, 5],
    [100_000, 1000, 0xffff],
  ])('every %i ms, %i times: a holding time of %i s', (helloIntervalMs, holdMultiplier, seconds) => {
    const { a } = adjacency({ helloIntervalMs, holdMultiplier });
    expect(hellosOf(a)[0]!.holdingTime).toBe(seconds);
  });

  test('a neighbor that has another circuit ID is answered at once', () => {
    const { a, give } = adjacency();
    const before = a.count('isis.tx.hello');
    give(hello({}, [area, threeWayTlv('up')]));
    expect(a.count('isis.tx.hello')).toBe(before);
    give(hello({}, [area, { ...threeWayTlv('up'), circuitId: 9 } as IsisTlv]));
    expect(a.count('isis.tx.hello')).toBe(before + 1);
    expect(hellosOf(a).at(-1)!.tlvs).toContainEqual(expect.objectContaining({ neighborCircuitId: 9 }));
  });

  test('one that names another circuit of ours is not for us', () => {
    const { a, give } = adjacency();
    give(hello({}, [area, { ...threeWayTlv('up'), neighborCircuitId: 2 } as IsisTlv]));
    expect(a.count('isis.hello.not-for-us')).toBe(1);
  });
});

describe('when it goes down', () => {
  test('LSPs, acknowledgments and requests for the neighbor are not sent to the next one', () => {
    const { simulation, a, give, wire } = adjacency();
    // A has an acknowledgment and a request to send, and an unacknowledged LSP of its own.
    wire.filter = (_pdu, from) => from === 0;
    a.deliver(lsp());
    give(psnp([entry({ lspId: { systemId: systemId('0000.0000.dddd'), pseudonode: 0, fragment: 0 } })]));
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(100);
    const level = a.speaker.levels.get(2)!;
    expect({ acksSize: level.acks.size, requestsSize: level.requests.size, srmSize: level.srm.size }).toEqual({
      acksSize: 1,
      requestsSize: 1,
      srmSize: 1,
    });
    a.event({ type: 'link-down', reason: 'gone' });
    const sent = a.sent.length;
    simulation.run(30_000);
    expect({
      sentLength: a.sent.length,
      acksSize: level.acks.size,
      requestsSize: level.requests.size,
      srmSize: level.srm.size,
    }).toEqual({ sentLength: sent, acksSize: 0, requestsSize: 0, srmSize: 0 });
  });

  test('an agent of one level that learns SIDs keeps running when their originator is lost', () => {
    const simulation = new Simulation();
    const router = new Router(simulation, '0000.0000.1111');
    const [learner, origin] = [new Agent(simulation, testConfig(A)), new Agent(simulation, testConfig(B, { seed: 2 }))];
    simulation.wire(learner.attach, router.attach);
    simulation.wire(origin.attach, router.attach);
    origin.event(originate([proxied('2001:db8:1::/64')], { sids: [endCon('2001:db8:c::1', '2001:db8:c::/48')] }));
    simulation.run(5000);
    expect(learner.sids()).toHaveLength(1);
    router.cut(1);
    simulation.run(5000);
    expect({ reachable: [...learner.reachable], sidsLength: learner.sids().length }).toEqual({
      reachable: ['L2 0000.0000.1111'],
      sidsLength: 1,
    });
    simulation.run(125_000);
    expect({ state: learner.state, sids: learner.sids() }).toEqual({ state: 'up', sids: [] });
  });
});
