import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';

import type { Facts } from './facts.ts';
import { FACTS, intentOf } from './inputs.fixture.ts';
import { plan } from './plan.ts';
import { planSrv6, sidAdvertisements, sourceRows } from './srv6.ts';
import { learnedTable } from './inputs.fixture.ts';

const CON = '{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48 }';
const CON_B =
  '{ sid: 2001:db8:c::2, locator: 2001:db8:c::/48, table: 10, interfaces: [eth1, eth2], ' +
  'senders: [2001:db8:7::/64, 10.7.0.0/16] }';
const srv6 = (endCon: string, rest = ''): ReturnType<typeof intentOf> =>
  intentOf(`srv6:\n  core-ports: [eth3, wan]\n  end-con: [${endCon}]\n${rest}`);
const planned = (endCon: string, rest = '', facts: Facts = FACTS) => {
  const result = planSrv6(srv6(endCon, rest), facts, false);
  if (!result.srv6) throw new Error(result.problems.map((p) => p.problem).join('; '));
  return { ...result.srv6, declared: result.tunnelSources!, problems: result.problems };
};

describe('END.CON', () => {
  test('FCN-4.2.2-a: is planned as declared, with its table', () => {
    expect(planned(`${CON}, ${CON_B}`).endCon).toEqual([
      { id: '2001:db8:c::1', sid: address('2001:db8:c::1'), table: 254, installed: false },
      { id: '2001:db8:c::2', sid: address('2001:db8:c::2'), table: 10, installed: false },
    ]);
  });

  test('FCN-4.2.2-a: is marked as installed only while the kernel has it', () => {
    const seg6Local: Facts['seg6Local'] = [
      { sid: address('2001:db8:c::2'), length: 128, behavior: 'end.dt6', table: 10 },
      { sid: address('2001:db8:c::1'), length: 64, behavior: 'end.dt6', table: 254 },
    ];
    expect(planned(`${CON}, ${CON_B}`, '', { ...FACTS, seg6Local }).endCon.map((s) => s.installed)).toEqual([
      false,
      true,
    ]);
  });

  test('FCN-4.2.2-a: is advertised with its locator and the configured behavior', () => {
    expect(sidAdvertisements(srv6(CON, 'code-points: { end-con-behavior: 33000 }\n'))).toMatchObject([
      { sid: address('2001:db8:c::1'), behavior: 33000, locator: { length: 48 } },
    ]);
    expect(sidAdvertisements(intentOf(''))).toEqual([]);
  });

  test('FCN-4.2.2-c: tunnels get it by interface and inner prefix, one row per pair', () => {
    const { declared } = planned(`${CON}, ${CON_B}`);
    expect(declared.map((s) => [s.id, s.ingressIfindex, s.sid.value & 0xffn])).toEqual([
      ['any interface, any sender', 0, 1n],
      ['eth1, 2001:db8:7::/64', 2, 2n],
      ['eth1, 10.7.0.0/16', 2, 2n],
      ['eth2, 2001:db8:7::/64', 3, 2n],
      ['eth2, 10.7.0.0/16', 3, 2n],
    ]);
    expect(declared[0]!.sender).toBeNull();
  });

  test("FCN-4.2.2-c: this router's tunnels have one of its addresses or SIDs as source", () => {
    const addresses = ['2001:db8:ffff::1', 'fe80::1', '10.0.0.1', '2001:db8:9::1'].map(address);
    expect(planned(CON, '', { ...FACTS, addresses }).localSources.map((s) => s.id)).toEqual([
      '2001:db8:ffff::1',
      '2001:db8:9::1',
      '2001:db8:c::1',
    ]);
  });
});

