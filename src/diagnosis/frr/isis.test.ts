import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import type { FrrFacts } from '../../frr/frr-facts.ts';
import { shownLine } from '../../frr/check.ts';
import { checkFrr } from './isis.ts';
import type { FrrExpectation } from './isis-view.ts';
import { isisInstances, isisInterface, parseRunningConfig, splitNet } from '../../frr/running-config.ts';

// As FRR 8.4.4 prints it.
const GOOD = `
frr version 8.4.4
frr defaults traditional
!
hostname leaf1
!
interface cnpd-isis
 ipv6 router isis core
 isis circuit-type level-2-only
 isis network point-to-point
exit
!
router isis core
 net 49.0001.0000.0000.0001.00
 lsp-timers gen-interval 1 refresh-interval 900 max-lifetime 1200
exit
!
`;
const WANT: FrrExpectation = {
  interface: 'cnpd-isis',
  levels: '2',
  systemId: Uint8Array.from([0, 0, 0, 0, 0xc0, 1]),
  area: Uint8Array.from([0x49, 0, 1]),
  mtu: 1500,
  authentication: {},
};
const remedyOf = (id: string, given: FrrFacts, want: Partial<FrrExpectation> = {}) =>
  checkFrr(given, { ...WANT, ...want }).find((check) => check.id === `frr.${id}`)?.remedy;
const facts = (config: string, more: Partial<FrrFacts> = {}): FrrFacts => ({
  version: '8.4.4',
  config: parseRunningConfig(config),
  link: { mtu: 1500, up: true },
  ...more,
});
const missing = (config: string, want: Partial<FrrExpectation> = {}, more: Partial<FrrFacts> = {}) =>
  checkFrr(facts(config, more), { ...WANT, ...want })
    .filter((check) => check.state !== 'ok')
    .map(({ id, state, lines }) => ({
      id: id.replace('frr.', ''),
      state,
      lines: (lines ?? []).map((line) => line.line),
    }));

