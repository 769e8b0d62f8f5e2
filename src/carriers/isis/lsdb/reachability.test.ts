// Which originators count as reachable.
import { describe, expect, test } from 'vitest';
import { packNeighbors } from '../../../packet/isis/tlv/is-reachability.ts';
import type { IsisTlv } from '../../../packet/isis/tlv/types.ts';
import { lsp } from '../hostile.fixture.ts';
import { forgetDue } from './reachability.ts';
import { isAlive } from './graph.ts';
import { Router } from '../router.fixture.ts';
import { Agent, Simulation, originate, proxied, systemId, testConfig } from '../simulation.fixture.ts';

const LEARNER = '0000.0000.00ff';
const ORIGIN = '0000.0000.0001';

/** learner – r1 – r2 – origin */
function chain(): { simulation: Simulation; learner: Agent; origin: Agent; r1: Router; r2: Router } {
  const simulation = new Simulation();
  const [r1, r2] = [new Router(simulation, '0000.0000.1111'), new Router(simulation, '0000.0000.2222')];
  const learner = new Agent(simulation, testConfig(LEARNER));
  const origin = new Agent(simulation, testConfig(ORIGIN, { seed: 3 }));
  simulation.wire(learner.attach, r1.attach);
  simulation.wire(r1.attach, r2.attach);
  simulation.wire(r2.attach, origin.attach);
  origin.event(originate([proxied('2001:db8:1::/64')]));
  simulation.run(10_000);
  return { simulation, learner, origin, r1, r2 };
}

const systems = (agent: Agent): string[] => [...agent.reachable].map((name) => name.slice(-4)).sort();

