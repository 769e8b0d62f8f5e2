// Two speakers back to back: adjacency, synchronization, retransmission, purge, restart.
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { byKind } from '../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { decodePdu } from '../../packet/isis/pdu.ts';
import { Agent, Simulation, type Wire, originate, proxied, testConfig } from './simulation.fixture.ts';
import type { SpeakerConfig } from './state.ts';

const A = '0000.0000.000a';
const B = '0000.0000.000b';

interface Pair {
  simulation: Simulation;
  a: Agent;
  b: Agent;
  wire: Wire;
}

function pair(forA: Partial<SpeakerConfig> = {}, forB: Partial<SpeakerConfig> = {}): Pair {
  const simulation = new Simulation();
  const a = new Agent(simulation, testConfig(A, forA));
  const b = new Agent(simulation, testConfig(B, { seed: 2, ...forB }));
  return { simulation, a, b, wire: simulation.wire(a.attach, b.attach) };
}

const learnedFrom = (agent: Agent): string[] => agent.prefixes().map((p) => `${p.pnc ? 'P' : '-'} ${p.prefix.length}`);

describe('adjacency', () => {
  test('comes up by the three-way handshake within a second', () => {
    const { simulation, a, b } = pair();
    simulation.run(1000);
    expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'up', bState: 'up' });
    expect(a.speaker.adjacency).toMatchObject({ system: B, levels: [2] });
  });

  test.each([
    [[1], [1], [1]],
    [
      [1, 2],
      [1, 2],
      [1, 2],
    ],
    [[1, 2], [2], [2]],
    [[1, 2], [1], [1]],
  ] as const)('levels %j with levels %j agree on %j', (forA, forB, common) => {
    const { simulation, a, b } = pair({ levels: forA }, { levels: forB });
    simulation.run(1000);
    expect({ aState: a.state, bState: b.state }).toEqual({ aState: 'up', bState: 'up' });
    expect(a.speaker.adjacency!.levels).toEqual(common);
  });

  test('is refused at level 1 in another area, and kept at level 2', () => {
    const other = Uint8Array.of(0x49, 0x00, 0x02);
    const l1 = pair({ levels: [1] }, { levels: [1], area: other });
    l1.simulation.run(5000);
    expect(l1.a.state).toBe('none');
    expect(l1.a.count('isis.hello.area-mismatch')).toBeGreaterThan(0);
    const both = pair({ levels: [1, 2] }, { levels: [1, 2], area: other });
    both.simulation.run(5000);
    expect(both.a.speaker.adjacency).toMatchObject({ state: 'up', levels: [2] });
  });

  test('is refused without a level in common', () => {
    const { simulation, a } = pair({ levels: [1] }, { levels: [2] });
    simulation.run(5000);
    expect(a.state).toBe('none');
    expect(a.count('isis.hello.level-mismatch')).toBeGreaterThan(0);
  });

  test('goes down when the hold time expires, and shows the reason', () => {
    const { simulation, a, b } = pair();
    simulation.run(1000);
    b.kill();
    simulation.run(29_000);
    expect(a.state).toBe('up');
    simulation.run(3000);
    expect(a.speaker.adjacency).toMatchObject({ state: 'down', reason: 'hold time expired' });
    expect(a.count('isis.adjacency.hold-expired')).toBe(1);
  });

  test('goes down at once when another system answers', () => {
    const { simulation, a, b, wire } = pair();
    simulation.run(1000);
    b.kill();
    const c = new Agent(simulation, testConfig('0000.0000.000c'));
    wire.plug(1, c.attach);
    simulation.run(1.5);
    expect(a.count('isis.hello.system-id-changed')).toBe(1);
    expect(a.speaker.adjacency).toMatchObject({ state: 'down', reason: 'system ID changed to 0000.0000.000c' });
    simulation.run(4000);
    expect(a.speaker.adjacency).toMatchObject({ state: 'up', system: '0000.0000.000c' });
  });

  test('comes up again through initializing after the neighbor restarts', () => {
    const { simulation, a, b, wire } = pair();
    simulation.run(1000);
    b.kill();
    const again = new Agent(simulation, testConfig(B, { startSequence: 2000 }));
    wire.plug(1, again.attach);
    simulation.until('both up', () => a.state === 'up' && again.state === 'up', 10_000);
    simulation.run(2000);
    expect(a.state).toBe('up');
    expect(again.state).toBe('up');
  });
});

