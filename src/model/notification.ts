// A congested node's notifications of a sender, and their reasons. Names are those of the drafts; numbers are in
// packet/ and kernel/.
import type { IpAddress } from './address.ts';

/**
 * The formats: through the sender's proxy (PNC), as a Fast CNP (FCNP), or as a Long-haul CNP in one of its two forms
 * (LHCNP §6.1, §6.2).
 */
export type NotificationFormat = 'proxy' | 'fast-cnp' | 'long-haul-icmpv6' | 'long-haul-roce';

export const NOTIFICATION_FORMATS: readonly NotificationFormat[] = [
  'proxy',
  'fast-cnp',
  'long-haul-icmpv6',
  'long-haul-roce',
];

/** LHCNP §5.5.1. */
export type LongHaulAction = 'notify' | 'pause' | 'rate-reduce' | 'resume';

/** Index is the upper two bits of the action octet (LHCNP-6.1-f). */
export const LONG_HAUL_ACTIONS: readonly LongHaulAction[] = ['notify', 'pause', 'rate-reduce', 'resume'];

/** The longest pause that an instruction can ask for: 16 bits of microseconds (LHCNP-6.1-i, A10). */
export const LONGEST_PAUSE_US = 0xffff;

/** Why a notification was sent: LHCNP §5.4 (a), (b), (c); §5.7 b; §5.5.1 Resume. */
export type NotificationReason = 'queue-depth' | 'ecn-marking-rate' | 'queue-growth' | 'escalation' | 'resume';

/** The instruction of a Long-haul CNP. */
export interface LongHaulInstruction {
  /** Congestion Level, 0-255. */
  readonly level: number;
  readonly action: LongHaulAction;
  /** Notify 0, Pause microseconds, Rate Reduce and Resume percent. */
  readonly parameter: number;
}

/** One notification that this node has sent. */
export interface SentNotification {
  /** Monotonic, ns. */
  readonly atNs: bigint;
  readonly format: NotificationFormat;
  readonly reason: NotificationReason;
  readonly ifindex: number;
  /** The flow: innermost addresses, Queue Pair at the receiver, and at the sender where known (else 0). */
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
  readonly sourceQpn: number;
  /** END.CON through which it went; null: straight. */
  readonly endCon: IpAddress | null;
  /** Queue depth at that moment, bytes. */
  readonly queueBytes: number;
  /** PNC level 0-7 for `proxy`; 0 for Fast CNP. */
  readonly level: number;
  /** Long-haul formats only. */
  readonly action: LongHaulAction | null;
  readonly parameter: number;
  /** UDP source port and P_Key of the packet that it is about. */
  readonly sourcePort: number;
  readonly pkey: number;
  /** Its Queue Pairs are those of datagrams, which name the sender's themselves. */
  readonly datagram: boolean;
}

/**
 * Whether a Resume may be sent now: it is limited with the port's and the flow's other notifications. `flow-waits`,
 * `port-waits`: not yet; `port-unknown`: the port is watched no more.
 */
export type ResumeAnswer = 'granted' | 'flow-waits' | 'port-waits' | 'port-unknown';
