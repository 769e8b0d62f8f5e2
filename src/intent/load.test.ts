import { describe, expect, test } from 'vitest';
import { declaredThresholds } from '../plan/thresholds.ts';
import type { IntentError } from './errors.ts';
import { UNASSIGNED, errorsOf, load } from './files.fixture.ts';
import { loadIntent } from './load.ts';

/** A valid file: a router, and the given sections. */
const router = 'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n';
const proxy = (lines: string): string => `${router}proxy:\n  address: 2001:db8::1\n${lines}`;
const isis = (lines: string): string => `${router}isis:\n  system-id: 0000.0000.c001\n  area: 49.0001\n${lines}`;

describe('a group that this machine is asked for', () => {
  const machine = { groupExists: (name: string) => name === 'adm' };
  const errors = (group: string): string[] => {
    const loaded = loadIntent(`router: { name: r1 }\ngnmi:\n  socket-group: ${group}\n`, 'cnpd.yaml', machine);
    return loaded.ok ? [] : loaded.error.map((e) => `${e.line}:${e.column}: ${e.path}: ${e.message}`);
  };

  test.each(['adm', '"adm"', '4', '64000'])('%s is taken', (group) => {
    expect(errors(group)).toEqual([]);
  });

  test('one that it does not have is an error, which names the commands; what is no name is refused as that', () => {
    expect(errors('nosuchgroup')).toEqual([
      '3:17: gnmi.socket-group: this machine has no group nosuchgroup (`getent group nosuchgroup` finds none): ' +
        '`groupadd --system nosuchgroup`, or name another',
    ]);
    expect(errors('"no such"')).toEqual([
      '3:17: gnmi.socket-group: found "no such"; allowed: a group: its name, or its number',
    ]);
    expect(errors('[adm]')).toHaveLength(1);
  });
});

describe('what is off', () => {
  test('PNC-6-f: nothing runs by default', () => {
    expect(load('router: { name: r1 }')).toEqual({
      router: { name: 'r1', reversePathCheck: true },
      queuePairs: { ageingMs: 300_000 },
      ports: [],
      borderPorts: [],
      codePoints: UNASSIGNED,
      arnBitOrder: 'msb-first',
      gnmiSocket: '/run/cnpd/gnmi.sock',
      logLevel: 'info',
    });
  });

  test.each(['off', 'false', '"off"'])('PNC-6-e: the proxy is switched off by `enabled: %s`', (off) => {
    const lines = '  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }]\n  accept-from: [2001:db8::/32]\n';
    expect(load(proxy(`  enabled: ${off}\n${lines}`)).proxy).toBeUndefined();
    expect(load(proxy(`  enabled: on\n${lines}`))).toEqual(load(proxy(lines)));
  });

  test('IS-IS is switched off by `enabled: off`, and still checked', () => {
    expect(load(isis('  enabled: off\n')).isis).toBeUndefined();
    expect(errorsOf(isis('  enabled: off\n  mtu: 9\n')).map((e) => e.path)).toEqual(['isis.mtu']);
  });

  test('A13: a port does nothing that its file does not say', () => {
    const thresholds = (keys: string): unknown =>
      declaredThresholds(load(`${router}ports: [{ interface: eth1, ${keys} }]`).ports[0]!);
    expect(thresholds('k-max: 1kB, ecn: off')).toEqual({ kMin: null, kMax: 1000 });
    expect(thresholds('k-min: 1kB')).toEqual({ kMin: 1000, kMax: null });
  });

  test('a proxy without IS-IS is allowed: it is only not advertised', () => {
    const text = proxy(
      '  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }]\n  accept-from: [2001:db8::/32]\n',
    );
    expect(load(text).proxy?.senders).toHaveLength(1);
  });
});

describe('thresholds', () => {
  test('LHCNP-5.3.2-g: K_min is K_max / 2 when it is not given', () => {
    const [port] = load(`${router}ports: [{ interface: eth1, k-max: 125kB }]`).ports;
    expect(declaredThresholds(port!)).toEqual({ kMin: 62_500, kMax: 125_000 });
  });

  test.each([
    ['100kB', '100kB'],
    ['101kB', '100kB'],
    ['100001', '100kB'],
  ])('LHCNP-5.3.2-f: K_min %s with K_max %s is refused', (kMin, kMax) => {
    expect(errorsOf(`${router}ports: [{ interface: eth1, k-min: ${kMin}, k-max: ${kMax} }]`)).toMatchObject([
      { path: 'ports[0].k-min', message: expect.stringContaining('must be less than k-max') },
    ]);
  });

  test('LHCNP-5.3.2-f: K_min one byte below K_max is allowed', () => {
    expect(load(`${router}ports: [{ interface: eth1, k-min: 99999, k-max: 100kB }]`).ports[0]!['k-min']).toBe(99_999);
  });
});

