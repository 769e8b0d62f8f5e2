import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { formatPrefix, prefix } from '../../model/prefix.ts';
import { cryptoIn } from '../../frr/frr-facts.ts';
import { shownLine } from '../../frr/check.ts';
import { authenticationOf, ospfInterface } from '../../frr/ospf-config.ts';
import { type OspfFacts, advertisedPrefixes } from '../../frr/ospf-facts.ts';
import { checkOspf } from './ospf.ts';
import type { OspfAreaExpectation, OspfExpectation } from './ospf-view.ts';
import { parseRunningConfig } from '../../frr/running-config.ts';

// As FRR 8.4.4 prints it.
const GOOD2 = `
frr version 8.4.4
!
interface cnpd-ospf0
 ip ospf area 0
 ip ospf network point-to-point
exit
!
interface eth2
 ip ospf area 0.0.0.0
exit
!
router ospf
 ospf router-id 192.0.2.1
 capability opaque
exit
!
`;
const GOOD3 = `
interface cnpd-ospf6-0
 ipv6 ospf6 area 0.0.0.0
 ipv6 ospf6 network point-to-point
exit
!
router ospf6
 ospf6 router-id 192.0.2.1
exit
!
`;
const AREA = { areaId: 0, mtu: 1500, ignoreMtu: false, instanceId: 0, keys: [] };
const AREA2: OspfAreaExpectation = {
  ...AREA,
  interface: 'cnpd-ospf0',
  link: { router: address('169.254.89.0'), length: 31 },
};
const WANT2: OspfExpectation = { version: 2, routerId: 0xc00002c9, helloSeconds: 10, deadSeconds: 40, areas: [AREA2] };
const AREA3: OspfAreaExpectation = { ...AREA, interface: 'cnpd-ospf6-0' };
const WANT3: OspfExpectation = { ...WANT2, version: 3, areas: [AREA3] };

const facts = (config: string, more: Partial<OspfFacts> = {}): OspfFacts => ({
  version: '8.4.4',
  config: parseRunningConfig(config),
  process: { routerId: '192.0.2.1', opaque: true },
  links: new Map(['cnpd-ospf0', 'cnpd-ospf6-0'].map((name) => [name, { mtu: 1500, up: true }])),
  ...more,
});
const findings = (given: OspfFacts, want: OspfExpectation) =>
  checkOspf(given, want).filter((check) => check.state !== 'ok');
/** [last part of the ID, lines that mend it] of whatever is missing. */
const missing = (given: OspfFacts, want: OspfExpectation) =>
  findings(given, want).map(({ id, lines }) => [id.split('.').at(-1), (lines ?? []).map((line) => line.line)]);

