// Which learned Queue Pairs to forget (PNC-1-c). Learning itself, and refusing to use what is too old, is the dataplane's work, packet by
// packet (bpf/lib/queue-pairs.h); but an entry that no packet ever touches again stays in its table until somebody sweeps. Pure: the caller reads
// the table and the clock, and deletes what is returned.
import { formatAddress } from '../model/address.ts';
import type { QueuePairs } from '../model/roce.ts';

/** One direction of a connection, as the dataplane knows it. */
export interface KnownFlow extends QueuePairs {
  /** Nanoseconds, on the same clock as `now`. */
  readonly lastSeen: bigint;
}

const name = (from: QueuePairs['sender'], to: QueuePairs['sender'], qpn: number): string => `${formatAddress(from)} ${formatAddress(to)} ${qpn}`;

/**
 * Flows of connections that were silent in both directions for longer than `ageingNs`, and halves whose other half is gone or names another Queue
 * Pair: the dataplane evicts them one by one. A half younger than `graceNs` is left alone, for its other half may just be on its way.
 */
export function flowsToForget<F extends KnownFlow>(flows: readonly F[], opts: { readonly now: bigint; readonly ageingNs: bigint; readonly graceNs: bigint }): F[] {
  const byName = new Map(flows.map((flow) => [name(flow.sender, flow.receiver, flow.receiverQpn), flow]));
  return flows.filter((flow) => {
    const silent = opts.now - flow.lastSeen;
    const other = byName.get(name(flow.receiver, flow.sender, flow.senderQpn));
    if (!other || other.senderQpn !== flow.receiverQpn) return silent > opts.graceNs;
    return silent > opts.ageingNs && opts.now - other.lastSeen > opts.ageingNs;
  });
}
