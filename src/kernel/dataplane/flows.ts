// The congested node's flow table (bpf/lib/flows.h, LHCNP §5.2): sets of four entries in an array map. Times are CLOCK_MONOTONIC nanoseconds, which
// is process.hrtime.bigint().
import type { IpAddress } from '../../model/address.ts';
import { LITTLE_ENDIAN, unmappedAddressAt, viewOf } from './layout.ts';

export const FLOW_SETS = 4096;
export const FLOW_WAYS = 4;
const SET = { ways: 16 } as const;
const FLOW = {
  source: 0, destination: 16, qpn: 32, tag: 36, packets: 40, bytes: 48, congestedBytes: 56, firstSeen: 64, lastSeen: 72, lastNotice: 80, notices: 88,
  lastPsn: 96, ifindex: 100, size: 104,
} as const;
export const FLOW_SET_SIZE = SET.ways + FLOW_WAYS * FLOW.size;

export interface EgressFlow {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
  /** The port that saw it last. */
  readonly ifindex: number;
  readonly packets: bigint;
  readonly bytes: bigint;
  /** Its contribution to congestion: bytes that came while the queue was above K_min or K_max. */
  readonly congestedBytes: bigint;
  readonly firstSeen: bigint;
  readonly lastSeen: bigint;
  readonly lastPsn: number;
  readonly notices: bigint;
}

/** The flows of one set that were seen at or after `since`; older ones have aged though their entry is not cleared yet. */
export function* decodeFlowSet(value: Uint8Array, since = 0n): Generator<EgressFlow> {
  const view = viewOf(value);
  for (let way = 0; way < FLOW_WAYS; way++) {
    const at = SET.ways + way * FLOW.size;
    const u32 = (field: number): number => view.getUint32(at + field, LITTLE_ENDIAN);
    const u64 = (field: number): bigint => view.getBigUint64(at + field, LITTLE_ENDIAN);
    if (u32(FLOW.tag) === 0 || u64(FLOW.lastSeen) < since) continue;
    yield {
      source: unmappedAddressAt(view, at + FLOW.source),
      destination: unmappedAddressAt(view, at + FLOW.destination),
      destinationQpn: u32(FLOW.qpn),
      ifindex: u32(FLOW.ifindex),
      packets: u64(FLOW.packets),
      bytes: u64(FLOW.bytes),
      congestedBytes: u64(FLOW.congestedBytes),
      firstSeen: u64(FLOW.firstSeen),
      lastSeen: u64(FLOW.lastSeen),
      lastPsn: u32(FLOW.lastPsn),
      notices: u64(FLOW.notices),
    };
  }
}
