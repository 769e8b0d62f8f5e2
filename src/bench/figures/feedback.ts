// How soon the sender hears of congestion: from p1's trigger to the feedback on h1's wire, by cnpd in each format, and
// by way of the receiver, for the same packet of the same flow. p1 marks and notifies from the same queue depth on, so
// the packet that makes p1's cnpd speak is also the first that h2 answers.
//
// A node at the place x of a path whose one-way delay is D hears back after x·D by cnpd and (2−x)·D by the receiver:
// ideally (2−x)/x times sooner.
import type { NotificationFormat } from '../../model/notification.ts';
import type { Bench, Figure } from '../support/bench.ts';
import { type Delays, type Line, ROUTERS, SENDERS, type Times, onLine } from '../support/network/line-scene.ts';
import type { Row } from '../support/report.ts';
import { summary } from '../support/statistics.ts';

/**
 * One-way delay of the path, ms: long beside what the lab's delay lines are late, which is up to a millisecond each.
 */
const PATH_MS = 300;
const PLACES = [0.1, 0.5, 0.9] as const;
/** The scene as it is: all its delay is behind p1, and what remains is processing. */
const AS_IT_IS: Delays = { access: 0, wan: 10 };
const FLOWS = 7;
const ATTEMPTS = 3 * FLOWS;
const THRESHOLD_BYTES = 10_000;
const TRAFFIC = ['--reaction', 'none', '--rate', '60mbit', '--duration', '100ms'];
const WITHIN = 0.05;

type DirectFormat = Extract<NotificationFormat, 'proxy' | 'fast-cnp' | 'long-haul-icmpv6'>;

/** How p1 is configured to notify h1, and what h1 understands. */
const FORMATS: Readonly<
  Record<DirectFormat, { readonly title: string; readonly notifications?: object; readonly sender: readonly string[] }>
> = {
  proxy: { title: 'proxy notice and CNP', sender: [] },
  'fast-cnp': {
    title: 'Fast CNP',
    notifications: {
      senders: [{ prefix: SENDERS, supports: 'unknown', order: ['fast-cnp'], 'ce-with-fast-cnp': true }],
    },
    sender: ['--understands', 'fast-cnp', '--known-nodes', ROUTERS],
  },
  'long-haul-icmpv6': {
    title: 'Long-haul CNP',
    notifications: { senders: [{ prefix: SENDERS, supports: ['long-haul-icmpv6'], order: ['long-haul-icmpv6'] }] },
    sender: ['--understands', 'long-haul-icmpv6', '--known-nodes', ROUTERS],
  },
};

async function flowsOf(bench: Bench, line: Line, format: DirectFormat, rttMs: number): Promise<Times[]> {
  const { notifications, sender } = FORMATS[format];
  await line.watch(
    { 'k-min': `${THRESHOLD_BYTES - 1}B`, 'k-max': `${THRESHOLD_BYTES}B`, rtt: `${rttMs}ms` },
    notifications,
  );
  if (format === 'proxy') await line.mapped();
  const flows: Times[] = [];
  // The last acknowledgement is behind everything that a flow caused but for a Resume.
  for (let attempt = 0; flows.length < FLOWS; attempt++) {
    if (attempt === ATTEMPTS) throw new Error(`of ${ATTEMPTS} flows only ${flows.length} made a queue`);
    bench.signal.throwIfAborted();
    line.wires.clear();
    await line.send([...TRAFFIC, ...sender]);
    const times = await line.wires.times();
    if (times) flows.push(times);
    else bench.say('a flow that was too slow to make a queue is left out');
  }
  return flows;
}

function row(format: DirectFormat, { access, wan }: Delays, flows: readonly Times[]): Row {
  const path = access + wan;
  const x = access / path;
  const cnpd = summary(flows.map((f) => f.byCnpd - f.notified));
  const receiver = summary(flows.map((f) => f.byReceiver - f.notified));
  const queue = summary(flows.map((f) => f.marked - f.notified - wan)).median;
  const ideal = (2 - x) / x;
  const ratio = receiver.median / cnpd.median;
  const off = ratio / ideal - 1;
  return {
    figure: 'feedback',
    what: `trigger → feedback at h1, ${FORMATS[format].title}, x = ${x.toFixed(1)}`,
    unit: 'ms',
    measured: cnpd.median,
    spread: cnpd,
    reference: 'by way of the receiver',
    referenceValue: receiver.median,
    referenceSpread: receiver,
    ratio,
    target: x > 0 ? `${ideal.toFixed(2)} ± ${WITHIN * 100} %` : 'ideal unbounded',
    met: x > 0 ? Math.abs(off) <= WITHIN : null,
    note:
      `D = ${path} ms; ideally ${access} against ${2 * wan + access} ms; ` +
      `${x > 0 ? `${(100 * off).toFixed(1)} % from the ideal; ` : ''}the marked packet waited ` +
      `${queue.toFixed(1)} ms in p1's queue and the line`,
  };
}

async function rowsAt(bench: Bench, delays: Delays): Promise<Row[]> {
  bench.say(`h1's link ${delays.access} ms, the WAN ${delays.wan} ms`);
  return onLine(bench, delays, async (line) => {
    await line.listen('50us');
    const rows: Row[] = [];
    for (const format of Object.keys(FORMATS) as DirectFormat[])
      rows.push(row(format, delays, await flowsOf(bench, line, format, 2 * (delays.access + delays.wan))));
    return rows;
  });
}

export const feedback: Figure = {
  name: 'feedback',
  title: 'feedback time in the scene, by cnpd and by the receiver',
  async measure(bench) {
    const places: readonly Delays[] = [
      AS_IT_IS,
      ...PLACES.map((x) => ({ access: Math.round(x * PATH_MS), wan: Math.round((1 - x) * PATH_MS) })),
    ];
    const rows: Row[] = [];
    for (const delays of places) rows.push(...(await rowsAt(bench, delays)));
    return rows;
  },
};
