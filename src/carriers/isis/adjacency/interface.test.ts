// Hellos: the ones we send, and which of the neighbor's establish, keep and end an adjacency (ISO/IEC 10589 §8.2; RFC
// 5303).
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { IsisTlv, ThreeWayAdjacency } from '../../../packet/isis/tlv/types.ts';
import type { Level, P2pHello } from '../../../packet/isis/types.ts';
import { A, B, C, type Scene, adjacency, hello } from '../hostile.fixture.ts';
import { Agent, Simulation, originate, systemId, testConfig } from '../simulation.fixture.ts';
import type { SpeakerConfig } from '../state.ts';

const area = (...areas: number[][]): IsisTlv => ({
  kind: 'area-addresses',
  areas: areas.map((a) => Uint8Array.from(a)),
});
const OURS = [0x49, 0, 1];
const OTHER = [0x49, 0, 2];
const threeWay = (fields: Partial<ThreeWayAdjacency> = {}): IsisTlv => ({
  ...{ kind: 'three-way-adjacency', state: 'up', circuitId: 1 },
  ...{ neighborSystemId: systemId(A), neighborCircuitId: 1, ...fields },
});
const hellosOf = ({ sent }: Agent): P2pHello[] =>
  sent.map((bytes) => decodePdu(bytes)).flatMap((pdu) => (pdu.ok && pdu.value.kind === 'p2p-hello' ? [pdu.value] : []));
const fieldsOf = ({ logged }: Agent): object[] => logged.map(({ fields }) => fields);

/** A alone at its end of the link. */
function alone(overrides: Partial<SpeakerConfig> = {}): { a: Agent; simulation: Simulation; give: Scene['give'] } {
  const simulation = new Simulation();
  const a = new Agent(simulation, testConfig(A, overrides));
  a.event({ type: 'link-up', linkLocal: address('fe80::1') });
  a.event(originate([]));
  const give = (pdu: Uint8Array): void => {
    a.deliver(pdu);
    simulation.run(0);
  };
  return { simulation, a, give };
}

describe('ours', () => {
  test.each<[readonly Level[], number]>([
    [[1], 1],
    [[2], 2],
    [[1, 2], 3],
  ])('with levels %j has circuit type %i and our identity', (levels, circuitType) => {
    const { a } = alone({ levels, circuitId: 0x12345 });
    const expected: Partial<P2pHello> = {
      ...{ circuitType: circuitType as P2pHello['circuitType'], systemId: systemId(A), localCircuitId: 0x45 },
      tlvs: [
        { kind: 'protocols-supported', nlpids: [0xcc, 0x8e] },
        area(OURS),
        { kind: 'ipv6-interface-addresses', addresses: [address('fe80::1')] },
        { kind: 'three-way-adjacency', state: 'down', circuitId: 0x12345 },
      ],
    };
    expect(hellosOf(a)).toMatchObject([expected]);
  });

  test('names a neighbor after its hello, before that neighbor names us', () => {
    const { a, give } = alone();
    const unaware: IsisTlv = { kind: 'three-way-adjacency', state: 'down', circuitId: 77 };
    give(hello({}, [area(OURS), unaware]));
    expect(hellosOf(a).at(-1)!.tlvs.at(-1)).toEqual({
      ...{ kind: 'three-way-adjacency', state: 'initializing', circuitId: 1 },
      ...{ neighborSystemId: systemId(B), neighborCircuitId: 77 },
    });
    // Without its circuit ID the neighbor cannot be named.
    give(hello({}, [area(OURS), { kind: 'three-way-adjacency', state: 'down' }]));
    expect(hellosOf(a).at(-1)!.tlvs.at(-1)).toEqual({
      ...{ kind: 'three-way-adjacency', state: 'initializing', circuitId: 1 },
    });
  });

  test('is sent at every interval, up to a quarter earlier', () => {
    const { a, simulation } = alone({ helloIntervalMs: 1000 });
    const times: number[] = [];
    for (let seen = 1; times.length < 20; simulation.run(1)) {
      if (a.count('isis.tx.hello') === seen) continue;
      times.push(simulation.now);
      seen = a.count('isis.tx.hello');
    }
    const gaps = times.slice(1).map((at, i) => at - times[i]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(749);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1001);
    expect(new Set(gaps.map((gap) => Math.round(gap / 20))).size).toBeGreaterThan(4);
  });
});