describe('preconditions of FRR', () => {
  test('a router configured as in frr-configs lacks none', () => expect(missing(GOOD)).toEqual([]));

  // What is taken from or added to the good configuration → the precondition that is missing and the lines that mend
  // it.
  const cases: [string, string | RegExp, string, string, string[]][] = [
    ['no ipv6 router isis', ' ipv6 router isis core\n', '', 'enabled', ['ipv6 router isis core']],
    ['a broadcast circuit', ' isis network point-to-point\n', '', 'point-to-point', ['isis network point-to-point']],
    ['a passive circuit', ' isis circuit', ' isis passive\n isis circuit', 'active', ['no isis passive']],
    [
      'no three-way handshake',
      ' isis circuit',
      ' no isis three-way-handshake\n isis circuit',
      'three-way',
      ['isis three-way-handshake'],
    ],
    ['the other circuit type', 'level-2-only', 'level-1', 'level', ['isis circuit-type level-1-2']],
    ['the other is-type', ' net 49', ' is-type level-1\n net 49', 'level', []],
    ['the default lsp-gen-interval of 30 s', / lsp-timers.*\n/, '', 'lsp-gen-interval', ['lsp-gen-interval level-2 1']],
    [
      'a slow level 2',
      / lsp-timers.*/,
      ' lsp-timers level-1 gen-interval 1 refresh-interval 900\n' +
        ' lsp-timers level-2 gen-interval 20 refresh-interval 900',
      'lsp-gen-interval',
      ['lsp-gen-interval level-2 1'],
    ],
    ['an lsp-mtu beyond the interface', ' net 49', ' lsp-mtu 4000\n net 49', 'mtu', []],
    ["FRR's own system ID", '0000.0000.0001.00', '0000.0000.c001.00', 'system-id', []],
    [
      'a password that cnpd.yaml does not have',
      ' isis circuit',
      ' isis password md5 k\n isis circuit',
      'authentication-interface',
      [],
    ],
    [
      'a domain password that cnpd.yaml does not have',
      ' net 49',
      ' domain-password md5 k authenticate snp validate\n net 49',
      'authentication-domain',
      [],
    ],
  ];
  for (const [name, from, to, id, lines] of cases) {
    test(`${name}: ${id}`, () => {
      const config = GOOD.replace(from, to);
      expect(config).not.toBe(GOOD);
      expect(missing(config)).toEqual([{ id, state: 'missing', lines }]);
    });
  }

  test('a slow level 1 does not matter to a level-2 speaker', () =>
    expect(missing(GOOD.replace(' lsp-timers', ' lsp-timers level-1 gen-interval 30\n lsp-timers level-2'))).toEqual(
      [],
    ));

  test('without isisd nothing else is known', () => {
    const checks = checkFrr({ isisdError: 'ENOENT', link: null }, WANT);
    expect(checks.filter((check) => check.state === 'missing').map((check) => check.id)).toEqual(['frr.isisd']);
    expect(checks.filter((check) => check.state === 'ok')).toEqual([]);
  });

  test('an enabled isisd that does not run is restarted; a disabled one is enabled first', () => {
    expect(remedyOf('isisd', { isisdError: 'ENOENT', isisdEnabled: true })).toBe('systemctl restart frr');
    expect(remedyOf('isisd', { isisdError: 'ENOENT' })).toBe('systemctl restart frr');
    expect(remedyOf('isisd', { isisdError: 'ENOENT', isisdEnabled: false })).toBe(
      "sed -i 's/^isisd=.*/isisd=yes/' /etc/frr/daemons && systemctl restart frr",
    );
  });

  test('an interface below isis.mtu is set to it; isis.mtu below what LSPs need is raised', () => {
    const linkOf = (mtu: number) => facts(GOOD, { link: { mtu, up: true } });
    expect(remedyOf('mtu', linkOf(1300))).toBe('ip link set cnpd-isis mtu 1500');
    expect(remedyOf('mtu', linkOf(1500), { mtu: 9000 })).toBe('ip link set cnpd-isis mtu 9000');
    expect(remedyOf('mtu', linkOf(1400), { mtu: 1400 })).toBe('set isis.mtu in cnpd.yaml to at least 1500');
    expect(remedyOf('mtu', linkOf(1500))).toBeUndefined();
  });

  test('nothing is reported about a level that is not configured', () => {
    const claims = (levels: '1' | '2' | '1-2') =>
      checkFrr(facts(GOOD), { ...WANT, levels })
        .map((check) => check.claim)
        .join('\n');
    expect(claims('2')).not.toMatch(/level[ -]1/);
    expect(claims('1')).not.toMatch(/level[ -]2/);
    expect(claims('1-2')).toMatch(/level 1 is in the same area[^]*level-2 authentication/);
  });

  test('a missing NET is the operator’s decision: reported, with no line to apply', () => {
    for (const config of ['', 'router isis core\nexit\n'])
      expect(missing(config)[0]).toEqual({ id: 'instance', state: 'missing', lines: [] });
  });

  test('an interface that exists only in the configuration is missing', () =>
    expect(missing(GOOD, {}, { link: null })).toEqual([{ id: 'interface', state: 'missing', lines: [] }]));

  test('8.3 is too old, 10.3 is not', () => {
    expect(missing(GOOD, {}, { version: '8.3.1' })).toEqual([{ id: 'version', state: 'missing', lines: [] }]);
    expect(missing(GOOD, {}, { version: '10.3' })).toEqual([]);
  });

  test('level 1 has to be in an area of FRR', () => {
    const levelOne = GOOD.replace('level-2-only', 'level-1');
    expect(missing(levelOne, { levels: '1' })).toEqual([]);
    expect(missing(levelOne, { levels: '1', area: Uint8Array.from([0x49, 0, 2]) })).toEqual([
      { id: 'area', state: 'missing', lines: [] },
    ]);
  });

  describe('keys', () => {
    const authentication = { interface: { key: 'hush' }, domain: { key: 'hushhush' } };
    test('a missing hello key is a line for cnpd’s own interface; a missing domain key is only reported', () => {
      expect(missing(GOOD, { authentication })).toEqual([
        { id: 'authentication-interface', state: 'missing', lines: ['isis password md5 hush'] },
        { id: 'authentication-domain', state: 'missing', lines: [] },
      ]);
    });
    test('the same keys are fine', () => {
      const config = GOOD.replace(' isis circuit', ' isis password md5 hush\n isis circuit').replace(
        ' net 49',
        ' domain-password md5 hushhush authenticate snp validate\n net 49',
      );
      expect(missing(config, { authentication })).toEqual([]);
    });
    test('SNPs that FRR does not authenticate are a mismatch', () => {
      const config = GOOD.replace(' net 49', ' domain-password md5 hushhush\n net 49');
      expect(missing(config, { authentication: { domain: { key: 'hushhush' } } })).toEqual([
        { id: 'authentication-domain', state: 'missing', lines: [] },
      ]);
    });
    test('no key is ever shown', () => {
      const shown = checkFrr(facts(GOOD), { ...WANT, authentication }).flatMap((check) => [
        check.problem ?? '',
        check.remedy ?? '',
        ...(check.lines ?? []).map(shownLine),
      ]);
      expect(shown.join('\n')).toContain('isis password md5 <key>');
      expect(shown.join('\n')).not.toContain('hush');
    });
  });
});

