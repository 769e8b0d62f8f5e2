// From what was observed during a run, with absolute times, to its result, with times since the first data packet.
// Pure.
import type { EndpointEvent } from './endpoints.ts';
import {
  type NodeNotifications,
  type NotificationSeen,
  type NotificationSummary,
  type Point,
  type PortCounts,
  type PortResult,
  type RunResult,
  common,
} from './results.ts';
import type { PortState } from './routers.ts';
import { type RunSpec, type Scene, type WatchedPort, portName } from './scene.ts';
import { firstCrossing, peak, settledAt, thin, timeAbove } from './series.ts';
import { sameNotifications } from './wire.ts';

const BIN_MS = 10;
/** Once the first cut has done its work. */
const SETTLED_AFTER_MS = 1000;
/** Below K_min for so long, a queue has settled. */
export const SETTLED_HOLD_MS = 100;
/** Samples before the first data packet and after the last that a plot keeps. */
const MARGIN_MS = { before: 100, after: 500 } as const;

interface PortObserved {
  readonly port: WatchedPort;
  readonly queue: readonly Point[];
  readonly drops: number;
  readonly before: PortState;
  readonly after: PortState;
  /** As configured, however this run has configured the router; bytes. */
  readonly kMin: number;
}

export interface Observations {
  readonly sender: readonly EndpointEvent[];
  readonly listener: readonly EndpointEvent[];
  readonly ports: readonly PortObserved[];
  readonly notifications: readonly NotificationSeen[];
  readonly tunneled: readonly Uint8Array[] | undefined;
}

const round = (value: number): number => Math.round(value * 100) / 100;
const rounded = (value: number | undefined): number | null => (value === undefined ? null : round(value));
const sum = (events: readonly EndpointEvent[], name: string, field: string): number =>
  events.filter((e) => e.event === name).reduce((total, e) => total + Number(e[field]), 0);

/** @throws Error when the sender sent nothing: that is no result */
export function evaluate(scene: Pick<Scene, 'watched'>, spec: RunSpec, seen: Observations): RunResult {
  const summary = seen.sender.find((e) => e.event === 'summary');
  if (!summary || typeof summary['firstDataAt'] !== 'number') throw new Error(`the ${spec.mode} run sent no data`);
  const start = summary['firstDataAt'];
  const end = Number(summary['durationMs']);
  const relative = (points: readonly Point[]): Point[] =>
    points.map(([t, v]): Point => [t - start, v]).filter(([t]) => t >= -MARGIN_MS.before && t <= end + MARGIN_MS.after);
  const rates = (field: string): Point[] =>
    thin(relative(seen.sender.filter((e) => e.event === 'rate').map((e): Point => [e.t, Number(e[field])])), BIN_MS);
  const queues = seen.ports.map(({ queue }) => relative(queue));
  const notifications = seen.notifications.map((n) => ({ ...n, t: n.t - start }));
  const first = notifications[0]?.t;
  const crossed = first === undefined ? undefined : crossing(spec, seen.ports[0]!, queues[0]!, first);
  return {
    mode: spec.mode,
    title: spec.title,
    durationMs: round(end),
    ports: seen.ports.map((port, i) => portResult(port, queues[i]!)),
    firstFeedbackMs: first === undefined || crossed === undefined ? null : round(first - crossed.at),
    feedbackIsBound: crossed?.seen === false,
    firstNotificationMs: first === undefined ? null : round(first),
    settledMs: rounded(settledAt(queues[0]!, seen.ports[0]!.kMin, SETTLED_HOLD_MS)),
    congestedMs: round(timeAbove(queues.map((points, i) => ({ points, level: seen.ports[i]!.kMin })))),
    goodputBps: Number(summary['goodputBps']),
    retransmitted: Number(summary['retransmitted']),
    receiverCnps: sum(seen.listener, 'summary', 'cnpsSent'),
    ceAtReceiver: sum(seen.listener, 'summary', 'marked'),
    notifications: summarize(
      notifications,
      seen.sender.find((e) => e.event === 'connected'),
    ),
    tunneled: seen.tunneled
      ? {
          count: seen.tunneled.length,
          unchanged: sameNotifications(
            seen.tunneled,
            notifications.filter(fromNode).map((n) => n.packet),
          ),
        }
      : null,
    series: {
      queueBytes: Object.fromEntries(scene.watched.map((port, i) => [portName(port), thin(queues[i]!, BIN_MS)])),
      rateBps: rates('rateBps'),
      sentBps: rates('sentBps'),
      notifications: thin(
        notifications.map((n, i): Point => [n.t, i + 1]),
        BIN_MS,
      ),
    },
  };
}