describe('ip sr tunsrc', () => {
  const own = address('2001:db8:ffff::1');
  const problems = (tunnelSource: Facts['tunnelSource'], addresses: Facts['addresses'] = [own]) =>
    planned(CON, '', { ...FACTS, ...(addresses && { addresses }), ...(tunnelSource !== undefined && { tunnelSource }) })
      .problems;

  test('FCN-4.2.2-c: with a source that is neither an address of the router nor END.CON, tunnels get no END.CON, which is a problem', () => {
    expect(problems(address('2001:db8:c1::5'))).toEqual([
      {
        code: 'srv6.tunnel-source-not-own',
        feature: 'srv6',
        problem: expect.stringContaining(
          'the source 2001:db8:c1::5 (`ip sr tunsrc`), which is not an address of this router',
        ) as string,
        remedy: '`ip sr tunsrc set 2001:db8:c::1`, or give the router that address',
      },
    ]);
  });

  test.each([
    ['none', null],
    ['an address of the router', own],
    ['its END.CON', address('2001:db8:c::1')],
    ['what was not read', undefined],
  ])('FCN-4.2.2-c: %s is no problem', (_, source) => {
    expect(problems(source)).toEqual([]);
  });

  test('FCN-4.2.2-c: without known addresses there is no problem', () => {
    expect(planned(CON, '', { ...FACTS, tunnelSource: address('2001:db8:c1::5') }).problems).toEqual([]);
  });
});

describe('tunnel exits', () => {
  const seg6Local: Facts['seg6Local'] = [
    { sid: address('2001:db8:d6::1'), length: 128, behavior: 'end.dt6', table: 254 },
    { sid: address('2001:db8:d4::1'), length: 128, behavior: 'end.dt4', table: null },
    { sid: address('2001:db8:c::1'), length: 128, behavior: 'end.dt6', table: 254 },
    { sid: address('2001:db8:5::'), length: 64, behavior: 'end.dt6', table: 254 },
  ];

  test('FCN-4.2.1-d: are cnpd’s SIDs and those configured by others, each once', () => {
    expect(planned(CON, '', { ...FACTS, seg6Local }).decapsulation.map((s) => [s.id, s.behavior, s.table])).toEqual([
      ['2001:db8:c::1', 'end-con', 0],
      ['2001:db8:d6::1', 'end.dt6', 254],
      ['2001:db8:d4::1', 'end.dt4', null],
    ]);
  });

  test('FCN-4.2.1-d: a SID that is not a host route is a problem', () => {
    expect(planned(CON, '', { ...FACTS, seg6Local }).problems).toEqual([
      {
        code: 'srv6.sid-not-host-route',
        feature: 'srv6',
        problem: expect.stringContaining('2001:db8:5::/64 (end.dt6) is not a host route') as string,
        remedy: 'configure it as 2001:db8:5::/128',
      },
    ]);
  });
});

describe('the rest of the section', () => {
  test('the routes use a core port that is up, if there is one', () => {
    expect(planned(CON).routeIfindex).toBe(4);
    const links = FACTS.links.map((link) => (link.name === 'eth3' ? { ...link, up: false } : link));
    expect(planned(CON, '', { ...FACTS, links }).routeIfindex).toBe(5);
    expect(planned(CON, '', { ...FACTS, links: links.map((link) => ({ ...link, up: false })) }).routeIfindex).toBe(4);
  });

  test('FCN-4.2.1-a, FCN-4.2.1-c: ECN mode; RFC 2983: DSCP model', () => {
    expect(planned(CON)).toMatchObject({ ecnMode: 'normal', dscp: { kind: 'pipe', outerDscp: null } });
    expect(planned(CON, '  ecn: compatibility\n  dscp: { pipe: 46 }\n')).toMatchObject({
      ecnMode: 'compatibility',
      dscp: { kind: 'pipe', outerDscp: 46 },
    });
    expect(planned(CON, '  dscp: uniform\n').dscp).toEqual({ kind: 'uniform' });
  });

  test('FCNP-5-g: without the section nothing is planned; with it plan() includes its share', () => {
    expect(planSrv6(intentOf(''), FACTS, false)).toEqual({ problems: [] });
    expect(plan(srv6(CON), learnedTable(), FACTS).srv6?.endCon.length).toBe(1);
  });

  test.each<readonly [string, Partial<Facts>, RegExp]>([
    [
      'a core port that is not there',
      { links: FACTS.links.filter((l) => l.name !== 'wan') },
      /interface wan does not exist/,
    ],
    [
      'a core port without Ethernet',
      { links: FACTS.links.map((l) => (l.name === 'wan' ? { ...l, etherLike: false } : l)) },
      /wan has no Ethernet header/,
    ],
    [
      'a SID that is an address',
      { addresses: [address('2001:db8:c::1')] },
      /2001:db8:c::1 is END.CON and an address of this router/,
    ],
    ['no forwarding', { forwarding: { 4: true, 6: false } }, /does not forward IPv6/],
  ])('%s is a problem, and the rest is done', (_, facts, problem) => {
    const result = planned(CON, '', { ...FACTS, ...facts });
    expect(result.problems.map((p) => p.problem)).toEqual([expect.stringMatching(problem)]);
    expect(result.corePorts.length).toBeGreaterThan(0);
  });

  test('a missing interface of a SID is a problem, its other rows are planned', () => {
    const result = planned('{ sid: 2001:db8:c::2, locator: 2001:db8:c::/48, interfaces: [eth1, eth77] }');
    expect({ declaredLength: result.declared.length, problems: result.problems.map((p) => p.problem) }).toEqual({
      declaredLength: 1,
      problems: ['interface eth77 does not exist'],
    });
  });

  test('a kernel without seg6local is a problem, and nothing is planned', () => {
    const features = [{ name: 'seg6local', ok: false, detail: 'EINVAL', remedy: 'boot another kernel' }];
    expect(planSrv6(srv6(CON), { ...FACTS, features }, false)).toEqual({
      problems: [
        {
          code: 'kernel.feature-missing',
          feature: 'srv6',
          problem: expect.stringContaining('lacks seg6local') as string,
          remedy: 'boot another kernel',
        },
      ],
    });
  });
});

