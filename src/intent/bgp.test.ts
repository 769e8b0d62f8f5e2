import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { formatIntentErrors } from './errors.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';
import { loadIntent } from './load.ts';

const bgp = (inner: string, router = ROUTER): string => `${router}bgp: { ${inner} }\n`;
const gobgp = (inner: string): string => bgp(`gobgp: { ${inner} }`);
const TLS = 'tls: { ca: /etc/cnpd/ca.pem }';

describe('bgp', () => {
  test('the least: the gobgpd of this machine, the loopbacks as next hops, the senders, the best paths', () => {
    expect(load(bgp('')).bgp).toEqual({
      gobgp: { target: '127.0.0.1:50051', maxMessageBytes: 4_194_304 },
      nextHop4: address('192.0.2.1'),
      nextHop6: address('2001:db8::1'),
      advertise: 'senders',
      communities: [],
      largeCommunities: [],
      domain: [],
      confederation: [],
      policy: true,
      learn: 'best',
      viaNextHop: false,
      holdUnreachableMs: 120_000,
    });
  });

  test('PNC-6-e, PNC-6-f: what is not written, or says enabled: off, does not run', () => {
    expect(load(ROUTER)).not.toHaveProperty('bgp');
    expect(load(bgp('enabled: off'))).not.toHaveProperty('bgp');
    expect(complaints(bgp('enabled: off, domain: [0]'))).toHaveLength(1);
  });

  test('PNC-5.4-b: the sender prefixes or the proxy itself, as the file says', () => {
    expect(load(bgp('advertise: proxy-host, via-next-hop: on')).bgp).toMatchObject({
      advertise: 'proxy-host',
      viaNextHop: true,
    });
  });

  test('PNC-7-a: TBD2, the code of the PNC characteristic, has a default and is changed by the file', () => {
    expect(load(ROUTER).codePoints).toMatchObject({
      'bgp-pnc-characteristic': 65_500,
      'bgp-private-characteristic': 65_501,
    });
    expect(load(`${ROUTER}code-points: { bgp-pnc-characteristic: 7 }\n`).codePoints).toMatchObject({
      'bgp-pnc-characteristic': 7,
      'bgp-private-characteristic': 65_501,
    });
    expect(complaints(`${ROUTER}code-points: { bgp-pnc-characteristic: 65536 }\n`)).toHaveLength(1);
  });

  test('a next hop that is written takes the place of the loopbacks in both families; without either there is none', () => {
    expect(load(bgp('next-hop: [2001:db8::9]')).bgp).toMatchObject({ nextHop6: address('2001:db8::9') });
    expect(load(bgp('next-hop: [2001:db8::9]')).bgp).not.toHaveProperty('nextHop4');
    const none = load(bgp('', 'router: { name: r1 }\n')).bgp;
    expect({ nextHop4: none?.nextHop4, nextHop6: none?.nextHop6 }).toEqual({
      nextHop4: undefined,
      nextHop6: undefined,
    });
  });

  test('PNC-6-a: the ASes of the domain are a list that starts empty', () => {
    expect(load(bgp('domain: [65001, 4200000000]')).bgp!.domain).toEqual([65_001, 4_200_000_000]);
    expect(load(bgp('')).bgp!.domain).toEqual([]);
    expect(load(bgp('confederation: [65101, 65102], policy: off')).bgp).toMatchObject({
      confederation: [65_101, 65_102],
      policy: false,
    });
    expect(complaints(bgp('confederation: [65101, 65101]'))).toEqual([expect.stringContaining('bgp.confederation[1]')]);
  });

  test('RFC 1997, RFC 8092: communities as they are written in BGP', () => {
    expect(
      load(bgp('communities: [65000:100, no-export, no-advertise, no-export-subconfed, no-peer, 1:0]')).bgp!
        .communities,
    ).toEqual([0xfde8_0064, 0xffff_ff01, 0xffff_ff02, 0xffff_ff03, 0xffff_ff04, 0x0001_0000]);
    expect(load(bgp('large-communities: [4200000000:4294967295:0]')).bgp!.largeCommunities).toEqual([
      [4_200_000_000, 4_294_967_295, 0],
    ]);
  });

  test.each(['127.0.0.1:50051', '127.9.9.9:1', '"[::1]:50051"', 'localhost:50051', 'unix:/run/gobgpd.sock'])(
    '%s is this machine: nothing more is asked',
    (target) => {
      expect(load(gobgp(`target: ${target}`)).bgp!.gobgp).toEqual({
        target: target.replaceAll('"', ''),
        maxMessageBytes: 4_194_304,
      });
    },
  );

  test.each(['192.0.2.9:50051', '"[2001:db8::9]:50051"', 'gobgpd.example:50051', 'localhost.example:50051'])(
    '%s is another machine: with TLS, or in plain text when that is asked for',
    (target) => {
      expect(complaints(gobgp(`target: ${target}`))).toEqual([
        expect.stringMatching(
          /^bgp\.gobgp\.target: .* is another machine: without tls any machine on the path can change the routes/,
        ),
      ]);
      expect(complaints(gobgp(`target: ${target}, plaintext: off`))).toHaveLength(1);
      expect(load(gobgp(`target: ${target}, ${TLS}`)).bgp!.gobgp.tls).toEqual({ ca: '/etc/cnpd/ca.pem' });
      expect(load(gobgp(`target: ${target}, plaintext: on`)).bgp!.gobgp).not.toHaveProperty('tls');
    },
  );

  test('TLS with all that it may have', () => {
    const tls = load(
      gobgp('target: gobgpd.example:50051, tls: { ca: /a, certificate: /b, key: /c, server-name: x.example }'),
    ).bgp!.gobgp.tls;
    expect(tls).toEqual({ ca: '/a', certificate: '/b', key: '/c', serverName: 'x.example' });
  });

  test.each([
    [
      'a target without a port',
      gobgp('target: 127.0.0.1'),
      /^bgp\.gobgp\.target: found "127\.0\.0\.1"; allowed: HOST:PORT/,
    ],
    ['port 0', gobgp('target: "127.0.0.1:0"'), /^bgp\.gobgp\.target: found/],
    ['a port of 17 bits', gobgp('target: "127.0.0.1:65536"'), /^bgp\.gobgp\.target: found/],
    ['an IPv6 address without brackets', gobgp('target: "::1:50051"'), /^bgp\.gobgp\.target: found/],
    ['four numbers that are no address', gobgp('target: "300.1.2.3:50051"'), /^bgp\.gobgp\.target: found/],
    ['another scheme', gobgp('target: "xds:///gobgpd"'), /^bgp\.gobgp\.target: found/],
    ['a socket without its directory', gobgp('target: "unix:gobgpd.sock"'), /^bgp\.gobgp\.target: found/],
    [
      'TLS on a UNIX socket',
      gobgp(`target: "unix:/run/gobgpd.sock", ${TLS}`),
      /^bgp\.gobgp\.tls: gobgpd has no TLS on a UNIX socket/,
    ],
    [
      'TLS and plain text at once',
      gobgp(`${TLS}, plaintext: on`),
      /^bgp\.gobgp\.plaintext: with tls nothing is sent in plain text/,
    ],
    ['TLS without an authority', gobgp('tls: {}'), /^bgp\.gobgp\.tls\.ca: missing/],
    [
      'a certificate without its key',
      gobgp('tls: { ca: /a, certificate: /b }'),
      /^bgp\.gobgp\.tls\.certificate: certificate without key/,
    ],
    [
      'a key without its certificate',
      gobgp('tls: { ca: /a, key: /b }'),
      /^bgp\.gobgp\.tls\.key: key without certificate/,
    ],
    [
      'a relative path',
      gobgp('tls: { ca: ca.pem }'),
      /^bgp\.gobgp\.tls\.ca: found "ca\.pem"; allowed: the absolute path/,
    ],
    ['messages of a kilobyte', gobgp('max-message: 1kB'), /^bgp\.gobgp\.max-message: found/],
    ['an empty list of next hops', bgp('next-hop: []'), /^bgp\.next-hop: an empty list names no next hop/],
    [
      'two next hops of one family',
      bgp('next-hop: [2001:db8::9, 2001:db8::8]'),
      /^bgp\.next-hop\[1\]: 2001:db8::9 is already the IPv6 next hop/,
    ],
    ['a link-local next hop', bgp('next-hop: ["fe80::1"]'), /^bgp\.next-hop\[0\]: fe80::1 is not a unicast/],
    ['a multicast next hop', bgp('next-hop: [224.0.0.1]'), /^bgp\.next-hop\[0\]: 224\.0\.0\.1 is not a unicast/],
    ['AS 0', bgp('domain: [0]'), /^bgp\.domain\[0\]: found/],
    ['AS_TRANS', bgp('domain: [23456]'), /^bgp\.domain\[0\]: found/],
    ['an AS twice', bgp('domain: [65001, 65001]'), /^bgp\.domain\[1\]: 65001 is already in this list/],
    [
      '1025 ASes',
      bgp(`domain: [${Array.from({ length: 1025 }, (_, i) => i + 1).join(', ')}]`),
      /^bgp\.domain: 1025 entries are more than/,
    ],
    ['a community of a reserved block', bgp('communities: [65535:666]'), /^bgp\.communities\[0\]: found/],
    ['a community with a value of 17 bits', bgp('communities: [65000:65536]'), /^bgp\.communities\[0\]: found/],
    [
      'a community that attracts nothing but attention',
      bgp('communities: [blackhole]'),
      /^bgp\.communities\[0\]: found/,
    ],
    ['a community by a name of JavaScript', bgp('communities: [constructor]'), /^bgp\.communities\[0\]: found/],
    ['a community twice, in two ways of writing', bgp('communities: [1:00, 1:0]'), /^bgp\.communities\[0\]: found/],
    ['a large community of two parts', bgp('large-communities: ["65000:1"]'), /^bgp\.large-communities\[0\]: found/],
    [
      'a large community of a reserved administrator',
      bgp('large-communities: ["65535:1:1"]'),
      /^bgp\.large-communities\[0\]: the global administrator 65535 is reserved/,
    ],
    ['another way to learn', bgp('learn: some'), /^bgp\.learn: found "some"; allowed: one of best, all/],
    ['a hold time without a unit', bgp('hold-unreachable: 120'), /^bgp\.hold-unreachable: found/],
  ])('%s is refused', (_claim, text, complaint) => {
    expect(complaints(text)).toContainEqual(expect.stringMatching(complaint));
  });
});

test.each([
  ['on the line', `${ROUTER}bgp:\n  gobgp:\n    tls:\n      ca: /a\n      key: -----BEGIN SECRET-ONE\n`],
  [
    'as a block',
    `${ROUTER}bgp:\n  gobgp:\n    tls:\n      ca: /a\n      key: |\n        -----BEGIN\n        SECRET-ONE\n` +
      '      certificate: b\n',
  ],
  ['in braces', gobgp('tls: { ca: a, key: "SECRET-ONE" }')],
  ['in broken YAML', `${ROUTER}bgp:\n  gobgp:\n    tls: { ca: /a, key: "SECRET-ONE\n`],
])('a private key in the file itself, %s, is not repeated', (_claim, text) => {
  const result = loadIntent(text, 'cnpd.yaml');
  const shown = result.ok ? '' : formatIntentErrors(result.error, text);
  expect(shown).toContain('cnpd.yaml:');
  expect(shown).not.toContain('SECRET-ONE');
});
