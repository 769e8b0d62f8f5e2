// The congested node's flow table (bpf/lib/detector/layout.h, LHCNP §5.2): sets of four entries in an array map. Times
// are CLOCK_MONOTONIC nanoseconds, which is process.hrtime.bigint().
import type { IpAddress } from '../../model/address.ts';
import type { LongHaulAction, NotificationFormat, ResumeAnswer } from '../../model/notification.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, unmappedAddressAt, viewOf } from './layout.ts';
import { actionOf, formatOf, isLongHaul } from './notifications.ts';

export const FLOW_SETS = 4096;
export const FLOW_WAYS = 4;
/**
 * Offsets of the fields that are read in struct flow_set, and in one of its ways, struct flow; and of struct
 * resume_claim after an Ethernet header.
 */
const SET = { ways: 16 } as const;
export const FLOW_FIELDS = {
  source: 0,
  destination: 16,
  tunnel: 32,
  qpn: 48,
  tag: 60,
  packets: 64,
  bytes: 72,
  congestedBytes: 80,
  firstSeen: 88,
  lastSeen: 96,
  notices: 112,
  lastPsn: 120,
  ifindex: 124,
  notifiedAt: 128,
  notifiedSourceQpn: 136,
  notifiedDepth: 140,
  notifiedFormat: 144,
  notifiedRow: 145,
  notifiedAction: 146,
  notifiedLevel: 147,
  notifiedParameter: 148,
  notifiedPkey: 150,
  notifiedSourcePort: 220,
  size: 224,
} as const;
const CLAIM = { source: 14, destination: 30, tunnel: 46, qpn: 62, sourceQpn: 66, ifindex: 78 } as const;
/** Flag in the Queue Pair of a key: the number is one of datagrams. */
const DATAGRAM = 0x8000_0000;
const QPN = 0xff_ffff;
export const FLOW_SET_SIZE = SET.ways + FLOW_WAYS * FLOW_FIELDS.size;

/** The last notification to the sender of a flow. */
export interface LastNotification {
  /** Monotonic ns. */
  readonly atNs: bigint;
  readonly format: NotificationFormat;
  /** Long-haul formats only: the action, and its row of the port's instructions. */
  readonly action: LongHaulAction | null;
  readonly row: number;
  readonly level: number;
  readonly parameter: number;
  /** The Queue Pair at the sender; 0: unknown, and not needed for this format. */
  readonly sourceQpn: number;
  /** Depth of the queue then, bytes. */
  readonly queueBytes: number;
  /** END.CON through which it was sent; null: directly. */
  readonly endCon: IpAddress | null;
  /** UDP source port and P_Key of the invoking packet; both 0: unknown. */
  readonly sourcePort: number;
  readonly pkey: number;
}

export interface EgressFlow {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
  /** Queue Pairs of datagrams: the sender's is in every packet, and part of the key. */
  readonly datagram: boolean;
  /** Outer source of the flow's tunnel; null: no tunnel. */
  readonly tunnel: IpAddress | null;
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
  /**
   * Null: none since the flow entered the table. After an instruction to pause or to slow down, the sender waits for
   * Resume.
   */
  readonly lastNotification: LastNotification | null;
}

/** Entries of a set that are in use, also those that have aged and were not swept yet. */
export function flowsIn(set: Uint8Array): number {
  const view = viewOf(set);
  let flows = 0;
  for (let way = 0; way < FLOW_WAYS; way++)
    if (view.getUint32(SET.ways + way * FLOW_FIELDS.size + FLOW_FIELDS.tag, LITTLE_ENDIAN) !== 0) flows++;
  return flows;
}

/**
 * The flows of one set that were seen at or after `since`. Older ones have aged, though their entry is not cleared
 * yet.
 */
