// The Congestion Notification to Proxy message (PNC §4; PNC-4-a, PNC-4-b, PNC-4-f): UDP to a well-known port, carrying
// a five-tuple, a congestion level and as much of the invoking packet as fits. The draft draws no layout for the tuple
// and has no field for its family; cnpd reads the figure literally:
//
//   source address 4|16, destination address 4|16, protocol 1, source port 2, destination port 2,
//   level 1 (upper three bits), invoking packet
//
// The invoking packet begins with its outermost IP header; the tuple is that of its innermost flow, below a VPN
// encapsulation. A receiver tells the families apart by that: exactly one reading must name the innermost flow of the
// packet behind it.
import type { Family, IpAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { type FiveTuple, TUPLE_SIZE, encodeTuple, innermostFlow, readTuple, sameTuple } from '../ip/five-tuple.ts';
import { IPV4_HEADER } from '../ip/ipv4.ts';
import { IPV6_HEADER } from '../ip/ipv6.ts';
import { PROTOCOL_UDP, UDP_HEADER, encodeUdpPacket } from '../ip/udp.ts';
import type { IpLayer } from '../ip/walk.ts';
import { ROCE_UDP_PORT } from '../../model/roce.ts';
import { type Bth, decodeBth } from '../roce/bth.ts';

/** The whole IP packet of a notice, its own headers included, is no longer than this (PNC-4-g). */
export const MAX_NOTICE_PACKET: Readonly<Record<Family, number>> = { 4: 576, 6: 1280 };

const OVERHEAD: Readonly<Record<Family, number>> = { 4: IPV4_HEADER + UDP_HEADER, 6: IPV6_HEADER + UDP_HEADER };

/** Tuple and level: 14 bytes for an IPv4 flow, 38 for an IPv6 flow. */
const NOTICE_HEADER: Readonly<Record<Family, number>> = { 4: TUPLE_SIZE[4] + 1, 6: TUPLE_SIZE[6] + 1 };

interface NoticeFields {
  readonly tuple: FiveTuple;
  /** 0 (lowest) … 7. */
  readonly level: number;
  /** The packet that met the congestion, from its outermost IP header. */
  readonly invoking: Uint8Array;
  /** IP version of the packet that carries the notice: it sets the size limit. The flow's may differ. */
  readonly family: Family;
}

export interface Notice {
  readonly tuple: FiveTuple;
  readonly level: number;
  /** A view of the payload; may be cut anywhere. */
  readonly invoking: Uint8Array;
  /** The innermost layer of `invoking`, which the tuple names. */
  readonly layer: IpLayer;
}

/** The UDP payload. @throws EncodeError when level or tuple do not fit */
export function encodeNotice({ tuple, level, invoking, family }: NoticeFields): Uint8Array {
  if (!Number.isInteger(level) || level < 0 || level > 7)
    throw new EncodeError('bad-level', `congestion level ${level}`);
  const header = concat(encodeTuple(tuple), Uint8Array.of(level << 5));
  const headroom = MAX_NOTICE_PACKET[family] - OVERHEAD[family] - header.length;
  return concat(header, invoking.subarray(0, headroom));
}

/**
 * Codes: `truncated`: too short for a tuple; `tuple-not-found`: neither reading of the tuple matches the invoking
 * packet's flow; `tuple-ambiguous`: both do.
 */
export function decodeNotice(payload: Uint8Array): Decoded<Notice> {
  if (payload.length < NOTICE_HEADER[4])
    return malformed('truncated', payload.length, 'shorter than an IPv4 five-tuple and level');
  const v4 = readAs(payload, 4);
  const v6 = readAs(payload, 6);
  if (v4 && v6)
    return malformed('tuple-ambiguous', 0, 'the five-tuple is in the invoking packet read as IPv4 and as IPv6');
  const notice = v4 ?? v6;
  return notice ? ok(notice) : malformed('tuple-not-found', 0, 'the five-tuple is not that of the invoking packet');
}

function readAs(payload: Uint8Array, family: Family): Notice | undefined {
  const header = NOTICE_HEADER[family];
  if (payload.length < header) return undefined;
  const tuple = readTuple(payload, 0, family);
  const invoking = payload.subarray(header);
  const flow = innermostFlow(invoking);
  if (!flow.ok || !sameTuple(tuple, flow.value.tuple)) return undefined;
  return { tuple, level: payload[header - 1]! >>> 5, invoking, layer: flow.value.layer };
}

/**
 * The BTH of the invoking packet, from which the proxy takes the Queue Pair (PNC-4-e). Codes: `not-roce`, `truncated`.
 */
export function invokingBth({ invoking, layer }: Notice): Decoded<Bth> {
  const { transportOffset, protocol, end } = layer;
  if (protocol !== PROTOCOL_UDP) return malformed('not-roce', transportOffset, 'the flow is not UDP');
  if (transportOffset + UDP_HEADER > end) return malformed('truncated', transportOffset, 'cut in the UDP header');
  if (u16(invoking, transportOffset + 2) !== ROCE_UDP_PORT)
    return malformed('not-roce', transportOffset + 2, 'another UDP destination port');
  return decodeBth(invoking, transportOffset + UDP_HEADER, end);
}

export interface NoticePacket extends Omit<NoticeFields, 'family'> {
  /** Both of one family, that of the packet. */
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly sourcePort: number;
  /** `pnc-udp-port`. */
  readonly destinationPort: number;
  readonly trafficClass?: number;
  readonly hopLimit?: number;
}

/** The whole IP packet, checksum set (mandatory on IPv6, and on IPv4 too here). @throws EncodeError */
export function buildNoticePacket(packet: NoticePacket): Uint8Array {
  const { source, destination, sourcePort, destinationPort, trafficClass = 0, hopLimit = 64 } = packet;
  const payload = encodeNotice({
    tuple: packet.tuple,
    level: packet.level,
    invoking: packet.invoking,
    family: source.family,
  });
  return encodeUdpPacket({
    source,
    destination,
    sourcePort,
    destinationPort,
    trafficClass,
    hopLimit,
    checksum: true,
    payload,
  });
}