test('where Queue Pairs are learned, their program also inspects packets that arrive at core ports', () => {
  const shares = (rest: string) => plan(srv6(CON, rest), learnedTable(), FACTS).srv6?.sharedIngress;
  const PROXY =
    'proxy: { address: 2001:db8:ffff::1, senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], accept-from: [2001:db8::/32] }\n';
  expect({ alone: shares(''), withProxy: shares(PROXY) }).toEqual({ alone: false, withProxy: true });
});

describe('tunnel sources', () => {
  const [a, b] = [address('2001:db8:c::a'), address('2001:db8:c::b')];

  test('FCN-4.2.2-c: one for all tunnels is the default and needs no row', () => {
    expect(sourceRows([{ id: '1', ingressIfindex: 0, sender: null, sid: a }])).toEqual({
      defaultSource: a,
      tunnelSources: [],
    });
  });

  test('FCN-4.2.2-c: any sender of an interface is one row per family; a declared prefix overrides it', () => {
    const [written, any] = [
      { id: '1', ingressIfindex: 7, sender: prefix('::/0'), sid: b },
      { id: '2', ingressIfindex: 7, sender: null, sid: a },
    ];
    for (const order of [
      [written, any],
      [any, written],
    ]) {
      const { defaultSource, tunnelSources: rows } = sourceRows(order);
      expect(defaultSource).toBeNull();
      expect(rows.map((r) => [r.ingressIfindex, r.sender.address.family, r.sid])).toEqual([
        [7, 6, b],
        [7, 4, a],
      ]);
    }
  });

  test('FCN-4.2.2-c: one sender at any interface is a row, and one at a single interface too', () => {
    const { defaultSource, tunnelSources: rows } = sourceRows([
      { id: '1', ingressIfindex: 0, sender: prefix('10.0.0.0/8'), sid: a },
      { id: '2', ingressIfindex: 0, sender: prefix('10.0.0.0/16'), sid: b },
      { id: '3', ingressIfindex: 7, sender: prefix('10.0.0.0/8'), sid: b },
      { id: '4', ingressIfindex: 0, sender: null, sid: b },
    ]);
    expect({ defaultSource, rows: rows.map((r) => [r.ingressIfindex, r.sender, r.sid]) }).toEqual({
      defaultSource: b,
      rows: [
        [0, prefix('10.0.0.0/8'), a],
        [0, prefix('10.0.0.0/16'), b],
        [7, prefix('10.0.0.0/8'), b],
      ],
    });
    expect(new Set(rows.map((r) => r.id)).size).toBe(3);
  });
});
