// What a run of the scene `multicast` found out, and the report that it becomes.
import type { CheckedReport } from '../check-list.ts';
import type { Point } from '../results.ts';
import type { RunName } from './scene.ts';

/** Of one receiver. */
export interface ReceiverResult {
  readonly receiver: string;
  readonly complete: boolean;
  readonly bytes: number;
  /** SHA-256 of what was delivered, in order. */
  readonly hash: string;
  /** RoCEv2 packets that arrived and could not be read, or whose ICRC was wrong. */
  readonly bad: number;
  /** Packets that a network card would have refused: another peer, another Queue Pair. */
  readonly refused: number;
  readonly duplicates: number;
  readonly naks: number;
  /** Dropped in front of it on purpose. */
  readonly lost: number;
}

/** Frames during a run, routing protocols included. */
export interface LinkResult {
  readonly from: string;
  readonly to: string;
  readonly down: number;
  readonly up: number;
  /** Downwards. */
  readonly bytes: number;
}

export interface MulticastResult {
  readonly name: RunName;
  readonly title: string;
  /** Until the last packet of the last connection was confirmed, ms; null: not all were. */
  readonly completionMs: number | null;
  /** SHA-256 of the transfer. */
  readonly hash: string;
  /** Packets of the transfer. */
  readonly packets: number;
  /** By the source, repetitions included. */
  readonly sent: number;
  readonly retransmitted: number;
  /** ACKs and NAKs that the source got. */
  readonly acks: number;
  readonly naks: number;
  readonly timeouts: number;
  readonly cnps: number;
  /** Packets for the source that belong to none of its connections. */
  readonly foreign: number;
  /** On the source's link, downwards. */
  readonly sourceBytes: number;
  readonly receivers: readonly ReceiverResult[];
  readonly links: readonly LinkResult[];
  /** Confirmations at the source that some receiver had not given by then, as sentences (RMC-5.3.1-a, RMC-5.3.2-a). */
  readonly violations: readonly string[];
  /** Packets that the source knew to be confirmed, over its time. */
  readonly confirmed: readonly Point[];
}

export interface MulticastReport extends CheckedReport<'multicast', MulticastResult> {
  readonly bytes: number;
}
