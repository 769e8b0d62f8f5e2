// One overload, three ways to end it: DCQCN at the sender with the receiver's CNPs, the same with Fast CNPs of p1
// instead, and Long-haul CNPs of p1 that leaf1 obeys for a sender without any congestion control. A flow of 60 Mbit/s
// crosses p1's port, which goes from 1 Gbit/s to 40 Mbit/s and back. p1 marks or notifies from the same queue depth on.
//
// - Feedback time: from the queue's crossing of the threshold until the first feedback could have acted at p1. It has
//   come to who obeys, and what was under way has come to p1. Where it is not seen to arrive, links count as
//   configured.
// - Overshoot: the highest queue above the threshold until a round trip after that. Ideally it is the overload times
//   the feedback time: the first feedback is enough, and is obeyed at once.
// - Recovery: from the moment at which the port is wide again to the first window of two round trips in which 90 % of
//   the flow's former rate arrive at p1.
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Endpoint, startEndpoint } from '../../demo/endpoints.ts';
import { monotonicMs } from '../../lab/roce/report.ts';
import { readState } from '../../lab/state.ts';
import type { Bench, Figure } from '../support/bench.ts';
import { type Delays, type Line, ROUTERS, SENDERS, onLine } from '../support/network/line-scene.ts';
import { type PortSampler, samplePort } from '../support/network/port-sampler.ts';
import { type PortSample, crossingOf, peakOf, recoveryOf } from '../support/overload.ts';
import { type Row, number } from '../support/report.ts';
import { type Summary, summary } from '../support/statistics.ts';

const [OFFERED, NARROW, WIDE] = [60e6, 40e6, 1e9];
const TBF = { burst: 20_000, limit: 2_000_000 };
const THRESHOLD_BYTES = 50_000;
interface Place extends Delays {
  readonly repetitions: number;
}
/** One way: 10 ms in all. At the second place, what remains of the feedback time is processing. */
const PLACES: readonly Place[] = [
  { access: 0, core: 5, wan: 5, repetitions: 5 },
  { access: 0, core: 0, wan: 10, repetitions: 3 },
];
/** For a flow that is left out, others are sent. */
const ATTEMPTS = 3;
const URGENT = -20;
const RTT_MS = 20;
const [STEADY_MS, OVERLOADED_MS, LONGEST_RECOVERY_MS] = [700, 400, 5000];
/** Of the offered overload: a flow whose host waited for a processor just then is left out. */
const STARVED = 0.25;
const FORMER = 0.9;
const [WITHIN, MOST_RTTS] = [0.1, 4];

type Way = 'receiver' | 'fast-cnp' | 'enforced' | 'enforced-at-once';
interface WaySpec {
  readonly title: string;
  readonly ports: object;
  readonly notifications?: object;
  readonly source?: object;
  readonly cnpInterval: string;
  readonly sender: readonly string[];
}
const NOTIFYING = { 'k-min': `${THRESHOLD_BYTES - 1}B`, 'k-max': `${THRESHOLD_BYTES}B`, rtt: `${RTT_MS}ms` };
/** @param content of the Long-haul CNPs, where it is not the default */
const enforced = (content?: object): Omit<WaySpec, 'title'> => ({
  ports: NOTIFYING,
  notifications: {
    senders: [{ prefix: SENDERS, supports: ['long-haul-icmpv6'], order: ['long-haul-icmpv6'] }],
    ...(content && { 'long-haul': content }),
  },
  source: {
    senders: [{ prefix: SENDERS, action: 'enforce' }],
    'accept-from': [ROUTERS],
    // The normal rate is the host's own, as its line rate is with DCQCN.
    enforce: { ports: ['eth2'], bandwidth: `${OFFERED / 1e6}Mbit`, rtt: `${RTT_MS}ms`, buffer: '128MB' },
  },
  cnpInterval: 'off',
  sender: ['--reaction', 'none'],
});
const WAYS: Readonly<Record<Way, WaySpec>> = {
  receiver: {
    title: "DCQCN, the receiver's CNPs",
    ports: { 'k-min': `${THRESHOLD_BYTES}B` },
    cnpInterval: '50us',
    sender: ['--reaction', 'dcqcn'],
  },
  'fast-cnp': {
    title: 'DCQCN, Fast CNPs of p1',
    ports: NOTIFYING,
    notifications: { senders: [{ prefix: SENDERS, supports: ['fast-cnp'], order: ['fast-cnp'] }] },
    cnpInterval: 'off',
    sender: ['--reaction', 'dcqcn', '--understands', 'fast-cnp', '--known-nodes', ROUTERS],
  },
  enforced: { title: 'Long-haul CNPs obeyed by leaf1', ...enforced() },
  'enforced-at-once': {
    title: 'the same, half at once and all back',
    ...enforced({
      severity: [{ from: 1, level: 230, action: 'rate-reduce', parameter: 50 }],
      resume: { level: 20, parameter: 0 },
    }),
  },
};