describe('PNC-1-a: the proxy states the format that its senders understand', () => {
  test('the format is required', () => {
    const [error] = errorsOf(proxy('  senders: [{ prefix: 2001:db8:1::/64 }]\n  accept-from: [2001:db8::/32]\n'));
    expect(error).toMatchObject({
      path: 'proxy.senders[0].format',
      found: 'nothing',
      allowed: 'one of standard-cnp, fast-cnp, long-haul-icmpv6, long-haul-roce',
    });
  });

  test.each([
    ['2001:db8:1::/64', 'fast-cnp'],
    ['2001:db8:1::/64', 'long-haul-icmpv6'],
    ['2001:db8:1::/64', 'long-haul-roce'],
    ['198.51.100.0/24', 'long-haul-roce'],
  ])(
    'PNC-1-a: senders in %s may understand %s, which comes from the loopback address of their family',
    (senders, format) => {
      const text = proxy(`  senders: [{ prefix: ${senders}, format: ${format} }]\n  accept-from: [2001:db8::/32]\n`);
      const both = text.replace(
        /^router:.*$/m,
        'router: { name: a, loopback: { ipv4: 192.0.2.1, ipv6: 2001:db8::1 } }',
      );
      expect(load(both).proxy!.senders[0]!.format).toBe(format);
      const none = text.replace(/^router:.*$/m, 'router: { name: a }');
      expect(errorsOf(none)).toMatchObject([
        {
          path: `router.loopback.ipv${senders.includes(':') ? 6 : 4}`,
          message: expect.stringContaining(`${format} for ${senders}`),
        },
      ]);
    },
  );

  test.each([
    ['198.51.100.0/24', 'fast-cnp', 'standard-cnp or long-haul-roce'],
    ['198.51.100.0/24', 'long-haul-icmpv6', 'long-haul-roce or standard-cnp'],
    ['2000::/3', 'long-haul-roce', 'prefixes not wider than /7'],
  ])('FCNP-3-d, LHCNP-4-a, LHCNP-10.5-b: senders in %s cannot be notified by %s', (senders, format, allowed) => {
    const text = proxy(
      `  senders: [{ prefix: ${senders}, format: ${format} }]\n  accept-from: [2001:db8::/32]\n`,
    ).replace(/^router:.*$/m, 'router: { name: a, loopback: { ipv4: 192.0.2.1, ipv6: 2001:db8::1 } }');
    expect(errorsOf(text)).toMatchObject([{ path: 'proxy.senders[0].format', allowed }]);
  });

  test('a format that cnpd cannot send is refused', () => {
    const [error] = errorsOf(
      proxy('  senders: [{ prefix: 2001:db8:1::/64, format: source-quench }]\n  accept-from: [2001:db8::/32]\n'),
    );
    expect(error).toMatchObject({ path: 'proxy.senders[0].format', found: '"source-quench"' });
  });
});

describe('PNC-6-a: notices are obeyed only inside one domain', () => {
  const accepting = (list: string): IntentError[] =>
    errorsOf(proxy(`  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }]\n  accept-from: ${list}\n`));

  test.each(['::/0', '0.0.0.0/0', '2000::/3', '0.0.0.0/1'])('an allow-list with %s is refused', (wide) => {
    expect(accepting(`["${wide}"]`)).toMatchObject([
      { path: 'proxy.accept-from[0]', message: expect.stringContaining('outside the domain') },
    ]);
  });

  test('an empty allow-list and a missing one are refused', () => {
    expect(accepting('[]')).toMatchObject([{ path: 'proxy.accept-from' }]);
    expect(errorsOf(proxy('  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }]\n'))).toMatchObject([
      { path: 'proxy.accept-from', found: 'nothing' },
    ]);
  });

  test.each(['10.0.0.0/8', 'fc00::/7', '2001:db8::1/128', '192.0.2.0/24'])('%s is allowed', (narrow) => {
    expect(accepting(`["${narrow}"]`)).toEqual([]);
  });
});

const sender = (text: string): string =>
  proxy(`  senders: [{ prefix: "${text}", format: standard-cnp }]\n  accept-from: [2001:db8::/32]\n`);
const valid = '  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }]\n  accept-from: [2001:db8::/32]\n';

