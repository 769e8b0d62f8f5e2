import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { ProblemCode } from '../model/problem.ts';
import { type LearnedView, planCongestedNode, planSenderProxies } from './congested-node.ts';
import { NO_SENDER_PROXIES } from './desired.ts';
import type { EgressPortPlan, InstructionPlan } from './desired.ts';
import type { Facts } from './facts.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { instructionRows } from './long-haul-cnp.ts';
import { plan } from './plan.ts';
import { planQueuePairs } from './queue-pairs.ts';

const PORT = 'ports: [{ interface: wan, k-max: 200kB, rtt: 10ms }]\n';
const policies = (...lines: string[]): string =>
  `notifications:\n  senders:\n${lines.map((line) => `    - { ${line} }\n`).join('')}`;
const FAST = 'prefix: 2001:db8:1::/64, supports: [fast-cnp], order: [fast-cnp]';
const ICMPV6 = 'prefix: 2001:db8:2::/64, order: [long-haul-icmpv6, proxy]';
const ROCE = 'prefix: 2001:db8:3::/64, supports: [long-haul-roce], order: [long-haul-roce]';
const longHaul = (yaml: string): string => `${PORT}${policies(ICMPV6)}  long-haul: { ${yaml} }\n`;
const planOf = (sections: string, facts: Facts = FACTS, learned: LearnedView = learnedTable()) =>
  planCongestedNode(intentOf(sections), learned, facts);

describe('how each sender is notified', () => {
  test('A13, FCNP-5-g: without `notifications` every sender is notified through its proxy only', () => {
    const { senderPolicies, notifier } = planOf(PORT);
    expect(senderPolicies).toEqual([
      { id: '0.0.0.0/0', prefix: prefix('0.0.0.0/0'), order: ['proxy'], markCeWithFastCnp: false },
      { id: '::/0', prefix: prefix('::/0'), order: ['proxy'], markCeWithFastCnp: false },
    ]);
    expect(Object.keys(notifier!).sort()).toEqual(['source4', 'source6', 'udpPort']);
  });

  test('FCNP-5-f: notifications that are switched off equal none', () => {
    const off = PORT + policies(FAST).replace('  senders', '  enabled: off\n  senders');
    expect(intentOf(off)).toEqual(intentOf(PORT));
    expect({ ...planOf(off), senderProxies: [] }).toEqual({ ...planOf(PORT), senderProxies: [] });
  });

  test('A13: without a port that notifies there is no policy', () => {
    expect(planOf(policies(FAST)).senderPolicies).toEqual([]);
    expect(planOf(`ports: [{ interface: wan, k-min: 1kB }]\n${policies(FAST)}`)).toMatchObject({
      senderPolicies: [],
      senderCapabilities: [],
    });
  });

  test('LHCNP-6-a, LHCNP-6-b, LHCNP-8-e: senders get the formats of their policy, in its order; both forms of Long-haul CNP are supported', () => {
    expect(planOf(PORT + policies(FAST, ICMPV6, ROCE)).senderPolicies.map((p) => [p.id, p.order])).toEqual([
      ['2001:db8:1::/64', ['fast-cnp']],
      ['2001:db8:2::/64', ['long-haul-icmpv6', 'proxy']],
      ['2001:db8:3::/64', ['long-haul-roce']],
    ]);
  });

  test('LHCNP-10.5-b: only senders that list the RoCEv2 form have it in their policy; others have another policy or none', () => {
    const roce = planOf(PORT + policies(FAST, ICMPV6, ROCE)).senderPolicies.filter((p) =>
      p.order.includes('long-haul-roce'),
    );
    expect(roce.map((p) => p.id)).toEqual(['2001:db8:3::/64']);
  });

  test('FCNP-4-a, FCNP-4-b, A11: CE is marked besides a Fast CNP only if the sender may not understand it', () => {
    const { senderPolicies } = planOf(PORT + policies(FAST, 'prefix: 2001:db8:9::/64, order: [fast-cnp]'));
    expect(senderPolicies.map((p) => p.markCeWithFastCnp)).toEqual([false, true]);
  });
});