export function* decodeFlowSet(value: Uint8Array, since = 0n): Generator<EgressFlow> {
  const view = viewOf(value);
  for (let way = 0; way < FLOW_WAYS; way++) {
    const at = SET.ways + way * FLOW_FIELDS.size;
    const u32 = (field: number): number => view.getUint32(at + field, LITTLE_ENDIAN);
    const u64 = (field: number): bigint => view.getBigUint64(at + field, LITTLE_ENDIAN);
    if (u32(FLOW_FIELDS.tag) === 0 || u64(FLOW_FIELDS.lastSeen) < since) continue;
    yield {
      source: unmappedAddressAt(view, at + FLOW_FIELDS.source),
      destination: unmappedAddressAt(view, at + FLOW_FIELDS.destination),
      destinationQpn: u32(FLOW_FIELDS.qpn) & QPN,
      datagram: u32(FLOW_FIELDS.qpn) >= DATAGRAM,
      tunnel: tunnelAt(view, at),
      ifindex: u32(FLOW_FIELDS.ifindex),
      packets: u64(FLOW_FIELDS.packets),
      bytes: u64(FLOW_FIELDS.bytes),
      congestedBytes: u64(FLOW_FIELDS.congestedBytes),
      firstSeen: u64(FLOW_FIELDS.firstSeen),
      lastSeen: u64(FLOW_FIELDS.lastSeen),
      lastPsn: u32(FLOW_FIELDS.lastPsn),
      notices: u64(FLOW_FIELDS.notices),
      lastNotification: decodeLastNotification(view, at),
    };
  }
}

function tunnelAt(view: DataView, at: number): IpAddress | null {
  const tunnel = unmappedAddressAt(view, at + FLOW_FIELDS.tunnel);
  return tunnel.value === 0n ? null : tunnel;
}

function decodeLastNotification(view: DataView, at: number): LastNotification | null {
  const number = view.getUint8(at + FLOW_FIELDS.notifiedFormat);
  if (number === 0) return null;
  const format = formatOf(number);
  return {
    atNs: view.getBigUint64(at + FLOW_FIELDS.notifiedAt, LITTLE_ENDIAN),
    format,
    action: isLongHaul(format) ? actionOf(view.getUint8(at + FLOW_FIELDS.notifiedAction)) : null,
    row: view.getUint8(at + FLOW_FIELDS.notifiedRow),
    level: view.getUint8(at + FLOW_FIELDS.notifiedLevel),
    parameter: view.getUint16(at + FLOW_FIELDS.notifiedParameter, LITTLE_ENDIAN),
    sourceQpn: view.getUint32(at + FLOW_FIELDS.notifiedSourceQpn, LITTLE_ENDIAN),
    queueBytes: view.getUint32(at + FLOW_FIELDS.notifiedDepth, LITTLE_ENDIAN),
    // A notice to a proxy is not sent through the tunnel.
    endCon: format === 'proxy' ? null : tunnelAt(view, at),
    sourcePort: view.getUint16(at + FLOW_FIELDS.notifiedSourcePort),
    pkey: view.getUint16(at + FLOW_FIELDS.notifiedPkey),
  };
}

/** The flow in a request to the program `egress_resume`. */
export interface FlowAtPort {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly destinationQpn: number;
  /** Used for datagrams only. */
  readonly sourceQpn: number;
  readonly datagram: boolean;
  /** END.CON through which its sender is notified: the tunnel's outer source. */
  readonly endCon: IpAddress | null;
  readonly ifindex: number;
}

/** After an Ethernet header of zeros, and long enough for BPF_PROG_TEST_RUN (struct resume_claim). */
export const encodeResumeClaim = ({
  source,
  destination,
  destinationQpn,
  sourceQpn,
  datagram,
  endCon,
  ifindex,
}: FlowAtPort): Uint8Array =>
  structure(96, (view, bytes) => {
    bytes.set(mappedAddress(source), CLAIM.source);
    bytes.set(mappedAddress(destination), CLAIM.destination);
    if (endCon) bytes.set(mappedAddress(endCon), CLAIM.tunnel);
    view.setUint32(CLAIM.qpn, datagram ? destinationQpn + DATAGRAM : destinationQpn, LITTLE_ENDIAN);
    if (datagram) view.setUint32(CLAIM.sourceQpn, sourceQpn, LITTLE_ENDIAN);
    view.setUint32(CLAIM.ifindex, ifindex, LITTLE_ENDIAN);
  });

/** The program's answers. */
export const RESUME_ANSWERS: readonly ResumeAnswer[] = ['granted', 'flow-waits', 'port-waits', 'port-unknown'];
