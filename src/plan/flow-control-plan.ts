// The desired state of precise flow control (FCN §4.1).
import type { IpAddress } from '../model/address.ts';
import type { ArnBitOrder } from '../model/code-points.ts';
import type { FlowControlMode } from '../model/flow-control.ts';
import type { Prefix } from '../model/prefix.ts';

type PortPlan = { readonly id: string; readonly interface: string; readonly ifindex: number };

export interface FlowControlPlan {
  readonly mode: FlowControlMode;
  readonly udpPort: number;
  /** Which bit of an ARN's Para-Type is bit 0. */
  readonly bitOrder: ArnBitOrder;
  /** Where traffic arrives whose upstream neighbor can be asked to pause it. */
  readonly interfaces: readonly PortPlan[];
  /** Queues that are watched: above `above` bytes upstream neighbors are asked to pause, below `below` to go on. */
  readonly watch: readonly (PortPlan & { readonly above: number; readonly below: number })[];
  /** Where traffic is held as downstream neighbors ask. */
  readonly hold: readonly PortPlan[];
  /** Bytes in a class that holds traffic: above them its upstream neighbor is asked to pause, below them to go on. */
  readonly above: number;
  readonly below: number;
  /** bit/s, of the ports that hold. */
  readonly lineRate: number;
  /** Bytes that a class may have queued. */
  readonly buffer: number;
  /** Declared upstream neighbors: of others, the next hop of the route back. */
  readonly neighbors: readonly { readonly id: string; readonly ifindex: number; readonly address: IpAddress }[];
  /** Who may ask. */
  readonly acceptFrom: readonly { readonly id: string; readonly prefix: Prefix }[];
  /** Asked for. */
  readonly pauseUs: number;
  /** The most that one ARN is obeyed for. */
  readonly longestPauseUs: number;
  /** Traffic that has been paused for so long without a break goes on for as long. */
  readonly watchdogMs: number;
  /** ARNs sent and obeyed per second. */
  readonly perSecond: number;
  readonly burst: number;
  /** 64 entries, by DSCP: 0 … 7. */
  readonly priorities: readonly number[];
}
