import { reported } from '../model/advertisement.fixture.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { ProblemCode } from '../model/problem.ts';
import { type LearnedView, levelThresholds, planCongestedNode, planSenderProxies } from './congested-node.ts';
import { NO_SENDER_PROXIES, type SenderProxies } from './desired.ts';
import type { Facts } from './facts.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { plan } from './plan.ts';

const planOf = (sections: string, facts: Facts = FACTS, learned: LearnedView = learnedTable()) =>
  planCongestedNode(intentOf(sections), learned, facts);
const WATCHED = 'ports: [{ interface: wan, k-min: 50kB, k-max: 200kB, per-flow-interval: 20ms, rate: 1000/s }]';

describe('a watched port', () => {
  test('LHCNP-5.4-a, LHCNP-5.4-c: has the thresholds of the intent, with the policy computed', () => {
    expect(planOf(WATCHED)).toMatchObject({
      ports: [
        {
          id: 'wan',
          interface: 'wan',
          ifindex: 5,
          kMin: 50_000,
          kMax: 200_000,
          levelBytes: [200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000],
          perFlowIntervalNs: 20_000_000,
          noticesPerSecond: 1000,
          burst: 100,
        },
      ],
      notifier: { source4: null, source6: address('2001:db8:ffff::1'), udpPort: 1021 },
      problems: [],
    });
  });

  test('LHCNP-5.3.2-g: is planned with half of K_max as K_min', () => {
    expect(planOf('ports: [{ interface: wan, k-max: 200kB }]').ports[0]).toMatchObject({
      kMin: 100_000,
      kMax: 200_000,
    });
  });

  test('with CE marking alone sends nothing and needs no proxies', () => {
    const planned = planOf(
      'ports: [{ interface: wan, k-min: 50kB }]',
      FACTS,
      learnedTable({ '2001:db8:1::/64': '2001:db8::9' }),
    );
    expect(planned.ports[0]).toMatchObject({ kMin: 50_000, kMax: null });
    expect({ notifier: planned.notifier, senderProxies: [...planned.senderProxies.all()] }).toEqual({
      notifier: undefined,
      senderProxies: [],
    });
  });

  test('LHCNP-5.3.1-a: below an mq is planned as the sum of its queues, and shown so', () => {
    const mq = { ifindex: 2, rootKind: 'mq', queueKinds: ['fq_codel', 'fq_codel'] };
    const facts = { ...FACTS, qdiscs: [...FACTS.qdiscs, mq] };
    const { ports, problems } = planOf('ports: [{ interface: eth1, k-max: 50kB }]', facts);
    expect({ ports, problems }).toMatchObject({ ports: [{ interface: 'eth1', multiqueue: true }], problems: [] });
    expect(ports[0]!.explanation[0]).toMatch(/^depth: the sum over 2 transmit queues \(2 fq_codel\)/);
    expect(planOf(WATCHED).ports[0]).toMatchObject({ multiqueue: false });
    expect(planOf(WATCHED).ports[0]!.explanation.join()).not.toContain('depth:');
  });

  test('without CE marking has no K_min', () => {
    expect(planOf('ports: [{ interface: wan, k-max: 50kB, ecn: off }]').ports[0]).toMatchObject({
      kMin: null,
      kMax: 50_000,
    });
  });
});

test('PNC-6-f: without ports nothing is planned, whatever was learned', () => {
  const planned = planOf('', FACTS, learnedTable({ '2001:db8:1::/64': '2001:db8::9' }));
  expect(planned).toEqual({
    ports: [],
    senderProxies: NO_SENDER_PROXIES,
    senderPolicies: [],
    senderCapabilities: [],
    problems: [],
  });
});

describe('PNC-4-f: congestion levels', () => {
  test('are eight steps from K_max to the limit of the queue', () => {
    expect(levelThresholds(100, 900)).toEqual([100, 200, 300, 400, 500, 600, 700, 800]);
  });

  test.each([undefined, 0, 800, 799])('go to 2 K_max when the limit is %s and K_max 800', (limit) => {
    expect(levelThresholds(800, limit)).toEqual([800, 900, 1000, 1100, 1200, 1300, 1400, 1500]);
  });

  test('begin at K_max, ascend strictly, stay in 32 bits, and the highest is reported before the queue drops', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4e9 }),
        fc.option(fc.integer({ min: 1, max: 0xffffffff }), { nil: undefined }),
        (kMax, limit) => {
          const levels = levelThresholds(kMax, limit);
          expect({ levels: levels.length, first: levels[0] }).toEqual({ levels: 8, first: kMax });
          for (let i = 1; i < 8; i++) expect(levels[i]).toBeGreaterThan(levels[i - 1]!);
          expect(levels[7]).toBeLessThanOrEqual(0xffffffff);
          if (limit !== undefined && limit >= kMax + 8) expect(levels[7]).toBeLessThan(limit);
        },
      ),
    );
  });
});

