import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadIntent } from '../intent/load.ts';
import { type IpAddress, address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import type { ProblemCode } from '../model/problem.ts';
import type { Facts } from './facts.ts';
import { NO_SENDER_PROXIES } from './desired.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { planGuard } from './guard.ts';
import { plan } from './plan.ts';
import { planProxy } from './proxy.ts';

const PROXY = [
  'proxy:',
  '  address: 2001:db8:ffff::1',
  '  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }, { prefix: 198.51.100.0/24, format: standard-cnp }]',
  '  accept-from: ["2001:db8:ffff::/48"]',
  '',
].join('\n');
const withoutBpf: Facts = {
  ...FACTS,
  features: ['tcx', 'clsact'].map((name) => ({ name, ok: false, detail: 'EINVAL', remedy: 'boot Linux 6.6 or newer' })),
};

test('PNC-6-f, A13: an intent that declares nothing changes nothing', () => {
  expect(plan(intentOf(''), learnedTable({ '2001:db8:1::/64': '2001:db8::9' }), FACTS)).toEqual({
    ports: [],
    senderProxies: NO_SENDER_PROXIES,
    senderPolicies: [],
    senderCapabilities: [],
    endConSids: [],
    replicationEndCons: [],
    guardedAddresses: [],
    guards: [],
    problems: [],
  });
});

test('the example of the documentation plans every feature', () => {
  const loaded = loadIntent(readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8'), 'cnpd.yaml');
  if (!loaded.ok) throw new Error('docs/cnpd.yaml is not valid');
  const links = ['eth1', 'eth2', 'eth3', 'eth4', 'eth5', 'eth9'].map((name, i) => ({
    name,
    ifindex: 10 + i,
    up: true,
    kind: 'veth',
    etherLike: true,
  }));
  const qdiscs = [11, 12, 13].map((ifindex) => ({ ifindex, rootKind: 'tbf', limitBytes: 32_000_000 }));
  const desired = plan(loaded.value, learnedTable(), {
    links,
    qdiscs,
    features: [],
    rttMs: new Map([
      ['eth2', 5],
      ['eth4', 5],
    ]),
  });
  expect(desired.problems.map(({ code }) => code)).toEqual(['groups.unknown-edge', 'groups.source-unknown']);
  expect({
    portsLength: desired.ports.length,
    sendersLength: desired.proxy?.senders.length,
    guardsLength: desired.guards.length,
    udpPort: desired.notifier?.udpPort,
  }).toEqual({ portsLength: 3, sendersLength: 2, guardsLength: 1, udpPort: 1021 });
  expect({
    senderPoliciesLength: desired.senderPolicies.length,
    sendersLength: desired.queuePairs?.senders.length,
    option: desired.notifier?.fastCnp?.option,
    icmpv6Type: desired.notifier?.longHaul?.icmpv6Type,
  }).toEqual({ senderPoliciesLength: 5, sendersLength: 5, option: 158, icmpv6Type: 200 });
  expect(desired.srv6?.endCon).toEqual([
    { id: '2001:db8:c::1', sid: address('2001:db8:c::1'), table: 254, installed: false },
  ]);
});

describe('the proxy', () => {
  test('PNC-6-e: is planned only when declared', () => {
    expect(planProxy(intentOf(''), FACTS)).toEqual({ problems: [] });
    expect(planProxy(intentOf(PROXY.replace('proxy:', 'proxy:\n  enabled: off')), FACTS)).toEqual({ problems: [] });
  });

  test('PNC-1-a: knows its senders, their formats, and from whom it accepts notices', () => {
    expect(planProxy(intentOf(`${PROXY}  rate: 2000/s\n`), FACTS)).toEqual({
      proxy: {
        address: address('2001:db8:ffff::1'),
        udpPort: 1021,
        senders: [
          { id: '2001:db8:1::/64', prefix: prefix('2001:db8:1::/64'), format: 'standard-cnp' },
          { id: '198.51.100.0/24', prefix: prefix('198.51.100.0/24'), format: 'standard-cnp' },
        ],
        acceptFrom: [{ id: '2001:db8:ffff::/48', prefix: prefix('2001:db8:ffff::/48') }],
        perFlowIntervalNs: 50_000,
        noticesPerSecond: 2000,
        burst: 200,
        interfaces: ['eth1', 'eth2', 'eth3', 'wan', 'cnpd-isis'].map((name, i) => ({
          id: name,
          interface: name,
          ifindex: i + 2,
        })),
      },
      problems: [],
    });
  });

  test('of a router that is a congested node too accepts its own notices', () => {
    const { proxy } = planProxy(intentOf(`${PROXY}ports: [{ interface: wan, k-max: 100kB }]\n`), FACTS);
    expect(proxy?.acceptFrom.map((s) => s.id)).toEqual(['2001:db8:ffff::/48', '2001:db8:ffff::1/128']);
    expect(
      planProxy(intentOf(`${PROXY}ports: [{ interface: wan, k-min: 100kB }]\n`), FACTS).proxy?.acceptFrom,
    ).toHaveLength(1);
  });

  test('reports a kernel that does not forward its notifications', () => {
    const { problems } = planProxy(intentOf(PROXY), { ...FACTS, forwarding: { 4: false, 6: true } });
    expect(problems).toEqual([
      {
        code: 'router.not-forwarding',
        feature: 'proxy',
        problem: expect.stringContaining('IPv4'),
        remedy: '`sysctl -w net.ipv4.ip_forward=1`',
      },
    ]);
    expect(planProxy(intentOf(PROXY), { ...FACTS, forwarding: { 4: true, 6: true } }).problems).toEqual([]);
  });

  test("does not use the carrier's own interface", () => {
    const { proxy } = planProxy(intentOf(`${PROXY}isis: { system-id: 0000.0000.c001, area: 49.0001 }\n`), FACTS);
    expect(proxy!.interfaces.map((i) => i.interface)).toEqual(['eth1', 'eth2', 'eth3', 'wan']);
  });

  test('uses only the declared interfaces, and reports those that it cannot use', () => {
    const { proxy, problems } = planProxy(intentOf(`${PROXY}  interfaces: [eth2, eth7, lo]\n`), FACTS);
    expect(proxy!.interfaces).toEqual([{ id: 'eth2', interface: 'eth2', ifindex: 3 }]);
    expect(problems.map((p) => p.problem)).toEqual([
      'interface eth7 does not exist',
      expect.stringMatching(/^lo has no Ethernet header/),
    ]);
  });

  test('an address of each family: both are planned, and each must be an address of this router', () => {
    const both = intentOf(PROXY.replace('address: 2001:db8:ffff::1', 'address: [2001:db8:ffff::1, 192.0.2.1]'));
    const [v6, v4] = [address('2001:db8:ffff::1'), address('192.0.2.1')];
    const own = (...addresses: IpAddress[]): string[] =>
      planProxy(both, { ...FACTS, addresses }).problems.map(({ problem }) => problem);
    expect(planProxy(both, FACTS).proxy).toMatchObject({ address: v6, otherAddress: v4 });
    expect(own(v6, v4)).toEqual([]);
    expect(own(v6)).toEqual([
      expect.stringMatching(/^192\.0\.2\.1, the proxy's address, is not an address of this router/),
    ]);
    expect(own(v4)).toEqual([expect.stringMatching(/^2001:db8:ffff::1, the proxy's address/)]);
  });

  test.each<readonly [string, Facts, ProblemCode, RegExp, boolean]>([
    ['no interface', { ...FACTS, links: [FACTS.links[0]!] }, 'proxy.no-interface', /no Ethernet-like interface/, true],
    [
      'an address that is not ours',
      { ...FACTS, addresses: [address('2001:db8::99')] },
      'proxy.address-not-own',
      /2001:db8:ffff::1, the proxy's address, is not an address of this router/,
      true,
    ],
    [
      'a kernel without eBPF in tc',
      withoutBpf,
      'kernel.feature-missing',
      /lacks tcx and clsact, required for proxy: EINVAL/,
      false,
    ],
  ])('says what is wrong: %s', (_claim, facts, code, problem, planned) => {
    const result = planProxy(intentOf(PROXY), facts);
    expect(result.problems).toEqual([
      { code, feature: 'proxy', problem: expect.stringMatching(problem), remedy: expect.stringMatching(/./) },
    ]);
    expect(result.proxy !== undefined).toBe(planned);
  });
});

describe('the border guard', () => {
  test('PNC-6-c, PNC-6-d: is at every border port, without a proxy and without watched ports', () => {
    expect(
      planGuard(intentOf('border-ports: [eth1, wan]\ncode-points: { pnc-udp-port: 50022 }\n'), FACTS),
    ).toMatchObject({
      guards: [
        { id: 'eth1', interface: 'eth1', ifindex: 2, udpPort: 50022 },
        { id: 'wan', interface: 'wan', ifindex: 5, udpPort: 50022 },
      ],
      problems: [],
    });
  });

  test('ARNs are notifications at the border of a router with flow control, and nothing without it', () => {
    const { guards } = planGuard(
      intentOf('border-ports: [eth1]\nflow-control: { mode: flow, watch: [{ interface: wan }] }\n'),
      FACTS,
    );
    expect(guards).toMatchObject([{ id: 'eth1', udpPort: 1021, arnUdpPort: 1022 }]);
    expect(planGuard(intentOf('border-ports: [eth1]\n'), FACTS).guards[0]).not.toHaveProperty('arnUdpPort');
  });

  test('a missing interface is a problem, the others are guarded', () => {
    const { guards, problems } = planGuard(intentOf('border-ports: [eth7, eth1]'), FACTS);
    expect(guards.map((g) => g.id)).toEqual(['eth1']);
    expect(problems).toEqual([
      {
        code: 'interface.missing',
        feature: 'border-ports',
        problem: 'interface eth7 does not exist',
        remedy: expect.stringMatching(/eth7/),
      },
    ]);
  });

  test('clsact is an alternative to TCX', () => {
    const features = [
      { name: 'tcx', ok: false, detail: 'EINVAL', remedy: '' },
      { name: 'clsact', ok: true, detail: 'it attaches', remedy: '' },
    ];
    expect(planGuard(intentOf('border-ports: [eth1]'), { ...FACTS, features })).toMatchObject({
      guards: [{ id: 'eth1' }],
      problems: [],
    });
  });

  test('a kernel without eBPF in tc is a problem', () => {
    expect(planGuard(intentOf('border-ports: [eth1]'), withoutBpf)).toEqual({
      guards: [],
      problems: [
        {
          code: 'kernel.feature-missing',
          feature: 'border-ports',
          problem: expect.stringMatching(/lacks tcx and clsact/),
          remedy: 'boot Linux 6.6 or newer',
        },
      ],
    });
  });
});

test('the problems of all features are collected', () => {
  const { problems } = plan(
    intentOf('ports: [{ interface: eth7, k-max: 1kB }]\nborder-ports: [eth8]\n'),
    learnedTable(),
    FACTS,
  );
  expect(problems.map((p) => p.feature)).toEqual(['ports', 'border-ports']);
});
