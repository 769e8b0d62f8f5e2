// Which of several advertisements is leaked between levels, and by which agent.
import { describe, expect, test } from 'vitest';
import { P_FLAG } from '../../../packet/isis/foreign.fixture.ts';
import type { PrefixReachability } from '../../../packet/isis/tlv/types.ts';
import { AGENT_A, AGENT_B, LEARNER, ORIGIN, advertised, learned, net, advertise } from './leaking.fixture.ts';
import { originate, proxied } from '../simulation.fixture.ts';

describe('of several advertisements', () => {
  test.each<[string, (readonly [metric: number, proxy?: number])[], string]>([
    [
      'the lower metric, with any proxy',
      [
        [5, 2],
        [9, 1],
      ],
      'P 2001:db8:ffff::2',
    ],
    [
      'the lower metric, although it arrives later',
      [
        [9, 1],
        [5, 2],
      ],
      'P 2001:db8:ffff::2',
    ],
    [
      'with equal metrics the lower proxy address',
      [
        [5, 2],
        [5, 1],
      ],
      'P 2001:db8:ffff::1',
    ],
    [
      'with equal metrics the lower proxy address, although it arrives first',
      [
        [5, 1],
        [5, 2],
      ],
      'P 2001:db8:ffff::1',
    ],
    ['one with a proxy before one without', [[5], [5, 2]], 'P 2001:db8:ffff::2'],
    ['one with a proxy before one without, although it arrives first', [[5, 2], [5]], 'P 2001:db8:ffff::2'],
    ['one without a proxy, if there is no other', [[5], [5]], 'P none'],
  ])('D7: of several LSPs with a prefix the one leaked is %s', (_what, offers, leaked) => {
    const { simulation, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    const learner = add(LEARNER, [2]);
    simulation.run(5000);
    offers.forEach(([metric, proxy], i) => {
      const source = {
        kind: 'ipv6-source-router-id',
        address: proxied('::/0', `2001:db8:ffff::${proxy ?? 0}`).proxy,
      } as const;
      advertise(agent, 1, i + 1, [{ metric, subTlvs: proxy === undefined ? [P_FLAG] : [P_FLAG, source] }]);
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
    advertise(agent, 1, 1, [{}, { prefix: proxied('10.1.0.0/16').prefix }]);
    simulation.run(5000);
    expect(learned(learner).sort()).toEqual(['P 192.0.2.77', 'P 2001:db8:ffff::77']);
    const sources = advertised(router, 2, AGENT_A).map((p) => p.subTlvs.map(({ kind }) => kind).slice(1));
    expect(sources.sort()).toEqual([['ipv4-source-router-id'], ['ipv6-source-router-id']]);
  });

  test('a prefix in two LSPs stays leaked until both have withdrawn it', () => {
    const { simulation, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    const learner = add(LEARNER, [2]);
    simulation.run(5000);
    const named = (proxy: string): Partial<PrefixReachability> => ({
      subTlvs: [P_FLAG, { kind: 'ipv6-source-router-id', address: proxied('::/0', proxy).proxy }],
    });
    advertise(agent, 1, 1, [named('2001:db8::1')]);
    advertise(agent, 1, 2, [named('2001:db8::2')]);
    simulation.run(5000);
    expect(learned(learner)).toEqual(['P 2001:db8::1']);
    advertise(agent, 1, 1, [], 8);
    simulation.run(2000);
    expect(learned(learner)).toEqual(['P 2001:db8::2']);
    expect(agent.count('isis.carry.carried')).toBe(1);
    advertise(agent, 1, 2, [], 8);
    simulation.run(2000);
    expect({
      learned: learned(learner),
      isisCarryWithdrawn: agent.count('isis.carry.withdrawn'),
      offered1Size: agent.speaker.leaking.offered[1].size,
    }).toEqual({ learned: [], isisCarryWithdrawn: 1, offered1Size: 0 });
  });

  test('a prefix advertised for less than a second is not leaked yet', () => {
    const { simulation, router, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    simulation.run(5000);
    advertise(agent, 1, 1, [{}]);
    simulation.run(900);
    expect(advertised(router, 2, AGENT_A)).toEqual([]);
    simulation.run(300);
    expect(advertised(router, 2, AGENT_A)).toHaveLength(1);
  });

  test.each([
    ['higher', LEARNER],
    ['lower', '0000.0000.0007'],
  ])(
    'A15: a prefix that a system of the target level declares is not leaked there; its system ID is %s than ours',
    (_which, other) => {
      const { simulation, router, add } = net();
      const [origin, far] = [add(ORIGIN, [1]), add(other, [2])];
      add(AGENT_A, [1, 2]);
      origin.event(originate([proxied('2001:db8:1::/64', '2001:db8:ffff::77')]));
      far.event(originate([proxied('2001:db8:1::/64', '2001:db8:ffff::88')]));
      simulation.run(10_000);
      expect({ level1: advertised(router, 1, AGENT_A), level2: advertised(router, 2, AGENT_A) }).toEqual({
        level1: [],
        level2: [],
      });
    },
  );

  test('an agent withdraws its copies when an agent with a lower system ID appears', () => {
    const { simulation, router, add } = net();
    const origin = add(ORIGIN, [1]);
    const b = add(AGENT_B, [1, 2]);
    origin.event(originate([proxied('2001:db8:1::/64')]));
    simulation.run(10_000);
    expect(advertised(router, 2, AGENT_B)).toHaveLength(1);
    add(AGENT_A, [1, 2]);
    simulation.run(10_000);
    expect({
      advertisedLengthAgentA: advertised(router, 2, AGENT_A).length,
      advertisedLengthAgentB: advertised(router, 2, AGENT_B).length,
      isisCarryWithdrawn: b.count('isis.carry.withdrawn'),
    }).toEqual({ advertisedLengthAgentA: 1, advertisedLengthAgentB: 0, isisCarryWithdrawn: 1 });
  });

  test('a prefix with the up/down bit in level 2 is leaked down; only leaking up is forbidden (RFC 5302 §3.3)', () => {
    const { simulation, router, add } = net();
    const agent = add(AGENT_A, [1, 2]);
    simulation.run(5000);
    advertise(agent, 2, 1, [{ down: true }]);
    simulation.run(5000);
    expect(advertised(router, 1, AGENT_A)).toMatchObject([{ down: true }]);
    advertise(agent, 2, 1, [], 8);
    advertise(agent, 1, 1, [{ down: true }]);
    simulation.run(5000);
    expect({ level1: advertised(router, 1, AGENT_A), level2: advertised(router, 2, AGENT_A) }).toEqual({
      level1: [],
      level2: [],
    });
  });
});
