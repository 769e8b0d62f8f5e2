import { describe, expect, test } from 'vitest';
import { formatIntentErrors } from './errors.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';
import { loadIntent } from './load.ts';

const v2 = (areas: string, rest = ''): string =>
  `${ROUTER}ospfv2:\n  router-id: 192.0.2.201\n  areas:\n${areas}${rest}`;
const v3 = (areas: string, rest = ''): string => v2(areas, rest).replace('ospfv2', 'ospfv3');
const LEAST = '    - { area: 0 }\n';

describe('ospfv2 and ospfv3', () => {
  test('the least: a router ID and an area; intervals are those that FRR has without a line', () => {
    const common = {
      routerId: 0xc00002c9,
      helloSeconds: 10,
      deadSeconds: 40,
      retransmitMs: 5000,
      holdUnreachableMs: 120_000,
    };
    const area = { areaId: 0, mtu: 1500, ignoreMtu: false, instanceId: 0, keys: [] };
    const link = { router: { family: 4, value: 0xa9fe5900n }, own: { family: 4, value: 0xa9fe5901n }, length: 31 };
    expect(load(v2(LEAST)).ospfv2).toEqual({
      version: 2,
      ...common,
      areas: [{ ...area, interface: 'cnpd-ospf0', link }],
    });
    expect(load(v3(LEAST)).ospfv3).toEqual({ version: 3, ...common, areas: [{ ...area, interface: 'cnpd-ospf6-0' }] });
  });

  test('PNC-6-e: what is not written, or says enabled: off, does not run', () => {
    expect(load(ROUTER)).not.toHaveProperty('ospfv2');
    expect(load(v2(LEAST, '  enabled: off\n'))).not.toHaveProperty('ospfv2');
    expect(load(v3(LEAST, '  enabled: off\n'))).not.toHaveProperty('ospfv3');
  });

  test('an area is a dotted quad or a number; each has a veth and a link of its own', () => {
    const areas = load(
      v2('    - { area: 0.0.0.0 }\n    - { area: 7 }\n    - { area: 10.0.0.1, interface: abr, link: 192.0.2.4/30 }\n'),
    ).ospfv2!.areas;
    expect(areas.map((a) => [a.areaId, a.interface, a.link!.router.value, a.link!.own.value, a.link!.length])).toEqual([
      [0, 'cnpd-ospf0', 0xa9fe5900n, 0xa9fe5901n, 31],
      [7, 'cnpd-ospf1', 0xa9fe5902n, 0xa9fe5903n, 31],
      [0x0a000001, 'abr', 0xc0000205n, 0xc0000206n, 30],
    ]);
  });

  test('keys come in their order, each with its algorithm', () => {
    const keys =
      '    - area: 0\n      authentication:\n      - { key-id: 7, hmac-sha-256: new }\n' +
      '      - { key-id: 1, md5: old }\n';
    expect(load(v2(keys)).ospfv2!.areas[0]!.keys).toEqual([
      { id: 7, algorithm: 'hmac-sha-256', key: 'new' },
      { id: 1, algorithm: 'md5', key: 'old' },
    ]);
  });

  const inArea = (more: string): string => v2(`    - { area: 0, ${more} }\n`);
  test.each([
    ['no area', v2('    []\n'), /^ospfv2\.areas: without areas there is no adjacency/],
    [
      'an area twice, in two ways of writing',
      v2('    - { area: 0.0.0.1 }\n    - { area: 1 }\n'),
      /^ospfv2\.areas\[1\]\.area: 0\.0\.0\.1 is already in this list/,
    ],
    [
      'router ID 0.0.0.0',
      v2(LEAST).replace('192.0.2.201', '0.0.0.0'),
      /^ospfv2\.router-id: found "0\.0\.0\.0"; allowed: a router ID/,
    ],
    ['an area of 33 bits', v2('    - { area: 4294967296 }\n'), /^ospfv2\.areas\[0\]\.area: found/],
    [
      'a link of /24',
      inArea('link: 10.0.0.0/24'),
      /^ospfv2\.areas\[0\]\.link: found "10\.0\.0\.0\/24"; allowed: an IPv4 prefix of \/30 or \/31/,
    ],
    [
      'a link of multicast addresses',
      inArea('link: 224.0.0.0/31'),
      /^ospfv2\.areas\[0\]\.link: no interface has an address such as 224\.0\.0\.1/,
    ],
    [
      'two links with one address',
      v2('    - { area: 0, link: 169.254.89.2/31 }\n    - { area: 1 }\n'),
      /^ospfv2\.areas\[1\]: 169\.254\.89\.2\/31 is also the link of ospfv2\.areas\[0\]/,
    ],
    [
      'a link in OSPFv3',
      v3('    - { area: 0, link: 169.254.89.0/31 }\n'),
      /^ospfv3\.areas\[0\]\.link: unknown key "link"/,
    ],
    ['an instance in OSPFv2', inArea('instance-id: 1'), /^ospfv2\.areas\[0\]\.instance-id: unknown key/],
    [
      'one veth for two areas',
      v2('    - { area: 0 }\n    - { area: 1, interface: cnpd-ospf0 }\n'),
      /^ospfv2\.areas\[1\]\.interface: cnpd-ospf0 is the veth of another carrier or area \(ospfv2\.areas\[0\]\)/,
    ],
    [
      'one veth for two carriers',
      `${v2('    - { area: 0, interface: x }\n')}isis: { system-id: 0000.0000.c001, area: 49.0001, interface: x }\n`,
      /x is the veth of another carrier or area \(isis\.interface\)/,
    ],
    [
      'the veth as a port',
      `${v2(LEAST)}ports: [{ interface: cnpd-ospf0, k-max: 50kB }]\n`,
      /^ports\[0\]\.interface: cnpd-ospf0 is the veth of a carrier \(ospfv2\.areas\[0\]\); no traffic passes it/,
    ],
    [
      'fractions of a second',
      v2(LEAST, '  hello-interval: 1500ms\n'),
      /^ospfv2\.hello-interval: OSPF counts this time in whole seconds/,
    ],
    [
      'a dead interval below the hello interval',
      v2(LEAST, '  dead-interval: 5s\n'),
      /^ospfv2\.dead-interval: a neighbor that sends a hello every 10 s is lost after 5 s/,
    ],
    [
      'hellos rarer than the default dead interval',
      v2(LEAST, '  hello-interval: 60s\n'),
      /^ospfv2\.hello-interval: a neighbor that sends a hello every 60 s is lost after 40 s/,
    ],
    ['an MTU below that of IPv6', inArea('mtu: 1000'), /^ospfv2\.areas\[0\]\.mtu/],
    ['no key in the list', inArea('authentication: []'), /authentication: an empty list authenticates nothing/],
    [
      'a key without an algorithm',
      inArea('authentication: [{ key-id: 1 }]'),
      /authentication\[0\]: this key has no algorithm/,
    ],
    [
      'a key with two algorithms',
      inArea('authentication: [{ key-id: 1, md5: a, hmac-sha-1: b }]'),
      /authentication\[0\]: a key has one algorithm: this one has 2/,
    ],
    [
      'a key ID twice',
      inArea('authentication: [{ key-id: 1, md5: a }, { key-id: 1, md5: b }]'),
      /authentication\[1\]\.key-id: entry 0 of this list already has this ID/,
    ],
    ['a key ID of nine bits', inArea('authentication: [{ key-id: 256, md5: a }]'), /authentication\[0\]\.key-id/],
    [
      'MD5 with 17 characters',
      inArea(`authentication: [{ key-id: 1, md5: ${'x'.repeat(17)} }]`),
      /md5: missing or malformed; allowed: a key of 1 to 16/,
    ],
    ['MD5 in OSPFv3', v3('    - { area: 0, authentication: [{ key-id: 1, md5: a }] }\n'), /md5: unknown key/],
  ])('%s is refused', (_claim, text, complaint) => {
    expect(complaints(text)).toContainEqual(expect.stringMatching(complaint));
  });

  test('a dead interval of its own goes with rarer hellos', () => {
    expect(load(v3(LEAST, '  hello-interval: 60s\n  dead-interval: 240s\n')).ospfv3).toMatchObject({
      helloSeconds: 60,
      deadSeconds: 240,
    });
  });
});