describe('preconditions of ospfd', () => {
  test('a router configured as frr-configs say has none missing', () =>
    expect(findings(facts(GOOD2), WANT2)).toEqual([]));

  // A replacement in the good configuration → the missing precondition, and the lines that fix it.
  const cases: [string, string | RegExp, string, string, string[]][] = [
    ['OSPF is not enabled on the veth', ' ip ospf area 0\n', '', 'area', ['ip ospf area 0.0.0.0']],
    [
      'a broadcast network',
      ' ip ospf network point-to-point\n',
      '',
      'point-to-point',
      ['ip ospf network point-to-point'],
    ],
    ['a passive interface', ' ip ospf network', ' ip ospf passive\n ip ospf network', 'active', ['no ip ospf passive']],
    [
      'another hello interval, from which ospfd derives the dead interval',
      ' ip ospf network',
      ' ip ospf hello-interval 1\n ip ospf network',
      'timers',
      ['ip ospf hello-interval 10', 'ip ospf dead-interval 40'],
    ],
    [
      'another dead interval',
      ' ip ospf network',
      ' ip ospf dead-interval 20\n ip ospf network',
      'timers',
      ['ip ospf hello-interval 10', 'ip ospf dead-interval 40'],
    ],
    [
      'an area in which the router has nothing else',
      ' ip ospf area 0\n',
      ' ip ospf area 0.0.0.1\n',
      'area',
      ['no ip ospf area', 'ip ospf area 0.0.0.0'],
    ],
    ['a stub area', ' capability', ' area 0 stub\n capability', 'area-type', []],
    ['an NSSA', ' capability', ' area 0.0.0.0 nssa\n capability', 'area-type', []],
    [
      'clear-text authentication',
      ' ip ospf network',
      ' ip ospf authentication\n ip ospf network',
      'authentication',
      [],
    ],
    [
      'authentication of the area that cnpd.yaml does not have',
      ' capability',
      ' area 0 authentication message-digest\n capability',
      'authentication',
      [],
    ],
  ];
  test.each(cases)('%s', (_name, from, to, id, lines) => {
    const config = GOOD2.replace(from, to);
    expect(config).not.toBe(GOOD2);
    expect(missing(facts(config), WANT2)).toEqual([[id, lines]]);
  });

  test('a missing `capability opaque` is reported, not applied: it takes the adjacencies of the router down and up', () => {
    const [finding] = findings(facts(GOOD2, { process: { routerId: '192.0.2.1', opaque: false } }), WANT2);
    expect(finding).toMatchObject({
      id: 'frr.ospfv2.capability-opaque',
      remedy: expect.stringContaining("-c 'capability opaque'"),
    });
    expect(finding).not.toHaveProperty('lines');
  });

  test('an area mismatch names both areas; no area is added to FRR', () => {
    const other = { ...WANT2, areas: [{ ...AREA2, areaId: 1 }] };
    expect(findings(facts(GOOD2), other)).toMatchObject([
      {
        problem: 'cnpd-ospf0 is in area 0.0.0.0 in FRR and in area 0.0.0.1 in cnpd.yaml',
        remedy: 'set ospfv2.areas[0].area in cnpd.yaml to 0.0.0.0',
      },
    ]);
    const absent = findings(facts(GOOD2.replace(' ip ospf area 0\n', '')), other);
    expect(absent).toMatchObject([
      {
        problem: expect.stringContaining('FRR has no interface in area 0.0.0.1'),
        remedy: expect.stringContaining('one of 0.0.0.0'),
      },
    ]);
    expect(absent[0]).not.toHaveProperty('lines');
  });

  test('a border router with both areas: only the operator knows which is meant', () => {
    const config = GOOD2.replace(' ip ospf area 0\n', ' ip ospf area 0.0.0.1\n').replace(
      'interface eth2',
      'interface eth3\n ip ospf area 0.0.0.1\nexit\n!\ninterface eth2',
    );
    expect(findings(facts(config), WANT2)).toMatchObject([
      { remedy: 'set ospfv2.areas[0].area in cnpd.yaml to 0.0.0.1' },
    ]);
    expect(missing(facts(config), WANT2)).toEqual([['area', []]]);
  });

  test('if FRR is configured by `network` statements, one more enables the link', () => {
    const config = GOOD2.replaceAll(/ ip ospf area .*\n/g, '').replace(
      ' capability',
      ' network 10.0.0.0/8 area 0\n capability',
    );
    expect(missing(facts(config), WANT2)).toEqual([['area', ['network 169.254.89.0/31 area 0.0.0.0']]]);
    expect(missing(facts(config.replace('10.0.0.0/8', '169.254.0.0/16')), WANT2)).toEqual([]);
  });

  test('a different MTU is set on the interface, unless a side ignores it', () => {
    const at = (mtu: number, config = GOOD2, area: Partial<OspfAreaExpectation> = {}) =>
      findings(facts(config, { links: new Map([['cnpd-ospf0', { mtu, up: true }]]) }), {
        ...WANT2,
        areas: [{ ...AREA2, ...area }],
      }).map(({ remedy }) => remedy);
    const ignoring = GOOD2.replace(' ip ospf network', ' ip ospf mtu-ignore\n ip ospf network');
    expect(at(9000)).toEqual(['ip link set cnpd-ospf0 mtu 1500']);
    expect(at(1400)).toEqual(['ip link set cnpd-ospf0 mtu 1500']);
    expect(at(1400, ignoring)).toEqual([]);
    expect(at(9000, GOOD2, { ignoreMtu: true })).toEqual([]);
  });

  test("FRR's own router ID is refused", () => {
    expect(findings(facts(GOOD2), { ...WANT2, routerId: 0xc0000201 })).toMatchObject([
      { id: 'frr.ospfv2.router-id', problem: "ospfv2.router-id in cnpd.yaml, 192.0.2.1, is FRR's own" },
    ]);
  });

  test('without ospfd, or without an instance, nothing else is known', () => {
    const states = (given: OspfFacts) => checkOspf(given, WANT2).map(({ id, state }) => `${id} ${state}`);
    expect(states({ error: 'ENOENT' })).toEqual(
      expect.arrayContaining([
        'frr.ospfv2.ospfd missing',
        'frr.ospfv2.instance unknown',
        'frr.ospfv2.cnpd-ospf0.area unknown',
      ]),
    );
    expect(states(facts('', { process: null })).filter((s) => s.endsWith('missing'))).toEqual([
      'frr.ospfv2.instance missing',
    ]);
    expect(findings({ error: 'ENOENT', enabled: false }, WANT2)[0]!.remedy).toContain('ospfd=yes');
  });

  test('each area is examined on its own interface', () => {
    const second = { ...AREA2, areaId: 1, interface: 'cnpd-ospf1' };
    const given = facts(GOOD2.replace('interface eth2\n ip ospf area 0.0.0.0', 'interface eth2\n ip ospf area 1'));
    expect(findings(given, { ...WANT2, areas: [AREA2, second] }).map(({ id }) => id)).toEqual(
      ['interface', 'area', 'point-to-point'].map((id) => `frr.ospfv2.cnpd-ospf1.${id}`),
    );
  });
});

