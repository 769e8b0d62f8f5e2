// Leaking between levels across routers that do not know it. Topology: stubs behind routers, agents of both levels.
import { DEFAULT_CODE_POINTS } from '../../../model/code-points.ts';
import { describe, expect, test } from 'vitest';
import { hasFlag } from '../../../packet/bit-string.ts';
import { AGENT_A, AGENT_B, LEARNER, ORIGIN, advertised, flagsOf, learned, net } from './leaking.fixture.ts';
import { originate, proxied } from '../simulation.fixture.ts';

describe('PNC between levels', () => {
  test.each([
    [1, 2, false],
    [2, 1, true],
  ] as const)(
    'PNC-5.1-c: level %d to level %d keeps flag and proxy, sets R, and the up/down bit is %s',
    (from, to, down) => {
      const { simulation, router, add } = net();
      const origin = add(ORIGIN, [from]);
      add(AGENT_A, [1, 2]);
      const learner = add(LEARNER, [to]);
      origin.event(originate([proxied('2001:db8:1::/64', '2001:db8:ffff::77')]));
      simulation.run(10_000);
      const [copy, ...more] = advertised(router, to, AGENT_A);
      expect(more).toEqual([]);
      expect(copy).toMatchObject({ down, metric: 0xfe000001 });
      expect({ flag7: hasFlag(flagsOf(copy!), 7), flag1: hasFlag(flagsOf(copy!), 1) }).toEqual({
        flag7: true,
        flag1: true,
      });
      expect(advertised(router, from, AGENT_A)).toEqual([]);
      expect(learned(learner)).toEqual(['P 2001:db8:ffff::77']);
      expect([...learner.reachable]).toContain(`L${to} ${AGENT_A}`);
    },
  );

  test('a prefix that cannot contain a sender is not leaked', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    add(AGENT_A, [1, 2]);
    origin.event(originate([proxied('ff0e::/16'), proxied('fe80::/64'), proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect({ origin: advertised(router, 1, ORIGIN).length, agentA: advertised(router, 2, AGENT_A).length }).toEqual({
      origin: 3,
      agentA: 1,
    });
  });

  test('A15: a clear flag stays clear: an unflagged prefix is not leaked', () => {
    const { simulation, router, add } = net();
    // The origin uses another bit as its flag, so that its prefix is an ordinary one for all others.
    const origin = add(ORIGIN, [1], { codePoints: { ...DEFAULT_CODE_POINTS, 'isis-pnc-flag-bit': 5 } });
    add(AGENT_A, [1, 2]);
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect(advertised(router, 1, ORIGIN)).toHaveLength(1);
    expect(advertised(router, 2, AGENT_A)).toEqual([]);
  });

  test('A15: when the flag is cleared or the prefix withdrawn, the copy is withdrawn', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    const agent = add(AGENT_A, [1, 2]);
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect(advertised(router, 2, AGENT_A)).toHaveLength(1);
    origin.event(originate([]));
    simulation.run(3000);
    expect(advertised(router, 2, AGENT_A)).toEqual([]);
    expect(agent.count('isis.carry.withdrawn')).toBe(1);
  });

  test.each([1, 2] as const)('two agents of both levels do not echo a prefix of level %d', (from) => {
    const to = from === 1 ? 2 : 1;
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [from]);
    const [a, b] = [add(AGENT_A, [1, 2]), add(AGENT_B, [1, 2])];
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect(advertised(router, to, AGENT_A)).toHaveLength(1);
    expect(advertised(router, to, AGENT_B)).toEqual([]);
    for (const agent of [AGENT_A, AGENT_B]) expect(advertised(router, from, agent)).toEqual([]);
    // Nothing oscillates.
    const issued = a.count('isis.own.issued') + b.count('isis.own.issued');
    simulation.run(120_000);
    expect(a.count('isis.own.issued') + b.count('isis.own.issued')).toBe(issued);
    // The copy is withdrawn with the original: no agent keeps it alive from the other's copy.
    const copies = a.count('isis.carry.carried') + b.count('isis.carry.carried');
    origin.event(originate([]));
    simulation.run(10_000);
    expect(a.count('isis.carry.carried') + b.count('isis.carry.carried')).toBe(copies);
    for (const level of [1, 2] as const)
      for (const agent of [AGENT_A, AGENT_B]) expect(advertised(router, level, agent)).toEqual([]);
  });

  test('the second agent takes over when the first is gone', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    const a = add(AGENT_A, [1, 2]);
    add(AGENT_B, [1, 2]);
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    a.event({ type: 'stop' });
    simulation.run(5000);
    expect(advertised(router, 2, AGENT_B)).toHaveLength(1);
  });

  test('the second agent takes over while the copy of the first, now disconnected, is still held', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    add(AGENT_A, [1, 2]);
    add(AGENT_B, [1, 2], { holdUnreachableMs: 60_000 });
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect(advertised(router, 2, AGENT_B)).toEqual([]);
    router.cut(1);
    simulation.run(10_000);
    expect(advertised(router, 2, AGENT_A)).toHaveLength(1);
    expect(advertised(router, 2, AGENT_B)).toHaveLength(1);
  });

  test('a prefix with the up/down bit is never leaked up, even without its original', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [2]);
    const a = add(AGENT_A, [1, 2]);
    const b = add(AGENT_B, [1, 2]);
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect(advertised(router, 1, AGENT_A)[0]).toMatchObject({ down: true });
    // A dies without withdrawing: its copy stays in level 1. The origin withdraws.
    a.kill();
    origin.event(originate([]));
    simulation.run(5000);
    expect(b.speaker.leaking.offered[1].size).toBe(1);
    expect(advertised(router, 2, AGENT_B)).toEqual([]);
  });

  test('the router’s own declaration takes precedence over a leaked entry', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    const agent = add(AGENT_A, [1, 2]);
    origin.event(originate([proxied('2001:db8:1::/64', '2001:db8:ffff::77')]));
    agent.event(originate([proxied('2001:db8:1::/64', '2001:db8:ffff::88')]));
    simulation.run(10_000);
    const [own] = advertised(router, 2, AGENT_A);
    expect(hasFlag(flagsOf(own!), 1)).toBe(false);
    agent.event(originate([]));
    simulation.run(10_000);
    const [copy] = advertised(router, 2, AGENT_A);
    expect(hasFlag(flagsOf(copy!), 1)).toBe(true);
    expect(advertised(router, 1, AGENT_A)).toEqual([]);
  });

  test('prefixes of an unreachable originator are leaked for the hold time only', () => {
    const { simulation, router, add } = net();
    const agent = add(AGENT_A, [1, 2], { holdUnreachableMs: 20_000 });
    const origin = add(ORIGIN, [1]);
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    router.cut(1);
    simulation.run(15_000);
    expect([...agent.reachable]).not.toContain(`L1 ${ORIGIN}`);
    expect(advertised(router, 2, AGENT_A)).toHaveLength(1);
    simulation.run(10_000);
    expect(advertised(router, 2, AGENT_A)).toEqual([]);
  });

  test('10,000 prefixes are leaked in slices', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    add(AGENT_A, [1, 2]);
    origin.event(originate(Array.from({ length: 10_000 }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`))));
    simulation.run(15_000);
    expect(advertised(router, 2, AGENT_A)).toHaveLength(10_000);
  });
});
