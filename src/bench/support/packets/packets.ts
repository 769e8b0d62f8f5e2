// Packets to measure with: RoCEv2 data, plain and inside SRv6, and notices about them.
import { type IpAddress, address, addressBytes } from '../../../model/address.ts';
import { concat } from '../../../packet/bytes.ts';
import { innermostTuple } from '../../../packet/ip/five-tuple.ts';
import { encodeIpv6 } from '../../../packet/ip/ipv6.ts';
import { buildNoticePacket } from '../../../packet/notice/pnc.ts';
import { OPCODE } from '../../../packet/roce/opcodes.ts';
import { buildRocePacket } from '../../../packet/roce/packet.ts';

export const SENDER = address('2001:db8:1::2');
export const RECEIVER = address('2001:db8:2::2');
const SENDER4 = address('10.1.0.2');
const RECEIVER4 = address('10.2.0.2');
const PAYLOAD = 1024;
const ECT0 = 2;
const NEXT_HEADER = { ipv6: 41, routing: 43 } as const;

export const ethernet = (
  packet: Uint8Array,
  macs: Uint8Array = Uint8Array.of(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2),
): Uint8Array => concat(macs, packet[0]! >> 4 === 6 ? Uint8Array.of(0x86, 0xdd) : Uint8Array.of(8, 0), packet);

const data = (source: IpAddress, destination: IpAddress, destQpn: number, psn = 1): Uint8Array =>
  buildRocePacket({
    source,
    destination,
    sourcePort: 0xc123,
    trafficClass: ECT0,
    hopLimit: 62,
    bth: { opcode: OPCODE.sendOnly, destQpn, psn },
    payload: new Uint8Array(PAYLOAD).fill(0x5a),
  });

export const dataIpv6 = (destQpn = 0x123456, psn = 1): Uint8Array => data(SENDER, RECEIVER, destQpn, psn);
export const dataIpv4 = (destQpn = 0x123456): Uint8Array => data(SENDER4, RECEIVER4, destQpn);

/**
 * SRv6 encapsulation: outer IPv6, an SRH (RFC 8754) with these segments, the packet. Without segments: reduced
 * encapsulation, no SRH.
 */
export function insideSrv6(packet: Uint8Array, segments: readonly string[]): Uint8Array {
  const srh =
    segments.length === 0
      ? new Uint8Array(0)
      : concat(
          Uint8Array.of(NEXT_HEADER.ipv6, segments.length * 2, 4, segments.length - 1, segments.length - 1, 0, 0, 0),
          ...segments.map((s) => addressBytes(address(s))).reverse(),
        );
  return concat(
    encodeIpv6({
      trafficClass: ECT0,
      flowLabel: 0x12345,
      payloadLength: srh.length + packet.length,
      nextHeader: srh.length > 0 ? NEXT_HEADER.routing : NEXT_HEADER.ipv6,
      hopLimit: 62,
      source: address('2001:db8:ffff::2'),
      destination: address(segments[0] ?? '2001:db8:f4::1'),
    }),
    srh,
    packet,
  );
}

interface NoticeEnds {
  readonly congested: IpAddress;
  readonly proxy: IpAddress;
  readonly port: number;
}

/** A notice of full length about a data packet to a Queue Pair; an IP packet. */
export function noticeAbout(destQpn: number, ends: NoticeEnds): Uint8Array {
  const invoking = dataIpv6(destQpn);
  const tuple = innermostTuple(invoking);
  if (!tuple.ok) throw new Error(tuple.error.detail);
  return buildNoticePacket({
    source: ends.congested,
    destination: ends.proxy,
    sourcePort: 0xd000,
    destinationPort: ends.port,
    tuple: tuple.value,
    level: 3,
    invoking,
  });
}