test('the router knows its own addresses, including declared ones: packets to them need no route', () => {
  const own = planOf(WATCHED, {
    ...FACTS,
    addresses: ['2001:db8:9::1', 'fe80::1', '10.0.0.1', '2001:db8:ffff::1'].map(address),
  }).ownAddresses;
  expect(own?.map(({ id }) => id).sort()).toEqual(['10.0.0.1', '2001:db8:9::1', '2001:db8:ffff::1']);
  expect(planOf(WATCHED, FACTS).ownAddresses?.map(({ id }) => id)).toEqual(['2001:db8:ffff::1']);
  const proxy =
    'proxy: { address: [2001:db8::5, 192.0.2.5], senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], ' +
    'accept-from: [2001:db8:ffff::/48] }';
  expect(planOf(`${WATCHED}\n${proxy}\n`, FACTS).ownAddresses?.map(({ id }) => id)).toEqual([
    '2001:db8:ffff::1',
    '2001:db8::5',
    '192.0.2.5',
  ]);
});

const LO_DOWN: Facts = {
  ...FACTS,
  links: FACTS.links.map((link) => (link.name === 'lo' ? { ...link, up: false } : link)),
};

test('a loopback interface that is down has lost its IPv6 addresses too: the remedy sets it up first', () => {
  expect(planOf(WATCHED, { ...LO_DOWN, addresses: [] }).problems.map(({ remedy }) => remedy)).toEqual([
    '`ip link set lo up`',
    '`ip link set lo up`, then `ip address add 2001:db8:ffff::1/128 dev lo`, ' +
      'or correct router.loopback.ipv6 in cnpd.yaml',
  ]);
});

describe('problems, each with a remedy', () => {
  test.each<
    readonly [
      claim: string,
      sections: string,
      facts: Facts,
      ports: number,
      code: ProblemCode,
      problem: RegExp,
      remedy: RegExp,
    ]
  >([
    [
      'an interface that is not there',
      'ports: [{ interface: eth7, k-max: 1kB }]',
      FACTS,
      0,
      'interface.missing',
      /interface eth7 does not exist/,
      /create eth7/,
    ],
    [
      'pfifo_fast',
      'ports: [{ interface: eth2, k-max: 25kB }]',
      FACTS,
      0,
      'ports.queue-unreadable',
      /root qdisc of eth2 is pfifo_fast.*not monitored/,
      /tc qdisc replace dev eth2 root tbf .* limit 100000/,
    ],
    [
      'no qdisc',
      'ports: [{ interface: eth1, k-max: 1kB }]',
      FACTS,
      0,
      'ports.queue-unreadable',
      /root qdisc of eth1 is none/,
      /tc qdisc replace dev eth1 root tbf/,
    ],
    [
      'K_max at the limit of the queue',
      'ports: [{ interface: wan, k-max: 1MB, k-min: 1kB }]',
      FACTS,
      1,
      'ports.never-exceeded',
      /k-max of wan \(1000000 bytes\) is never exceeded: its queue drops at 1000000 bytes/,
      /lower k-max/,
    ],
    [
      'a kernel without BTF',
      WATCHED,
      {
        ...FACTS,
        features: [
          {
            name: 'btf',
            ok: false,
            detail: 'no /sys/kernel/btf/vmlinux',
            remedy: 'boot a kernel with CONFIG_DEBUG_INFO_BTF',
          },
        ],
      },
      0,
      'kernel.feature-missing',
      /lacks btf/,
      /CONFIG_DEBUG_INFO_BTF/,
    ],
    [
      'a loopback address that the router has not',
      WATCHED,
      { ...FACTS, addresses: [address('2001:db8::99')] },
      1,
      'ports.source-not-own',
      /2001:db8:ffff::1, the source of notices, is not an address of this router/,
      /ip address add 2001:db8:ffff::1\/128 dev lo/,
    ],
    [
      'a loopback interface that is down',
      WATCHED,
      { ...LO_DOWN, addresses: [address('2001:db8:ffff::1')] },
      1,
      'router.loopback-down',
      /the loopback interface lo is down/,
      /^`ip link set lo up`$/,
    ],
  ])('%s', (_claim, sections, facts, ports, code, problem, remedy) => {
    const planned = planOf(sections, facts);
    expect(planned.ports).toHaveLength(ports);
    expect(planned.problems).toEqual([
      { code, feature: 'ports', problem: expect.stringMatching(problem), remedy: expect.stringMatching(remedy) },
    ]);
  });

  test('a learned proxy in a family without loopback', () => {
    const planned = planOf(WATCHED, FACTS, learnedTable({ '10.1.0.0/16': '192.0.2.1', '10.2.0.0/16': '192.0.2.1' }));
    expect(planned.problems).toEqual([
      {
        code: 'ports.no-source',
        feature: 'ports',
        problem: expect.stringMatching(/^2 sender prefixes have a proxy with an ipv4 address/),
        remedy: expect.stringMatching(/router\.loopback\.ipv4/),
      },
    ]);
  });

  test('one bad port does not block the others', () => {
    const planned = planOf(
      'ports: [{ interface: eth7, k-max: 1kB }, { interface: eth3, k-max: 1kB }, { interface: wan, k-max: 1kB }]',
    );
    expect(planned.ports.map((p) => p.id)).toEqual(['eth3', 'wan']);
    expect(planned.problems).toHaveLength(1);
  });

  test('an HTB root and a present loopback are no problem', () => {
    expect(
      planOf('ports: [{ interface: eth3, k-max: 1kB }]', { ...FACTS, addresses: [address('2001:db8:ffff::1')] })
        .problems,
    ).toEqual([]);
  });
});

