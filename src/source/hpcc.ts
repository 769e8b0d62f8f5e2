// How much a Fast CNP with an IOAM trace asks a flow to slow down (FCNP-4-t): HPCC (Li et al., "HPCC: High Precision
// Congestion Control", SIGCOMM 2019, Algorithm 1), as far as it applies when only notifications bring its data, and not
// each ACK. Pure.
//
// - Of a hop, U = qlen / (B·T) + txRate / B: what is in flight there, as a share of what the link can carry in a base
//   RTT. The hop with the greatest U counts, and the rate becomes rate · η / U (lines 2-9 and 14 of the algorithm).
// - txRate is the difference of two samples of the hop's transmitted bytes. A first notification, or one after a long
//   silence, has one sample only. Then the link counts as busy (txRate = B), since a queue stands in front of it.
// - The algorithm takes the lesser of two queue depths, to pass over the noise between two ACKs. Samples here are an
//   RTT apart, and the node sent them because the queue is deep: the last one counts. For the same reason the moving
//   average of U has a weight of 1 (τ ≥ T).
// - W_AI, incStage and maxStage are for samples of a path without congestion, which no notification brings. The
//   additive recovery after 2·RTT is in their place.
// - A trace whose hops are all below η does not show the congestion: the default response is for that.
//
// RFC 9197 has no field for transmitted bytes or the rate of a link. The former is expected in the data of the
// namespace, where the operator says so; the latter is configured.
import type { IoamNode } from '../packet/ip/ioam-nodes.ts';

export interface HpccOptions {
  /** η, the utilization that is aimed at. */
  readonly target: number;
  /** Of the links of a node, bit/s. */
  readonly capacity: (node: IoamNode) => number;
  /** Bytes in a unit of queue depth; Linux: 1. */
  readonly queueUnit: number;
  /** Which field counts transmitted bytes. Undefined: none, and every link counts as busy. */
  readonly txBytes: 'namespaceData' | 'namespaceDataWide' | undefined;
  /** Format of the fraction of a second (RFC 9197 §5). Linux: posix, microseconds. */
  readonly timestamp: 'ptp' | 'ntp' | 'posix';
}

export const defaultHpcc = (capacity: number): HpccOptions => ({
  target: 0.95,
  capacity: () => capacity,
  queueUnit: 1,
  txBytes: undefined,
  timestamp: 'posix',
});

interface Sample {
  readonly seconds: number;
  /** Transmitted bytes, modulo `modulus`. */
  readonly bytes: bigint;
  readonly modulus: bigint;
}

const FRACTIONS = { ptp: 1e9, ntp: 2 ** 32, posix: 1e6 } as const;
const MODULI = { namespaceData: 1n << 32n, namespaceDataWide: 1n << 64n } as const;
/** Hops of which a flow's samples are kept. A trace in a Fast CNP has 228 octets of nodes at most. */
const MOST_HOPS = 57;
/** Samples further apart are of another time. */
const MOST_SECONDS = 1;

/** Of one flow: the last samples of its hops. */
export class Hpcc {
  #samples = new Map<string, Sample>();

  /**
   * The percentage, above 0 and below 100, by which the rate is to be reduced; undefined: the trace does not show the
   * congestion.
   * @param rttMs T, the base RTT of the flow's path
   */
  onTrace(nodes: readonly IoamNode[], rttMs: number, opts: HpccOptions): number | undefined {
    const samples = new Map<string, Sample>();
    let most = 0;
    for (const node of nodes.slice(0, MOST_HOPS)) {
      const key = `${node.nodeId} ${node.egress}`;
      const sample = sampleOf(node, opts);
      if (sample) samples.set(key, sample);
      if (node.queueDepth === undefined) continue;
      const capacity = opts.capacity(node);
      const queued = (node.queueDepth * opts.queueUnit * 8) / (capacity * (rttMs / 1000));
      const busy = sample && busyShare(this.#samples.get(key), sample, capacity);
      most = Math.max(most, queued + (busy ?? (node.queueDepth > 0 ? 1 : 0)));
    }
    this.#samples = samples;
    return most > opts.target ? 100 * (1 - opts.target / most) : undefined;
  }
}

/** A node without identity cannot be found again in the next trace. */
function sampleOf(node: IoamNode, { txBytes, timestamp }: HpccOptions): Sample | undefined {
  const bytes = txBytes && node[txBytes];
  if (bytes === undefined || node.nodeId === undefined) return undefined;
  if (node.seconds === undefined || node.fraction === undefined) return undefined;
  const fraction = node.fraction / FRACTIONS[timestamp];
  return fraction < 1
    ? { seconds: node.seconds + fraction, bytes: BigInt(bytes), modulus: MODULI[txBytes!] }
    : undefined;
}

/**
 * txRate / B, at most 1. Undefined: not known, since there is no other sample, or it is too old, or the counter may
 * have gone round between the two.
 */
function busyShare(
  before: Sample | undefined,
  { seconds, bytes, modulus }: Sample,
  capacity: number,
): number | undefined {
  if (before?.modulus !== modulus) return undefined;
  const elapsed = seconds - before.seconds;
  const possible = (elapsed * capacity) / 8;
  if (!(elapsed > 0 && elapsed <= MOST_SECONDS && possible < Number(modulus))) return undefined;
  const sent = Number(BigInt.asUintN(64, bytes - before.bytes) % modulus);
  return Math.min(1, sent / possible);
}