describe('database', () => {
  test('PNC-5-a PNC-5-b: a declared prefix is learned by the other end, with flag, proxy, metric and originator', () => {
    const { simulation, a, b } = pair();
    a.event(originate([proxied('2001:db8:1::/64'), proxied('10.1.0.0/16', '192.0.2.1')]));
    simulation.run(2000);
    const reports = [...b.reports.values()];
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({ carrier: 'isis', source: `L2 ${A}.00-01`, originator: `L2 ${A}` });
    expect(byKind(reports[0]!.advertisements).prefixes).toHaveLength(2);
    for (const p of byKind(reports[0]!.advertisements).prefixes)
      expect(p).toMatchObject({ pnc: true, metric: 0xfe000001 });
    expect(byKind(reports[0]!.advertisements).prefixes.map((p) => p.proxy)).toEqual(
      expect.arrayContaining([proxied('10.1.0.0/16', '192.0.2.1').proxy, proxied('::/0').proxy]),
    );
    expect([...b.reachable]).toEqual([`L2 ${A}`]);
  });

  test('every LSP is acknowledged: nothing is retransmitted on a wire that loses nothing', () => {
    const { simulation, a, b } = pair();
    a.event(originate(Array.from({ length: 200 }, (_, i) => proxied(`10.${i}.0.0/16`))));
    simulation.run(1000);
    const before = a.count('isis.tx.lsp');
    simulation.run(60_000);
    expect(a.count('isis.tx.lsp')).toBe(before);
    expect(a.speaker.levels.get(2)!.srm.size + b.speaker.levels.get(2)!.srm.size).toBe(0);
  });

  test('recovers from the loss of any single PDU', () => {
    const reference = pair();
    reference.a.event(originate([proxied('2001:db8:1::/64')]));
    reference.simulation.run(5000);
    const total = reference.wire.sent;
    expect(total).toBeGreaterThan(10);
    for (let lost = 1; lost <= total; lost++) {
      const { simulation, a, b, wire } = pair();
      wire.filter = () => wire.sent !== lost;
      a.event(originate([proxied('2001:db8:1::/64')]));
      simulation.run(15_000);
      expect({ lost, prefixes: learnedFrom(b), reachable: [...b.reachable] }).toEqual({
        lost,
        prefixes: ['P 64'],
        reachable: [`L2 ${A}`],
      });
      expect(a.speaker.levels.get(2)!.srm.size).toBe(0);
    }
  });

  test('an LSP that is not acknowledged is sent again every 5 s', () => {
    const { simulation, a, wire } = pair();
    simulation.run(2000);
    const times: number[] = [];
    wire.filter = (pdu, from) => {
      if (from === 0 && pdu.kind === 'lsp') times.push(simulation.now);
      return !(from === 1 && pdu.kind === 'psnp');
    };
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(16_000);
    expect(times).toHaveLength(4);
    expect(times.slice(1).map((t, i) => t - times[i]!)).toEqual([5000, 5000, 5000]);
  });

  test('requests LSPs that a CSNP lists and it lacks', () => {
    const { simulation, a, b, wire } = pair();
    a.event(originate([proxied('2001:db8:1::/64')]));
    // LSPs of A are lost until B requests them with sequence number 0.
    let asked = false;
    wire.filter = (pdu, from) => {
      if (from === 1 && pdu.kind === 'psnp')
        asked ||= pdu.tlvs.some((t) => t.kind === 'lsp-entries' && t.entries.some((e) => e.sequence === 0));
      return asked || !(from === 0 && pdu.kind === 'lsp');
    };
    simulation.run(4000);
    expect(learnedFrom(b)).toEqual(['P 64']);
    expect(b.count('isis.lsp.requested')).toBeGreaterThan(0);
  });

  test('withdraws a prefix by purging the fragment that becomes empty', () => {
    const { simulation, a, b } = pair();
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(2000);
    a.event(originate([]));
    simulation.run(2000);
    expect(b.reports.size).toBe(0);
    expect(b.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-01`)).toMatchObject({ purged: true });
    simulation.run(70_000);
    expect(b.speaker.levels.get(2)!.lsdb.byKey.has(`${A}.00-01`)).toBe(false);
  });

  test('a stop purges everything and waits for the acknowledgment', () => {
    const { simulation, a, b } = pair();
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(2000);
    a.event({ type: 'stop' });
    expect(a.stopped).toBeUndefined();
    simulation.run(1000);
    expect(a.stopped).toBe(true);
    expect(b.reports.size).toBe(0);
    expect(b.state).not.toBe('up');
    expect([...b.reachable]).toEqual([]);
  });

  test('a stop retransmits a lost purge, and ends unclean when no neighbor answers', () => {
    const first = pair();
    first.a.event(originate([proxied('2001:db8:1::/64')]));
    first.simulation.run(2000);
    let lost = 0;
    first.wire.filter = (pdu) => !(pdu.kind === 'lsp' && pdu.remainingLifetime === 0 && lost++ < 2);
    first.a.event({ type: 'stop' });
    first.simulation.run(3000);
    expect(first.a.stopped).toBe(true);
    expect(first.b.reports.size).toBe(0);
    const second = pair();
    second.simulation.run(2000);
    second.b.kill();
    second.a.event({ type: 'stop' });
    second.simulation.run(5000);
    expect(second.a.stopped).toBe(false);
  });

  test('refreshes before the lifetime ends, without a new report', () => {
    const { simulation, a, b } = pair();
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(2000);
    const before = b.reports.get(`L2 ${A}.00-01`);
    simulation.run(3_600_000);
    expect(a.count('isis.own.issued')).toBeGreaterThan(8);
    expect(b.reports.get(`L2 ${A}.00-01`)).toBe(before);
    expect(b.count('isis.lsp.expired')).toBe(0);
  });

  test('ages out an LSP that its originator no longer refreshes', () => {
    const { simulation, a, b } = pair();
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(2000);
    a.kill();
    simulation.run(40_000);
    expect([...b.reachable]).toEqual([]);
    expect(b.reports.size).toBe(1);
    simulation.run(1_300_000);
    expect(b.reports.size).toBe(0);
    expect(b.count('isis.lsp.expired')).toBe(2);
  });
});

describe('restart after a crash', () => {
  function restart(startSequence: number): Pair & { again: Agent } {
    const { simulation, a, b, wire } = pair();
    a.event(originate(Array.from({ length: 120 }, (_, i) => proxied(`10.${i}.0.0/16`))));
    simulation.run(3000);
    a.kill();
    const again = new Agent(simulation, testConfig(A, { startSequence }));
    wire.plug(0, again.attach);
    again.event(originate([proxied('10.7.0.0/16')]));
    simulation.run(10_000);
    return { simulation, a, b, wire, again };
  }

  test('a start sequence from the clock outbids the earlier run; fragments no longer originated are purged', () => {
    const { again, b } = restart(5000);
    expect(learnedFrom(b)).toEqual(['P 16']);
    expect(b.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-01`)!.sequence).toBeGreaterThanOrEqual(5000);
    expect(again.count('isis.own.unknown-fragment-purged')).toBeGreaterThan(0);
  });

  test('after the clock went back, it jumps past the sequence numbers that the neighbor returns', () => {
    const { again, b } = restart(10);
    expect(learnedFrom(b)).toEqual(['P 16']);
    expect(again.count('isis.own.sequence-bumped')).toBeGreaterThan(0);
    expect(b.speaker.levels.get(2)!.lsdb.byKey.get(`${A}.00-01`)!.sequence).toBeGreaterThan(1000);
  });
});