describe('PNC-5-b: the table of proxies', () => {
  test('holds the learned entries, including "none"', () => {
    const table = learnedTable({ '2001:db8::/32': '2001:db8::9' });
    table.learned({
      carrier: 'isis',
      source: 'r2.00-01',
      originator: 'r2',
      advertisements: reported({ prefixes: [{ prefix: prefix('2001:db8:1::/64'), pnc: false, metric: 10 }] }),
    });
    expect([...planOf(WATCHED, FACTS, table).senderProxies.all()]).toEqual([
      { id: '2001:db8::/32', prefix: prefix('2001:db8::/32'), proxy: address('2001:db8::9') },
      { id: '2001:db8:1::/64', prefix: prefix('2001:db8:1::/64'), proxy: null },
    ]);
  });

  test('is walked only on request, and anew on each one', () => {
    let walks = 0;
    const learned: LearnedView = {
      sizes: () => ({ proxies4: 0, proxies6: 1 }),
      senders: {
        all: () => {
          walks++;
          return [{ id: '2001:db8::/32', prefix: prefix('2001:db8::/32'), proxy: address('2001:db8::9') }];
        },
        since: () => undefined,
      },
    };
    const { senderProxies } = planOf(WATCHED, FACTS, learned);
    expect(walks).toBe(0);
    expect({ first: [...senderProxies.all()].length, again: [...senderProxies.all()].length, walks }).toEqual({
      first: 1,
      again: 1,
      walks: 2,
    });
  });

  test('changes by differences, which add up to the table', () => {
    const table = learnedTable({ '2001:db8::/32': '2001:db8::9', '10.0.0.0/8': '2001:db8::9' });
    const map = new Map<string, unknown>();
    let desired = plan(intentOf(WATCHED), table, FACTS);
    let before: SenderProxies = table.senders;
    const apply = (): void => {
      table.takeChanges();
      desired = planSenderProxies(desired, table.senders);
      for (const { upserts, deletes } of desired.senderProxies.since(before)!) {
        for (const entry of upserts) map.set(entry.id, entry);
        for (const id of deletes) map.delete(id);
      }
      before = desired.senderProxies;
    };
    apply();
    table.learned({
      carrier: 'isis',
      source: 'r2.00-00',
      originator: 'r2',
      advertisements: reported({
        prefixes: [{ prefix: prefix('10.0.0.0/8'), pnc: true, proxy: address('2001:db8::8'), metric: 1 }],
      }),
    });
    apply();
    expect([...map.keys()]).toEqual(['10.0.0.0/8']);
    expect([...map.values()]).toEqual([...planOf(WATCHED, FACTS, table).senderProxies.all()]);
  });

  test('stays empty while no port notifies', () => {
    const table = learnedTable({ '10.0.0.0/8': '2001:db8::9' });
    const desired = plan(intentOf('ports: [{ interface: wan, k-min: 1kB }]'), table, FACTS);
    table.takeChanges();
    expect(planSenderProxies(desired, table.senders)).toBe(desired);
    expect([...desired.senderProxies.all()]).toEqual([]);
  });

  test('of a router that uses none follows only from another empty one', () => {
    const { senders } = learnedTable();
    expect({
      noSenderProxies: NO_SENDER_PROXIES.since(NO_SENDER_PROXIES),
      senders: NO_SENDER_PROXIES.since(senders),
    }).toEqual({ noSenderProxies: [], senders: undefined });
    expect(senders.since(NO_SENDER_PROXIES)).toBeUndefined();
  });
});

test.each([
  [
    '{ interface: wan, k-max: 200kB }',
    [
      'k-max: 200000 B = configured',
      'k-min: 100000 B = k-max / 2',
      'levels 0-7 from 200000, 300000, 400000, 500000, 600000, 700000, 800000, ' +
        "900000 B = eight steps from k-max to the qdisc's limit, 1000000 B",
    ],
  ],
  ['{ interface: wan, k-min: 3kB }', ['k-max: none, no notices', 'k-min: 3000 B = configured']],
  [
    '{ interface: wan, k-max: 200kB, ecn: off }',
    ['k-max: 200000 B = configured', 'k-min: none, no CE marking', expect.stringContaining('levels 0-7')],
  ],
])('the thresholds of %s are explained', (port, lines) => {
  expect(planOf(`ports: [${port}]`).ports[0]!.explanation).toEqual(lines);
});
