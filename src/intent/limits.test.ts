// The two sides of every limit that cnpd.yaml has: what is just allowed, and what is just not.
import { describe, expect, test } from 'vitest';
import { ROUTER, complaints, load } from './files.fixture.ts';

const bgp = (inner: string): string => `${ROUTER}bgp: { ${inner} }\n`;
const ospfv2 = (area: string, rest = ''): string =>
  `${ROUTER}ospfv2: { router-id: 192.0.2.201, areas: [{ ${area} }]${rest} }\n`;
const srv6 = (entry: string): string =>
  `${ROUTER}srv6: { core-ports: [eth2], end-con: [{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48, ${entry} }] }\n`;
const isis = (rest: string): string =>
  `${ROUTER}isis: { system-id: 0000.0000.c001, area: 49.0001, ${rest} }\n`.replace(/, \}/, ' }');
const PORT = 'ports: [{ interface: wan, k-max: 1MB }]\n';
const deviceId = (id: string): string =>
  `${ROUTER}${PORT}notifications: { senders: [{ prefix: 2001:db8:1::/64, order: [long-haul-icmpv6] }], ` +
  `long-haul: { objects: { device-id: "${id}" } } }\n`;
const count = (n: number, of: (i: number) => string): string => Array.from({ length: n }, (_, i) => of(i)).join(', ');
const prefixes = (n: number): string => count(n, (i) => `"2001:db8:${i.toString(16)}::/48"`);
const name = (length: number): string => 'a'.repeat(length);

