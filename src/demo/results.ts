// What a run of the demo found out, and the report that it becomes. Times of one run are milliseconds since h1's first data packet.
import type { Mode } from './modes.ts';

/** A point of a plot: ms since the first data packet, and a value. */
export type Point = readonly [t: number, value: number];

export interface CnpSeen {
  readonly t: number;
  readonly opcode: number;
  readonly destQpn: number;
  readonly icrcValid: boolean;
  readonly source: string;
}

export interface RunResult {
  readonly mode: Mode;
  readonly title: string;
  readonly durationMs: number;
  readonly peakQueueBytes: number;
  /** Largest queue after the first second: what remains once feedback has done its work. */
  readonly settledPeakQueueBytes: number;
  /** From the moment the queue crossed the run's threshold to the first CNP on h1's wire; null without a CNP. */
  readonly firstFeedbackMs: number | null;
  /** The same, from the first data packet. */
  readonly firstCnpAfterDataMs: number | null;
  readonly goodputBps: number;
  readonly drops: number;
  readonly retransmitted: number;
  /** CNPs that h2 sent: 0 in the cnpd run. */
  readonly receiverCnps: number;
  /** As captured on h1's wire and decoded by src/packet. `opcode` and `destQpn` are those of all CNPs, or null when they differ or there is none. */
  readonly cnp: { readonly count: number; readonly opcode: number | null; readonly destQpn: number | null; readonly expectedQpn: number; readonly icrcValid: boolean };
  readonly series: { readonly queueBytes: readonly Point[]; readonly rateBps: readonly Point[]; readonly sentBps: readonly Point[]; readonly cnps: readonly Point[] };
}

export interface Learned {
  readonly carrier: string;
  readonly prefix: string;
  readonly proxy: string;
  readonly at: string;
  readonly originator: string;
  readonly since: string;
}

export interface DemoReport {
  readonly version: 1;
  readonly startedAt: string;
  readonly ok: boolean;
  readonly failures: readonly string[];
  readonly learned: Learned | null;
  readonly scene: { readonly sendingRateBps: number; readonly wanRateBps: number; readonly wanDelayMs: number; readonly queueLimitBytes: number };
  readonly runs: readonly RunResult[];
}

/** The value that all share; null when there is none, or they differ. */
export function common<T>(values: readonly T[]): T | null {
  const [first] = values;
  return first !== undefined && values.every((v) => v === first) ? first : null;
}
