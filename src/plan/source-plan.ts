// For which hosts this router takes notifications, and how it holds their flows. Part of the desired state.
import type { Prefix } from '../model/prefix.ts';
import type { Queueing } from '../model/queueing.ts';
import type { SourceAction } from '../model/source.ts';

/** How flows are held (LHCNP §5.6). */
export interface EnforcePlan {
  readonly ports: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
  /** bit/s. */
  readonly lineRate: number;
  readonly rttMs: number;
  /** Percent. */
  readonly response: number;
  readonly queueing: Queueing;
  /** Bytes a flow. */
  readonly buffer: number;
  readonly flows: number;
  /** Absent: IOAM traces are ignored. */
  readonly ioam?: IoamPlan;
}

export interface IoamPlan {
  readonly target: number;
  /** bit/s. */
  readonly capacity: number;
  /** Bytes. */
  readonly queueUnit: number;
  readonly txBytes: 'none' | 'namespace-data' | 'namespace-data-wide';
  readonly timestamp: 'posix' | 'ntp' | 'ptp';
}

/** For which hosts this router takes notifications (LHCNP §5.6, FCNP §4). */
export interface SourcePlan {
  readonly senders: readonly { readonly id: string; readonly prefix: Prefix; readonly action: SourceAction }[];
  readonly acceptFrom: readonly { readonly id: string; readonly prefix: Prefix }[];
  /** Where the source's program is attached at ingress. */
  readonly interfaces: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
  readonly fastCnpOption: number;
  readonly fastCnpIoamOption: number;
  readonly icrc: 'cover' | 'skip';
  readonly longHaulIcmpv6Type: number;
  readonly perFlowIntervalNs: number;
  /** Absent: no sender is held here, or there is no port for it. */
  readonly enforce?: EnforcePlan;
  /** Token bucket of all notifications. */
  readonly perSecond: number;
  readonly burst: number;
}