describe('the neighbor’s', () => {
  test.each<[string, Partial<P2pHello>, readonly Level[], readonly Level[] | undefined, string?]>([
    ['level 1 in our area', { circuitType: 1 }, [1, 2], [1]],
    ['level 2', { circuitType: 2 }, [1, 2], [2]],
    ['both levels', { circuitType: 3 }, [1, 2], [1, 2]],
    ['both levels; we run one', { circuitType: 3 }, [2], [2]],
    ['both levels; we run the other', { circuitType: 3 }, [1], [1]],
    ['level 1 in another area', { circuitType: 1, tlvs: [area(OTHER), threeWay()] }, [1, 2], undefined, 'area'],
    ['level 2 in another area', { circuitType: 2, tlvs: [area(OTHER), threeWay()] }, [1, 2], [2]],
    ['both levels in another area', { circuitType: 3, tlvs: [area(OTHER), threeWay()] }, [1, 2], [2], 'area'],
    ['both levels in our area among others', { circuitType: 3, tlvs: [area(OTHER, OURS), threeWay()] }, [1, 2], [1, 2]],
    [
      'both levels in our area in a second TLV',
      { circuitType: 3, tlvs: [area(OTHER), area(OURS), threeWay()] },
      [1, 2],
      [1, 2],
    ],
    ['both levels and no area', { circuitType: 3, tlvs: [threeWay()] }, [1, 2], [2], 'area'],
    ['level 1; we run the other', { circuitType: 1 }, [2], undefined, 'level'],
  ])('with %s', (_what, fields, levels, common, mismatch) => {
    const { a, give } = alone({ levels });
    give(hello(fields));
    expect(a.speaker.adjacency?.levels).toEqual(common);
    const why = ['area', 'level'].filter((each) => a.count(`isis.hello.${each}-mismatch`) > 0);
    expect(why).toEqual(mismatch === undefined ? [] : [mismatch]);
  });

  test('ends the adjacency, with the reason, when no level is in common any more', () => {
    const { a, give } = adjacency({ levels: [1, 2] });
    give(hello({ circuitType: 1, tlvs: [area(OTHER), threeWay()] }));
    expect(a.speaker.adjacency).toMatchObject({ state: 'down', reason: 'no level in common', holdUntil: Infinity });
    expect(fieldsOf(a)).toContainEqual({ counter: 'isis.hello.area-mismatch', system: B, level: 1 });
    const other = adjacency({ levels: [2] });
    other.give(hello({ circuitType: 1 }));
    expect(other.a.speaker.adjacency).toMatchObject({ state: 'down', reason: 'no level in common' });
    expect(fieldsOf(other.a)).toContainEqual({
      ...{ counter: 'isis.hello.level-mismatch', system: B, circuitType: 1, ours: [2] },
    });
  });

  test('that does not name us any more takes the adjacency down, and the log says no more than that', () => {
    const { a, give } = adjacency();
    give(hello({}, [area(OURS), { kind: 'three-way-adjacency', state: 'down', circuitId: 1 }]));
    expect(a.speaker.adjacency).toMatchObject({ state: 'initializing' });
    expect(a.logged).toContainEqual(
      expect.objectContaining({
        fields: expect.objectContaining({ event: 'isis.adjacency.down', to: 'initializing' }),
        message: 'IS-IS adjacency down: neighbor does not hear us any more',
      }),
    );
  });

  test.each<[string, IsisTlv[], string]>([
    ['no TLV 240', [], 'isis.hello.no-three-way'],
    ['two that differ', [threeWay(), threeWay({ state: 'down' })], 'isis.hello.contradictory'],
    ['one for another system', [threeWay({ neighborSystemId: systemId(C) })], 'isis.hello.not-for-us'],
    ['one for another circuit', [threeWay({ neighborCircuitId: 2 })], 'isis.hello.not-for-us'],
  ])('with %s changes nothing, and the sender is logged', (_what, tlvs, counter) => {
    const { a, give } = adjacency();
    const before = a.speaker.adjacency;
    give(hello({ holdingTime: 600 }, [area(OURS), ...tlvs]));
    expect({ adjacency: a.speaker.adjacency, counter: a.count(counter) }).toEqual({ adjacency: before, counter: 1 });
    expect(fieldsOf(a)).toContainEqual({ counter, system: B });
  });

  test('with the same TLV 240 twice, or one without a neighbor, is valid', () => {
    for (const tlvs of [[threeWay(), threeWay()], [{ kind: 'three-way-adjacency', state: 'up' } as IsisTlv]]) {
      const { a, give, simulation } = adjacency();
      give(hello({ holdingTime: 600 }, [area(OURS), ...tlvs]));
      expect(a.speaker.adjacency).toMatchObject({ state: 'up', holdUntil: simulation.now - 10 + 600_000 });
    }
  });

  test('with our own system ID is a loop; one of another system takes the adjacency down', () => {
    const { a, b, give } = adjacency();
    b.kill();
    give(hello({ systemId: systemId(A) }));
    expect({ state: a.state, fieldsOf: fieldsOf(a).at(-1) }).toEqual({
      state: 'up',
      fieldsOf: { counter: 'isis.hello.own-system-id', system: A },
    });
    const sent = a.count('isis.tx.hello');
    give(hello({ systemId: systemId(C) }));
    expect(a.speaker.adjacency).toMatchObject({ state: 'down', system: B, reason: `system ID changed to ${C}` });
    expect(fieldsOf(a)).toContainEqual({ counter: 'isis.hello.system-id-changed', was: B, now: C });
    // The lost neighbor is notified at once.
    expect({
      isisTxHello: a.count('isis.tx.hello') - sent,
      isisHelloSystemIdChanged: a.count('isis.hello.system-id-changed'),
    }).toEqual({ isisTxHello: 1, isisHelloSystemIdChanged: 1 });
    give(hello({ systemId: systemId(C) }, [area(OURS), { kind: 'three-way-adjacency', state: 'down', circuitId: 3 }]));
    expect(a.speaker.adjacency).toMatchObject({ state: 'initializing', system: C, circuitId: 3 });
    expect(a.count('isis.hello.system-id-changed')).toBe(1);
  });

  test('is valid for its holding time; the expiry is logged once, with the system ID', () => {
    const { a, b, give, simulation } = adjacency();
    b.kill();
    give(hello({ holdingTime: 7 }));
    simulation.run(6980);
    expect(a.state).toBe('up');
    simulation.run(20);
    expect({ state: a.state, fieldsOf: fieldsOf(a).filter((each) => 'counter' in each) }).toEqual({
      state: 'down',
      fieldsOf: [{ counter: 'isis.adjacency.hold-expired', neighbor: B }],
    });
  });
});
