import { expect, test } from 'vitest';
import { type Observations, evaluate, summarize } from './evaluate.ts';
import { repeated, runsWith } from './runs.fixture.ts';
import { htmlReport } from './html.ts';
import { type DemoReport, type NotificationSeen, common } from './results.ts';
import { type PortState, configuration, portState } from './routers.ts';
import { type RunSpec, portName } from './scene.ts';
import { SHOWS, chosenShow } from './shows.ts';
import { longhaul } from './scenes/longhaul.ts';
import { proxy } from './scenes/proxy.ts';
import { table } from './table.ts';

const T0 = 1_000_000;
const at = (ms: number): number => T0 + ms;
const spec = proxy.runs.find((m) => m.mode === 'cnpd')!;
const state = (counts: Partial<PortState['counts']> = {}): PortState => ({
  kMin: 50_000,
  kMax: 100_000,
  rttMs: 12,
  explanation: [],
  counts: { ceMarked: 0, triggers: 0, notifications: 0, deferred: 0, ...counts },
});
const seen = (t: number, over: Partial<NotificationSeen> = {}): NotificationSeen => ({
  t: at(t),
  kind: 'cnp',
  source: '2001:db8:2::2',
  opcode: 0x81,
  queuePair: 77,
  valid: true,
  instruction: null,
  packet: new Uint8Array(40),
  ...over,
});
const observed: Observations = {
  sender: [
    { event: 'connected', t: at(0), qpn: 77, peerQpn: 99 },
    { event: 'rate', t: at(50), sentBps: 90e6, rateBps: 100e6 },
    { event: 'rate', t: at(100), sentBps: 40e6, rateBps: 50e6 },
    { event: 'summary', t: at(200), qpn: 77, durationMs: 200, goodputBps: 36e6, retransmitted: 3, firstDataAt: T0 },
  ],
  listener: [{ event: 'summary', t: at(210), cnpsSent: 0, marked: 11 }],
  ports: [
    {
      port: proxy.watched[0],
      drops: 2,
      before: state({ notifications: 3 }),
      after: state({ notifications: 8, deferred: 4 }),
      kMin: 50_000,
      queue: [
        [at(-5000), 1e9],
        [at(0), 0],
        [at(10), 80_000],
        [at(20), 120_000],
        [at(1500), 30_000],
      ],
    },
  ],
  notifications: [seen(17), seen(40)],
  tunneled: undefined,
};
const with_ = (over: Partial<Observations>, run: RunSpec = spec): ReturnType<typeof evaluate> =>
  evaluate(proxy, run, { ...observed, ...over });
const result = with_({});

test('feedback counts from the moment the queue crosses the threshold, between two samples, to the first notification', () => {
  // 100 kB is crossed at 15 ms
  expect(with_({ notifications: [seen(22)] })).toMatchObject({ firstFeedbackMs: 7, feedbackIsBound: false });
  expect(result.firstNotificationMs).toBe(17);
});

test('a crossing that no sample shows before the first notification counts from the last empty sample: feedback is then at most what is shown, never negative', () => {
  const bound = with_({ notifications: [seen(12)] });
  expect(bound).toMatchObject({ firstFeedbackMs: 12, feedbackIsBound: true });
  expect(table(repeated([bound]))).toContain('≤ 12.0');
  expect(result.feedbackIsBound).toBe(true);
});

test('a run that marks is measured from K_min, a run that is not watched not at all', () => {
  const run = (mode: string): RunSpec => proxy.runs.find((r) => r.mode === mode)!;
  expect(with_({ notifications: [seen(22)] }, run('receiver')).firstFeedbackMs).toBe(15.75);
  expect(with_({}, run('none')).firstFeedbackMs).toBeNull();
});

test('a result holds what the wire, the queue, the routers and the endpoints reported, since the first data packet', () => {
  expect(result).toMatchObject({
    goodputBps: 36e6,
    receiverCnps: 0,
    ceAtReceiver: 11,
    tunneled: null,
    congestedMs: 10,
    ports: [
      {
        port: 'p1 eth2',
        peakQueueBytes: 120_000,
        settledPeakQueueBytes: 0,
        drops: 2,
        counted: { notifications: 5, deferred: 4 },
      },
    ],
    notifications: {
      count: 2,
      kind: 'cnp',
      opcode: 0x81,
      queuePair: 77,
      expectedQueuePair: 77,
      valid: true,
      nodes: [{ node: '2001:db8:2::2', count: 2, firstMs: 17 }],
    },
  });
  expect(result.series.notifications).toEqual([
    [17, 1],
    [40, 2],
  ]);
});

test('a Fast CNP names the receiver’s Queue Pair, all others the sender’s; nodes are listed in the order of their first word', () => {
  expect(summarize([seen(1, { kind: 'fast-cnp' })], observed.sender[0]).expectedQueuePair).toBe(99);
  const instruction = { level: 180, action: 'rate-reduce', parameter: 30 } as const;
  const two = summarize(
    [
      seen(1, { source: '::b', instruction }),
      seen(2, { source: '::a', instruction: { level: 20, action: 'resume', parameter: 50 } }),
      seen(3, { source: '::b', instruction }),
    ],
    observed.sender[0],
  );
  expect(two.nodes.map(({ node, count, actions }) => [node, count, actions])).toEqual([
    ['::b', 2, { 'rate-reduce': 2 }],
    ['::a', 1, { resume: 1 }],
  ]);
});

test('a run without notifications has no feedback time and nothing valid to show', () => {
  expect(with_({ notifications: [] })).toMatchObject({
    firstFeedbackMs: null,
    notifications: { count: 0, kind: null, opcode: null, valid: false, nodes: [] },
  });
});

