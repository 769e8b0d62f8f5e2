import { describe, expect, test } from 'vitest';
import { formatAddress } from '../model/address.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';

const END_CON = 'sid: 2001:db8:c::1, locator: 2001:db8:c::/48';
const srv6 = (entries: readonly string[], rest = ''): string =>
  `${ROUTER}srv6:\n  core-ports: [eth2]\n  end-con:\n${entries.map((e) => `    - { ${e} }\n`).join('')}${rest}`;
const at = (key: string): string => `srv6.${key}`;

describe('srv6', () => {
  test('is off by default, and by `enabled: off`', () => {
    expect(load(ROUTER)).not.toHaveProperty('srv6');
    expect(load(srv6([END_CON], '  enabled: off\n'))).not.toHaveProperty('srv6');
  });

  test('FCN-4.2.1-a, FCN-4.2.1-b: normal mode is the default at encapsulation, senders are looked up in the main table', () => {
    expect(load(srv6([END_CON])).srv6).toMatchObject({
      ecnMode: 'normal',
      dscpModel: { kind: 'pipe' },
      endCon: [{ table: 254, interfaces: [], senders: [] }],
    });
    expect(load(srv6([END_CON], '  ecn: compatibility\n')).srv6!.ecnMode).toBe('compatibility');
  });

  test.each([
    ['pipe', { kind: 'pipe' }],
    ['uniform', { kind: 'uniform' }],
    ['{ pipe: 46 }', { kind: 'pipe', outerDscp: 46 }],
    ['{ pipe: 0 }', { kind: 'pipe', outerDscp: 0 }],
  ])('RFC 2983: dscp: %s', (text, model) => {
    expect(load(srv6([END_CON], `  dscp: ${text}\n`)).srv6!.dscpModel).toEqual(model);
  });

  test('FCN-4.2.2-a: a SID that is not configured is allocated in its locator by its table', () => {
    const sids = load(
      srv6([
        'locator: 2001:db8:c::/48, interfaces: [a]',
        'locator: 2001:db8:c::/48, table: 100, interfaces: [b]',
        'locator: 2001:db8:d::/80, interfaces: [c]',
      ]),
    ).srv6!.endCon;
    expect(sids.map(({ sid }) => formatAddress(sid))).toEqual([
      '2001:db8:c::c0:0:fe',
      '2001:db8:c::c0:0:64',
      '2001:db8:d::c0:0:fe',
    ]);
  });

  test('without SIDs a router may still look after ECN at the tunnel exit', () => {
    expect(load(`${ROUTER}srv6: { core-ports: [eth2] }`).srv6).toMatchObject({ endCon: [], corePorts: ['eth2'] });
  });

  test.each<readonly [claim: string, text: string, complaint: RegExp | string]>([
    [
      'FCN-4.2.2-a: a SID outside its locator',
      srv6(['sid: 2001:db8:d::1, locator: 2001:db8:c::/48']),
      at('end-con[0].sid: 2001:db8:d::1 is not in its locator 2001:db8:c::/48: no router would have a route to it'),
    ],
    [
      'a SID that is the loopback',
      srv6(['sid: 2001:db8::1, locator: 2001:db8::/48']),
      at('end-con[0].sid: 2001:db8::1 is router.loopback.ipv6: packets to a SID are decapsulated, not delivered'),
    ],
    [
      'a SID twice',
      srv6([`${END_CON}, interfaces: [a]`, `${END_CON}, interfaces: [b]`]),
      at('end-con[1].sid: 2001:db8:c::1 is already in this list, as entry 0'),
    ],
    [
      'two SIDs for all traffic',
      srv6([END_CON, 'sid: 2001:db8:c::2, locator: 2001:db8:c::/48']),
      at('end-con[1]: traffic of any interface, any sender would have two sources: srv6.end-con[0] already takes it'),
    ],
    [
      'two SIDs for one selector',
      srv6([`${END_CON}, interfaces: [a, b]`, 'sid: 2001:db8:c::2, locator: 2001:db8:c::/48, interfaces: [c, b]']),
      at('end-con[1]: traffic of b, any sender would have two sources: srv6.end-con[0] already takes it'),
    ],
    [
      'a SID to be allocated twice',
      srv6(['locator: 2001:db8:c::/48, interfaces: [a]', 'locator: 2001:db8:c::/48, interfaces: [b]']),
      at('end-con[1].sid: 2001:db8:c::c0:0:fe is already in this list, as entry 0'),
    ],
    [
      'a SID to be allocated where there is no room',
      srv6(['locator: 2001:db8:c::/96']),
      at('end-con[0]: 2001:db8:c::/96 is too long for a SID to be allocated: a SID takes 48 bits'),
    ],
    [
      'an IPv4 SID',
      srv6(['sid: 192.0.2.9, locator: 2001:db8:c::/48']),
      /^srv6\.end-con\[0\]\.sid: found "192.0.2.9"; allowed: a unicast IPv6 address/,
    ],
    ['an IPv4 locator', srv6(['sid: 2001:db8:c::1, locator: 192.0.2.0/24']), /a locator is an IPv6 prefix$/m],
    ['a default route as locator', srv6(['sid: 2001:db8:c::1, locator: "::/0"']), /a default route is not a locator/],
    ['no locator', srv6(['sid: 2001:db8:c::1']), /^srv6\.end-con\[0\]\.locator: missing/],
    [
      'table 0',
      srv6([`${END_CON}, table: 0`]),
      /^srv6\.end-con\[0\]\.table: found "0"; allowed: main, or the number of a routing table/,
    ],
    ['the table of local addresses', srv6([`${END_CON}, table: 255`]), /neither 253 \(default\) nor 255 \(local\)$/],
    [
      'no core port',
      `${ROUTER}srv6: { core-ports: [] }`,
      at('core-ports: without core ports no tunnel leaves or enters: remove the section or set enabled: off'),
    ],
    [
      'a core port that is a border',
      srv6([END_CON], 'border-ports: [eth2]\n'),
      at('core-ports[0]: eth2 is a border port: notifications to END.CON would be dropped there'),
    ],
    [
      'a core port twice',
      srv6([END_CON]).replace('[eth2]', '[eth2, eth2]'),
      at('core-ports[1]: eth2 is already in this list, as entry 0'),
    ],
    [
      'the carrier as core port',
      srv6([END_CON], 'isis: { system-id: 0000.0000.c001, area: 49.0001 }\n').replace('[eth2]', '[cnpd-isis]'),
      /^srv6\.core-ports\[0\]: cnpd-isis is the veth of a carrier/,
    ],
    [
      'a DSCP of seven bits',
      srv6([END_CON], '  dscp: { pipe: 64 }\n'),
      at('dscp.pipe: found "64"; allowed: a whole number from 0 to 63'),
    ],
    [
      'a mapping of another model',
      srv6([END_CON], '  dscp: { pipe: 46, uniform: 4 }\n'),
      at('dscp.uniform: unknown key "uniform"; allowed: pipe'),
    ],
    [
      'an unknown model',
      srv6([END_CON], '  dscp: hose\n'),
      at('dscp: found "hose"; allowed: pipe, uniform, or { pipe: DSCP }'),
    ],
    [
      'an unknown mode',
      srv6([END_CON], '  ecn: none\n'),
      at('ecn: found "none"; allowed: one of normal, compatibility'),
    ],
  ])('%s is refused', (_claim, text, complaint) => {
    expect(complaints(text)).toEqual([typeof complaint === 'string' ? complaint : expect.stringMatching(complaint)]);
  });

  test('SIDs are distinguished by interface, by inner source, or by being the one for all others', () => {
    const others = [
      'sid: 2001:db8:c::2, locator: 2001:db8:c::/48, table: 10, interfaces: [eth7]',
      'sid: 2001:db8:c::3, locator: 2001:db8:c::/48, senders: [2001:db8:7::/64, 10.7.0.0/16]',
    ];
    expect(load(srv6([END_CON, ...others])).srv6!.endCon.map((e) => e.table)).toEqual([254, 10, 254]);
  });
});