describe('each mistake is named at its place', () => {
  test.each<readonly [claim: string, text: string, path: string, message: RegExp]>([
    ['an empty file', '', 'router', /missing/],
    ['a list instead of a mapping', '- router', '', /found a list; allowed: a mapping with the keys router, isis/],
    ['a missing name', 'router: {}', 'router.name', /missing/],
    ['a name with a space', 'router: { name: a b }', 'router.name', /found "a b"/],
    ['a section without content', 'router: { name: a }\nisis:\n', 'isis', /missing; allowed: a mapping/],
    [
      'a link-local loopback',
      'router: { name: a, loopback: { ipv6: fe80::1 } }',
      'router.loopback.ipv6',
      /fe80::1 is not a unicast/,
    ],
    [
      'an IPv4 address as ipv6',
      'router: { name: a, loopback: { ipv6: 192.0.2.1 } }',
      'router.loopback.ipv6',
      /found "192.0.2.1"/,
    ],
    [
      'host bits',
      sender('2001:db8:1::1/64'),
      'proxy.senders[0].prefix',
      /host bits are set beyond \/64: the prefix is 2001:db8:1::\/64/,
    ],
    ['a prefix without length', sender('2001:db8:1::'), 'proxy.senders[0].prefix', /needs a length.*2001:db8:1::\/128/],
    ['a length that is too long', sender('10.0.0.0/33'), 'proxy.senders[0].prefix', /found "10.0.0.0\/33"/],
    ['a default route', sender('::/0'), 'proxy.senders[0].prefix', /default route/],
    ['multicast senders', sender('ff02::/16'), 'proxy.senders[0].prefix', /no sender has a source address in/],
    [
      'IPv4-mapped senders',
      sender('::ffff:10.0.0.0/104'),
      'proxy.senders[0].prefix',
      /no sender has a source address in/,
    ],
    [
      'a multicast proxy address',
      proxy(valid).replace('address: 2001:db8::1', 'address: ff02::5'),
      'proxy.address',
      /is not a unicast/,
    ],
    [
      'one prefix twice',
      proxy(valid.replace('[{', '[{ prefix: 2001:db8:1:0::/64, format: standard-cnp }, {')),
      'proxy.senders[1].prefix',
      /2001:db8:1::\/64 is already in this list, as entry 0/,
    ],
    ['no senders', proxy(valid.replace(/senders: .*/, 'senders: []')), 'proxy.senders', /does nothing/],
    ['an interval of zero', proxy(`${valid}  per-flow-interval: 0s\n`), 'proxy.per-flow-interval', /from 1us to 60s/],
    ['a rate without unit', proxy(`${valid}  rate: 1000\n`), 'proxy.rate', /a rate such as 1000\/s/],
    ['a system ID of zeros', isis('').replace('0000.0000.c001', '0000.0000.0000'), 'isis.system-id', /not all zero/],
    ['an odd area', isis('').replace('49.0001', '49.001'), 'isis.area', /1 to 13 bytes/],
    [
      'an area of 14 bytes',
      isis('').replace('49.0001', '49.0001.0002.0003.0004.0005.0006.07'),
      'isis.area',
      /1 to 13 bytes/,
    ],
    ['level 3', isis('  level: 3\n'), 'isis.level', /one of 1, 2, 1-2/],
    ['half a second of lifetime', isis('  lifetime: 1000.5s\n'), 'isis.lifetime', /whole seconds/],
    ['a refresh after the lifetime', isis('  refresh: 1200s\n'), 'isis.refresh', /may expire/],
    [
      'a key for a level that is not run',
      isis('  authentication: { area: { hmac-md5: k } }\n'),
      'isis.authentication.area',
      /level 1, which is not run/,
    ],
    [
      'an interface name of 16 characters',
      `${router}border-ports: [abcdefghijklmnop]`,
      'border-ports[0]',
      /at most 15/,
    ],
    ['a border port twice', `${router}border-ports: [eth1, eth1]`, 'border-ports[1]', /already/],
    [
      'a port twice',
      `${router}ports: [{ interface: eth1, k-max: 1kB }, { interface: eth1, k-max: 2kB }]`,
      'ports[1].interface',
      /eth1 is already in this list, as entry 0/,
    ],
    ['a port without threshold', `${router}ports: [{ interface: eth1 }]`, 'ports[0]', /needs a threshold/],
    [
      'k-min with ecn: off',
      `${router}ports: [{ interface: eth1, k-min: 1kB, ecn: off }]`,
      'ports[0].k-min',
      /which ecn: off forbids/,
    ],
    [
      'a queue deeper than the kernel counts',
      `${router}ports: [{ interface: eth1, k-max: 5GB }]`,
      'ports[0].k-max',
      /from 1B to 4GB/,
    ],
    [
      'more ports than the dataplane has slots for',
      `${router}border-ports: [${Array.from({ length: 1025 }, (_, i) => `e${i}`).join()}]`,
      'border-ports',
      /1025 entries/,
    ],
    [
      'notices without a loopback',
      'router: { name: a }\nports: [{ interface: eth1, k-max: 1kB }]',
      'router.loopback',
      /port eth1 sends notices/,
    ],
    [
      'the carrier as a port',
      isis('ports: [{ interface: cnpd-isis, k-max: 1kB }]\n'),
      'ports[0].interface',
      /veth of a carrier/,
    ],
    [
      'a UDP port of 17 bits',
      `${router}code-points: { pnc-udp-port: 65536 }`,
      'code-points.pnc-udp-port',
      /1 to 65535/,
    ],
    ['a relative socket', `${router}gnmi: { socket: gnmi.sock }`, 'gnmi.socket', /absolute path/],
    ['an unknown log level', `${router}log: { level: loud }`, 'log.level', /debug, info, warn, error/],
    [
      'a key twice',
      `${router}log: { level: info }\nlog: { level: warn }`,
      'log',
      /duplicate key \(first at line \d+\)/,
    ],
    ['an unknown key', `${router}portz: []`, 'portz', /unknown key "portz"; did you mean "ports"\?/],
    ['an underscore for a hyphen', `${router}border_ports: []`, 'border_ports', /did you mean "border-ports"\?/],
    [
      'a key like nothing known',
      `${router}frobnicate: 1`,
      'frobnicate',
      /unknown key "frobnicate"; allowed: router, isis/,
    ],
    ['__proto__ as a key', `${router}__proto__: { ports: [] }`, '__proto__', /unknown key/],
    ['a merge key', `${router}<<: { log: { level: info } }`, '<<', /unknown key/],
    ['an alias', 'router: { name: &a r1 }\nlog: { level: *a }', 'log.level', /aliases are not allowed/],
    ['a tag', 'router: { name: !!binary cjE= }', 'router.name', /tags are not allowed/],
    ['a mapping as a key', `${router}? { a: b }\n: c\n`, '', /a key must be plain text/],
    ['a tab as indentation', 'router:\n\tname: r1\n', '', /YAML/],
    ['two documents', `${router}---\n${router}`, '', /YAML/],
  ])('%s', (_claim, text, path, message) => {
    const errors = errorsOf(text);
    expect(errors.map((e) => e.message)).toEqual([expect.stringMatching(message)]);
    expect(errors[0]!.path).toBe(path);
  });
});

