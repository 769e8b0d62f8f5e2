import { expect, test } from 'vitest';
import { chartSvg, decades, ticks } from './chart.ts';
import { type Observations, evaluate, summarize } from './evaluate.ts';
import { portResult, repeated, runsWith } from './runs.fixture.ts';
import { htmlReport } from './html.ts';
import { headline, notBetter } from './measures.ts';
import { observations } from './observations.ts';
import {
  type DemoReport,
  type DemoRun,
  type Mode,
  type NotificationSeen,
  type Point,
  type RunResult,
  common,
} from './results.ts';
import { type PortState, configuration, portState } from './routers.ts';
import { type RunSpec, portName } from './scene.ts';
import { SHOWS, chosenShow } from './shows.ts';
import { longhaul } from './scenes/longhaul.ts';
import { proxy } from './scenes/proxy.ts';
import { firstCrossing, settledAt, thin, timeAbove } from './series.ts';
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
  tunnelled: undefined,
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
    tunnelled: null,
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
    with_({ tunnelled: [packet], notifications: [seen(1), seen(2, { kind: 'fast-cnp', packet })] }).tunnelled,
  ).toEqual({ count: 1, unchanged: true });
  expect(with_({ tunnelled: [packet], notifications: [seen(2, { kind: 'fast-cnp' })] }).tunnelled).toEqual({
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

test('thinning keeps the peaks and the order', () => {
  const points: Point[] = [
    [0, 5],
    [1, 9],
    [2, 1],
    [12, 4],
  ];
  expect(thin(points, 10)).toEqual([
    [1, 9],
    [2, 1],
    [12, 4],
  ]);
});

test('a level that is never reached is never crossed', () => {
  expect(
    firstCrossing(
      [
        [0, 1],
        [1, 2],
      ],
      3,
    ),
  ).toBeUndefined();
  expect(firstCrossing([[0, 5]], 3)).toBe(0);
});

test('the time that any curve is at its level: overlaps count once, and a curve that ends there counts to its end', () => {
  const curve = (...points: Point[]): { points: Point[]; level: number } => ({ points, level: 5 });
  expect(timeAbove([curve([0, 5], [10, 4], [20, 9], [30, 0])])).toBe(20);
  expect(timeAbove([curve([0, 5], [10, 4]), curve([5, 5], [20, 1])])).toBe(20);
  expect(timeAbove([curve([0, 1], [10, 7], [13, 8])])).toBe(3);
  expect(timeAbove([curve()])).toBe(0);
});

test.each([
  [0.9, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [2_000, [0, 500, 1000, 1500, 2000]],
  [0, [0, 1]],
])('the axis up to %d has round steps', (max, expected) => {
  expect(ticks(max, 5)).toEqual(expected);
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

test('a chart stays inside its frame and has no impossible number', () => {
  const svg = chartSvg({
    title: 't',
    yLabel: 'y',
    xUnit: 's',
    xMax: 100,
    yScale: 1,
    curves: [
      {
        name: 'c',
        color: '#000',
        points: [
          [-5, 1],
          [0, 0],
          [50, 7],
          [500, 9],
        ],
      },
    ],
  });
  expect(svg).not.toMatch(/NaN|Infinity/);
  const drawn = [...svg.match(/ d="([^"]*)"/)![1]!.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map((m) => [
    Number(m[1]),
    Number(m[2]),
  ]);
  expect(drawn).toHaveLength(2);
  expect(drawn.filter(([x, y]) => x! < 64 || x! > 904 || y! < 14 || y! > 222)).toEqual([]);
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

test('a queue has settled when it is below the level and stays there', () => {
  const points: Point[] = [
    [0, 0],
    [10, 60],
    [20, 40],
    [30, 70],
    [40, 30],
    [90, 20],
    [140, 10],
  ];
  expect(settledAt(points, 50, 100)).toBe(40);
  expect(settledAt(points, 50, 101)).toBeUndefined();
  expect(settledAt(points, 80, 10)).toBeUndefined();
});

test('a logarithmic axis has decades; what is below its floor lies on it', () => {
  expect(decades(1, 2000)).toEqual([1, 10, 100, 1000, 10_000]);
  expect(decades(1, 1)).toEqual([1, 10]);
  const flat = { title: 't', yLabel: 'y', xUnit: 's', xMax: 10, yScale: 1, yFloor: 1 } as const;
  const svg = chartSvg({
    ...flat,
    curves: [
      {
        name: 'c',
        color: '#000',
        points: [
          [0, 0],
          [5, 10],
          [10, 100],
        ],
      },
    ],
  });
  expect(svg).toContain('M64 222L484 118L904 14');
});

const runOf = (mode: Mode, firstFeedbackMs: number, goodputBps: number): RunResult => ({
  ...result,
  mode,
  firstFeedbackMs,
  goodputBps,
});
const pairs = (cnpd: readonly [number, number][], other: readonly [number, number][]): DemoRun[] => [
  ...cnpd.flatMap(([ms, bps]) => repeated([runOf('cnpd', ms, bps)])),
  ...other.flatMap(([ms, bps]) => repeated([runOf('receiver', ms, bps)])),
];

test('cnpd is better only where every repetition is; where it is not, the report says so', () => {
  const runs = pairs(
    [
      [1, 26e6],
      [2, 27e6],
    ],
    [
      [30, 28e6],
      [31, 29e6],
    ],
  );
  const sentences = notBetter(runs).join('\n');
  expect(sentences).not.toContain('first feedback');
  expect(sentences).toContain('goodput, against the receiver at 50 µs: worse (cnpd 26.0 Mbit/s to 27.0 Mbit/s');
  expect(sentences).toContain('peak queue, against the receiver at 50 µs: no different');
  expect(headline(runs)).toMatch(/1\.5 ms after .* takes 30\.5 ms/);
  expect(headline(runs.slice(0, 1))).toBeUndefined();
  expect(notBetter(pairs([[1, 26e6]], [[1, 26e6]])).join()).toContain('first feedback');
});

test('what a busy machine did is reported', () => {
  const busy = repeated([result]).map((run) => ({ ...run, cpuBusy: 0.97 }));
  expect(observations(busy, report).join('\n')).toContain('97 % to 97 % busy: that makes times longer');
  const starved: RunResult = { ...result, mode: 'none', ports: [portResult('p1 eth2', { drops: 0 })] };
  expect(observations(repeated([starved]), report).join('\n')).toContain('did not overflow in 1 of 1 runs');
  const deep: RunResult = { ...result, ports: [portResult('p1 eth2', { peakQueueBytes: 500_000 })] };
  expect(observations(repeated([deep]), report).join('\n')).toContain('reached a fifth of its limit in 1 of 1 runs');
});
