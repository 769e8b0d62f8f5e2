// Which learned Queue Pairs to forget (PNC-1-c). The dataplane learns them, and refuses expired ones, packet by packet
// (bpf/lib/proxy/queue-pairs.h). But an entry that no packet ever touches again stays in its table until it is swept.
// Pure: the caller reads the table and the clock, and deletes the expired entries.
import type { QueuePairs } from '../model/roce.ts';

/** One direction of a connection, as the dataplane knows it. */
export interface KnownFlow extends QueuePairs {
  /**
   * The tenant of these packets, and that of the other direction (bpf/lib/proxy/tenant.h). Absent: the router's own
   * address space.
   */
  readonly tenant?: number;
  readonly peerTenant?: number;
  /** Nanoseconds, on the same clock as `now`. */
  readonly lastSeen: bigint;
}

export interface ForgettingLimits {
  readonly now: bigint;
  readonly ageingNs: bigint;
  readonly graceNs: bigint;
}

/**
 * Whether to forget a flow. True for both flows of a connection that was silent in both directions for longer than
 * `ageingNs`. Also true for a half whose other half is gone or names another Queue Pair: the dataplane evicts halves
 * one by one. A half younger than `graceNs` is kept, because its other half may still be on its way. `find` looks up a
 * flow by the name that its packets have; it is not called for a flow that was seen a moment ago.
 */
export function mayForget(
  flow: KnownFlow,
  find: (name: Omit<QueuePairs, 'senderQpn'> & { readonly tenant: number }) => KnownFlow | undefined,
  limits: ForgettingLimits,
): boolean {
  const silent = limits.now - flow.lastSeen;
  if (silent <= limits.graceNs && silent <= limits.ageingNs) return false;
  const other = find({
    sender: flow.receiver,
    receiver: flow.sender,
    receiverQpn: flow.senderQpn,
    tenant: flow.peerTenant ?? 0,
  });
  if (!other || other.senderQpn !== flow.receiverQpn) return silent > limits.graceNs;
  return silent > limits.ageingNs && limits.now - other.lastSeen > limits.ageingNs;
}
