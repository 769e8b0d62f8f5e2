import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { ROUTER, complaints, load } from './files.fixture.ts';

const flowControl = (fields: string): string => `${ROUTER}flow-control: { ${fields} }\n`;
const MODE = 'mode: service';
const WATCH = 'watch: [{ interface: wan }]';
const HOLD = 'hold: [lan], accept-from: ["fe80::/10"]';

test('nothing is paused without a section, and while the section is off', () => {
  expect(load(ROUTER).flowControl).toBeUndefined();
  expect(load(flowControl(`enabled: off, ${MODE}, ${WATCH}`)).flowControl).toBeUndefined();
});

test('the defaults', () => {
  expect(load(flowControl(`${MODE}, ${WATCH}`)).flowControl).toEqual({
    mode: 'service',
    watch: [{ interface: 'wan', above: 200_000, below: 100_000 }],
    hold: [],
    interfaces: [],
    above: 200_000,
    below: 100_000,
    buffer: 4_000_000,
    neighbors: [],
    acceptFrom: [],
    pauseMs: 10,
    longestPauseMs: 100,
    watchdogMs: 1000,
    perSecond: 1000,
    priorities: [],
  });
  expect(load(ROUTER)).toMatchObject({ arnBitOrder: 'msb-first', codePoints: { 'arn-udp-port': 1022 } });
});

test('a queue has the thresholds of the section, or its own', () => {
  const watch = 'watch: [{ interface: a, pause-above: 1MB }, { interface: b, resume-below: 1kB }, { interface: c }]';
  expect(load(flowControl(`${MODE}, pause-above: 300kB, resume-below: 50kB, ${watch}`)).flowControl!.watch).toEqual([
    { interface: 'a', above: 1_000_000, below: 50_000 },
    { interface: 'b', above: 300_000, below: 1000 },
    { interface: 'c', above: 300_000, below: 50_000 },
  ]);
});

test('neighbors have link-local addresses, or others, and so have those that may ask', () => {
  const { neighbors, acceptFrom } = load(
    flowControl(
      'mode: flow, hold: [lan], accept-from: ["fe80::/10", 2001:db8:ffff::/48], ' +
        'neighbors: [{ interface: e1, address: "fe80::1" }, { interface: e2, address: 2001:db8::2 }]',
    ),
  ).flowControl!;
  expect(neighbors).toEqual([
    { interface: 'e1', address: address('fe80::1') },
    { interface: 'e2', address: address('2001:db8::2') },
  ]);
  expect(acceptFrom).toEqual([prefix('fe80::/10'), prefix('2001:db8:ffff::/48')]);
});

test.each(['', 'interfaces: [], ', 'interfaces: [e], '])('a neighbor on a port at which traffic arrives: %s', (named) =>
  expect(
    complaints(flowControl(`${MODE}, ${WATCH}, ${named}neighbors: [{ interface: e, address: "fe80::1" }]`)),
  ).toEqual([]),
);