describe('stamp', () => {
  const ISIS = 'isis: { system-id: 0000.0000.c001, area: 49.0001 }\n';

  test('is off by default, neither reflects nor learns unless configured to, and has the defaults of RFC 8762', () => {
    expect(load(ROUTER)).not.toHaveProperty('stamp');
    expect(load(`${ROUTER}stamp: { targets: [2001:db8::9, 192.0.2.9] }`).stamp).toMatchObject({
      reflector: false,
      acceptFrom: [],
      udpPort: 862,
      intervalMs: 1000,
      learnTargets: false,
    });
    expect(load(`${ROUTER}stamp: { enabled: off, reflector: on, accept-from: [10.0.0.0/8] }`)).not.toHaveProperty(
      'stamp',
    );
  });

  test.each<readonly [claim: string, text: string, complaint: RegExp | string]>([
    [
      'a reflector for everybody',
      `${ROUTER}stamp: { reflector: on }`,
      'stamp.accept-from: a reflector answers only listed routers: name the prefixes of the routers that probe',
    ],
    [
      'a reflector for nobody',
      `${ROUTER}stamp: { reflector: on, accept-from: [] }`,
      'stamp.accept-from: a reflector answers only listed routers: name the prefixes of the routers that probe',
    ],
    [
      'a reflector for the Internet',
      `${ROUTER}stamp: { reflector: on, accept-from: ["2000::/3"] }`,
      'stamp.accept-from[0]: 2000::/3 reaches outside the domain: name its prefixes, not wider than /7',
    ],
    [
      'nothing to do',
      `${ROUTER}stamp: { interval: 2s }`,
      'stamp: stamp neither probes nor answers: set reflector: on, learn: on, or name targets',
    ],
    [
      'learning from nobody',
      `${ROUTER}stamp: { learn: on }`,
      'stamp.learn: router addresses are learned by a carrier, and none is configured',
    ],
    [
      'no loopback',
      `router: { name: r1 }\n${ISIS}stamp: { learn: on }`,
      'router.loopback: stamp needs a loopback address of this router: probes are sent from it and answered at it',
    ],
    [
      "no loopback of a target's family",
      'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\nstamp: { targets: [192.0.2.9] }',
      'router.loopback.ipv4: stamp has IPv4 targets, which are probed from an IPv4 loopback address of this router',
    ],
    [
      'a target twice',
      `${ROUTER}stamp: { targets: [2001:db8::9, "2001:db8:0::9"] }`,
      'stamp.targets[1]: 2001:db8::9 is already in this list, as entry 0',
    ],
    [
      'a multicast target',
      `${ROUTER}stamp: { targets: ["ff02::1"] }`,
      /^stamp\.targets\[0\]: ff02::1 is not a unicast/,
    ],
    [
      'a flood',
      `${ROUTER}stamp: { targets: [2001:db8::9], interval: 1ms }`,
      /^stamp\.interval: found "1ms"; allowed: a time such as 20ms, from 10ms to 60s/,
    ],
    [
      'port 0',
      `${ROUTER}stamp: { targets: [2001:db8::9], port: 0 }`,
      /^stamp\.port: found "0"; allowed: a whole number from 1 to 65535/,
    ],
  ])('%s is refused', (_claim, text, complaint) => {
    expect(complaints(text)).toEqual([typeof complaint === 'string' ? complaint : expect.stringMatching(complaint)]);
  });

  test('learning is allowed while IS-IS is switched off: nothing is learned then', () => {
    expect(complaints(`${ROUTER}${ISIS.replace('{', '{ enabled: off,')}stamp: { learn: on }`)).toEqual([]);
  });
});

describe('border-allow', () => {
  test('A13: nothing may pass the border by default', () => {
    expect(load(`${ROUTER}border-ports: [eth9]`)).not.toHaveProperty('borderAllow');
    expect(load(`${ROUTER}border-ports: [eth9]\nborder-allow: { inbound: [10.0.0.0/8] }`).borderAllow).toMatchObject({
      inbound: [{ length: 8 }],
      outbound: [],
    });
  });

  test.each([
    [
      'FCNP-5-a, PNC-6-a: the whole Internet',
      'border-ports: [eth9]\nborder-allow: { inbound: ["::/0"] }',
      'border-allow.inbound[0]: ::/0 reaches outside the domain: name its prefixes, not wider than /7',
    ],
    ['no border', 'border-allow: { outbound: [10.0.0.0/8] }', 'border-allow: there are no border-ports to pass'],
    [
      'a prefix twice',
      'border-ports: [eth9]\nborder-allow: { outbound: [10.0.0.0/8, 10.0.0.0/8] }',
      'border-allow.outbound[1]: 10.0.0.0/8 is already in this list, as entry 0',
    ],
  ])('%s is refused', (_claim, text, complaint) => {
    expect(complaints(ROUTER + text)).toEqual([complaint]);
  });
});
