// What a run of the scene `arn` found out, and the report that it becomes. Times are milliseconds since the first data
// packet of service B.
import type { CheckedReport } from '../check-list.ts';
import type { Point } from '../results.ts';
import type { RunName, ServiceName } from './scene.ts';

/** An ARN on a wire. */
export interface ArnSeen {
  /** CLOCK_MONOTONIC, ms. */
  readonly t: number;
  readonly wire: string;
  readonly hopLimit: number;
  readonly trafficClass: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** `congestion` asks for a pause, `congestion-eliminated` ends it; null: it cannot be read. */
  readonly type: string | null;
  /** What it names: `service ADDRESS to ADDRESS`, `priority N`; null: nothing, or what this scene has not. */
  readonly traffic: string | null;
}

/** bit/s of payload while B was alone, and while both services were there. */
export interface Rates {
  readonly aloneBps: number;
  readonly togetherBps: number;
}

export interface ServiceResult {
  /** By the host, repetitions included. */
  readonly sent: Rates;
  /** In order, at the receiver. */
  readonly received: Rates;
  /** Packets that the host sent, and those of them that were repetitions. */
  readonly packets: number;
  readonly retransmitted: number;
  /** At the receiver: packets behind a gap. */
  readonly outOfOrder: number;
  /** Frames that the receiving process was too slow for: lost in the host, not in the network. */
  readonly hostDrops: number;
  /** Received at the end of each interval, bit/s. */
  readonly receivedBps: readonly Point[];
}

export interface PortQueue {
  readonly port: string;
  readonly peakBytes: number;
  readonly drops: number;
  readonly bytes: readonly Point[];
}

export interface WireResult {
  readonly wire: string;
  /** ARNs that ask for a pause, and that end one. */
  readonly asks: number;
  readonly ends: number;
  /** Null: there was none. */
  readonly firstMs: number | null;
  /** Whatever is named, once. */
  readonly traffic: readonly string[];
  /** ARNs with another hop limit than 255, another class than CS6, another port than 1022, or that cannot be read. */
  readonly unsound: number;
  /** How many there were so far. */
  readonly count: readonly Point[];
}

/** By how much the counters of `cnpctl show counters` grew. */
export interface RouterCounts {
  readonly node: string;
  /** ARNs sent that ask for a pause. */
  readonly asked: number;
  /** Pauses begun, and ARNs that made them longer. */
  readonly paused: number;
  readonly extended: number;
}

export interface ArnResult {
  readonly name: RunName;
  readonly title: string;
  readonly durationMs: number;
  /** When A's first data packet was sent. */
  readonly aStartsMs: number;
  readonly services: Readonly<Record<ServiceName, ServiceResult>>;
  /** As the scene lists them. */
  readonly ports: readonly PortQueue[];
  readonly wires: readonly WireResult[];
  readonly routers: readonly RouterCounts[];
}

export type ArnReport = CheckedReport<'arn', ArnResult>;
