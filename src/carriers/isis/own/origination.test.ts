// When the fragments of our own LSP are issued, refreshed and purged (ISO/IEC 10589 §7.3.2 … §7.3.16).
import { describe, expect, test } from 'vitest';
import { verifyPdu } from '../../../packet/isis/auth.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import { A, type Scene, adjacency, lsp } from '../hostile.fixture.ts';
import { fragmentCapacity } from './origination.ts';
import { troubleState, unplacedPrefixes } from '../show.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';
import type { SpeakerConfig } from '../state.ts';

const HIGHEST = 0xffffffff;
const KEY = new TextEncoder().encode('k');
const many = (count: number) => Array.from({ length: count }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`));
/** A fragment holds three prefixes, two with authentication. */
const SMALL = 150;
const ours = (fragment: number, fields: object = {}, pseudonode = 0): Uint8Array =>
  lsp({ lspId: { systemId: systemId(A), pseudonode, fragment }, ...fields });
const levelOf = ({ a }: { a: Agent }) => a.speaker.levels.get(2)!;
const stored = (scene: { a: Agent }, fragment: string) => levelOf(scene).lsdb.byKey.get(`${A}.00-${fragment}`);
const live = (scene: { a: Agent }): string[] =>
  [...levelOf(scene).lsdb.byKey.values()].filter(({ own, purged }) => own && !purged).map(({ key }) => key.slice(-2));
function configure({ a }: Scene, change: Partial<SpeakerConfig>): void {
  a.event({ type: 'configure', config: { ...a.speaker.config, ...change } });
}

test.each([
  [1500, {}, 1465],
  [9000, {}, 1465],
  [1496, {}, 1465],
  [1495, {}, 1465],
  [1494, {}, 1464],
  [1500, { domain: KEY }, 1446],
  [1500, { area: KEY }, 1465],
])(
  'with an MTU of %i and keys %j a fragment holds %i bytes: originatingLSPBufferSize, less the digest',
  (mtu, keys, capacity) => {
    const { speaker } = new Agent(new Simulation(), testConfig(A, { mtu, keys, levels: [1, 2] }));
    expect(fragmentCapacity(speaker, 2)).toBe(capacity);
  },
);

describe('issuing', () => {
  test('prefixes are placed 512 a turn, fragments issued eight a turn', () => {
    const simulation = new Simulation();
    const agent = new Agent(simulation, testConfig(A, { mtu: SMALL }));
    agent.event({ type: 'link-up', linkLocal: proxied('::/0', 'fe80::1').proxy });
    agent.event(originate(many(700)));
    const waiting: number[] = [];
    while (agent.speaker.pending.size > 0) {
      waiting.push(agent.speaker.pending.size);
      agent.wake();
    }
    expect(waiting).toEqual([700, 188]);
    const issued: number[] = [];
    simulation.now += 20;
    while (agent.wakeAt() <= simulation.now) {
      const before = agent.count('isis.own.issued');
      agent.wake();
      issued.push(agent.count('isis.own.issued') - before);
    }
    // 234 fragments of three prefixes, and fragment 0.
    expect({ maxIssued: Math.max(...issued), isisOwnIssued: agent.count('isis.own.issued') }).toEqual({
      maxIssued: 8,
      isisOwnIssued: 235,
    });
  });

  test('changes that arrive together are issued together; nothing is issued when they cancel out', () => {
    const { a, simulation } = adjacency();
    const [before, sent] = [a.count('isis.own.issued'), a.count('isis.tx.lsp')];
    a.event(originate(many(1)));
    simulation.run(15);
    a.event(originate(many(2)));
    simulation.run(1000);
    expect({ isisOwnIssued: a.count('isis.own.issued') - before, isisTxLsp: a.count('isis.tx.lsp') - sent }).toEqual({
      isisOwnIssued: 1,
      isisTxLsp: 1,
    });
    a.event(originate(many(3)));
    simulation.run(15);
    a.event(originate(many(2)));
    simulation.run(1000);
    expect(a.count('isis.own.issued') - before).toBe(1);
  });

  test('the same for withdrawals; only issued fragments are sent', () => {
    const { a, simulation } = adjacency();
    a.event(originate(many(3)));
    simulation.run(1000);
    const [before, sent] = [a.count('isis.own.issued'), a.count('isis.tx.lsp')];
    a.event(originate(many(2)));
    simulation.run(15);
    a.event(originate(many(1)));
    simulation.run(1000);
    expect({ isisOwnIssued: a.count('isis.own.issued') - before, isisTxLsp: a.count('isis.tx.lsp') - sent }).toEqual({
      isisOwnIssued: 1,
      isisTxLsp: 1,
    });
    // A router address is in fragment 0.
    a.event(originate(many(1), { routerAddresses: [proxied('::/0', '192.0.2.1').proxy] }));
    simulation.run(1000);
    expect({ isisOwnIssued: a.count('isis.own.issued') - before, isisTxLsp: a.count('isis.tx.lsp') - sent }).toEqual({
      isisOwnIssued: 2,
      isisTxLsp: 2,
    });
  });

  test('a fragment that becomes empty before its first issue is not purged', () => {
    const scene = adjacency();
    scene.a.event(originate(many(1)));
    scene.simulation.run(10);
    scene.a.event(originate([]));
    scene.simulation.run(1000);
    expect({ isisOwnPurged: scene.a.count('isis.own.purged'), stored: stored(scene, '01') }).toEqual({
      isisOwnPurged: 0,
      stored: undefined,
    });
  });

  test.each([
    [1, 1],
    [2, 3],
  ] as const)('at level %i it has IS type %i and only the overload bit, alive or purged', (level, isType) => {
    const { a, b, simulation } = adjacency({ levels: [level] });
    const read = () => decodePdu(b.speaker.levels.get(level)!.lsdb.byKey.get(`${A}.00-01`)!.raw);
    const flags = { isType, attached: false, partitionRepair: false };
    a.event(originate(many(1)));
    simulation.run(1000);
    const alive = read();
    expect(alive).toMatchObject({ value: { ...flags, overload: true } });
    a.event(originate([]));
    simulation.run(1000);
    const sequence = alive.ok && alive.value.kind === 'lsp' ? alive.value.sequence + 1 : 0;
    expect(read()).toMatchObject({ value: { ...flags, remainingLifetime: 0, sequence } });
  });

  test('each fragment is refreshed at its own time, before its lifetime ends, with the next sequence number', () => {
    const scene = adjacency({ helloIntervalMs: 60_000 });
    const { a, simulation } = scene;
    a.event(originate(many(1)));
    simulation.run(1000);
    const [zero, one] = ['00', '01'].map((fragment) => stored(scene, fragment)!.sequence);
    const due = [0, 1].map((fragment) => levelOf(scene).own.fragments.get(fragment)!.refreshAt);
    const sequences = (): number[] => ['00', '01'].map((fragment) => stored(scene, fragment)!.sequence);
    for (const at of due) expect(at).toSatisfy((t: number) => t > 675_000 && t < 903_000);
    simulation.run(Math.min(...due) - 1 - simulation.now);
    expect(sequences()).toEqual([zero, one]);
    simulation.run(2);
    expect(sequences()).toEqual(due[0]! < due[1]! ? [zero! + 1, one] : [zero, one! + 1]);
    simulation.run(Math.max(...due) + 1 - simulation.now);
    expect(sequences()).toEqual([zero! + 1, one! + 1]);
  });
});

describe('without space', () => {
  test('unplaced entries are reported, and placed once there is space: after a withdrawal or a change of keys', () => {
    const scene = adjacency({ mtu: SMALL });
    const { a, simulation } = scene;
    const outcome = (): number[] => {
      simulation.run(15_000);
      const { own } = levelOf(scene);
      return [own.placement.whereIs.size, own.unplaced.size, unplacedPrefixes(a.speaker)];
    };
    a.event(originate(many(767)));
    expect([...outcome(), a.count('isis.originate.no-room')]).toEqual([765, 2, 2, 2]);
    expect(a.logged.map(({ fields }) => fields)).toContainEqual({ counter: 'isis.originate.no-room', level: 2 });
    a.event(originate(many(767).slice(1)));
    expect(outcome()).toEqual([765, 1, 1]);
    configure(scene, { keys: { domain: KEY } });
    expect(outcome()).toEqual([510, 256, 256]);
    configure(scene, { keys: {} });
    expect(outcome()).toEqual([765, 1, 1]);
    a.event(originate(many(767).slice(3)));
    expect(outcome()).toEqual([764, 0, 0]);
  });

  test('new keys sign every fragment again, and fragments no longer needed are purged', () => {
    const scene = adjacency({ mtu: SMALL, keys: { domain: KEY } });
    const { a, simulation } = scene;
    a.event(originate(many(10)));
    simulation.run(3000);
    expect(live(scene)).toEqual(['00', '01', '02', '03', '04', '05']);
    const before = stored(scene, '00')!.sequence;
    configure(scene, { keys: {} });
    simulation.run(3000);
    expect({ live: live(scene), purged: stored(scene, '05')!.purged }).toEqual({
      live: ['00', '01', '02', '03', '04'],
      purged: true,
    });
    for (const key of live(scene)) expect(verifyPdu(stored(scene, key)!.raw, KEY)).toBe('missing');
    expect(stored(scene, '00')!.sequence).toBe(before + 1);
    configure(scene, { keys: { domain: KEY } });
    simulation.run(3000);
    for (const key of live(scene)) expect(verifyPdu(stored(scene, key)!.raw, KEY)).toBe('ok');
  });
});

describe('an LSP with our system ID', () => {
  test('of a fragment or pseudonode that we do not originate is purged with the next sequence number, up to the highest', () => {
    for (const [sequence, purge] of [
      [41, 42],
      [HIGHEST - 1, HIGHEST],
      [HIGHEST, HIGHEST],
    ] as const) {
      const scene = adjacency();
      scene.give(ours(77, { sequence }));
      scene.give(ours(9, { sequence }, 3));
      const purges = [`${A}.00-4d`, `${A}.03-09`].map((key) => levelOf(scene).lsdb.byKey.get(key));
      expect(purges).toMatchObject([
        { sequence: purge, purged: true, own: true },
        { sequence: purge, purged: true, own: true },
      ]);
    }
  });

  test('with the second-highest sequence number is outbid with the highest: only then are they used up', () => {
    const scene = adjacency();
    scene.a.event(originate(many(1)));
    scene.simulation.run(1000);
    const exhausted = () =>
      troubleState(scene.a.speaker, { now: scene.simulation.now, toWall: 0 })[0]!.exhausted.length;
    scene.give(ours(1, { sequence: HIGHEST - 1 }));
    scene.simulation.run(1000);
    expect({ stored: stored(scene, '01'), exhausted: exhausted() }).toMatchObject({
      stored: { sequence: HIGHEST, purged: false },
      exhausted: 0,
    });
    scene.give(ours(1, { sequence: HIGHEST, tlvs: [{ kind: 'hostname', name: 'other' }] }));
    scene.simulation.run(1000);
    expect({ stored: stored(scene, '01'), exhausted: exhausted() }).toMatchObject({
      stored: { sequence: HIGHEST, purged: true },
      exhausted: 1,
    });
    expect(scene.a.logged.map(({ fields }) => fields)).toContainEqual({
      ...{ counter: 'isis.own.sequence-wrap', level: 2, fragment: 1 },
    });
  });

  test('that is outbid repeatedly is logged with the level and our system ID', () => {
    const scene = adjacency();
    for (let i = 1; i < 6; i++) scene.give(ours(0, { sequence: 5000 * i }, 1));
    expect(scene.a.count('isis.own.contested')).toBeGreaterThan(0);
    expect(scene.a.logged.map(({ fields }) => fields)).toContainEqual({
      ...{ counter: 'isis.own.contested', level: 2, system: A },
    });
  });

  test('that is forged once is not logged', () => {
    const scene = adjacency();
    scene.give(ours(77));
    scene.give(ours(0, { sequence: 5000 }));
    scene.simulation.run(1000);
    expect(scene.a.count('isis.own.contested')).toBe(0);
  });

  test('that is uncontested is outbid at once; further versions get one common answer, to the highest', () => {
    const scene = adjacency();
    const bumped = scene.a.count('isis.own.sequence-bumped');
    scene.simulation.run(1000);
    for (const sequence of [5000, 7000, 6000]) scene.a.deliver(ours(0, { sequence }));
    scene.simulation.run(300);
    expect({
      sequence: stored(scene, '00')!.sequence,
      isisOwnSequenceBumped: scene.a.count('isis.own.sequence-bumped') - bumped,
    }).toEqual({ sequence: 7001, isisOwnSequenceBumped: 1 });
  });

  test('is kept for 10 s from the first link on, or until the first declaration', () => {
    const scene = (declared: boolean): Scene => {
      const simulation = new Simulation();
      const a = new Agent(simulation, testConfig(A));
      const b = new Agent(simulation, testConfig('0000.0000.000b', { seed: 2 }));
      const wire = simulation.wire(a.attach, b.attach);
      simulation.run(9998);
      if (declared) a.event(originate([]));
      const give = (pdu: Uint8Array): void => {
        a.deliver(pdu);
        simulation.run(0);
      };
      return { simulation, a, b, wire, give };
    };
    const purged = ({ a }: Scene): number => a.count('isis.own.unknown-fragment-purged');
    const waits = scene(false);
    waits.give(ours(77));
    waits.give(ours(0, {}, 3));
    expect({ purged: purged(waits), acksSize: levelOf(waits).acks.size }).toEqual({ purged: 0, acksSize: 0 });
    waits.simulation.run(1);
    waits.give(ours(77));
    expect(purged(waits)).toBe(0);
    waits.simulation.run(1);
    waits.give(ours(77));
    waits.give(ours(0, {}, 3));
    expect(purged(waits)).toBe(2);
    const knows = scene(true);
    knows.give(ours(77));
    expect(purged(knows)).toBe(1);
  });
});

test('a reopened fragment 0 makes only our other fragments be sent again, and only with a neighbor', () => {
  const reopened = (linked: boolean): string[] => {
    const scene = adjacency();
    const { a, simulation, give, wire } = scene;
    a.event(originate(many(1)));
    give(lsp({ lspId: { systemId: systemId('0000.0000.000c'), pseudonode: 0, fragment: 3 } }));
    simulation.run(3000);
    give(ours(0, { sequence: HIGHEST }));
    simulation.run(5000);
    if (!linked) a.event({ type: 'link-down', reason: 'gone' });
    const sent: string[] = [];
    wire.filter = (pdu, from) => {
      if (from === 0 && pdu.kind === 'lsp') sent.push(`${pdu.lspId.systemId[5]}-${pdu.lspId.fragment}`);
      return true;
    };
    simulation.run(80_000);
    expect({ purged: stored(scene, '00')!.purged, srmSize: levelOf(scene).srm.size }).toEqual({
      purged: false,
      srmSize: 0,
    });
    return sent;
  };
  expect([reopened(true), reopened(false)]).toEqual([['10-0', '10-1'], []]);
});
