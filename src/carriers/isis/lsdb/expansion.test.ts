// Which LSPs of others are kept and learned from: one limit for both, and only LSPs of reachable systems are expanded.
import { describe, expect, test } from 'vitest';
import { prefixEntry, tlv236 } from '../../../packet/isis/foreign.fixture.ts';
import type { IsNeighbor, IsisTlv } from '../../../packet/isis/tlv/types.ts';
import { packNeighbors } from '../../../packet/isis/tlv/is-reachability.ts';
import { ENTRY_COST, LEARNED_SHARE } from '../constants.ts';
import { isFull } from './expansion.ts';
import { lsp } from '../hostile.fixture.ts';
import { costOf } from './lsdb.ts';
import { Router } from '../router.fixture.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';
import type { SpeakerConfig } from '../state.ts';

const LEARNER = '0000.0000.00ff';
const ROUTER = '0000.0000.1111';
const prefixes = (first: number, count: number, flags?: number): IsisTlv[] =>
  Array.from({ length: Math.ceil(count / 10) }, (_, k) =>
    tlv236(
      ...Array.from({ length: Math.min(10, count - 10 * k) }, (__, i) =>
        prefixEntry(
          `2001:db8:${(first + 10 * k + i).toString(16)}::/48`,
          flags === undefined ? [] : [{ kind: 'prefix-attribute-flags', flags: Uint8Array.of(flags) }],
        ),
      ),
    ),
  );
const neighbor = (system: string): IsNeighbor => ({
  systemId: systemId(system),
  pseudonode: 0,
  metric: 10,
  subTlvs: new Uint8Array(0),
});
const system = (n: number): string => `0000.0000.${n.toString(16).padStart(4, '0')}`;

/** A learner beside a router that lists systems, which need not exist. */
function beside(overrides: Partial<SpeakerConfig> = {}) {
  const simulation = new Simulation();
  const router = new Router(simulation, ROUTER);
  const learner = new Agent(simulation, testConfig(LEARNER, overrides));
  simulation.wire(learner.attach, router.attach);
  learner.event(originate([]));
  simulation.run(3000);
  const list = (...systems: string[]): void => {
    router.extra = systems.length > 0 ? [{ kind: 'extended-is-reachability', neighbors: systems.map(neighbor) }] : [];
    router.originate();
    simulation.run(500);
  };
  const sequences = new Map<string, number>();
  const advertise = (who: string, tlvs: IsisTlv[], fragment = 0): void => {
    const id = `${who} ${fragment}`;
    sequences.set(id, (sequences.get(id) ?? 0) + 1);
    const links: IsisTlv[] =
      fragment === 0 ? [{ kind: 'extended-is-reachability', neighbors: [neighbor(ROUTER)] }] : [];
    learner.deliver(
      lsp({
        sequence: sequences.get(id)!,
        lspId: { systemId: systemId(who), pseudonode: 0, fragment },
        tlvs: [...links, ...tlvs],
      }),
    );
    simulation.run(300);
  };
  const level = learner.speaker.levels.get(2)!;
  return { simulation, router, learner, list, advertise, level };
}

const learned = (agent: Agent): number => agent.prefixes().length;

describe('expansion', () => {
  test('PNC-1-b: the fragments of a system are expanded when it becomes reachable, and collapsed after the hold time', () => {
    const { simulation, learner, list, advertise, level } = beside({ holdUnreachableMs: 60_000 });
    advertise(system(1), prefixes(0, 10, 1));
    advertise(system(1), prefixes(100, 7), 3);
    expect({
      learned: learned(learner),
      proxyPrefixes: level.lsdb.byKey.get(`${system(1)}.00-00`)!.content.proxyPrefixes,
    }).toEqual({ learned: 0, proxyPrefixes: 10 });
    list(system(1));
    expect(learned(learner)).toBe(17);
    list();
    expect(learned(learner)).toBe(17);
    simulation.run(59_000);
    expect(learned(learner)).toBe(17);
    simulation.run(3000);
    expect({ learned: learned(learner), reportsSize: learner.reports.size }).toEqual({ learned: 0, reportsSize: 0 });
    list(system(1));
    expect(learned(learner)).toBe(17);
    // A change while it is expanded, and one while it is not.
    advertise(system(1), prefixes(100, 3), 3);
    expect(learned(learner)).toBe(13);
    list();
    simulation.run(61_000);
    advertise(system(1), prefixes(100, 5), 3);
    expect(learned(learner)).toBe(0);
    list(system(1));
    expect(learned(learner)).toBe(15);
  });

  test('the bytes counted are the cost of the stored LSPs, after any additions and removals', () => {
    const { simulation, list, advertise, level } = beside({ holdUnreachableMs: 1000 });
    const check = (): void =>
      expect(level.lsdb.bytes).toBe([...level.lsdb.byKey.values()].reduce((sum, each) => sum + costOf(each), 0));
    for (const n of [1, 2, 3]) advertise(system(n), prefixes(n * 100, 40));
    check();
    list(system(1), system(2));
    check();
    expect(level.lsdb.bytes).toBeGreaterThan(80 * ENTRY_COST);
    advertise(system(1), prefixes(500, 4));
    list(system(2), system(3));
    check();
    simulation.run(5000);
    check();
    simulation.run(1_300_000);
    check();
    expect(level.lsdb.bytes).toBeLessThan(10 * ENTRY_COST);
  });

  test('an agent of both levels leaks expanded entries, and withdraws them with the originator', () => {
    const { simulation, router, list, advertise } = beside({ levels: [1, 2], holdUnreachableMs: 20_000 });
    advertise(system(1), prefixes(0, 5, 1));
    simulation.run(5000);
    const leaked = (): boolean =>
      router.lsps[1].has(`${LEARNER}.00-01`) && router.lsps[1].get(`${LEARNER}.00-01`)!.lifetime > 0;
    expect(leaked()).toBe(false);
    list(system(1));
    simulation.run(5000);
    expect(leaked()).toBe(true);
    list();
    simulation.run(30_000);
    expect(leaked()).toBe(false);
  });
});