describe('keys of OSPF and STAMP are never repeated', () => {
  const list = v2('    - area: 0\n      authentication:\n');
  test.each([
    ['a key beside a mistake', `${list}        - { key-id: x, md5: secret-one }\n`],
    ['a list at the indentation of its name', `${list}      - { key-id: 1, md5: "secret-one }\n`],
    ['a list item in lines', `${list}        - key-id: 1\n          hmac-sha-256: s\u00e9cret-one\n`],
    ['a misspelled algorithm', `${list}        - { key-id: 1, hmac-sha-255: secret-one }\n`],
    ['a key without its list', `${list}        secret-one\n`],
    ['a key too far out', `${v2('    - area: 0\n      md5: secret-one\n')}`],
    ['the key of STAMP beside a mistake', `${ROUTER}stamp: { reflector: maybe, hmac-key: secret-one }\n`],
    ['the key of STAMP, malformed', `${ROUTER}stamp:\n  learn: on\n  hmac-key: s\u00e9cret-one\n`],
    ['the key of STAMP, misspelled', `${ROUTER}stamp:\n  learn: on\n  hmc_key: secret-one\n`],
    ['broken YAML', `${ROUTER}stamp: {\n  hmac-key: "secret-one\n`],
  ])('%s', (_claim, text) => {
    const result = loadIntent(text, 'cnpd.yaml');
    const shown = result.ok ? '' : formatIntentErrors(result.error, text);
    expect(shown).toContain('cnpd.yaml:');
    expect(shown).not.toMatch(/cret-/);
  });
});

describe('stamp', () => {
  test.each([
    'isis: { system-id: 0000.0000.c001, area: 49.0001 }',
    'ospfv2: { router-id: 192.0.2.201, areas: [{ area: 0 }] }',
    'ospfv3: { router-id: 192.0.2.201, areas: [{ area: 0 }] }',
    'bgp: {}',
  ])('router addresses are learned from any carrier: %s', (igp) =>
    expect(load(`${ROUTER}${igp}\nstamp: { learn: on }\n`).stamp).toMatchObject({ learnTargets: true }),
  );

  test('hmac-key: authenticated mode; absent: unauthenticated', () => {
    const stamp = (more: string): unknown => load(`${ROUTER}stamp: { targets: [2001:db8::9]${more} }\n`).stamp;
    expect(stamp(', hmac-key: shared')).toMatchObject({ hmacKey: 'shared' });
    expect(stamp('')).not.toHaveProperty('hmacKey');
  });
});

test('a device-id is refused above 64 bytes of UTF-8, however few characters they are', () => {
  const file = (id: string): string =>
    `${ROUTER}notifications: { senders: [{ prefix: "::/0", order: [proxy] }], ` +
    `long-haul: { objects: { device-id: ${id} } } }\n`;
  expect(load(file('é'.repeat(32))).notifications!.longHaul.objects.deviceId).toBe('é'.repeat(32));
  expect(complaints(file('é'.repeat(33)))).toEqual([
    expect.stringMatching(/device-id: found .*; allowed: an identifier of 1 to 64 bytes in UTF-8/),
  ]);
});
