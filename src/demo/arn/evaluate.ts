// From what endpoints, queues, wires and routers showed during a run, with absolute times, to its result. Pure.
import type { EndpointEvent } from '../endpoints.ts';
import type { Point } from '../results.ts';
import { portName } from '../scene.ts';
import { peak, thin } from '../series.ts';
import { ARN_SOUND } from './wire.ts';
import type { ArnResult, ArnSeen, PortQueue, Rates, RouterCounts, ServiceResult, WireResult } from './results.ts';
import { type ArnRun, PORTS, type ServiceName, WIRES } from './scene.ts';

export interface EndsSeen {
  readonly sender: readonly EndpointEvent[];
  readonly receiver: readonly EndpointEvent[];
}

export interface ArnObservations {
  readonly services: Readonly<Record<ServiceName, EndsSeen>>;
  /** As the scene lists its ports. */
  readonly ports: readonly { readonly samples: readonly Point[]; readonly drops: number }[];
  readonly arns: readonly ArnSeen[];
  readonly routers: readonly RouterCounts[];
}

const BIN_MS = 20;

const event = ({ sender, receiver }: EndsSeen, side: 'sender' | 'receiver', name: string): EndpointEvent => {
  const found = (side === 'sender' ? sender : receiver).find((e) => e.event === name);
  if (!found) throw new Error(`the ${side} reported no ${name}`);
  return found;
};

/**
 * Mean of a rate from `from` to `to`, of which events say what it was since the event before. An interval that is
 * partly within counts for that part.
 */
export function meanRate(
  events: readonly EndpointEvent[],
  { begin, name, field }: { readonly begin: string; readonly name: string; readonly field: string },
  from: number,
  to: number,
): number {
  let before = events.find((e) => e.event === begin)?.t ?? to;
  let bits = 0;
  for (const e of events) {
    if (e.event !== name) continue;
    bits += Number(e[field]) * Math.max(0, Math.min(e.t, to) - Math.max(before, from));
    before = e.t;
  }
  return to > from ? Math.round(bits / (to - from)) : 0;
}

const SENT = { begin: 'connected', name: 'rate', field: 'sentBps' } as const;
const RECEIVED = { begin: 'accepted', name: 'received', field: 'goodputBps' } as const;

interface Times {
  readonly start: number;
  readonly aStarts: number;
  readonly end: number;
}

const ratesOf = (events: readonly EndpointEvent[], what: Parameters<typeof meanRate>[1], times: Times): Rates => ({
  aloneBps: meanRate(events, what, times.start, times.aStarts),
  togetherBps: meanRate(events, what, times.aStarts, times.end),
});

/** @throws Error when an endpoint ended without its report */
export function evaluateArn(run: ArnRun, seen: ArnObservations): ArnResult {
  const firstData = (service: ServiceName): number =>
    Number(event(seen.services[service], 'sender', 'summary')['firstDataAt']);
  const [start, aStarts] = [firstData('B'), firstData('A')];
  const times = { start, aStarts, end: aStarts + run.togetherMs };
  const durationMs = Math.round(times.end - start);
  return {
    name: run.name,
    title: run.title,
    durationMs,
    aStartsMs: Math.round(aStarts - start),
    services: { A: serviceResult(seen.services.A, times), B: serviceResult(seen.services.B, times) },
    ports: seen.ports.map((port, i) => portQueue(portName(PORTS[i]!), port, start)),
    wires: WIRES.map(({ name }) =>
      wireResult(
        name,
        seen.arns.filter(({ wire }) => wire === name),
        start,
      ),
    ),
    routers: seen.routers,
  };
}

function serviceResult(ends: EndsSeen, times: Times): ServiceResult {
  const [sent, received] = [event(ends, 'sender', 'summary'), event(ends, 'receiver', 'summary')];
  const points = ends.receiver
    .filter((e) => e.event === RECEIVED.name)
    .map((e): Point => [e.t - times.start, Number(e[RECEIVED.field])]);
  return {
    sent: ratesOf(ends.sender, SENT, times),
    received: ratesOf(ends.receiver, RECEIVED, times),
    packets: Number(sent['sent']),
    retransmitted: Number(sent['retransmitted']),
    outOfOrder: Number(received['outOfOrder']),
    hostDrops: Number(event(ends, 'receiver', 'port')['receiveDrops']),
    receivedBps: thin(points, BIN_MS),
  };
}

function portQueue(port: string, seen: ArnObservations['ports'][number], start: number): PortQueue {
  const bytes = seen.samples.map(([t, v]): Point => [t - start, v]).filter(([t]) => t >= 0);
  return { port, peakBytes: peak(bytes), drops: seen.drops, bytes: thin(bytes, BIN_MS) };
}

function wireResult(wire: string, arns: readonly ArnSeen[], start: number): WireResult {
  const isSound = (arn: ArnSeen): boolean =>
    Object.entries(ARN_SOUND).every(([field, value]) => arn[field as keyof typeof ARN_SOUND] === value);
  return {
    wire,
    asks: arns.filter(({ type }) => type === 'congestion').length,
    ends: arns.filter(({ type }) => type === 'congestion-eliminated').length,
    firstMs: arns.length === 0 ? null : Math.round(10 * (arns[0]!.t - start)) / 10,
    traffic: [...new Set(arns.flatMap(({ traffic }) => traffic ?? []))],
    unsound: arns.filter((arn) => !isSound(arn) || arn.type === null || arn.traffic === null).length,
    count: thin(
      arns.map(({ t }, i): Point => [t - start, i + 1]),
      BIN_MS,
    ),
  };
}