describe('keys of OSPFv2', () => {
  const md5 = { id: 1, algorithm: 'md5', key: 'hush' };
  const sha = { id: 2, algorithm: 'hmac-sha-256', key: 'hush-hush' };
  const with2 = (...keys: OspfAreaExpectation['keys']) => ({ ...WANT2, areas: [{ ...AREA2, keys }] });
  const config = (...lines: string[]): string =>
    GOOD2.replace(' ip ospf network', `${lines.map((line) => ` ip ospf ${line}\n`).join('')} ip ospf network`);
  const KEY = ['message-digest-key 1 md5 hush', 'authentication message-digest'];

  test('a key that FRR lacks is a line to apply, and is never shown', () => {
    const [finding] = findings(facts(GOOD2), with2(md5));
    expect(finding!.lines!.map((line) => line.line)).toEqual([
      'ip ospf message-digest-key 1 md5 hush',
      'ip ospf authentication message-digest',
    ]);
    expect([finding!.problem, finding!.remedy, ...finding!.lines!.map(shownLine)].join('\n')).not.toContain('hush');
  });
  test('the same key is fine, also with authentication set on the area', () => {
    expect(missing(facts(config(...KEY)), with2(md5))).toEqual([]);
    expect(
      missing(
        facts(config(KEY[0]!).replace(' capability', ' area 0.0.0.0 authentication message-digest\n capability')),
        with2(md5),
      ),
    ).toEqual([]);
  });
  test('another secret, and a key that cnpd does not accept, are reported', () => {
    expect(missing(facts(config(...KEY)), with2({ ...md5, key: 'other' }))).toEqual([['authentication', []]]);
    expect(findings(facts(config(...KEY, 'message-digest-key 9 md5 newer')), with2(md5))).toMatchObject([
      { problem: expect.stringContaining('FRR may sign with key 9 (md5)') },
    ]);
  });
  test('an HMAC key is in a key chain, and compared there', () => {
    const chain =
      'key chain K\n key 2\n  cryptographic-algorithm hmac-sha-256\n  key-string hush-hush\n exit\nexit\n!\n';
    expect(missing(facts(chain + config('authentication key-chain K')), with2(sha))).toEqual([]);
    expect(missing(facts(chain.replace('256', '512') + config('authentication key-chain K')), with2(sha))).toEqual([
      ['authentication', []],
    ]);
    expect(missing(facts(GOOD2), with2(sha))).toEqual([['authentication', []]]);
  });
});