describe('the LSP sent', () => {
  test('PNC-5.1-a PNC-5.1-b: the entry has the P-flag (bit 7), the proxy and the signaling metric; the LSP has the overload bit', () => {
    const { simulation, a } = pair();
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(1000);
    const lsps = a.sent
      .map((bytes) => decodePdu(bytes))
      .flatMap((d) => (d.ok && d.value.kind === 'lsp' ? [d.value] : []));
    const lsp = lsps.find((l) => l.lspId.fragment === 1)!;
    expect(lsp).toMatchObject({ overload: true, attached: false, isType: 3 });
    expect(lsp.tlvs).toMatchObject([
      {
        kind: 'ipv6-reachability',
        prefixes: [
          {
            metric: 0xfe000001,
            down: false,
            subTlvs: [
              { kind: 'prefix-attribute-flags', flags: Uint8Array.of(1) },
              { kind: 'ipv6-source-router-id', address: proxied('::/0').proxy },
            ],
          },
        ],
      },
    ]);
  });

  test('the P-flag moves with its code point', () => {
    const moved = { codePoints: { ...DEFAULT_CODE_POINTS, 'isis-pnc-flag-bit': 11 } };
    const { simulation, a, b } = pair(moved, moved);
    a.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(1000);
    expect(learnedFrom(b)).toEqual(['P 64']);
    const other = pair(moved);
    other.a.event(originate([proxied('2001:db8:1::/64')]));
    other.simulation.run(1000);
    expect(learnedFrom(other.b)).toEqual(['- 64']);
  });
});