describe('the limit', () => {
  test('for LSPs: further ones are refused and not acknowledged, and reported as long as they arrive', () => {
    const { simulation, learner, advertise, level } = beside({ lsdbBytes: 60_000 });
    for (let n = 1; n <= 60; n++) advertise(system(n), prefixes(0, 30));
    expect(level.lsdb.bytes).toBeLessThanOrEqual(60_000);
    expect(learner.count('isis.lsdb.full')).toBeGreaterThan(20);
    expect({ isFull: isFull(level, learner.speaker.now), state: learner.state }).toEqual({ isFull: true, state: 'up' });
    simulation.run(61_000);
    expect(isFull(level, learner.speaker.now)).toBe(false);
  });

  test('a refused LSP that outgrew its predecessor removes it: its content is no longer valid', () => {
    const { learner, list, advertise, level } = beside({ lsdbBytes: 30_000 });
    list(system(1));
    advertise(system(1), prefixes(0, 2), 1);
    advertise(system(1), []);
    expect(learned(learner)).toBe(2);
    for (let n = 2; n <= 40; n++) advertise(system(n), []);
    advertise(system(1), packNeighbors(Array.from({ length: 60 }, () => neighbor(system(99)))), 1);
    expect({ learned: learned(learner), hasByKey: level.lsdb.byKey.has(`${system(1)}.00-01`) }).toEqual({
      learned: 0,
      hasByKey: false,
    });
    expect(learner.count('isis.lsdb.full')).toBeGreaterThan(0);
  });

  test('for learned entries: LSPs without headroom are kept unexpanded and reported, and expanded once there is headroom', () => {
    const { simulation, learner, list, advertise, level } = beside({
      lsdbBytes: 100 * ENTRY_COST + 60_000,
      holdUnreachableMs: 1000,
    });
    list(system(1), system(2), system(3));
    for (const n of [1, 2, 3]) advertise(system(n), prefixes(n * 100, 50));
    const known = learned(learner);
    expect(isFull(level, learner.speaker.now)).toBe(true);
    expect(known).toBeGreaterThan(0);
    expect(known).toBeLessThan(150);
    expect(learner.count('isis.lsdb.not-expanded')).toBeGreaterThan(0);
    expect(level.lsdb.bytes).toBeLessThanOrEqual(level.lsdb.byteLimit * LEARNED_SHARE);
    // LSPs, which determine reachability, still have headroom.
    for (let n = 10; n < 20; n++) advertise(system(n), []);
    expect(learner.count('isis.lsdb.full')).toBe(0);
    for (const n of [1, 2]) advertise(system(n), prefixes(n * 100, 1));
    simulation.run(3000);
    expect({ learned: learned(learner), isFull: isFull(level, learner.speaker.now) }).toEqual({
      learned: 52,
      isFull: false,
    });
  });

  test('our own LSP always has headroom', () => {
    const { simulation, learner, router, advertise } = beside({ lsdbBytes: 1 });
    advertise(system(1), prefixes(0, 30));
    learner.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(3000);
    expect(router.lsps[2].has(`${LEARNER}.00-01`)).toBe(true);
    // An LSP with our system ID is outbid too.
    learner.deliver(lsp({ sequence: 0x100000, lspId: { systemId: systemId(LEARNER), pseudonode: 0, fragment: 1 } }));
    simulation.run(3000);
    expect(router.lsps[2].get(`${LEARNER}.00-01`)!.sequence).toBe(0x100001);
  });

  test('20,000 full LSPs of unreachable systems cost only their bytes, and no prefix is learned', () => {
    const { learner, level } = beside();
    const tlvs = prefixes(0, 100);
    for (let n = 0; n < 1000; n++)
      learner.deliver(
        lsp({ lspId: { systemId: Uint8Array.of(9, 9, 0, 0, n >> 8, n & 255), pseudonode: 0, fragment: 0 }, tlvs }),
      );
    while (learner.wakeAt() === -Infinity) learner.wake();
    expect(learned(learner)).toBe(0);
    expect(level.lsdb.byKey.size).toBeGreaterThan(1000);
    expect(level.lsdb.bytes * 20).toBeLessThan(level.lsdb.byteLimit);
  });
});