describe('what is at the limit is taken, what is beyond it is refused', () => {
  test.each<
    readonly [what: string, of: (value: string) => string, taken: readonly string[], refused: readonly string[]]
  >([
    [
      'an AS number',
      (as) => bgp(`domain: [${as}]`),
      ['1', '23455', '23457', '65534', '65536', '4294967294'],
      ['0', '01', '65535', '4294967295', '42949672950', '-1', '1.5'],
    ],
    [
      'a community',
      (c) => bgp(`communities: ["${c}"]`),
      ['1:0', '65534:65535', 'no-peer'],
      ['0:1', '65535:0', '65534:65536', '65536:1', '1:2:3', '1', '1:', ':1', '01:1', 'no-peers'],
    ],
    [
      'a large community',
      (c) => bgp(`large-communities: ["${c}"]`),
      ['1:0:0', '65534:4294967295:4294967295', '65536:1:1', '4294967294:0:0'],
      ['0:1:1', '65535:1:1', '4294967295:1:1', '1:4294967296:1', '1:1:4294967296', '1:1:1:1', '1::1', 'a:1:1'],
    ],
    [
      'the port of gobgpd',
      (p) => bgp(`gobgp: { target: "127.0.0.1:${p}" }`),
      ['1', '65535'],
      ['0', '65536', '99999', '', '050051'],
    ],
    [
      'the host of gobgpd',
      (h) => bgp(`gobgp: { target: "${h}:1", plaintext: on }`),
      ['a', 'a-b.example', '127.0.0.1', '[::1]', '[2001:db8::1]'],
      ['', '-a', 'a-', '1.2.3', '256.1.1.1', '[192.0.2.1]', '[::g]', '[]', 'a b'],
    ],
    [
      'the socket of gobgpd',
      (p) => bgp(`gobgp: { target: "unix:${p}" }`),
      ['/a', `/${name(106)}`],
      ['/', 'a', `/${name(107)}`, '/a b'],
    ],
    [
      'a file of TLS',
      (f) => bgp(`gobgp: { tls: { ca: "${f}" } }`),
      ['/a', `/${name(1023)}`],
      ['/', 'a', `/${name(1024)}`, '/a b'],
    ],
    [
      'an area',
      (a) => ospfv2(`area: ${a}`),
      ['0', '4294967295', '255.255.255.255'],
      ['4294967296', '01', '-1', '1.2.3', '256.0.0.0'],
    ],
    [
      'an OSPF link',
      (l) => ospfv2(`area: 0, link: ${l}`),
      ['192.0.2.0/30', '192.0.2.2/31', '169.254.0.0/31'],
      ['192.0.2.0/29', '192.0.2.0/32', '2001:db8::/31', '192.0.2.1/31', '127.0.0.0/31', '255.255.255.254/31'],
    ],
    [
      'an OSPF router ID',
      (id) => ospfv2('area: 0').replace('192.0.2.201', id),
      ['0.0.0.1', '255.255.255.254', '224.0.0.5'],
      ['0.0.0.0', '255.255.255.255', '1', '2001:db8::1'],
    ],
    ['a key ID', (id) => ospfv2(`area: 0, authentication: [{ key-id: ${id}, md5: k }]`), ['1', '255'], ['0', '256']],
    [
      'an MD5 key',
      (k) => ospfv2(`area: 0, authentication: [{ key-id: 1, md5: "${k}" }]`),
      ['k', 'k'.repeat(16), ' ~'],
      ['', 'k'.repeat(17), 'ü'],
    ],
    [
      'an HMAC key',
      (k) => ospfv2(`area: 0, authentication: [{ key-id: 1, hmac-sha-1: "${k}" }]`),
      ['k', 'k'.repeat(64)],
      ['', 'k'.repeat(65)],
    ],
    [
      'an OSPF dead interval',
      (t) => ospfv2('area: 0', `, hello-interval: 10s, dead-interval: ${t}`),
      ['11s', '65535s'],
      ['9s', '65536s', '20.5s'],
    ],
    [
      'a routing table',
      (t) => srv6(`table: ${t}`),
      ['main', '1', '252', '254', '256', '4294967295'],
      ['0', '253', '255', '4294967296', 'default', '1.0', '-1'],
    ],
    [
      'a SID of a locator',
      (l) => srv6('').replace('2001:db8:c::/48', l),
      ['2001:db8:c::/48', '2001:db8:c::/127', '2001:db8:c::1/128'],
      ['2001:db8:c::/0', '2001:db8:d::/48', '2001:db8:c::1/64', 'ff00::/8'],
    ],
    ['a device ID', deviceId, ['x', 'x'.repeat(64), 'ü'.repeat(32)], ['', 'x'.repeat(65), 'ü'.repeat(33), 'a\\u0007b']],
    [
      'the name of a router',
      (n) => `router: { name: "${n}" }\n`,
      ['a', name(64), 'a.b-c_d', '9'],
      ['', name(65), '-a', 'a b', '.a'],
    ],
    [
      'an interface',
      (n) => `${ROUTER}border-ports: ["${n}"]\n`,
      ['e', name(15), 'eth1.100', '...'],
      ['', name(16), 'a/b', 'a:b', 'a b', '.', '..'],
    ],
    ['a socket', (p) => `${ROUTER}gnmi: { socket: "${p}" }\n`, ['/a', `/${name(106)}`], ['a', '/', `/${name(107)}`]],
    [
      'an area of IS-IS',
      (a) => isis('').replace('49.0001', a),
      ['49', '49.0001.0203.0405.0607.0809.0a0b', '490001'],
      ['4', '49.000', '49.0001.0203.0405.0607.0809.0a0b.0c', '49..0001', '49.'],
    ],
    [
      'a system ID',
      (id) => isis('').replace('0000.0000.c001', id),
      ['0000.0000.0001', 'FFFF.ffff.ffff', '0000.000a.0000'],
      ['0000.0000.0000', '0000.0000.c00', '00000000c001'],
    ],
    ['a refresh beside a lifetime', (r) => isis(`lifetime: 1200s, refresh: ${r}`), ['1140s'], ['1141s', '1000.5s']],
    ['a UDP port', (p) => `${ROUTER}code-points: { pnc-udp-port: ${p} }\n`, ['65535'], ['0', '65536', '01021']],
    [
      'a queue depth',
      (k) => `${ROUTER}ports: [{ interface: wan, k-min: 1B, k-max: ${k} }]\n`,
      ['2B', '4GB'],
      ['0B', '4000000001B', '5GB'],
    ],
    [
      'an allow-list',
      (p) => `${ROUTER}border-ports: [eth9]\nborder-allow: { inbound: ["${p}"] }\n`,
      ['10.0.0.0/8', 'fc00::/7', '192.0.2.1/32'],
      ['10.0.0.0/7', '0.0.0.0/0', 'fc00::/6'],
    ],
    [
      'a prefix of senders',
      (p) => `${ROUTER}${PORT}notifications: { senders: [{ prefix: "${p}", order: [proxy] }] }\n`,
      ['0.0.0.0/0', '::/0', '10.0.0.1/32', '2001:db8::1/128', '2001:db8:0:0::/64'],
      [
        '10.0.0.1/33',
        '2001:db8::/129',
        '10.0.0.1/24',
        '10.0.0.0',
        '10.0.0.0/',
        '10.0.0.0/8/8',
        '10.0.0.0/0x8',
        'ff00::/8',
        'fe80::/64',
        '127.0.0.0/8',
        'x/8',
      ],
    ],
  ])('%s', (_what, of, taken, refused) => {
    for (const value of taken) expect({ value, complaints: complaints(of(value)) }).toEqual({ value, complaints: [] });
    for (const value of refused)
      expect({ value, complaintsLength: complaints(of(value)).length }).toEqual({ value, complaintsLength: 1 });
  });
});