describe('the table of proxies', () => {
  const learned = (): LearnedView => learnedTable({ '2001:db8:1::/64': '2001:db8::9' });

  test('is used if some policy lists proxy', () => {
    expect([...planOf(PORT + policies(ICMPV6), FACTS, learned()).senderProxies.all()]).toHaveLength(1);
  });

  test('stays empty if none does', () => {
    const desired = plan(intentOf(PORT + policies(FAST)), learned(), FACTS);
    expect([...desired.senderProxies.all()]).toEqual([]);
    const later = learnedTable({ '10.0.0.0/8': '2001:db8::9' });
    later.takeChanges();
    expect(planSenderProxies(desired, later.senders)).toBe(desired);
  });

  test('of a family without loopback is no problem if no sender is notified through it', () => {
    const v4 = learnedTable({ '10.0.0.0/8': '192.0.2.7' });
    expect(planOf(PORT + policies(ICMPV6), FACTS, v4).problems).toHaveLength(1);
    expect(planOf(PORT + policies(FAST), FACTS, v4).problems).toEqual([]);
  });
});

describe('how notifications are built', () => {
  test('FCNP-4-c: from the loopback, with the code points and the coverage declared', () => {
    const codePoints = 'code-points: { fast-cnp-option: 157, fast-cnp-ioam-option: 156 }\n';
    expect(planOf(PORT + policies(FAST) + codePoints).notifier).toEqual({
      source4: null,
      source6: address('2001:db8:ffff::1'),
      udpPort: 1021,
      fastCnp: { option: 157, ioamOption: 156, icrc: 'cover' },
    });
    expect(planOf(`${PORT}${policies(FAST)}  fast-cnp: { icrc: skip }\n`).notifier!.fastCnp!.icrc).toBe('skip');
  });

  test('LHCNP-6.1.1-a: Long-haul CNPs have the declared objects', () => {
    expect(planOf(longHaul('objects: { timestamp: on, device-id: n1, path-id: 7 }')).notifier!.longHaul).toEqual({
      icmpv6Type: 200,
      objectClass: 247,
      disclose: true,
      timestamp: true,
      deviceId: 'n1',
      pathId: 7,
      padToCnp: false,
    });
    expect(planOf(longHaul('pad-to-cnp: on')).notifier!.longHaul).toMatchObject({
      timestamp: false,
      deviceId: null,
      pathId: null,
      padToCnp: true,
    });
  });

  test('LHCNP-9-g: with disclose: off the metrics are omitted and the instructions unchanged', () => {
    const [open, closed] = [planOf(longHaul('disclose: on')), planOf(longHaul('disclose: off'))];
    expect({
      openDisclose: open.notifier!.longHaul!.disclose,
      closedDisclose: closed.notifier!.longHaul!.disclose,
    }).toEqual({ openDisclose: true, closedDisclose: false });
    expect(closed.ports).toEqual(open.ports);
  });
});