test('A17: what passed in tunnels is compared with what arrived from nodes; CNPs of the receiver are no part of that', () => {
  const packet = new Uint8Array(40).fill(5);
  expect(
    with_({ tunneled: [packet], notifications: [seen(1), seen(2, { kind: 'fast-cnp', packet })] }).tunneled,
  ).toEqual({ count: 1, unchanged: true });
  expect(with_({ tunneled: [packet], notifications: [seen(2, { kind: 'fast-cnp' })] }).tunneled).toEqual({
    count: 1,
    unchanged: false,
  });
});

test('a run whose sender never sent is an error, not a result', () => {
  expect(() => with_({ sender: [] })).toThrow('no data');
});

test('values that differ have nothing in common', () => {
  expect([common([1, 1]), common([1, 2]), common([])]).toEqual([1, null, null]);
});

test('how a run configures the port of a router: nothing, K_min alone, or what the file says; the rest of the file stays', () => {
  const text = 'router: { name: n1 }\nports:\n  - { interface: eth2, k-max: auto }\n';
  const [port] = longhaul.watched;
  expect(configuration(text, port, 'as-configured', 45_000)).toBe(text);
  expect(configuration(text, port, 'unwatched', 45_000)).toBe('router: { name: n1 }\n');
  expect(configuration(text, port, 'mark', 45_000)).toContain('k-min: 45000');
  expect(configuration(text, port, 'mark', 45_000)).not.toContain('k-max');
});

test('a port that is not watched, or a threshold of 0, is none', () => {
  expect(portState(undefined)).toMatchObject({ kMin: null, kMax: null, rttMs: null });
  expect(
    portState({ 'k-min': 45_000, 'k-max': 0, 'ce-marked': 1, triggers: 2, notifications: 3, deferred: 4 }),
  ).toEqual({
    kMin: 45_000,
    kMax: null,
    rttMs: null,
    explanation: [],
    counts: { ceMarked: 1, triggers: 2, notifications: 3, deferred: 4 },
  });
});

test('a scene is chosen by its name; without one it is the proxy’s', () => {
  expect(chosenShow([])?.name).toBe(proxy.name);
  for (const show of SHOWS) expect(chosenShow([show.name])).toBe(show);
  for (const wrong of [['nothing'], ['proxy', 'longhaul']]) expect(chosenShow(wrong)).toBeUndefined();
});

const report: DemoReport = {
  version: 3,
  scene: 'proxy',
  title: 'a title',
  path: 'h1 – h2',
  drawing: {
    nodes: ['h1', 'leaf1', 'p1'],
    links: [
      { a: 'h1', b: 'leaf1', label: '' },
      { a: 'leaf1', b: 'p1', label: '10 ms' },
    ],
  },
  machine: { kernel: 'Linux 6.12', cnpd: '0.4.0 (commit abc)', node: 'v24', cpus: 2, load: [0.5, 1.25] },
  startedAt: '2026-01-01T00:00:00.000Z',
  ok: false,
  failures: ['<script>alert(1)</script>'],
  checks: [],
  evidence: ['p1 has learned'],
  names: { '2001:db8:2::2': 'h2' },
  proxy: 'leaf1',
  receiver: 'h2',
  sendingRateBps: 1e8,
  ports: [{ name: 'p1 eth2', rateBps: 4e7, queueLimitBytes: 2e6 }],
  runs: repeated([result]),
};

test('the report is one file: nothing is loaded, and text is text', () => {
  const html = htmlReport(report);
  expect(html).not.toMatch(/<script|<link|<img|https?:|@import|url\((?!#)/);
  expect(html).toContain('&lt;script&gt;');
  expect(html.match(/<svg/g)).toHaveLength(5);
  for (const label of [
    'queue depth, kB',
    'rate, Mbit/s',
    'time since the first data packet, s',
    'CNPs from cnpd',
    'Linux 6.12, 2 processors',
    'commit abc',
    'Load 0.50 before the runs and 1.25 after them',
    'p1 has learned.',
  ])
    expect(html).toContain(label);
});

test('the report of a scene with two watched ports has the plots of both', () => {
  const ports = longhaul.watched.map((port) => ({
    name: portName(port),
    rateBps: port.rateBps,
    queueLimitBytes: port.limitBytes,
  }));
  const html = htmlReport({
    ...report,
    scene: 'longhaul',
    ports,
    runs: repeated(runsWith(longhaul, 'long-haul-icmpv6', {})),
  });
  expect(html.match(/<svg/g)).toHaveLength(7);
  for (const name of ['n1 eth2', 'n2 eth2']) expect(html).toContain(`Queue depth at ${name}`);
});

test('the table has a column for each kind of run, the middle repetition in it and the range below', () => {
  const run = with_({ notifications: [seen(22)] });
  const three = [30, 7, 9].flatMap((firstFeedbackMs) => repeated([{ ...run, firstFeedbackMs }]));
  const text = table(three);
  expect(text.split('\n')[0]!.trim()).toBe('cnpd');
  expect(text).toMatch(/first feedback, ms +9\.0\n +\(7\.0–30\.0\)/);
  expect(table(repeated([run], 3))).not.toContain('(7.0');
});

test('a CNP of the proxy bears the receiver’s address: the report names both', () => {
  expect(htmlReport(report)).toContain('2 from leaf1, in h2’s name');
  expect(htmlReport({ ...report, runs: repeated([{ ...result, mode: 'receiver' }]) })).toContain('2 from h2,');
});