describe('running-config', () => {
  test('gives the instance and the interface', () => {
    const config = parseRunningConfig(GOOD);
    expect(isisInstances(config)).toMatchObject([
      { tag: 'core', isType: 'level-1-2', lspGenInterval: { 1: 1, 2: 1 }, lspMtu: 1497 },
    ]);
    expect(isisInterface(config, 'cnpd-isis')).toMatchObject({
      tag6: 'core',
      pointToPoint: true,
      passive: false,
      threeWay: true,
      circuitType: 'level-2-only',
    });
    expect(isisInterface(config, 'cnpd')).toMatchObject({ tag6: undefined, pointToPoint: false });
  });
  test('splits a NET', () => {
    expect(splitNet('49.0001.0000.0000.0001.00')).toEqual({ area: '49.0001', systemId: '0000.0000.0001' });
    expect(splitNet('47.0000.0000.00ff.00')).toMatchObject({ area: '47' });
  });

  describe('the route to END.CON', () => {
    const endCon = [
      { sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48') },
      { sid: address('2001:db8:c::2'), locator: prefix('2001:db8:c::/48') },
    ];
    const advertised = (text: string, metric = 0) => ({ advertised: [{ prefix: prefix(text), metric }] });
    const redistributing = (line: string): string => GOOD.replace(' lsp-timers', ` ${line}\n lsp-timers`);

    test('without SIDs nothing is checked', () => {
      for (const want of [WANT, { ...WANT, endCon: [] }])
        expect(checkFrr(facts(GOOD), want).map(({ id }) => id)).not.toContain('frr.end-con');
      expect(checkFrr(facts(GOOD), { ...WANT, endCon }).map(({ id }) => id)).toContain('frr.end-con');
    });

    test('if FRR advertises none, the lines of frr-configs/srv6-pe.conf are reported, not applied', () => {
      expect(missing(GOOD, { endCon })).toEqual([{ id: 'end-con', state: 'missing', lines: [] }]);
      expect(remedyOf('end-con', facts(GOOD), { endCon })).toBe(
        "vtysh -c 'configure terminal' -c 'ipv6 prefix-list end-con permit 2001:db8:c::/48 ge 128' " +
          "-c 'route-map end-con permit 10' -c 'match ipv6 address prefix-list end-con' -c 'exit' " +
          "-c 'router isis core' -c 'redistribute ipv6 kernel level-2 route-map end-con'",
      );
    });

    test.each([
      [
        'kernel routes are redistributed into the level',
        redistributing('redistribute ipv6 kernel level-2 route-map end-con'),
        {},
      ],
      ['a prefix of FRR covers the SIDs, whatever its origin', GOOD, advertised('2001:db8:c::/48', 20)],
    ])('%s: nothing is missing', (_claim, config, more) => expect(missing(config, { endCon }, more)).toEqual([]));

    test.each([
      ['kernel routes into another level', redistributing('redistribute ipv6 kernel level-1'), {}],
      ['a prefix beside them', GOOD, advertised('2001:db8:d::/48')],
      ['the default route', GOOD, advertised('::/0')],
      ['a prefix for signaling only', GOOD, advertised('2001:db8:c::/48', 0xfe000001)],
    ])('%s is no way', (_claim, config, more) =>
      expect(missing(config, { endCon }, more)).toMatchObject([{ id: 'end-con' }]),
    );

    test('SIDs for groups are checked likewise, and what is lost is named', () => {
      expect(missing(GOOD, { groupSids: endCon }, advertised('2001:db8:c::/48'))).toEqual([]);
      const finding = checkFrr(facts(GOOD), { ...WANT, groupSids: endCon }).find(({ id }) => id === 'frr.group-sids');
      expect(finding!.problem).toBe(
        'FRR advertises no route to the SIDs for groups 2001:db8:c::1, 2001:db8:c::2, ' +
          'so packets of groups do not arrive here',
      );
    });

    test('of two SIDs the one without a route is named', () => {
      const finding = checkFrr(facts(GOOD, advertised('2001:db8:c::1/128')), { ...WANT, endCon }).find(
        (check) => check.id === 'frr.end-con',
      );
      expect(finding).toMatchObject({
        state: 'missing',
        problem: 'FRR advertises no route to END.CON 2001:db8:c::2, so notifications to it are lost',
      });
    });
  });
});