describe('preconditions of ospf6d', () => {
  test('a router configured as frr-configs say has none missing', () =>
    expect(findings(facts(GOOD3), WANT3)).toEqual([]));

  const changed = (from: string, to: string): OspfFacts => facts(GOOD3.replace(from, to));
  test.each<[string, string, string, string, string[]]>([
    ['not enabled', ' ipv6 ospf6 area 0.0.0.0\n', '', 'area', ['ipv6 ospf6 area 0.0.0.0']],
    [
      'a broadcast network',
      ' ipv6 ospf6 network point-to-point\n',
      '',
      'point-to-point',
      ['ipv6 ospf6 network point-to-point'],
    ],
    [
      'its own MTU',
      ' ipv6 ospf6 network',
      ' ipv6 ospf6 ifmtu 1400\n ipv6 ospf6 network',
      'mtu',
      ['no ipv6 ospf6 ifmtu'],
    ],
    [
      'another instance',
      ' ipv6 ospf6 network',
      ' ipv6 ospf6 instance-id 3\n ipv6 ospf6 network',
      'instance-id',
      ['ipv6 ospf6 instance-id 0'],
    ],
    [
      'another hello interval, on which the dead interval does not depend',
      ' ipv6 ospf6 network',
      ' ipv6 ospf6 hello-interval 2\n ipv6 ospf6 network',
      'timers',
      ['ipv6 ospf6 hello-interval 10', 'ipv6 ospf6 dead-interval 40'],
    ],
  ])('%s', (_name, from, to, id, lines) => expect(missing(changed(from, to), WANT3)).toEqual([[id, lines]]));

  describe('the route to END.CON', () => {
    const endCon = [
      { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48') },
      { sid: address('2001:db8:c::2'), locator: prefix('2001:db8:c::/48') },
    ];
    const want = { ...WANT3, endCon };
    const redistributing = (line: string): OspfFacts => changed(' ospf6 router-id', ` ${line}\n ospf6 router-id`);
    const advertised = (...texts: string[]): OspfFacts => facts(GOOD3, { advertised: texts.map(prefix) });

    test('is checked only on a router with SIDs', () => {
      const asked = (expected: typeof want): boolean =>
        checkOspf(facts(GOOD3), expected).some(({ id }) => id.endsWith('.end-con'));
      expect({ withEndCon: asked(want), withoutEndCon: asked({ ...want, endCon: [] }) }).toEqual({
        withEndCon: true,
        withoutEndCon: false,
      });
    });

    test('if ospf6d advertises none, the lines are reported, not applied', () => {
      expect(missing(facts(GOOD3), want)).toEqual([['end-con', []]]);
      expect(findings(facts(GOOD3), want)[0]!.remedy).toBe(
        "vtysh -c 'configure terminal' -c 'ipv6 prefix-list end-con permit 2001:db8:c::/48 ge 128' " +
          "-c 'route-map end-con permit 10' -c 'match ipv6 address prefix-list end-con' -c 'exit' " +
          "-c 'router ospf6' -c 'redistribute kernel route-map end-con'",
      );
    });

    test.each<[string, OspfFacts]>([
      [
        'kernel routes are redistributed, also before cnpd has installed one',
        redistributing('redistribute kernel route-map end-con'),
      ],
      [
        'the routes of the SIDs are advertised, whatever redistributes them',
        advertised('2001:db8:c::1/128', '2001:db8:c::2/128'),
      ],
      [
        'a prefix that covers the SIDs is: an interface of an area, a static route, a range',
        advertised('2001:db8:c::/64'),
      ],
    ])('%s', (_claim, given) => expect(missing(given, want)).toEqual([]));

    test.each<[string, OspfFacts]>([
      ['redistributing other routes', redistributing('redistribute static')],
      ['redistributing the interfaces’ prefixes', redistributing('redistribute connected route-map x')],
      ['a range of an empty area', redistributing('area 0.0.0.1 range 2001:db8:c::/48')],
      ['a default route', advertised('::/0')],
      ['a route to one of them', advertised('2001:db8:c::1/128')],
    ])('%s is no way', (_claim, given) => expect(missing(given, want)).toEqual([['end-con', []]]));

    test('what ospf6d advertises: prefixes of its own LSAs that are not being withdrawn', () => {
      const lsa = (type: string, payload: string, age = 7) => ({
        type,
        lsId: '0.0.0.1',
        advRouter: '192.0.2.1',
        age,
        seqNum: 2147483649,
        payload,
      });
      const shown = {
        areaScopedLinkStateDb: [
          {
            areaId: '0',
            lsa: [lsa('Rtr', '192.0.2.2/0.0.0.5'), lsa('INP', '2001:db8:7::/64'), lsa('INP', '2001:db8:8::/64')],
          },
          { areaId: '1', lsa: [lsa('IAP', '2001:db8:9::/64')] },
        ],
        interfaceScopedLinkStateDb: [{ areaId: '0', interface: 'eth2', lsa: [lsa('Lnk', '2001:db8:a::')] }],
        asScopedLinkStateDb: [{ lsa: [lsa('ASE', '2001:db8:c::1/128'), lsa('ASE', '2001:db8:d::/48', 3600)] }],
      };
      expect(advertisedPrefixes(JSON.stringify(shown))!.map(formatPrefix)).toEqual([
        '2001:db8:7::/64',
        '2001:db8:8::/64',
        '2001:db8:9::/64',
        '2001:db8:c::1/128',
      ]);
      expect(advertisedPrefixes('\n        AS Scoped Link State Database\n')).toBeUndefined();
      expect(advertisedPrefixes('{}')).toEqual([]);
    });
  });

  test('keys: reported, and compared with the line and with a key chain', () => {
    const want = { ...WANT3, areas: [{ ...AREA3, keys: [{ id: 1, algorithm: 'hmac-sha-256', key: 'hush' }] }] };
    const line = 'ipv6 ospf6 authentication key-id 1 hash-algo hmac-sha-256 key hush';
    expect(missing(facts(GOOD3), want)).toEqual([['authentication', []]]);
    expect(findings(facts(GOOD3), want)[0]!.remedy).toContain(line.replace('hush', '<key>'));
    expect(missing(changed(' ipv6 ospf6 network', ` ${line}\n ipv6 ospf6 network`), want)).toEqual([]);
    expect(missing(changed(' ipv6 ospf6 network', ` ${line}r\n ipv6 ospf6 network`), want)).toEqual([
      ['authentication', []],
    ]);
    expect(missing(changed(' ipv6 ospf6 network', ` ${line}\n ipv6 ospf6 network`), WANT3)).toEqual([
      ['authentication', []],
    ]);
  });
});

describe('authentication that this FRR supports', () => {
  const key = (algorithm: string) => ({ id: 1, algorithm, key: 'hush' });
  const remedy = (version: 2 | 3, algorithm: string, more: Partial<OspfFacts>): string => {
    const [want, area, good] = version === 2 ? ([WANT2, AREA2, GOOD2] as const) : ([WANT3, AREA3, GOOD3] as const);
    const found = findings(facts(good, more), { ...want, areas: [{ ...area, keys: [key(algorithm)] }] });
    expect(found.map(({ id }) => id.split('.').at(-1))).toEqual(['authentication']);
    return `${found[0]!.problem} | ${found[0]!.remedy}`;
  };

  test.each(['hmac-sha-1', 'hmac-sha-384', 'hmac-sha-512'])(
    '%s for OSPFv3: only FRR built with OpenSSL',
    (algorithm) => {
      const without = remedy(3, algorithm, { crypto: 'internal' });
      expect(without).toContain(`was built without OpenSSL and has no ${algorithm}`);
      expect(without).toContain('| set ospfv3.areas[0].authentication in cnpd.yaml to a key with hmac-sha-256');
      expect(without).not.toContain('vtysh');
      expect(remedy(3, algorithm, { crypto: 'openssl' })).toContain(`hash-algo ${algorithm} key <key>`);
      // The build is unknown: FRR itself will refuse what it does not support.
      expect(remedy(3, algorithm, {})).toContain(`hash-algo ${algorithm} key <key>`);
    },
  );

  test('hmac-sha-256 for OSPFv3: every FRR', () =>
    expect(remedy(3, 'hmac-sha-256', { crypto: 'internal' })).toContain('hash-algo hmac-sha-256'));

  test('for OSPFv2: MD5 only before 9.1, then a key chain with the algorithms of the build', () => {
    expect(remedy(2, 'hmac-sha-256', { version: '8.4.4', crypto: 'openssl' })).toMatch(
      /ospfd 8\.4\.4 signs with MD5 only \| set ospfv2\.areas\[0\]\.authentication in cnpd\.yaml to a key with md5/,
    );
    expect(remedy(2, 'hmac-sha-256', { version: '9.0', crypto: 'openssl' })).toContain('MD5 only');
    expect(remedy(2, 'hmac-sha-256', { version: '9.1', crypto: 'internal' })).toContain(
      "-c 'cryptographic-algorithm hmac-sha-256' -c 'interface cnpd-ospf0' -c 'ip ospf authentication key-chain cnpd'",
    );
    expect(remedy(2, 'hmac-sha-512', { version: '10.3', crypto: 'internal' })).toContain(
      'set ospfv2.areas[0].authentication in cnpd.yaml to a key with hmac-sha-256',
    );
    expect(remedy(2, 'hmac-sha-512', { version: '10.3', crypto: 'openssl' })).toContain(
      "-c 'cryptographic-algorithm hmac-sha-512'",
    );
  });

  test.each([
    ["FRRouting 8.4.4 (r1) on Linux(6.1).\nconfigured with:\n    '--prefix=/usr' '--enable-snmp'\n", 'internal'],
    [
      'FRRouting 10.3 (r1) on Linux(6.1).\nconfigured with:\n' +
        "    '--prefix=/usr' '--with-crypto=openssl' '--enable-snmp'\n",
      'openssl',
    ],
    ['FRRouting 8.4.4 (r1) on Linux(6.1).\n', undefined],
  ])('how FRR was built, from its words', (text, crypto) => expect(cryptoIn(text)).toBe(crypto));
});

describe('running configuration of OSPF', () => {
  test('an interface without lines has the defaults', () => {
    expect(ospfInterface(new Map(), 2, 'x')).toMatchObject({
      area: undefined,
      pointToPoint: false,
      hello: 10,
      dead: 40,
      instanceId: 0,
    });
  });
  test('a key without a string signs nothing', () => {
    const config = parseRunningConfig(
      'key chain K\n key 1\n  key-string a\n exit\n key 2\n  cryptographic-algorithm md5\n  key-string b\n' +
        ' exit\nexit\n',
    );
    const link = ospfInterface(
      parseRunningConfig('interface x\n ipv6 ospf6 authentication keychain K\nexit\n'),
      3,
      'x',
    );
    expect(authenticationOf(config, 3, link, 0)).toEqual({
      kind: 'chain',
      keys: [{ id: 2, algorithm: 'md5', key: 'b' }],
    });
  });
});