test('all errors appear at once, in the order of the file, rules across keys among them', () => {
  const text = [
    'router: { name: r1 }',
    'proxi: {}',
    'ports:',
    '  - { interface: eth1, k-min: 9kB, k-max: 8kB, rate: 5 }',
    '  - { interface: eth1, k-max: many }',
    'log: { level: loud, color: red }',
  ].join('\n');
  expect(errorsOf(text).map((e) => `${e.line}:${e.column} ${e.path}`)).toEqual([
    '1:1 router.loopback',
    '2:1 proxi',
    '4:31 ports[0].k-min',
    '4:54 ports[0].rate',
    '5:18 ports[1].interface',
    '5:31 ports[1].k-max',
    '6:15 log.level',
    '6:21 log.color',
  ]);
});

test('every error has all its parts', () => {
  for (const error of errorsOf('router: 5\nports: 7\nlog: { level: loud }\n')) {
    expect(error).toEqual({
      file: 'cnpd.yaml',
      line: expect.any(Number),
      column: expect.any(Number),
      path: expect.stringMatching(/./),
      found: expect.stringMatching(/./),
      allowed: expect.stringMatching(/./),
      message: expect.stringMatching(/./),
    });
  }
});

test('text keeps its zeros although YAML takes it for a number', () => {
  expect([...load(isis('').replace('49.0001', '49.0010')).isis!.area]).toEqual([0x49, 0x00, 0x10]);
  expect([...load(isis('').replace('49.0001', '49')).isis!.area]).toEqual([0x49]);
});

test('a watched port may be a border port', () => {
  expect(load(`${router}ports: [{ interface: eth1, k-max: 1kB }]\nborder-ports: [eth1]`).borderPorts).toEqual(['eth1']);
});

test('an IPv4 sender may have an IPv6 proxy, and the reverse', () => {
  expect(errorsOf(sender('198.51.100.0/24'))).toEqual([]);
  expect(errorsOf(proxy(valid).replace('address: 2001:db8::1', 'address: 192.0.2.1'))).toEqual([]);
});