describe('lists are as long as the dataplane can hold, and no longer', () => {
  test.each<readonly [path: string, most: number, of: (n: number) => string]>([
    [
      'ospfv2.areas',
      64,
      (n) => `${ROUTER}ospfv2: { router-id: 192.0.2.201, areas: [${count(n, (i) => `{ area: ${i} }`)}] }\n`,
    ],
    [
      'ospfv3.areas',
      64,
      (n) => `${ROUTER}ospfv3: { router-id: 192.0.2.201, areas: [${count(n, (i) => `{ area: ${i} }`)}] }\n`,
    ],
    ['bgp.domain', 1024, (n) => bgp(`domain: [${count(n, (i) => `${i + 1}`)}]`)],
    ['bgp.communities', 64, (n) => bgp(`communities: [${count(n, (i) => `"1:${i}"`)}]`)],
    ['bgp.large-communities', 64, (n) => bgp(`large-communities: [${count(n, (i) => `"1:1:${i}"`)}]`)],
    ['ports', 128, (n) => `${ROUTER}ports: [${count(n, (i) => `{ interface: e${i}, k-max: 1kB }`)}]\n`],
    ['border-ports', 1024, (n) => `${ROUTER}border-ports: [${count(n, (i) => `e${i}`)}]\n`],
    ['border-allow.inbound', 4096, (n) => `${ROUTER}border-ports: [e]\nborder-allow: { inbound: [${prefixes(n)}] }\n`],
    [
      'border-allow.outbound',
      4096,
      (n) => `${ROUTER}border-ports: [e]\nborder-allow: { outbound: [${prefixes(n)}] }\n`,
    ],
    [
      'proxy.accept-from',
      4096,
      (n) =>
        `${ROUTER}proxy: { address: 2001:db8::1, senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], ` +
        `accept-from: [${prefixes(n)}] }\n`,
    ],
    [
      'notifications.senders',
      4096,
      (n) =>
        `${ROUTER}${PORT}notifications: { senders: ` +
        `[${count(n, (i) => `{ prefix: "2001:db8:${i.toString(16)}::/48", order: [proxy] }`)}] }\n`,
    ],
    [
      'flow-control.hold',
      64,
      (n) => `${ROUTER}flow-control: { mode: flow, accept-from: ["fe80::/10"], hold: [${count(n, (i) => `e${i}`)}] }\n`,
    ],
    [
      'flow-control.watch',
      64,
      (n) => `${ROUTER}flow-control: { mode: flow, watch: [${count(n, (i) => `{ interface: e${i} }`)}] }\n`,
    ],
    [
      'flow-control.neighbors',
      256,
      (n) =>
        `${ROUTER}flow-control: { mode: flow, watch: [{ interface: e }], ` +
        `neighbors: [${count(n, (i) => `{ interface: e${i}, address: "fe80::${i + 1}" }`)}] }\n`,
    ],
    [
      'flow-control.accept-from',
      4096,
      (n) => `${ROUTER}flow-control: { mode: flow, hold: [e], accept-from: [${prefixes(n)}] }\n`,
    ],
    ['srv6.core-ports', 128, (n) => `${ROUTER}srv6: { core-ports: [${count(n, (i) => `e${i}`)}] }\n`],
    [
      'srv6.end-con',
      256,
      (n) =>
        `${ROUTER}srv6: { core-ports: [e], end-con: ` +
        `[${count(n, (i) => `{ locator: "2001:db8:c::/48", table: ${i + 1000}, interfaces: [i${i}] }`)}] }\n`,
    ],
    [
      'stamp.targets',
      1024,
      (n) => `${ROUTER}stamp: { targets: [${count(n, (i) => `"2001:db8::${(i + 16).toString(16)}"`)}] }\n`,
    ],
    ['stamp.accept-from', 4096, (n) => `${ROUTER}stamp: { reflector: on, accept-from: [${prefixes(n)}] }\n`],
  ])('%s: %d', (path, most, of) => {
    expect(complaints(of(most))).toEqual([]);
    expect(complaints(of(most + 1))).toEqual([`${path}: ${most + 1} entries are more than cnpd holds, ${most}`]);
  });
});

test('a quantity is what its unit says, also at the limits', () => {
  expect(
    load(`${ROUTER}ports: [{ interface: wan, k-max: 4GB, v-ecn: 99.999%, rate: 10M/s, per-flow-interval: 1us }]\n`)
      .ports[0],
  ).toMatchObject({ 'k-max': 4e9 });
});
