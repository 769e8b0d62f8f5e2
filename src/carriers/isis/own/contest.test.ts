// LSPs with our system ID that are not ours: those of another router with our system ID, and forged ones with the
// highest sequence number.
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
const trouble = (agent: Agent) => troubleState(agent.speaker, { now: agent.speaker.now, toWall: 0 })[0]!;
const stored = (agent: Agent, fragment: string) => agent.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-${fragment}`);
const many = (count: number) => Array.from({ length: count }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`));

describe('two routers with one system ID', () => {
  test.each([
    [1, 1],
    [1, 100],
    [3, 0],
  ])('with %i and %i prefixes: a few LSPs a minute on the core; both report it until it is over', (first, second) => {
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
    expect({ systemIdContested: trouble(a).systemIdContested, state: a.state }).toEqual({
      systemIdContested: false,
      state: 'up',
    });
    expect(stored(a, '00')).toMatchObject({ purged: false, own: true });
  });

  test('a restarted run, or an LSP forged once or twice, causes no warning and is answered at once', () => {
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
    expect({ sequence: stored(a, '01')!.sequence, systemIdContested: trouble(a).systemIdContested }).toEqual({
      sequence: 6001,
      systemIdContested: true,
    });
    simulation.run(3000);
    expect(stored(a, '01')!.sequence).toBe(7001);
    // Versions that arrive while the answer waits count as one.
    for (let i = 0; i < 20; i++) give(own(1, { sequence: 8000 + i }));
    simulation.run(30_000);
    expect(stored(a, '01')!.sequence).toBe(8020);
  });

  test('a stop is not delayed', () => {
    const { a, b, give, simulation } = adjacency();
    for (let i = 1; i < 6; i++) give(own(0, { sequence: 5000 * i }));
    a.event({ type: 'stop' });
    simulation.run(3000);
    expect({ stopped: a.stopped, purged: stored(b, '00')!.purged }).toEqual({ stopped: true, purged: true });
  });

  test('thousands of pseudonode LSPs with our system ID are purged at the same pace and within a limit', () => {
    const { a, give } = adjacency();
    for (let i = 0; i < 3000; i++) give(own(i & 255, { sequence: 1 }, 1 + (i >> 8)));
    expect(a.count('isis.own.unknown-fragment-purged')).toBe(3000);
    expect(a.speaker.levels.get(2)!.own.unknownLspIds.size).toBe(1024);
    const before = a.count('isis.own.unknown-fragment-purged');
    for (let i = 0; i < 100; i++) give(own(0, { sequence: 10 + i }, 1));
    expect(a.count('isis.own.unknown-fragment-purged') - before).toBeLessThan(5);
    expect(trouble(a).systemIdContested).toBe(true);
  });
});

describe('the highest sequence number with our system ID', () => {
  test('of a fragment with prefixes: they move at once; it is unused for MaxAge and ZeroAge, then used again', () => {
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
    expect({ exhaustedLength: trouble(a).exhausted.length, stored: stored(a, '01') }).toEqual({
      exhaustedLength: 1,
      stored: undefined,
    });
    simulation.run(20_000);
    expect(trouble(a).exhausted).toEqual([]);
    a.event(originate(many(160)));
    simulation.run(2000);
    expect(stored(b, '01')).toMatchObject({ purged: false, sequence: 1 });
    expect(b.prefixes()).toHaveLength(160);
  });

  test('of a purge: the same; one that arrives again while we wait is purged again', () => {
    const { a, b, give, simulation } = adjacency();
    a.event(originate(many(1)));
    simulation.run(2000);
    give(own(1, { sequence: HIGHEST, remainingLifetime: 0 }));
    simulation.run(1000);
    expect({ prefixesLength: b.prefixes().length, exhaustedLength: trouble(a).exhausted.length }).toEqual({
      prefixesLength: 1,
      exhaustedLength: 1,
    });
    simulation.run(100_000);
    give(own(1, { sequence: HIGHEST }));
    simulation.run(1000);
    expect(stored(a, '01')).toMatchObject({ purged: true, sequence: HIGHEST });
    expect(b.prefixes()).toHaveLength(1);
  });

  test('of all fragments: unplaced entries are reported, and placed when the first fragment is free again', () => {
    const { a, b, give, simulation } = adjacency();
    a.event(originate(many(1)));
    simulation.run(2000);
    for (let fragment = 1; fragment < 256; fragment++) give(own(fragment, { sequence: HIGHEST }));
    simulation.run(3000);
    // Only fragments with prefixes were originated: each free one is used until it is lost too.
    expect(b.prefixes().length + a.speaker.levels.get(2)!.own.unplaced.size).toBeGreaterThanOrEqual(1);
    simulation.run(1_400_000);
    expect(b.prefixes()).toHaveLength(1);
  });

  test('of fragment 0: it returns before others forget our prefixes, and the other fragments are sent after it', () => {
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

  test('new keys do not reopen closed fragments', () => {
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