describe('LHCNP-5.5-d: the instructions of a port', () => {
  const rowsAt = (kMax: number, rttNs: number | null, yaml = 'disclose: on'): InstructionPlan[] =>
    instructionRows(intentOf(longHaul(yaml)).notifications!.longHaul, kMax, rttNs);
  const rowOfDepth = (rows: readonly InstructionPlan[], depth: number): InstructionPlan =>
    rows.filter((row) => row.fromBytes !== null && depth >= row.fromBytes).at(-1)!;

  test('A2: 130 MB above a K_max of 125 MB is level 180, Rate Reduce 30', () => {
    expect(rowOfDepth(rowsAt(125_000_000, 10_000_000), 130_000_000)).toEqual({
      fromBytes: 125_000_000,
      level: 180,
      action: 'rate-reduce',
      parameter: 30,
    });
  });

  test('A3: Resume is level 20, 50 %', () => {
    expect(intentOf(longHaul('disclose: on')).notifications!.longHaul.resume).toEqual({
      level: 20,
      action: 'resume',
      parameter: 50,
    });
  });

  test('LHCNP-5.5.1-b: below K_max a trigger only notifies', () => {
    expect(rowOfDepth(rowsAt(125_000_000, null), 124_999_999)).toMatchObject({
      level: 100,
      action: 'notify',
      parameter: 0,
    });
  });

  test('LHCNP-5.5.1-d: no depth alone leads to a pause', () => {
    expect(rowOfDepth(rowsAt(1000, null), 4e9).action).toBe('rate-reduce');
    expect(
      rowsAt(1000, null)
        .filter((row) => row.action === 'pause')
        .map((row) => row.fromBytes),
    ).toEqual([null]);
  });

  test('LHCNP-5.7-e: every row has a higher level than the one before, and is stricter', () => {
    const rank = { notify: 0, 'rate-reduce': 1, pause: 2, resume: -1 } as const;
    const rows = rowsAt(1_000_000, 10_000_000);
    for (const [i, row] of rows.entries()) {
      const before = rows[i - 1];
      if (!before) continue;
      expect(row.level).toBeGreaterThan(before.level);
      expect(
        rank[row.action] > rank[before.action] || (row.action === before.action && row.parameter > before.parameter),
      ).toBe(true);
    }
  });

  test.each([
    [10_000_000, 10_000],
    [1, 1],
    [12_345_678, 12_346],
    [65_535_000, 65_535],
    [1e9, 65_535],
    [null, 10_000],
  ])('A10, LHCNP-6.1-i: with an RTT of %s ns the pause is %d us', (rttNs, us) => {
    expect(rowsAt(1_000_000, rttNs).at(-1)).toEqual({ fromBytes: null, level: 255, action: 'pause', parameter: us });
  });

  test('a declared pause has the declared length', () => {
    expect(
      rowsAt(1_000_000, 20_000_000, 'escalation: [{ level: 255, action: pause, parameter: 777 }]').at(-1)!.parameter,
    ).toBe(777);
  });

  test('depths stay within what the kernel can count', () => {
    const rows = rowsAt(
      4e9,
      null,
      'severity: [{ from: 1, level: 180, action: rate-reduce, parameter: 30 }, ' +
        '{ from: 1000, level: 190, action: rate-reduce, parameter: 40 }]',
    );
    expect(rows[2]!.fromBytes).toBe(0xffff_fffe);
  });
});

describe('per port', () => {
  const portOf = (sections: string): EgressPortPlan => planOf(sections).ports[0]!;

  test('LHCNP-5.5-b, LHCNP-5.7-c: contribution and deferral are in 1/256; without Long-haul CNPs every flow is notified, without deferral', () => {
    expect(portOf(longHaul('disclose: on'))).toMatchObject({ contribution256: 128, deferral256: 26 });
    expect(portOf(longHaul('contribution: 0%, deferral: 99%'))).toMatchObject({ contribution256: 0, deferral256: 253 });
    expect(portOf(longHaul('contribution: 100%'))).toMatchObject({ contribution256: 256 });
    expect(portOf(PORT + policies(FAST))).toMatchObject({
      contribution256: 0,
      deferral256: 0,
      instructions: [{ fromBytes: 0, level: 100, action: 'notify', parameter: 0 }],
    });
  });

  test('LHCNP-5.4-d, LHCNP-5.4-e, LHCNP-5.3.1-c: V_ecn is in parts per million, V_growth in bytes an interval', () => {
    const port = (keys: string): EgressPortPlan => portOf(`ports: [{ interface: wan, k-max: 200kB, ${keys} }]\n`);
    expect(port('v-ecn: 12.5%, v-growth: 10MB/s, measurement-interval: 20ms')).toMatchObject({
      vEcnPpm: 125_000,
      vGrowthBytes: 200_000,
      intervalNs: 20_000_000,
    });
    expect(port('v-growth: 1kB/s, measurement-interval: 1ms')).toMatchObject({ vEcnPpm: null, vGrowthBytes: 1 });
    // A growth of nothing an interval would be one of every queue.
    const intent = intentOf('ports: [{ interface: wan, k-max: 200kB, measurement-interval: 1ms }]\n');
    const slow = { ...intent, ports: [{ ...intent.ports[0]!, 'v-growth': 100 }] };
    expect(planCongestedNode(slow, learnedTable(), FACTS).ports[0]).toMatchObject({ vGrowthBytes: 1 });
    expect(port('ecn: on')).toMatchObject({ vEcnPpm: null, vGrowthBytes: null, intervalNs: 10_000_000 });
  });

  test('LHCNP-5.5-h, LHCNP-9-e: the program gets RTT_est of the port; null if it is not known', () => {
    expect(portOf(PORT).rttNs).toBe(10_000_000);
    expect(portOf('ports: [{ interface: wan, k-max: 200kB }]\n').rttNs).toBeNull();
  });

  test('LHCNP-9-f: the limit of the port applies to all its notifications', () => {
    expect(portOf('ports: [{ interface: wan, k-max: 200kB, rate: 250/s }]\n')).toMatchObject({
      noticesPerSecond: 250,
      burst: 25,
    });
  });
});

