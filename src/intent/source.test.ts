import { describe, expect, test } from 'vitest';
import { prefix } from '../model/prefix.ts';
import { ROUTER, complaints, errorsOf, load } from './files.fixture.ts';

const source = (fields: string): string => `${ROUTER}source: { ${fields} }\n`;
const SENDERS = 'senders: [{ prefix: 2001:db8:1::/64, action: convert }]';
const FROM = 'accept-from: [2001:db8:ffff::/48]';

test('LHCNP-9-a, FCNP-5-g: the role is off without a section, and while the section is off', () => {
  expect(load(ROUTER).source).toBeUndefined();
  expect(load(source(`enabled: off, ${SENDERS}, ${FROM}`)).source).toBeUndefined();
});

const ALL = ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'];

test('the defaults: one CNP a flow in 50 µs, ten thousand notifications a second, ICRC over the options', () => {
  expect(load(source(`${SENDERS}, ${FROM}`)).source).toEqual({
    senders: [{ prefix: prefix('2001:db8:1::/64'), action: 'convert', supports: ALL }],
    advertise: false,
    acceptFrom: [prefix('2001:db8:ffff::/48')],
    interfaces: [],
    icrc: 'cover',
    perFlowIntervalMs: 0.05,
    perSecond: 10_000,
  });
});

test.each([
  [SENDERS, /accept-from/],
  [FROM, /senders/],
  [`senders: [], ${FROM}`, /source\.senders: without senders there is nothing to take/],
  [`${SENDERS}, accept-from: []`, /an empty allow-list accepts no notification/],
  [`${SENDERS}, accept-from: ["::/0"]`, /source\.accept-from\[0\]/],
  [`senders: [{ prefix: 2001:db8:1::/64, action: obey }], ${FROM}`, /pass, convert, enforce/],
  [`senders: [{ prefix: "ff00::/8", action: pass }], ${FROM}`, /source\.senders\[0\]\.prefix/],
  [
    `senders: [{ prefix: 10.0.0.0/8, action: pass }, { prefix: 10.0.0.0/8, action: convert }], ${FROM}`,
    /10\.0\.0\.0\/8 is already in this list/,
  ],
  [`${SENDERS}, accept-from: [2001:db8::/32, 2001:db8::/32]`, /already in this list/],
  [`${SENDERS}, ${FROM}, interfaces: [eth1, eth1]`, /already in this list/],
  [
    `senders: [{ prefix: 2001:db8:1::/64, action: pass }], advertise: on, ${FROM}`,
    /source\.advertise: there is nothing to advertise/,
  ],
  [
    `senders: [{ prefix: 10.0.0.0/8, action: pass, supports: [fast-cnp] }], ${FROM}`,
    /source\.senders\[0\]\.supports\[0\].*IPv4/,
  ],
  [
    `senders: [{ prefix: 2001:db8:1::/64, action: pass, supports: [fast-cnp, fast-cnp] }], ${FROM}`,
    /already in this list/,
  ],
])('%s is refused where the mistake is', (fields, message) =>
  expect(complaints(source(fields))).toEqual([expect.stringMatching(message)]),
);

test('LHCNP-4-a: of what IPv4 senders are said to understand, the formats that are possible are named', () =>
  expect(
    errorsOf(source(`senders: [{ prefix: 10.0.0.0/8, action: pass, supports: [fast-cnp] }], ${FROM}`)),
  ).toMatchObject([{ allowed: 'long-haul-roce' }]));

