// The congested node's flow table (bpf/lib/flows.h, LHCNP §5.2): sets of four entries in an array map. Times are CLOCK_MONOTONIC nanoseconds, which
// is process.hrtime.bigint().
import type { IpAddress } from '../../model/address.ts';
import type { LongHaulAction, NotificationFormat, ResumeAnswer } from '../../model/notification.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, unmappedAddressAt, viewOf } from './layout.ts';
import { actionOf, formatOf, isLongHaul } from './notifications.ts';

export const FLOW_SETS = 4096;
export const FLOW_WAYS = 4;
const SET = { ways: 16 } as const;
const FLOW = {
  source: 0, destination: 16, qpn: 32, tag: 36, packets: 40, bytes: 48, congestedBytes: 56, firstSeen: 64, lastSeen: 72, lastNotice: 80, notices: 88,
  lastPsn: 96, ifindex: 100, toldAt: 104, toldEndCon: 112, toldSourceQpn: 128, toldDepth: 132, toldFormat: 136, toldRow: 137, toldAction: 138, toldLevel: 139,
  toldParameter: 140, toldPkey: 142, toldSourcePort: 212, size: 216,
} as const;
const CLAIM = { source: 14, destination: 30, qpn: 46, ifindex: 54 } as const;
export const FLOW_SET_SIZE = SET.ways + FLOW_WAYS * FLOW.size;

/** What a flow's sender was told last. */
export interface ToldSender {
  /** Monotonic ns. */
  readonly atNs: bigint;
  readonly format: NotificationFormat;
  /** Long-haul formats only: the action, and which row of the port's instructions it came from. */
  readonly action: LongHaulAction | null;
  readonly row: number;
  readonly level: number;
  readonly parameter: number;
  /** The Queue Pair at the sender; 0: not known, and not needed for this format. */
  readonly sourceQpn: number;
  /** Depth of the queue then, bytes. */
  readonly queueBytes: number;
  /** END.CON through which it went; null: straight. */
  readonly endCon: IpAddress | null;
  /** UDP source port and P_Key of the packet that it was about; both 0: not known. */
  readonly sourcePort: number;
  readonly pkey: number;
}

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
  /** Null: nothing since the flow came into the table. A flow that was told to pause or to slow down is waiting for its Resume. */
  readonly told: ToldSender | null;
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
      told: decodeTold(view, at),
    };
  }
}

function decodeTold(view: DataView, at: number): ToldSender | null {
  const number = view.getUint8(at + FLOW.toldFormat);
  if (number === 0) return null;
  const format = formatOf(number);
  const endCon = unmappedAddressAt(view, at + FLOW.toldEndCon);
  return {
    atNs: view.getBigUint64(at + FLOW.toldAt, LITTLE_ENDIAN),
    format,
    action: isLongHaul(format) ? actionOf(view.getUint8(at + FLOW.toldAction)) : null,
    row: view.getUint8(at + FLOW.toldRow),
    level: view.getUint8(at + FLOW.toldLevel),
    parameter: view.getUint16(at + FLOW.toldParameter, LITTLE_ENDIAN),
    sourceQpn: view.getUint32(at + FLOW.toldSourceQpn, LITTLE_ENDIAN),
    queueBytes: view.getUint32(at + FLOW.toldDepth, LITTLE_ENDIAN),
    endCon: endCon.value === 0n ? null : endCon,
    sourcePort: view.getUint16(at + FLOW.toldSourcePort),
    pkey: view.getUint16(at + FLOW.toldPkey),
  };
}

/** The flow for which the program `egress_resume` is asked. */
export interface FlowAtPort {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
  readonly ifindex: number;
}

/** Behind an Ethernet header of zeros, and long enough for BPF_PROG_TEST_RUN (struct resume_claim). */
export const encodeResumeClaim = ({ source, destination, destinationQpn, ifindex }: FlowAtPort): Uint8Array =>
  structure(64, (view, bytes) => {
    bytes.set(mappedAddress(source), CLAIM.source);
    bytes.set(mappedAddress(destination), CLAIM.destination);
    view.setUint32(CLAIM.qpn, destinationQpn, LITTLE_ENDIAN);
    view.setUint32(CLAIM.ifindex, ifindex, LITTLE_ENDIAN);
  });

/** What the program answers. */
export const RESUME_ANSWERS: readonly ResumeAnswer[] = ['granted', 'flow-waits', 'port-waits', 'port-unknown'];