describe('missing conditions are problems', () => {
  test.each([
    [FAST, { 4: true, 6: false }, [6]],
    [FAST, { 4: false, 6: true }, []],
    [ICMPV6, { 4: false, 6: false }, [6]],
  ] as const)('forwarding for %s', (policy, forwarding, families) => {
    const { problems } = planOf(PORT + policies(policy), { ...FACTS, forwarding });
    expect(problems.map((p) => p.problem)).toEqual(
      families.map((family) => expect.stringContaining(`does not forward IPv${family}`) as string),
    );
  });

  test('forwarding of IPv4 matters to the RoCEv2 form for IPv4 senders', () => {
    const intent = intentOf(
      PORT + policies('prefix: 198.51.100.0/24, supports: [long-haul-roce], order: [long-haul-roce]'),
      '{ ipv4: 192.0.2.1 }',
    );
    const { problems } = planCongestedNode(intent, learnedTable(), { ...FACTS, forwarding: { 4: false, 6: false } });
    expect(problems).toEqual([
      {
        code: 'router.not-forwarding',
        feature: 'ports',
        problem: expect.stringContaining('does not forward IPv4'),
        remedy: '`sysctl -w net.ipv4.ip_forward=1`',
      },
    ]);
  });
});

describe('forwarding where proxies are notified', () => {
  test.each<[string, string, 4 | 6]>([
    ['with a loopback of each family: IPv6', '{ ipv4: 192.0.2.1, ipv6: 2001:db8:ffff::1 }', 6],
    ['with an IPv4 loopback alone: IPv4, because the network has no other', '{ ipv4: 192.0.2.1 }', 4],
  ])('%s', (_claim, loopback, family) => {
    const { problems } = planCongestedNode(intentOf(PORT, loopback), learnedTable(), {
      ...FACTS,
      forwarding: { 4: false, 6: false },
    });
    expect(problems.map(({ problem }) => problem)).toEqual([expect.stringContaining(`does not forward IPv${family}`)]);
    expect(
      planCongestedNode(intentOf(PORT, loopback), learnedTable(), {
        ...FACTS,
        forwarding: { 4: family === 4, 6: family === 6 },
      }).problems,
    ).toEqual([]);
  });
});

