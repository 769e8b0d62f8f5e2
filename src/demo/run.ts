// One run of the scene: traffic, observation, result.
import type { Lab } from '../lab/lab.ts';
import { type Endpoint, type EndpointEvent, startListener, startSender } from './endpoints.ts';
import { type ModeSpec } from './modes.ts';
import type { QueueObserver, WireTap } from './observers.ts';
import { type CnpSeen, type Point, type RunResult, common } from './results.ts';
import { configureP1 } from './scene.ts';
import { firstCrossing, peak, thin } from './series.ts';

const BIN_MS = 10;
/** Once the first cut has done its work. */
const SETTLED_AFTER_MS = 1000;
const PROGRESS_MS = 1000;

export interface RunModules {
  readonly lab: Lab;
  readonly queue: QueueObserver;
  readonly tap: WireTap;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

export async function makeRun(spec: ModeSpec, modules: RunModules): Promise<RunResult> {
  const { lab, queue, tap, signal } = modules;
  await configureP1(lab, spec);
  const listener = startListener(lab, spec.receiverCnps);
  await listener.waitFor('ready');
  tap.clear();
  await queue.start();
  const sender = startSender(lab, spec);
  const abort = (): void => void sender.stop();
  signal.addEventListener('abort', abort);
  const ticker = setInterval(() => modules.progress(progressLine(sender, queue, tap)), PROGRESS_MS);
  try {
    await sender.waitFor('summary');
    await sender.ended;
    signal.throwIfAborted();
  } finally {
    clearInterval(ticker);
    signal.removeEventListener('abort', abort);
    await queue.stop();
    await listener.stop();
  }
  return evaluate(spec, { sender: sender.events, listener: listener.events, queue: queue.samples, drops: queue.drops, cnps: tap.cnps });
}

function progressLine(sender: Endpoint, queue: QueueObserver, tap: WireTap): string {
  const rate = sender.events.findLast((e) => e.event === 'rate');
  const depth = queue.samples.at(-1)?.[1] ?? 0;
  const mbit = rate ? (Number(rate['sentBps']) / 1e6).toFixed(0) : '0';
  return `h1 sends ${mbit} Mbit/s, p1's queue holds ${(depth / 1000).toFixed(0)} kB, ${queue.drops} drops, ${tap.cnps.length} CNPs on h1's wire`;
}

export interface Observations {
  readonly sender: readonly EndpointEvent[];
  readonly listener: readonly EndpointEvent[];
  readonly queue: readonly Point[];
  readonly drops: number;
  readonly cnps: readonly CnpSeen[];
}

/** Pure: observations with absolute times → the result, with times since the first data packet. */
export function evaluate(spec: ModeSpec, seen: Observations): RunResult {
  const summary = seen.sender.find((e) => e.event === 'summary');
  if (!summary || typeof summary['firstDataAt'] !== 'number') throw new Error(`the ${spec.mode} run sent no data`);
  const start = summary['firstDataAt'];
  const end = Number(summary['durationMs']);
  const relative = (points: readonly Point[]): Point[] => points.map(([t, v]): Point => [t - start, v]).filter(([t]) => t >= -100 && t <= end + 500);
  const events = (name: string, field: string): Point[] => relative(seen.sender.filter((e) => e.event === name).map((e): Point => [e.t, Number(e[field])]));
  const queue = relative(seen.queue);
  const cnps = seen.cnps.map((c) => ({ ...c, t: c.t - start }));
  const firstCnp = cnps[0]?.t;
  const crossed = spec.threshold === undefined ? undefined : firstCrossing(queue, spec.threshold);
  const round = (value: number): number => Math.round(value * 100) / 100;
  return {
    mode: spec.mode,
    title: spec.title,
    durationMs: round(end),
    peakQueueBytes: peak(queue),
    settledPeakQueueBytes: peak(queue.filter(([t]) => t > SETTLED_AFTER_MS)),
    firstFeedbackMs: firstCnp === undefined || crossed === undefined ? null : round(firstCnp - crossed),
    firstCnpAfterDataMs: firstCnp === undefined ? null : round(firstCnp),
    goodputBps: Number(summary['goodputBps']),
    drops: seen.drops,
    retransmitted: Number(summary['retransmitted']),
    receiverCnps: seen.listener.filter((e) => e.event === 'summary').reduce((sum, e) => sum + Number(e['cnpsSent']), 0),
    cnp: {
      count: cnps.length,
      opcode: common(cnps.map((c) => c.opcode)),
      destQpn: common(cnps.map((c) => c.destQpn)),
      expectedQpn: Number(summary['qpn']),
      icrcValid: cnps.length > 0 && cnps.every((c) => c.icrcValid),
    },
    series: {
      queueBytes: thin(queue, BIN_MS),
      rateBps: thin(events('rate', 'rateBps'), BIN_MS),
      sentBps: thin(events('rate', 'sentBps'), BIN_MS),
      cnps: thin(cnps.map((c, i): Point => [c.t, i + 1]), BIN_MS),
    },
  };
}