describe('senders of whom nothing is said, in a prefix that is advertised', () => {
  const two = (pass: string, wide = 'action: convert'): string =>
    `senders: [{ prefix: 2001:db8:1::/48, ${wide} }, { prefix: 2001:db8:1:2::/64, ${pass} }], ${FROM}`;
  const proxy = (prefix: string, fields = 'address: 2001:db8::1'): string =>
    `proxy: { ${fields}, accept-from: [2001:db8:ffff::/48], senders: [{ prefix: "${prefix}", format: standard-cnp }] }\n`;
  const REFUSED =
    'source.senders[1]: what is advertised for 2001:db8:1::/48 would be believed of 2001:db8:1:2::/64, too: ' +
    'say under supports what these senders understand, or set source.advertise: off';

  test.each([
    ['a longer prefix with pass', source(`${two('action: pass')}, advertise: on`)],
    ['with an empty list', source(`${two('action: pass, supports: []')}, advertise: on`)],
    ['with the proxy of other senders', source(`${two('action: pass')}, advertise: on`) + proxy('2001:db8:1:2:3::/80')],
    [
      'with a proxy that is off',
      source(`${two('action: pass')}, advertise: on`) + proxy('2001:db8::/32', 'enabled: off, address: 2001:db8::1'),
    ],
    [
      'with a proxy that OSPFv3 cannot advertise',
      source(`${two('action: pass')}, advertise: on`) +
        proxy('2001:db8::/32', 'address: 192.0.2.1') +
        'ospfv3: { router-id: 192.0.2.201, areas: [{ area: 0 }] }\n',
    ],
  ])('would be believed to understand it, so it is refused: %s', (_, file) =>
    expect(complaints(file)).toEqual([REFUSED]),
  );

  test.each([
    ['nothing is advertised', source(two('action: pass'))],
    ['it says what they understand', source(`${two('action: pass, supports: [fast-cnp]')}, advertise: on`)],
    ['this router acts for them', source(`${two('action: convert')}, advertise: on`)],
    [
      'nothing is said of the shorter prefix either',
      source(`${two('action: pass', 'action: pass')}, advertise: on`).replace(
        'senders: [',
        'senders: [{ prefix: 10.0.0.0/8, action: convert }, ',
      ),
    ],
    ['they are advertised with their proxy', source(`${two('action: pass')}, advertise: on`) + proxy('2001:db8::/32')],
    [
      'IS-IS advertises their proxy of the other family',
      source(`${two('action: pass')}, advertise: on`) + proxy('2001:db8::/32', 'address: 192.0.2.1'),
    ],
  ])('are no mistake where %s', (_, file) => expect(complaints(file)).toEqual([]));
});

const HELD = 'senders: [{ prefix: 2001:db8:1::/64, action: enforce }]';

test('LHCNP-5.6-f: enforce has defaults for everything but its ports', () => {
  expect(load(source(`${HELD}, ${FROM}, enforce: { ports: [eth2] }`)).source!.enforce).toEqual({
    ports: ['eth2'],
    rttMs: 20,
    response: 0.5,
    queueing: 'auto',
    buffer: 4_000_000,
    flows: 4096,
  });
});

test('FCNP-4-t: ioam is off unless it is declared, and then has defaults', () => {
  expect(load(source(`${HELD}, ${FROM}, enforce: { ports: [eth2], ioam: {} }`)).source!.enforce!.ioam).toEqual({
    target: 0.95,
    queueUnit: 1,
    txBytes: 'none',
    timestamp: 'posix',
  });
});

test.each([
  [`${HELD}, ${FROM}`, /action: enforce needs source\.enforce/],
  [`${SENDERS}, ${FROM}, enforce: { ports: [eth2] }`, /source\.enforce: no sender has action: enforce/],
  [`${HELD}, ${FROM}, enforce: { ports: [] }`, /without a port no flow is slowed down/],
  [`${HELD}, ${FROM}, enforce: { ports: [eth2, eth2] }`, /already in this list/],
  [`${HELD}, ${FROM}, enforce: { ports: [eth2], flows: 16385 }`, /source\.enforce\.flows/],
  [`${HELD}, ${FROM}, enforce: { ports: [eth2], response: 0% }`, /source\.enforce\.response/],
  [`${HELD}, ${FROM}, enforce: { ports: [eth2], bandwidth: 10e12Gbit }`, /source\.enforce\.bandwidth/],
])('%s is refused, too', (fields, message) =>
  expect(complaints(source(fields))).toEqual([expect.stringMatching(message)]),
);

test('a port that is watched cannot hold flows: what waits there would be taken for its queue', () => {
  const file = `${source(`${HELD}, ${FROM}, enforce: { ports: [eth2] }`)}ports: [{ interface: eth2, k-max: 1MB }]\n`;
  expect(complaints(file)).toEqual([expect.stringMatching(/source\.enforce\.ports\[0\].*eth2 is watched/s)]);
});

test('the veth of a carrier is no place where notifications arrive', () => {
  const file = `${source(`${SENDERS}, ${FROM}, interfaces: [cnpd-isis]`)}isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2 }\n`;
  expect(complaints(file)).toEqual([expect.stringMatching(/cnpd-isis is the veth of a carrier/)]);
});