/** Standard CNPs do not come through END.CON: a host sends them. */
const fromNode = ({ kind }: NotificationSeen): boolean => kind !== 'cnp';

/**
 * When the first port's queue reached the depth from which this run gives feedback. A sender's bursts make peaks that
 * fall between two samples: if the queue was never seen that deep before the first notification, the last moment at
 * which it was seen empty is used, and what is called the feedback time is an upper bound.
 */
function crossing(
  spec: RunSpec,
  { before }: PortObserved,
  queue: readonly Point[],
  firstNotification: number,
): { readonly at: number; readonly seen: boolean } | undefined {
  const threshold = { unwatched: null, mark: before.kMin, 'as-configured': before.kMax }[spec.ports];
  if (threshold === null) return undefined;
  const earlier = queue.filter(([t]) => t <= firstNotification);
  const crossed = firstCrossing(earlier, threshold);
  const at = crossed ?? earlier.findLast(([, depth]) => depth === 0)?.[0];
  // A sample has the time of its question, on a busy machine a little before the data that it shows.
  return at === undefined ? undefined : { at: Math.max(0, at), seen: crossed !== undefined };
}

function portResult({ port, drops, before, after }: PortObserved, queue: readonly Point[]): PortResult {
  const grown = (name: keyof PortCounts): number => after.counts[name] - before.counts[name];
  return {
    port: portName(port),
    peakQueueBytes: peak(queue),
    settledPeakQueueBytes: peak(queue.filter(([t]) => t > SETTLED_AFTER_MS)),
    drops,
    kMin: before.kMin,
    kMax: before.kMax,
    rttMs: before.rttMs,
    counted: {
      ceMarked: grown('ceMarked'),
      triggers: grown('triggers'),
      notifications: grown('notifications'),
      deferred: grown('deferred'),
    },
  };
}

/** @param connected what the sender printed when its connection was set up: both Queue Pairs */
export function summarize(
  seen: readonly NotificationSeen[],
  connected: EndpointEvent | undefined,
): NotificationSummary {
  const kind = common(seen.map((n) => n.kind));
  // A Fast CNP names the Queue Pair of the packet that met congestion, the receiver's; all others name the sender's.
  const expected = connected?.[kind === 'fast-cnp' ? 'peerQpn' : 'qpn'];
  return {
    count: seen.length,
    kind,
    opcode: common(seen.map((n) => n.opcode)),
    queuePair: common(seen.map((n) => n.queuePair)),
    expectedQueuePair: typeof expected === 'number' ? expected : null,
    valid: seen.length > 0 && seen.every((n) => n.valid),
    nodes: [...new Set(seen.map((n) => n.source))].map((node) =>
      nodeNotifications(
        node,
        seen.filter((n) => n.source === node),
      ),
    ),
  };
}

function nodeNotifications(node: string, sent: readonly NotificationSeen[]): NodeNotifications {
  const actions: Record<string, number> = {};
  for (const { instruction } of sent)
    if (instruction) actions[instruction.action] = (actions[instruction.action] ?? 0) + 1;
  return { node, count: sent.length, firstMs: round(sent[0]!.t), actions };
}