describe('refused where the mistake is', () => {
  test.each([
    [WATCH, /flow-control\.mode/],
    [`mode: tunnel, ${WATCH}`, /service, flow, priority/],
    [MODE, /flow-control: there is neither a queue to watch nor a port that holds/],
    [`${MODE}, watch: [], hold: []`, /there is neither a queue to watch nor a port that holds/],
    [`${MODE}, hold: [lan]`, /flow-control\.hold: nobody may ask.*fe80::\/10/],
    [`${MODE}, hold: [lan], accept-from: []`, /flow-control\.accept-from: nobody may ask/],
    [`${MODE}, ${WATCH}, accept-from: ["fe80::/10"]`, /flow-control\.accept-from: there is no port that holds/],
    [`${MODE}, hold: [lan], accept-from: ["::/0"]`, /accept-from\[0\]: ::\/0 reaches outside the domain/],
    [`${MODE}, hold: [lan], accept-from: [10.0.0.0/8]`, /accept-from\[0\]: neighbors ask over IPv6/],
    [`${MODE}, ${WATCH}, neighbors: [{ interface: e, address: 192.0.2.1 }]`, /neighbors\[0\]\.address/],
    [
      `${MODE}, ${WATCH}, neighbors: [{ interface: e, address: "ff02::1" }]`,
      /is no neighbor's address: it is multicast/,
    ],
    [`${MODE}, ${WATCH}, pause-above: 100kB`, /flow-control\.pause-above: resume-below \(100000 bytes\) must be less/],
    [`${MODE}, ${WATCH}, resume-below: 200kB`, /flow-control\.resume-below: .*less than pause-above \(200000 bytes\)/],
    [
      `${MODE}, watch: [{ interface: wan, pause-above: 99kB }]`,
      /watch\[0\]\.pause-above: resume-below \(100000 bytes\)/,
    ],
    [
      `${MODE}, watch: [{ interface: wan, resume-below: 1MB }]`,
      /watch\[0\]\.resume-below: resume-below \(1000000 bytes\)/,
    ],
    [`${MODE}, ${HOLD}, buffer: 200kB`, /flow-control\.buffer: .*would drop before/],
    [`${MODE}, ${WATCH}, pause: 101ms`, /flow-control\.pause: .*not be longer than longest-pause \(100 ms\)/],
    [`${MODE}, ${WATCH}, longest-pause: 9ms`, /flow-control\.longest-pause: pause \(10 ms\)/],
    [`${MODE}, ${WATCH}, watchdog: 100ms`, /flow-control\.watchdog: longest-pause \(100 ms\) must be less/],
    [`${MODE}, ${WATCH}, longest-pause: 1s`, /flow-control\.longest-pause: .*less than watchdog \(1000 ms\)/],
    [`${MODE}, ${WATCH}, pause: 99us`, /flow-control\.pause/],
    [`${MODE}, ${WATCH}, pause: 1001ms`, /flow-control\.pause/],
    [`${MODE}, watch: [{ interface: wan }, { interface: wan }]`, /watch\[1\]\.interface: wan is already in this list/],
    [`${MODE}, hold: [lan, lan], accept-from: ["fe80::/10"]`, /hold\[1\]: lan is already in this list/],
    [`${MODE}, ${WATCH}, interfaces: [lan, lan]`, /interfaces\[1\]: lan is already in this list/],
    [`${MODE}, hold: [lan], accept-from: ["fe80::/10", "fe80::/10"]`, /accept-from\[1\]: .*already in this list/],
    [
      `${MODE}, ${WATCH}, neighbors: [{ interface: e, address: "fe80::1" }, { interface: e, address: "fe80::2" }]`,
      /neighbors\[1\]\.interface: e is already in this list/,
    ],
    [
      `${MODE}, ${WATCH}, interfaces: [lan], neighbors: [{ interface: e, address: "fe80::1" }]`,
      /neighbors\[0\]\.interface: fe80::1 is never asked: e is not under flow-control\.interfaces/,
    ],
    [`${MODE}, ${WATCH}, priorities: [{ dscp: 64, priority: 0 }]`, /priorities\[0\]\.dscp/],
    [`${MODE}, ${WATCH}, priorities: [{ dscp: 0, priority: 8 }]`, /priorities\[0\]\.priority/],
    [
      `${MODE}, ${WATCH}, priorities: [{ dscp: 8, priority: 0 }, { dscp: 8, priority: 1 }]`,
      /priorities\[1\]\.dscp: 8 is already in this list/,
    ],
    [`${MODE}, ${WATCH}, holds: [lan]`, /unknown key "holds"; did you mean "hold"/],
  ])('%s', (fields, message) => expect(complaints(flowControl(fields))).toEqual([expect.stringMatching(message)]));

  test('what watches may be watched for notifications, too; what holds may not', () => {
    const ports = 'ports: [{ interface: wan, k-max: 1MB }]\n';
    expect(complaints(`${flowControl(`${MODE}, ${WATCH}`)}${ports}`)).toEqual([]);
    expect(complaints(`${flowControl(`${MODE}, hold: [wan], accept-from: ["fe80::/10"]`)}${ports}`)).toEqual([
      expect.stringMatching(/flow-control\.hold\[0\]: wan is monitored \(ports\)/),
    ]);
  });

  test('a port holds for one reason only, and what waits there is no queue', () => {
    const source =
      'source: { senders: [{ prefix: 2001:db8:1::/64, action: enforce }], accept-from: [2001:db8::/32], ' +
      'enforce: { ports: [wan] } }\n';
    expect(complaints(`${flowControl(`${MODE}, hold: [wan], accept-from: ["fe80::/10"]`)}${source}`)).toEqual([
      expect.stringMatching(/flow-control\.hold\[0\]: wan already holds flows of hosts/),
    ]);
    expect(complaints(`${flowControl(`${MODE}, ${WATCH}`)}${source}`)).toEqual([
      expect.stringMatching(/flow-control\.watch\[0\]\.interface: wan holds flows of hosts/),
    ]);
  });

  test('nobody outside the domain is asked or obeyed; the queue of a border port may be watched', () => {
    const border = 'border-ports: [wan]\n';
    const at = (fields: string): string[] => complaints(`${flowControl(`${MODE}, ${fields}`)}${border}`);
    expect(at(WATCH)).toEqual([]);
    const message = /wan is a border port, at which ARNs are dropped/;
    expect(at('hold: [wan], accept-from: ["fe80::/10"]')).toEqual([expect.stringMatching(message)]);
    expect(at('watch: [{ interface: lan }], interfaces: [wan]')).toEqual([expect.stringMatching(message)]);
    expect(at('watch: [{ interface: lan }], neighbors: [{ interface: wan, address: "fe80::1" }]')).toEqual([
      expect.stringMatching(message),
    ]);
  });

  test.each(['watch: [{ interface: cnpd-isis }]', 'hold: [cnpd-isis], accept-from: ["fe80::/10"]'])(
    'the veth of a carrier is no port: %s',
    (fields) =>
      expect(
        complaints(
          `${flowControl(`${MODE}, ${fields}`)}isis: { system-id: 0000.0000.c001, area: 49.0001, level: 2 }\n`,
        ),
      ).toEqual([expect.stringMatching(/cnpd-isis is the veth of a carrier/)]),
  );
});

test('the port and the order of bits of ARNs are code points', () => {
  const { codePoints, arnBitOrder } = load(`${ROUTER}code-points: { arn-udp-port: 50022, arn-bit-order: lsb-first }\n`);
  expect(codePoints['arn-udp-port']).toBe(50_022);
  expect(codePoints).not.toHaveProperty('arn-bit-order');
  expect(arnBitOrder).toBe('lsb-first');
  expect(complaints(`${ROUTER}code-points: { arn-bit-order: little-endian }\n`)).toEqual([
    expect.stringMatching(/code-points\.arn-bit-order: .*msb-first, lsb-first/),
  ]);
  expect(complaints(`${ROUTER}code-points: { pnc-udp-port: 1022 }\n`)).toEqual([
    expect.stringMatching(/code-points\.pnc-udp-port: 1022 is the default of code-points\.arn-udp-port/),
  ]);
});