describe('learned facts about senders', () => {
  const sids = ['2001:db8:c::1', '2001:db8:d::1'].map((text) => ({ sid: address(text) }));
  const host = { host: address('2001:db8:1::5'), lacks: ['fast-cnp'] as const };
  const learned = (asked: number[] = []): LearnedView => ({
    senders: NO_SENDER_PROXIES,
    sizes: () => ({ proxies4: 0, proxies6: 0 }),
    routers: { sidsOf: (behavior) => (asked.push(behavior), sids) },
    capabilities: { entries: () => [host] },
  });

  test("FCN-4.2.2-d: END.CON SIDs, by the code point in force, and this router's own, each once", () => {
    const asked: number[] = [];
    const own =
      'srv6: { core-ports: [wan], end-con: [{ sid: 2001:db8:e::1, locator: 2001:db8:e::/48, interfaces: [eth1] ' +
      '}, { sid: 2001:db8:c::1, locator: 2001:db8:c::/48 }] }\ncode-points: { end-con-behavior: 32800 }\n';
    expect(plan(intentOf(PORT + policies(FAST) + own), learned(asked), FACTS).endConSids.map((s) => s.id)).toEqual([
      '2001:db8:e::1',
      '2001:db8:c::1',
      '2001:db8:d::1',
    ]);
    expect(asked).toEqual([32800]);
  });

  test('FCNP-4-j: hosts that answered with a Parameter Problem', () => {
    expect(planOf(PORT + policies(FAST), FACTS, learned()).senderCapabilities).toEqual([
      { id: '2001:db8:1::5', ...host },
    ]);
  });

  test('are unused while senders are notified only through proxies', () => {
    expect(plan(intentOf(PORT), learned(), FACTS)).toMatchObject({ endConSids: [], senderCapabilities: [] });
  });

  test('A13, FCN-4.2.2-a: a border guard knows the END.CON SIDs of the whole domain, even if its router notifies no sender', () => {
    expect(plan(intentOf('border-ports: [eth3]\n'), learned(), FACTS).endConSids.map((s) => s.id)).toEqual([
      '2001:db8:c::1',
      '2001:db8:d::1',
    ]);
  });
});

describe('LHCNP-5.2-a: Queue Pairs of the senders', () => {
  test('are learned for senders that get Long-haul CNPs, wherever RoCEv2 may pass', () => {
    const { queuePairs, problems } = planQueuePairs(
      intentOf(PORT + policies(FAST, ICMPV6, ROCE) + 'isis: { system-id: 0000.0000.c001, area: 49.0001 }\n'),
      FACTS,
    );
    expect(queuePairs!.senders.map((s) => s.id)).toEqual(['2001:db8:2::/64', '2001:db8:3::/64']);
    expect(queuePairs!.interfaces.map((i) => i.interface)).toEqual(['eth1', 'eth2', 'eth3', 'wan']);
    expect(problems).toEqual([]);
  });

  test.each([
    ['no sender is', PORT + policies(FAST)],
    ['no port notifies', policies(ICMPV6)],
    ['notifications are not there', PORT],
  ])('are left alone when %s', (_claim, sections) => {
    expect(planQueuePairs(intentOf(sections), FACTS)).toEqual({ problems: [] });
  });

  test.each<readonly [string, Facts, ProblemCode, RegExp]>([
    [
      'no interface',
      { ...FACTS, links: [FACTS.links[0]!] },
      'queue-pairs.no-interface',
      /no Ethernet-like interface on which to learn the Queue Pairs/,
    ],
    [
      'no eBPF in tc',
      { ...FACTS, features: [{ name: 'bpffs', ok: false, detail: 'ENODEV', remedy: 'mount it' }] },
      'kernel.feature-missing',
      /lacks bpffs, required for notifications/,
    ],
  ])('cannot be learned: %s', (_claim, facts, code, problem) => {
    expect(planQueuePairs(intentOf(PORT + policies(ICMPV6)), facts)).toEqual({
      problems: [
        { code, feature: 'notifications', problem: expect.stringMatching(problem), remedy: expect.stringMatching(/./) },
      ],
    });
  });

  test('are part of the whole plan', () => {
    expect(plan(intentOf(PORT + policies(ICMPV6)), learnedTable(), FACTS)).toMatchObject({
      queuePairs: { senders: [{ id: '2001:db8:2::/64' }] },
      senderPolicies: [{ id: '2001:db8:2::/64' }],
    });
  });
});
