// What is leaked between levels of what several say, and who leaks it.
import { describe, expect, test } from 'vitest';
import { P_FLAG } from '../../../packet/isis/foreign.fixture.ts';
import type { PrefixReachability } from '../../../packet/isis/types.ts';
import { AGENT_A, AGENT_B, LEARNER, ORIGIN, advertised, learned, net, say } from './leaking.fixture.ts';
import { originate, proxied } from '../simulation.fixture.ts';

describe('of what several say', () => {
  test.each<[string, (readonly [metric: number, proxy?: number])[], string]>([
    [
      'the lower metric, whatever its proxy',
      [
        [5, 2],
        [9, 1],
      ],
      'P 2001:db8:ffff::2',
    ],
    [
      'the lower metric, though it comes later',
      [
        [9, 1],
        [5, 2],
      ],
      'P 2001:db8:ffff::2',
    ],
    [
      'of one metric the lower proxy address',
      [
        [5, 2],
        [5, 1],
      ],
      'P 2001:db8:ffff::1',
    ],
    [
      'of one metric the lower proxy address, though it comes first',
      [
        [5, 1],
        [5, 2],
      ],
      'P 2001:db8:ffff::1',
    ],
    ['what names a proxy before what names none', [[5], [5, 2]], 'P 2001:db8:ffff::2'],
    ['what names a proxy before what names none, though it comes first', [[5, 2], [5]], 'P 2001:db8:ffff::2'],
    ['what has no proxy, if that is all', [[5], [5]], 'P none'],
  ])('D7: of what several LSPs say of a prefix is leaked: %s', (_what, offers, leaked) => {
    const { simulation, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    const learner = add(LEARNER, [2]);
    simulation.run(5000);
    offers.forEach(([metric, proxy], i) => {
      const source = {
        kind: 'ipv6-source-router-id',
        address: proxied('::/0', `2001:db8:ffff::${proxy ?? 0}`).proxy,
      } as const;
      say(agent, 1, i + 1, [{ metric, subTlvs: proxy === undefined ? [P_FLAG] : [P_FLAG, source] }]);
    });
    simulation.run(10_000);
    expect(learned(learner)).toEqual([leaked]);
  });

  test('PNC-5.1-c: an IPv4 prefix with its IPv4 proxy', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    add(AGENT_A, [1, 2]);
    const learner = add(LEARNER, [2]);
    origin.event(originate([proxied('10.1.0.0/16', '192.0.2.7')]));
    simulation.run(10_000);
    expect(learned(learner)).toEqual(['P 192.0.2.7']);
    const [copy] = advertised(router, 2, AGENT_A);
    expect(copy!.subTlvs.map(({ kind }) => kind)).toEqual(['prefix-attribute-flags', 'ipv4-source-router-id']);
  });

  test('D6: the copy names the proxy that the original resolves to', () => {
    const { simulation, router, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    const learner = add(LEARNER, [2]);
    router.extra = [
      { kind: 'ipv6-te-router-id', address: proxied('::/0', '2001:db8:ffff::77').proxy },
      { kind: 'ipv4-te-router-id', address: proxied('::/0', '192.0.2.77').proxy },
    ];
    simulation.run(5000);
    say(agent, 1, 1, [{}, { prefix: proxied('10.1.0.0/16').prefix }]);
    simulation.run(5000);
    expect(learned(learner).sort()).toEqual(['P 192.0.2.77', 'P 2001:db8:ffff::77']);
    const sources = advertised(router, 2, AGENT_A).map((p) => p.subTlvs.map(({ kind }) => kind).slice(1));
    expect(sources.sort()).toEqual([['ipv4-source-router-id'], ['ipv6-source-router-id']]);
  });

  test('of two LSPs that say a prefix one takes it back: it stays as the other says it, and goes with that one', () => {
    const { simulation, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    const learner = add(LEARNER, [2]);
    simulation.run(5000);
    const named = (proxy: string): Partial<PrefixReachability> => ({
      subTlvs: [P_FLAG, { kind: 'ipv6-source-router-id', address: proxied('::/0', proxy).proxy }],
    });
    say(agent, 1, 1, [named('2001:db8::1')]);
    say(agent, 1, 2, [named('2001:db8::2')]);
    simulation.run(5000);
    expect(learned(learner)).toEqual(['P 2001:db8::1']);
    say(agent, 1, 1, [], 8);
    simulation.run(2000);
    expect(learned(learner)).toEqual(['P 2001:db8::2']);
    expect(agent.count('isis.carry.carried')).toBe(1);
    say(agent, 1, 2, [], 8);
    simulation.run(2000);
    expect([learned(learner), agent.count('isis.carry.withdrawn'), agent.speaker.leaking.offered[1].size]).toEqual([
      [],
      1,
      0,
    ]);
  });

  test('what has been there for less than a second is not leaked yet', () => {
    const { simulation, router, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    simulation.run(5000);
    say(agent, 1, 1, [{}]);
    simulation.run(900);
    expect(advertised(router, 2, AGENT_A)).toEqual([]);
    simulation.run(300);
    expect(advertised(router, 2, AGENT_A)).toHaveLength(1);
  });

  test.each([
    ['higher', LEARNER],
    ['lower', '0000.0000.0007'],
  ])(
    'A15: what a system of the other level declares itself does not enter it, be its system ID %s than ours',
    (_which, other) => {
      const { simulation, router, add } = net();
      const [origin, far] = [add(ORIGIN, [1]), add(other, [2])];
      add(AGENT_A, [1, 2]);
      origin.event(originate([proxied('2001:db8:1::/64', '2001:db8:ffff::77')]));
      far.event(originate([proxied('2001:db8:1::/64', '2001:db8:ffff::88')]));
      simulation.run(10_000);
      expect([advertised(router, 1, AGENT_A), advertised(router, 2, AGENT_A)]).toEqual([[], []]);
    },
  );

  test('an agent with a higher system ID gives way when one with a lower one comes', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    const b = add(AGENT_B, [1, 2]);
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect(advertised(router, 2, AGENT_B)).toHaveLength(1);
    add(AGENT_A, [1, 2]);
    simulation.run(10_000);
    expect([
      advertised(router, 2, AGENT_A).length,
      advertised(router, 2, AGENT_B).length,
      b.count('isis.carry.withdrawn'),
    ]).toEqual([1, 0, 1]);
  });

  test('what has the up/down bit in level 2 goes down: only up it may not go (RFC 5302 §3.3)', () => {
    const { simulation, router, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    simulation.run(5000);
    say(agent, 2, 1, [{ down: true }]);
    simulation.run(5000);
    expect(advertised(router, 1, AGENT_A)).toMatchObject([{ down: true }]);
    say(agent, 2, 1, [], 8);
    say(agent, 1, 1, [{ down: true }]);
    simulation.run(5000);
    expect([advertised(router, 1, AGENT_A), advertised(router, 2, AGENT_A)]).toEqual([[], []]);
  });
});
