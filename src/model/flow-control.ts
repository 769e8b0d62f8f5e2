// Precise flow control (FCN §4.1): what is paused, and what has been seen of filled queues.
import type { IpAddress } from './address.ts';

/** What a router asks its upstream neighbor to stop (FCN §4.1.2): all of a tunnel's packets, one flow, a priority. */
export const FLOW_CONTROL_MODES = ['service', 'flow', 'priority'] as const;
export type FlowControlMode = (typeof FLOW_CONTROL_MODES)[number];

/** Traffic, as its packets are on the link between two routers. Both addresses are of one family. */
export type Traffic =
  | {
      readonly mode: 'service';
      /** Of the outermost header. */
      readonly source: IpAddress;
      readonly destination: IpAddress;
      /** What follows that header: 4, 41 or 43. */
      readonly protocol: number;
    }
  | {
      readonly mode: 'flow';
      /** Of the innermost packet, which is a UDP datagram. */
      readonly source: IpAddress;
      readonly destination: IpAddress;
      readonly sourcePort: number;
      readonly destinationPort: number;
    }
  | {
      readonly mode: 'priority';
      /** 0 … 7, as PFC counts: PCP of an 802.1Q tag, else what the DSCP of the outermost header is mapped to. */
      readonly priority: number;
    };

/** Traffic that is held where it leaves by one port. */
export interface HeldTraffic {
  readonly traffic: Traffic;
  /** Index of the port. */
  readonly egress: number;
}

/** Bytes in the classes of a port. */
export interface HeldBytes {
  readonly total: number;
  /** 0: the slot holds nothing at this port. */
  readonly ofSlot: (slot: number) => number;
}

/** A packet that found a queue above its threshold, or the class full in which its traffic is held. */
export interface FilledQueue {
  /** CLOCK_MONOTONIC. */
  readonly atNs: bigint;
  /** As the packet arrived here. */
  readonly traffic: Traffic;
  /** Index of the interface at which it arrived. */
  readonly ingress: number;
  /** Source of its outermost header as it arrived. */
  readonly cameFrom: IpAddress;
  /** Of the frame in which it arrived. */
  readonly sourceMac: Uint8Array;
  /** Index of the port whose queue it found. */
  readonly egress: number;
  /** `queue`: the port's. `held`: the class in which it is held as another neighbor has asked. */
  readonly reason: 'queue' | 'held';
  /** Bytes in the port's queue, held ones not included; 0 for `held`. */
  readonly depth: number;
}

/** Traffic that has found a queue filled, and which one. Each is reported, and asked for, by itself. */
export type FillingTraffic = Pick<FilledQueue, 'traffic' | 'ingress' | 'egress' | 'reason'>;