interface Episode {
  /** By which the flow exceeded the bottleneck, bit/s. */
  readonly overload: number;
  readonly feedbackMs: number;
  /** Above the threshold, bytes. */
  readonly overshoot: number;
  /** From the crossing to that highest queue. */
  readonly peakMs: number;
  /** The same of the whole overload: with later waves. */
  readonly worst: number;
  /** RTTs; Infinity: not within what was observed. */
  readonly recovery: number;
}

/** A sender that waits for a processor makes up for it in a burst, and a receiver answers late. */
async function urgent(endpoint: Endpoint): Promise<void> {
  setPriority(Number((await endpoint.waitFor('ready'))['pid']), URGENT);
}

const RECEIVING = { node: 'h2', interface: 'eth1', address: '2001:db8:2::2' };
const HOST = { node: 'h1', interface: 'eth1', address: '2001:db8:1::2' };
const FLOW = ['--peer', RECEIVING.address, '--rate', `${OFFERED}bit`, '--duration', '30s', '--timeout', '10s'];

/** One flow through an overload. A string: why it shows nothing. */
async function episode(line: Line, port: PortSampler, spec: WaySpec, delays: Delays): Promise<Episode | string> {
  await port.setRate(WIDE);
  const sender = startEndpoint(line.lab, HOST, 'send', [...FLOW, ...spec.sender]);
  try {
    await urgent(sender);
    await sender.waitFor('connected');
    port.start();
    await delay(STEADY_MS);
    line.wires.clear();
    const from = await port.setRate(NARROW);
    await delay(OVERLOADED_MS);
    const until = await port.setRate(WIDE);
    const overshoot = overshootOf(port.samples, { from, until }, { seen: line.wires.seen(), spec, delays });
    if (typeof overshoot === 'string') return overshoot;
    const end = until + LONGEST_RECOVERY_MS;
    const back = { from: until, rate: FORMER * OFFERED, windowMs: 2 * RTT_MS };
    while (monotonicMs() < end && recoveryOf(port.samples, back) === undefined) await delay(100);
    return { ...overshoot, recovery: (recoveryOf(port.samples, back) ?? Infinity) / RTT_MS };
  } finally {
    await port.stop();
    await sender.stop();
  }
}

/** What is known of an episode at the end of the overload. A string: why it shows nothing. */
function overshootOf(
  samples: readonly PortSample[],
  time: { readonly from: number; readonly until: number },
  { seen, spec, delays }: { seen: ReturnType<Line['wires']['seen']>; spec: WaySpec; delays: Delays },
): Omit<Episode, 'recovery'> | string {
  const crossing = crossingOf(
    samples,
    { threshold: THRESHOLD_BYTES, capacity: NARROW, ...time },
    spec.notifications && seen.notified,
  );
  if (!crossing) return 'the flow made no queue';
  const { at, overload: exceeded } = crossing;
  if (Math.abs(exceeded / (OFFERED - NARROW) - 1) > STARVED) return 'the sender waited for a processor';
  const core = delays.core ?? 0;
  // leaf1 takes what p1 has sent: it hears it after the delay of their link, and h1 nothing.
  const heard = spec.source ? seen.notified && seen.notified + core : (seen.byReceiver ?? seen.byCnpd);
  if (heard === undefined) return 'nobody heard of it';
  const acts = heard + core + (spec.source ? 0 : delays.access);
  const peak = peakOf(samples, at, Math.min(time.until, acts + RTT_MS))!;
  return {
    overload: exceeded,
    feedbackMs: acts - at,
    overshoot: peak.backlog - THRESHOLD_BYTES,
    peakMs: peak.t - at,
    worst: peakOf(samples, at, time.until)!.backlog - THRESHOLD_BYTES,
  };
}

/** An episode with routers and receiver as this way needs them. */
async function attempted(line: Line, port: PortSampler, spec: WaySpec, place: Place): Promise<Episode | string> {
  await line.watch(spec.ports, spec.notifications);
  await line.obey(spec.source);
  const listener = startEndpoint(line.lab, RECEIVING, 'listen', ['--cnp-interval', spec.cnpInterval]);
  try {
    await urgent(listener);
    return await episode(line, port, spec, place);
  } finally {
    await listener.stop();
  }
}

