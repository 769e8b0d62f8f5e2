// What a run of the demo found out, and the report that it becomes. Times of one run are milliseconds since the
// sender's first data packet.
import type { FeedbackFormat } from '../lab/roce/feedback.ts';
import type { LongHaulInstruction } from '../model/notification.ts';
import type { Check } from './check.ts';

/** `paced`: as `receiver`, with no more CNPs than cnpd sends. */
export type Mode = 'none' | 'receiver' | 'paced' | 'cnpd';

/** A point of a plot: ms since the first data packet, and a value. */
export type Point = readonly [t: number, value: number];

/** `cnp`: a standard one, from the receiver or a proxy. */
export type NotificationKind = 'cnp' | FeedbackFormat;

/** One notification on the sender's wire. */
export interface NotificationSeen {
  readonly t: number;
  readonly kind: NotificationKind;
  readonly source: string;
  /** BTH opcode; null where there is no BTH, or it cannot be read. */
  readonly opcode: number | null;
  /** As the format has it: of the sender (`cnp`, Long-haul), of the receiver (`fast-cnp`); null: cannot be read. */
  readonly queuePair: number | null;
  /** Its ICRC or its ICMPv6 checksum is right, and it can be read to its end. */
  readonly valid: boolean;
  readonly instruction: LongHaulInstruction | null;
  /** The IPv6 packet. */
  readonly packet: Uint8Array;
}

/** What one node sent. */
export interface NodeNotifications {
  readonly node: string;
  readonly count: number;
  readonly firstMs: number;
  readonly actions: Readonly<Partial<Record<LongHaulInstruction['action'], number>>>;
}

/** All notifications of a run. A value that is asked of "all" is null when they differ or there is none. */
export interface NotificationSummary {
  readonly count: number;
  readonly kind: NotificationKind | null;
  readonly opcode: number | null;
  readonly queuePair: number | null;
  /** The connection's, on the side that this kind names. */
  readonly expectedQueuePair: number | null;
  /** Every one, and there is one. */
  readonly valid: boolean;
  /** In the order of their first word. */
  readonly nodes: readonly NodeNotifications[];
}

/** A watched port during one run. */
export interface PortResult {
  readonly port: string;
  readonly peakQueueBytes: number;
  /** Largest queue after the first second: what remains once feedback has done its work. */
  readonly settledPeakQueueBytes: number;
  readonly drops: number;
  /** Thresholds in force, bytes; null: none. */
  readonly kMin: number | null;
  readonly kMax: number | null;
  /** RTT_est in force, ms; null: not known. */
  readonly rttMs: number | null;
  /** How much the counters of `cnpctl show ports` grew. */
  readonly counted: PortCounts;
}

export interface PortCounts {
  readonly ceMarked: number;
  readonly triggers: number;
  readonly notifications: number;
  readonly deferred: number;
}

/** Notifications that passed inside a tunnel to END.CON. */
interface TunneledResult {
  readonly count: number;
  /** Every one arrived at the sender byte for byte, hop limit aside, and nothing else did. */
  readonly unchanged: boolean;
}

export interface RunResult {
  readonly mode: Mode;
  readonly title: string;
  readonly durationMs: number;
  /** As the scene lists them. */
  readonly ports: readonly PortResult[];
  /**
   * From the moment the first port's queue crossed the run's threshold to the first notification on the sender's wire;
   * null without one.
   */
  readonly firstFeedbackMs: number | null;
  /** No sample shows the crossing: feedback took that long at most. */
  readonly feedbackIsBound: boolean;
  /** The same, from the first data packet. */
  readonly firstNotificationMs: number | null;
  /**
   * From the first data packet until the first port's queue is back below the configured K_min and stays there for a
   * while, ms; null: it never was.
   */
  readonly settledMs: number | null;
  /** While the queue of any port was at its K_min or above, ms. */
  readonly congestedMs: number;
  readonly goodputBps: number;
  readonly retransmitted: number;
  /** CNPs that the receiver sent: 0 in the cnpd run. */
  readonly receiverCnps: number;
  /** Packets with CE that the receiver saw. */
  readonly ceAtReceiver: number;
  readonly notifications: NotificationSummary;
  readonly tunneled: TunneledResult | null;
  readonly series: {
    readonly queueBytes: Readonly<Record<string, readonly Point[]>>;
    readonly rateBps: readonly Point[];
    readonly sentBps: readonly Point[];
    readonly notifications: readonly Point[];
  };
}

/** What cnpctl showed before the runs. */
export interface Evidence {
  readonly sentences: readonly string[];
  /** What is not as the scene claims. */
  readonly failures: readonly string[];
}

/** A run as a demo makes it. */
export interface DemoRun extends RunResult {
  /** Counts from 1; each repetition is a run of every mode. */
  readonly repetition: number;
  /** Share of the machine's processors that was in use, 0 to 1. */
  readonly cpuBusy: number;
}

/** Where and on what a report was made. */
export interface Machine {
  readonly kernel: string;
  /** `version (commit)`, or the version alone outside a repository. */
  readonly cnpd: string;
  readonly node: string;
  readonly cpus: number;
  /** Processes that run or wait, averaged over a minute, before the first run and after the last. */
  readonly load: readonly [before: number, after: number];
}

/** A picture of the network. */
export interface Drawing {
  readonly nodes: readonly string[];
  readonly links: readonly { readonly a: string; readonly b: string; readonly label: string }[];
}

export interface DemoReport {
  readonly version: 3;
  readonly scene: string;
  readonly title: string;
  readonly path: string;
  readonly drawing: Drawing;
  readonly machine: Machine;
  readonly startedAt: string;
  readonly ok: boolean;
  readonly failures: readonly string[];
  /** Empty: the scene does not list them. */
  readonly checks: readonly Check[];
  readonly evidence: readonly string[];
  /** Names for addresses that send notifications. */
  readonly names: Readonly<Record<string, string>>;
  /** Who sends standard CNPs in the receiver's name when cnpd is at work. */
  readonly proxy: string | null;
  readonly receiver: string;
  readonly sendingRateBps: number;
  readonly ports: readonly { readonly name: string; readonly rateBps: number; readonly queueLimitBytes: number }[];
  readonly runs: readonly DemoRun[];
}

/** The value that all share; null when there is none, or they differ. */
export function common<T>(values: readonly T[]): T | null {
  const [first] = values;
  return first !== undefined && values.every((v) => v === first) ? first : null;
}
