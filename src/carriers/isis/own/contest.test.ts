// LSPs under our name that are not ours: of another router with our system ID, and forged ones with the highest
// sequence number.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import { A, adjacency, lsp } from '../hostile.fixture.ts';
import { Router } from '../router.fixture.ts';
import { troubleState } from '../show.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';

const HIGHEST = 0xffffffff;
const own = (fragment: number, fields: object = {}, pseudonode = 0): Uint8Array =>
  lsp({ lspId: { systemId: systemId(A), pseudonode, fragment }, ...fields });
const trouble = (agent: Agent) => troubleState(agent.speaker, { now: agent.speaker.now, wall: 0 })[0]!;
const stored = (agent: Agent, fragment: string) => agent.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-${fragment}`);
const many = (count: number) => Array.from({ length: count }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`));

describe('two routers with one system ID', () => {
  test.each([
    [1, 1],
    [1, 100],
    [3, 0],
  ])('with %i and %i prefixes: a few LSPs a minute on the core; both tell, until it is over', (first, second) => {
    const simulation = new Simulation();
    const [r1, r2] = [new Router(simulation, '0000.0000.1111'), new Router(simulation, '0000.0000.2222')];
    const [a, b] = [
      new Agent(simulation, testConfig(A)),
      new Agent(simulation, testConfig(A, { seed: 2, startSequence: 5000 })),
    ];
    simulation.wire(a.attach, r1.attach);
    const core = simulation.wire(r1.attach, r2.attach);
    simulation.wire(r2.attach, b.attach);
    a.event(originate(many(first)));
    b.event(originate(many(second).map((p) => ({ ...p, proxy: address('2001:db8:ffff::2') }))));
    let lsps = 0;
    core.filter = (pdu) => {
      if (pdu.kind === 'lsp') lsps++;
      return true;
    };
    simulation.run(40_000);
    const fragments = Math.max(first, second) > 1 ? 4 : 2;
    expect(lsps).toBeLessThan(fragments * 20);
    expect([trouble(a), trouble(b)].map((each) => each.systemIdContested)).toEqual([true, true]);
    lsps = 0;
    simulation.run(600_000);
    expect(lsps).toBeLessThan(fragments * 45);
    r2.cut(1);
    simulation.run(400_000);
    expect([trouble(a).systemIdContested, a.state]).toEqual([false, 'up']);
    expect(stored(a, '00')).toMatchObject({ purged: false, own: true });
  });

  test('a run that starts again, and an LSP that is forged once or twice, alarm nobody and are answered at once', () => {
    const { a, give, simulation } = adjacency();
    a.event(originate(many(1)));
    simulation.run(1000);
    for (const sequence of [5000, 6000]) {
      give(own(1, { sequence }));
      simulation.run(500);
      expect(stored(a, '01')!.sequence).toBe(sequence + 1);
    }
    expect(trouble(a).systemIdContested).toBe(false);
    give(own(1, { sequence: 7000 }));
    simulation.run(3000);
    expect([stored(a, '01')!.sequence, trouble(a).systemIdContested]).toEqual([6001, true]);
    simulation.run(3000);
    expect(stored(a, '01')!.sequence).toBe(7001);
    // What comes again and again while we wait is one.
    for (let i = 0; i < 20; i++) give(own(1, { sequence: 8000 + i }));
    simulation.run(30_000);
    expect(stored(a, '01')!.sequence).toBe(8020);
  });

  test('a stop does not wait', () => {
    const { a, b, give, simulation } = adjacency();
    for (let i = 1; i < 6; i++) give(own(0, { sequence: 5000 * i }));
    a.event({ type: 'stop' });
    simulation.run(3000);
    expect([a.stopped, stored(b, '00')!.purged]).toEqual([true, true]);
  });

  test('thousands of pseudonodes under our name are purged, no more often, and fill nothing', () => {
    const { a, give } = adjacency();
    for (let i = 0; i < 3000; i++) give(own(i & 255, { sequence: 1 }, 1 + (i >> 8)));
    expect(a.count('isis.own.unknown-fragment-purged')).toBe(3000);
    expect(a.speaker.levels.get(2)!.own.strangers.size).toBe(1024);
    const before = a.count('isis.own.unknown-fragment-purged');
    for (let i = 0; i < 100; i++) give(own(0, { sequence: 10 + i }, 1));
    expect(a.count('isis.own.unknown-fragment-purged') - before).toBeLessThan(5);
    expect(trouble(a).systemIdContested).toBe(true);
  });
});

