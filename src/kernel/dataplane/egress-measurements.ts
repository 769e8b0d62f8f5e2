// Counters and measurements of a port by the programs (bpf/lib/detector/layout.h): read, never written.
import { LITTLE_ENDIAN, sumOverCpus, viewOf } from './layout.ts';

/** RoCEv2 data packets of a port since its slot was assigned, and their outcomes. */
export interface EgressStats {
  readonly packets: bigint;
  readonly bytes: bigint;
  readonly ceMarked: bigint;
  readonly triggers: bigint;
  readonly notifications: bigint;
  readonly suppressedPerFlow: bigint;
  readonly suppressedPerPort: bigint;
  readonly noProxy: bigint;
  /** Sent with CE while the queue was above K_min, whoever marked them. */
  readonly leftWithCe: bigint;
  /** Triggers of flows that are not among the largest in the queue (LHCNP-5.5-b). */
  readonly notContributing: bigint;
  /** Triggers during which an upstream node's notification was seen to take effect (LHCNP-5.7-d). */
  readonly deferred: bigint;
  /** Triggers whose sender cannot be notified in any format. */
  readonly noFormat: bigint;
}

/** In the order of struct egress_stats. */
const STATS_FIELDS = [
  'packets',
  'bytes',
  'ceMarked',
  'triggers',
  'notifications',
  'suppressedPerFlow',
  'suppressedPerPort',
  'noProxy',
  'leftWithCe',
  'notContributing',
  'deferred',
  'noFormat',
] as const satisfies readonly (keyof EgressStats)[];
/** Bytes for one CPU. */
export const EGRESS_STATS_SIZE = 8 * STATS_FIELDS.length;

/** From the values of all CPUs, in sequence. */
export function decodeEgressStats(value: Uint8Array): EgressStats {
  const sums = sumOverCpus(value, STATS_FIELDS.length);
  return Object.fromEntries(STATS_FIELDS.map((name, i) => [name, sums[i]!])) as unknown as EgressStats;
}

/**
 * Kinds of tunnels that the program does not look into, in the order of enum tunnel_kind (bpf/lib/wire/walk.h) from 1
 * on.
 */
export const TUNNEL_KINDS = ['mpls', 'gre', 'vxlan', 'esp', 'geneve', 'other'] as const;
export type TunnelKind = (typeof TUNNEL_KINDS)[number];

/** Packets of a port that were not inspected because of their tunnel. */
export type OpaquePackets = Readonly<Record<TunnelKind, bigint>>;

const OPAQUE_FIELDS = 8;
/** Bytes for one CPU: struct egress_opaque. */
export const EGRESS_OPAQUE_SIZE = 8 * OPAQUE_FIELDS;

/** From the values of all CPUs, in sequence. */
export function decodeOpaque(value: Uint8Array): OpaquePackets {
  const sums = sumOverCpus(value, OPAQUE_FIELDS);
  return Object.fromEntries(TUNNEL_KINDS.map((kind, i) => [kind, sums[i + 1]!])) as Record<TunnelKind, bigint>;
}

/** Measurements of a port in the last whole interval (LHCNP-5.3.1-b, LHCNP-5.3.1-c), if one has ended. */
export interface EgressMeasure {
  /** Packets that left with CE while the queue was above K_min, parts per million. */
  readonly ecnMarkingPpm: number;
  /** Growth of the queue, bytes; 0 when it shrank. */
  readonly growthBytes: number;
  /** Monotonic ns: when the next interval began. If older than one or two intervals, nothing has been sent since. */
  readonly measuredAt: bigint;
}

export const EGRESS_MEASURE_SIZE = 80;
/** Offsets in struct egress_measure. */
export const MEASURE_FIELDS = { start: 0, growth: 28, ecn: 32 } as const;

export function decodeEgressMeasure(value: Uint8Array): EgressMeasure {
  const view = viewOf(value);
  const u32 = (at: number): number => view.getUint32(at, LITTLE_ENDIAN);
  return {
    ecnMarkingPpm: u32(MEASURE_FIELDS.ecn),
    growthBytes: u32(MEASURE_FIELDS.growth),
    measuredAt: view.getBigUint64(MEASURE_FIELDS.start, LITTLE_ENDIAN),
  };
}
