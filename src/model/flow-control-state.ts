// What the northbound shows of precise flow control (state.ts has the rest), and what its machine tells for that.
import { type IpAddress, formatAddress } from './address.ts';
import type { FillingTraffic, FlowControlMode, HeldTraffic, Traffic } from './flow-control.ts';

/**
 * `paused`: nothing leaves. `leaving`: the pause is over, and what waits leaves before anything else of it. `watchdog`:
 * it was paused for too long without a break, goes on, and asks for it are ignored.
 */
export const PAUSE_STATES = ['paused', 'leaving', 'watchdog'] as const;
export type PauseState = (typeof PAUSE_STATES)[number];

/** Traffic that this router holds because a downstream neighbor has asked. Times are ms of the machine's clock. */
export interface PausedTraffic extends HeldTraffic {
  /** Who asked last. */
  readonly neighbor: IpAddress;
  readonly state: PauseState;
  readonly since: number;
  /** End of the pause, or of the time in which asks are ignored. */
  readonly until: number;
  /** Compression time of the last ARN. */
  readonly pauseUs: number;
  /** ARNs obeyed since then. */
  readonly times: number;
}

/** Traffic that an upstream neighbor has been asked to pause. */
export interface AskedTraffic extends FillingTraffic {
  readonly neighbor: IpAddress;
  readonly since: number;
  /** End of the pause that was asked for last. */
  readonly until: number;
  /** ARNs sent since then. */
  readonly times: number;
}

export interface FlowControlView {
  readonly paused: readonly PausedTraffic[];
  readonly asked: readonly AskedTraffic[];
}

/** Traffic as text, and what it consists of; null: its mode has no such part. */
export interface TrafficState {
  traffic: string;
  source: string | null;
  destination: string | null;
  protocol: number | null;
  sourcePort: number | null;
  destinationPort: number | null;
  priority: number | null;
}

export interface PausedTrafficState extends TrafficState {
  /** The port by which it would leave. */
  interface: string;
  neighbor: string;
  state: string;
  since: string;
  until: string;
  pauseUs: number;
  times: number;
}

export interface AskedState extends TrafficState {
  /** The interface at which it arrives. */
  ingress: string;
  neighbor: string;
  /** The port whose queue, or class of held traffic, is full. */
  interface: string;
  reason: string;
  since: string;
  until: string;
  times: number;
}

/** A port that is watched, or holds, or both. */
export interface FlowControlPortState {
  interface: string;
  watched: boolean;
  holds: boolean;
  /** Thresholds of its queue; null: it is not watched. */
  pauseAbove: number | null;
  resumeBelow: number | null;
  /** What neighbors have been asked to pause because of this port, and what is held at it. */
  asked: number;
  paused: number;
}

export interface FlowControlState {
  /** Null, as the next two: there is no flow control. */
  mode: FlowControlMode | null;
  udpPort: number | null;
  bitOrder: string | null;
  ports: FlowControlPortState[];
  asked: AskedState[];
  paused: PausedTrafficState[];
}

export function trafficText(traffic: Traffic): string {
  if (traffic.mode === 'priority') return `priority ${traffic.priority}`;
  const [source, destination] = [formatAddress(traffic.source), formatAddress(traffic.destination)];
  return traffic.mode === 'service'
    ? `service ${source} to ${destination} protocol ${traffic.protocol}`
    : `flow ${source} port ${traffic.sourcePort} to ${destination} port ${traffic.destinationPort}`;
}

export function trafficState(traffic: Traffic): TrafficState {
  const addressed = traffic.mode === 'priority' ? undefined : traffic;
  const flow = traffic.mode === 'flow' ? traffic : undefined;
  return {
    traffic: trafficText(traffic),
    source: addressed ? formatAddress(addressed.source) : null,
    destination: addressed ? formatAddress(addressed.destination) : null,
    protocol: traffic.mode === 'service' ? traffic.protocol : null,
    sourcePort: flow?.sourcePort ?? null,
    destinationPort: flow?.destinationPort ?? null,
    priority: traffic.mode === 'priority' ? traffic.priority : null,
  };
}