describe('the highest sequence number under our name', () => {
  test('of a fragment with prefixes: they move to free ones at once, it stays out of use for MaxAge and ZeroAge, then it is used again', () => {
    const { a, b, give, simulation } = adjacency();
    a.event(originate(many(60)));
    simulation.run(2000);
    expect([...a.speaker.levels.get(2)!.own.placement.fragments.keys()]).toEqual([1, 2]);
    give(own(1, { sequence: HIGHEST }));
    simulation.run(1000);
    expect(b.prefixes()).toHaveLength(60);
    expect(stored(b, '01')).toMatchObject({ purged: true, sequence: HIGHEST });
    expect(trouble(a).exhausted).toEqual([{ fragment: 1, until: expect.any(String) }]);
    simulation.run(1_250_000);
    expect([trouble(a).exhausted.length, stored(a, '01')]).toEqual([1, undefined]);
    simulation.run(20_000);
    expect(trouble(a).exhausted).toEqual([]);
    a.event(originate(many(160)));
    simulation.run(2000);
    expect(stored(b, '01')).toMatchObject({ purged: false, sequence: 1 });
    expect(b.prefixes()).toHaveLength(160);
  });

  test('of a purge it is the same; one that comes again while we wait is purged again', () => {
    const { a, b, give, simulation } = adjacency();
    a.event(originate(many(1)));
    simulation.run(2000);
    give(own(1, { sequence: HIGHEST, remainingLifetime: 0 }));
    simulation.run(1000);
    expect([b.prefixes().length, trouble(a).exhausted.length]).toEqual([1, 1]);
    simulation.run(100_000);
    give(own(1, { sequence: HIGHEST }));
    simulation.run(1000);
    expect(stored(a, '01')).toMatchObject({ purged: true, sequence: HIGHEST });
    expect(b.prefixes()).toHaveLength(1);
  });

  test('of all fragments: what has no place is told, and has one when the first is free again', () => {
    const { a, b, give, simulation } = adjacency();
    a.event(originate(many(1)));
    simulation.run(2000);
    for (let fragment = 1; fragment < 256; fragment++) give(own(fragment, { sequence: HIGHEST }));
    simulation.run(3000);
    // Only those that had prefixes were ours to lose: each that is free is used until it is taken.
    expect(b.prefixes().length + a.speaker.levels.get(2)!.own.unplaced.size).toBeGreaterThanOrEqual(1);
    simulation.run(1_400_000);
    expect(b.prefixes()).toHaveLength(1);
  });

  test('of fragment 0: it is back before others forget what they learned, and the other fragments are sent after it', () => {
    const { a, b, give, simulation, wire } = adjacency();
    a.event(originate(many(60)));
    simulation.run(2000);
    give(own(0, { sequence: HIGHEST }));
    simulation.run(1000);
    expect(trouble(a).exhausted.map(({ fragment }) => fragment)).toEqual([0]);
    expect([...b.reachable]).toEqual([]);
    const sent: number[] = [];
    wire.filter = (pdu, from) => {
      if (from === 0 && pdu.kind === 'lsp') sent.push(pdu.lspId.fragment);
      return true;
    };
    simulation.run(80_000);
    expect([...b.reachable]).toEqual([`L2 ${A}`]);
    expect(sent).toEqual([0, 1, 2]);
    expect(b.prefixes()).toHaveLength(60);
    expect(stored(b, '00')).toMatchObject({ purged: false, sequence: 1 });
    expect(trouble(a).exhausted).toEqual([]);
  });

  test('new keys open nothing that is closed', () => {
    const { a, b, give, simulation } = adjacency();
    a.event(originate(many(1)));
    simulation.run(2000);
    give(own(1, { sequence: HIGHEST }));
    simulation.run(1000);
    const key = new TextEncoder().encode('K');
    for (const agent of [a, b])
      agent.event({ type: 'configure', config: { ...agent.speaker.config, keys: { domain: key } } });
    simulation.run(10_000);
    const placed = [...a.speaker.levels.get(2)!.own.placement.whereIs.values()];
    expect(placed).toEqual([2]);
    expect(decodePdu(stored(b, '02')!.raw).ok).toBe(true);
    expect(b.prefixes()).toHaveLength(1);
  });
});