describe('reachability', () => {
  test('reaches every system of the chain except itself', () => {
    expect(systems(chain().learner)).toEqual(['0001', '1111', '2222']);
  });

  test('a stub that dies is unreachable as soon as its router no longer lists it, although its LSPs stay', () => {
    const { simulation, learner, origin, r2 } = chain();
    origin.kill();
    r2.cut(1);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['1111', '2222']);
    expect(learner.prefixes()).toHaveLength(1);
  });

  test('a link listed by one end only does not count', () => {
    const { simulation, learner, r1 } = chain();
    r1.cut(1);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['1111']);
  });

  test('a system that lists a neighbor which does not list it back is not reached, in either direction', () => {
    const { simulation, learner, r1 } = chain();
    const neighbor = (system: string): IsisTlv => ({
      kind: 'extended-is-reachability',
      neighbors: [{ systemId: systemId(system), pseudonode: 0, metric: 10, subTlvs: new Uint8Array(0) }],
    });
    const claim = (system: string, sequence: number, tlvs: IsisTlv[]): void =>
      r1.ports[0]!.send(lsp({ sequence, tlvs }, system));
    r1.extra = [neighbor('0000.0000.4444')];
    r1.originate();
    claim('0000.0000.4444', 1, []);
    claim('0000.0000.5555', 1, [neighbor('0000.0000.1111')]);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222']);
    claim('0000.0000.4444', 2, [neighbor('0000.0000.1111')]);
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222', '4444']);
  });

  test.each([
    [0xfffffe, ['0001', '1111', '2222', '4444']],
    [0xffffff, ['0001', '1111', '2222']],
  ])('a link of metric %i: only the highest metric excludes it from the topology (RFC 5305 §3)', (metric, expected) => {
    const { simulation, learner } = chain();
    const claim = (from: string, to: string): void => {
      const neighbors = [{ systemId: systemId(to), pseudonode: 0, metric, subTlvs: new Uint8Array(0) }];
      const lspId = { systemId: systemId(from), pseudonode: 0, fragment: from.endsWith('1111') ? 9 : 0 };
      learner.deliver(lsp({ lspId, sequence: 1, tlvs: [{ kind: 'extended-is-reachability', neighbors }] }));
    };
    claim('0000.0000.1111', '0000.0000.4444');
    claim('0000.0000.4444', '0000.0000.1111');
    simulation.run(1000);
    expect(systems(learner)).toEqual(expected);
  });

  test('a replaced neighbor or a changed metric is noticed', () => {
    const { simulation, learner } = chain();
    const [four, five] = ['0000.0000.4444', '0000.0000.5555'] as const;
    const list = (from: string, fragment: number, sequence: number, ...to: [string, number][]): string[] => {
      const neighbors = to.map(([system, metric]) => ({
        ...{ systemId: systemId(system), pseudonode: 0, metric, subTlvs: new Uint8Array(0) },
      }));
      const lspId = { systemId: systemId(from), pseudonode: 0, fragment };
      learner.deliver(lsp({ lspId, sequence, tlvs: [{ kind: 'extended-is-reachability', neighbors }] }));
      simulation.run(1000);
      return systems(learner).filter((name) => name === '4444' || name === '5555');
    };
    for (const each of [four, five]) list(each, 0, 1, ['0000.0000.1111', 10]);
    const router = (sequence: number, ...to: [string, number][]): string[] =>
      list('0000.0000.1111', 9, sequence, ...to);
    expect([
      router(1, [four, 10]),
      router(2, [five, 10]),
      router(3, [five, 0xffffff]),
      router(4, [five, 10], [four, 0xffffff]),
      router(5, [five, 0xffffff], [four, 10]),
      router(6, [four, 10]),
      router(7),
    ]).toEqual([['4444'], ['5555'], [], ['5555'], ['4444'], ['4444'], []]);
  });

  test('without fragment 0 a system does not count, even if another fragment lists its links (ISO/IEC 10589 §7.2.5)', () => {
    const { simulation, learner } = chain();
    const link = (system: string): IsisTlv => ({
      kind: 'extended-is-reachability',
      neighbors: [{ systemId: systemId(system), pseudonode: 0, metric: 10, subTlvs: new Uint8Array(0) }],
    });
    const advertise = (system: string, fragment: number, fields: object): string[] => {
      learner.deliver(lsp({ sequence: 1, ...fields, lspId: { systemId: systemId(system), pseudonode: 0, fragment } }));
      simulation.run(1000);
      return systems(learner).filter((name) => name === '4444');
    };
    const four = '0000.0000.4444';
    advertise('0000.0000.1111', 9, { tlvs: [link(four)] });
    expect([
      advertise(four, 1, { tlvs: [link('0000.0000.1111')] }),
      advertise(four, 0, {}),
      advertise(four, 0, { sequence: 2, remainingLifetime: 0 }),
      advertise(four, 0, { sequence: 3 }),
    ]).toEqual([[], ['4444'], [], ['4444']]);
  });

  test('each lost system has its own hold time', () => {
    const { simulation, learner, r1, r2 } = chain();
    const sources = (): string[] => [...learner.reports.values()].map(({ originator }) => originator.slice(-4)).sort();
    r2.extra = [{ kind: 'ipv6-te-router-id', address: proxied('::/0', '2001:db8::2').proxy }];
    r2.originate();
    simulation.run(1000);
    expect(sources()).toEqual(['0001', '2222']);
    r2.cut(1);
    simulation.run(60_000);
    r1.cut(1);
    simulation.run(59_000);
    expect({ systems: systems(learner), sources: sources() }).toEqual({ systems: ['1111'], sources: ['0001', '2222'] });
    simulation.run(3000);
    expect(sources()).toEqual(['2222']);
    simulation.run(60_000);
    expect(sources()).toEqual([]);
  });

  test('the hold time ends to the millisecond, and each system is forgotten at its own end', () => {
    const { learner, simulation, r1, r2 } = chain();
    r2.cut(1);
    simulation.run(10_000);
    r1.cut(1);
    simulation.run(10_000);
    const s = learner.speaker;
    const level = s.levels.get(2)!;
    const { graph } = level;
    const [first, second] = [ORIGIN, '0000.0000.2222'].map((system) => graph.lostAt.get(system)! + 120_000);
    const at = (now: number, system: string): boolean => ((s.now = now), isAlive(s, level, system));
    expect({ first1: at(first! - 1, ORIGIN), first: at(first!, ORIGIN) }).toEqual({ first1: true, first: false });
    expect([at(first!, '0000.0000.2222'), at(first!, '0000.0000.7777')]).toEqual([true, false]);
    const left = (now: number): unknown[] => {
      s.now = now;
      forgetDue(s, level);
      return [...graph.lostAt.keys(), graph.forgetAt];
    };
    expect(left(first! - 1)).toEqual([ORIGIN, '0000.0000.2222', first]);
    expect(left(first!)).toEqual(['0000.0000.2222', second]);
    expect(left(second!)).toEqual([Infinity]);
  });

  test('a walk continues where it stopped, and the next walk finds a change made meanwhile', () => {
    const { simulation, learner, r1 } = chain();
    const id = (n: number): string => `0000.00aa.${n.toString(16).padStart(4, '0')}`;
    const neighbors = (names: string[]): IsisTlv[] =>
      packNeighbors(
        names.map((name) => ({ systemId: systemId(name), pseudonode: 0, metric: 1, subTlvs: new Uint8Array(0) })),
      );
    // More than a walk visits in a turn: stars of the router, one LSP each.
    const count = 300;
    for (let n = 0; n < count; n++) learner.deliver(lsp({ sequence: 1, tlvs: neighbors(['0000.0000.1111']) }, id(n)));
    for (let f = 0; f < 5; f++) {
      const names = Array.from({ length: 60 }, (_, i) => id(60 * f + i));
      learner.deliver(
        lsp({
          sequence: 1,
          lspId: { systemId: systemId('0000.0000.1111'), pseudonode: 0, fragment: f + 1 },
          tlvs: neighbors(names),
        }),
      );
    }
    simulation.run(1000);
    expect(learner.reachable.size).toBe(3 + count);
    r1.cut(1);
    simulation.run(60);
    learner.deliver(lsp({ sequence: 2, tlvs: [] }, id(7)));
    simulation.run(1000);
    expect(learner.reachable.size).toBe(1 + count - 1);
  });

  test('nothing is reachable without an adjacency', () => {
    const { simulation, learner } = chain();
    learner.event({ type: 'link-down', reason: 'interface gone' });
    simulation.run(1000);
    expect(systems(learner)).toEqual([]);
    expect(learner.speaker.adjacency).toMatchObject({ state: 'down', reason: 'interface gone' });
  });

  test('an overloaded router is no transit, but the overloaded stub beside it is still reached', () => {
    const { simulation, learner, r2 } = chain();
    r2.overload = true;
    r2.originate();
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222']);
    const r3 = new Router(simulation, '0000.0000.3333');
    simulation.wire(r2.attach, r3.attach);
    simulation.run(10_000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222']);
    r2.overload = false;
    r2.originate();
    simulation.run(1000);
    expect(systems(learner)).toEqual(['0001', '1111', '2222', '3333']);
  });
});