async function episodesOf(bench: Bench, line: Line, port: PortSampler, place: Place): Promise<Map<Way, Episode[]>> {
  const episodes = new Map<Way, Episode[]>();
  for (let attempt = 0; attempt < ATTEMPTS * place.repetitions; attempt++)
    for (const [way, spec] of Object.entries(WAYS) as [Way, WaySpec][]) {
      const of = episodes.get(way) ?? [];
      episodes.set(way, of);
      if (of.length === place.repetitions) continue;
      bench.signal.throwIfAborted();
      const one = await attempted(line, port, spec, place);
      if (typeof one === 'string') bench.say(`${spec.title}: a flow is left out: ${one}`);
      else of.push(one);
    }
  return episodes;
}

const spread = ({ min, median, max }: Summary): string => `${number(median)} [${number(min)} … ${number(max)}]`;
const of = (episodes: readonly Episode[], value: (e: Episode) => number): Summary => summary(episodes.map(value));
/** Bytes that the overload brings in the feedback time. */
const ideal = ({ overload: exceeded, feedbackMs }: Episode): number => (exceeded / 8000) * feedbackMs;

/** What all rows of a way at a place have in common. */
function rowOf(what: string, unit: string, measured: Summary, reference: Summary): Omit<Row, 'reference'> {
  return {
    ...{ figure: 'overload', what, unit, measured: measured.median, spread: measured },
    ...{ referenceValue: reference.median, referenceSpread: reference, ratio: measured.median / reference.median },
    ...{ target: '—', met: null },
  };
}

function rowsOf(way: Way, episodes: readonly Episode[], byReceiver: readonly Episode[], { core = 0 }: Delays): Row[] {
  const what = `${WAYS[way].title}, x = ${core / (RTT_MS / 2)}`;
  const recovery = of(episodes, (e) => e.recovery);
  const off = of(episodes, (e) => e.overshoot / ideal(e) - 1);
  const isReference = way === 'receiver';
  return [
    {
      ...rowOf(
        `feedback time, ${what}`,
        'ms',
        of(episodes, (e) => e.feedbackMs),
        of(byReceiver, (e) => e.feedbackMs),
      ),
      reference: WAYS.receiver.title,
      note:
        'queue at the threshold → the first feedback could have acted at p1; the queue was highest after ' +
        `${spread(of(episodes, (e) => e.peakMs))} ms`,
    },
    {
      ...rowOf(
        `overshoot, ${what}`,
        'kB',
        of(episodes, (e) => e.overshoot / 1000),
        of(episodes, (e) => ideal(e) / 1000),
      ),
      reference: 'overload × feedback time',
      // Of each flow's own ideal, as the target.
      ratio: off.median + 1,
      ...(core === 0
        ? { target: 'ideal: nothing' }
        : isReference
          ? {}
          : { target: `+ ${WITHIN * 100} % at most`, met: off.median <= WITHIN }),
      note:
        (core === 0
          ? ''
          : `off by ${number(100 * off.median)} % [${number(100 * off.min)} … ${number(100 * off.max)}]; `) +
        `${spread(of(episodes, (e) => e.worst / 1000))} kB with later waves; ` +
        `overload ${spread(of(episodes, (e) => e.overload / 1e6))} Mbit/s`,
    },
    {
      ...rowOf(
        `recovery, ${what}`,
        'RTT',
        recovery,
        of(byReceiver, (e) => e.recovery),
      ),
      reference: WAYS.receiver.title,
      ...(isReference ? {} : { target: `≤ ${MOST_RTTS}`, met: recovery.median <= MOST_RTTS }),
      note:
        `port wide → ${FORMER * 100} % of the former rate arrives; ` +
        `∞: not within ${LONGEST_RECOVERY_MS / RTT_MS} RTT`,
    },
  ];
}

async function rowsAt(bench: Bench, delays: Place): Promise<Row[]> {
  const { core = 0, wan } = delays;
  bench.say(`leaf1 – p1 ${core} ms, the WAN ${wan} ms`);
  return onLine(bench, delays, async (line) => {
    const port = await samplePort(bench, { netnsPath: line.lab.netnsPath('p1'), name: 'eth2' }, TBF);
    // So does a delay line: it hands on all that it holds.
    for (const { pid } of readState(line.lab.name)!.helpers) setPriority(pid, URGENT);
    try {
      const episodes = await episodesOf(bench, line, port, delays);
      const byReceiver = episodes.get('receiver')!;
      return [...episodes].flatMap(([way, some]) => rowsOf(way, some, byReceiver, delays));
    } finally {
      await port.close();
    }
  });
}

export const overload: Figure = {
  name: 'overload',
  title: 'overshoot and recovery of one overload, by DCQCN, Fast CNP and a leaf that obeys Long-haul CNPs',
  async measure(bench) {
    const rows: Row[] = [];
    for (const delays of PLACES) rows.push(...(await rowsAt(bench, delays)));
    return rows;
  },
};
