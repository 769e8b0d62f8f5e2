// UDP (RFC 768) over IPv4 and IPv6, and whole UDP/IP packets. A checksum of 0 means "none": legal on IPv4, and on IPv6
// only where a protocol allows it, as RoCEv2 does (RFC 6936). Notices always carry one.
import type { IpAddress } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, put16, u16 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { addWords, foldChecksum, pseudoHeaderSum } from './checksum.ts';
import { encodeIpv4 } from './ipv4.ts';
import { encodeIpv6 } from './ipv6.ts';

export const UDP_HEADER = 8;
export const PROTOCOL_UDP = 17;

export interface UdpHeader {
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** As declared, header included. */
  readonly length: number;
  readonly checksum: number;
}

/** The header at `offset`, whose datagram ends before `end`. Codes: `truncated`, `bad-udp-length`. */
export function decodeUdp(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<UdpHeader> {
  if (offset + UDP_HEADER > end) return malformed('truncated', offset, 'shorter than a UDP header');
  const length = u16(bytes, offset + 4);
  if (length < UDP_HEADER) return malformed('bad-udp-length', offset + 4, `UDP length ${length}`);
  if (offset + length > end)
    return malformed('truncated', offset + 4, `UDP length ${length}, but ${end - offset} bytes arrived`);
  return ok({
    sourcePort: u16(bytes, offset),
    destinationPort: u16(bytes, offset + 2),
    length,
    checksum: u16(bytes, offset + 6),
  });
}

type UdpChecksum = 'valid' | 'wrong' | 'absent';

/**
 * Checks the datagram of `length` bytes at `offset`. `destination` is the final one when a routing header is on the
 * way.
 */
export function udpChecksum(
  bytes: Uint8Array,
  offset: number,
  length: number,
  source: IpAddress,
  destination: IpAddress,
): UdpChecksum {
  if (u16(bytes, offset + 6) === 0) return 'absent';
  const sum = addWords(pseudoHeaderSum(source, destination, PROTOCOL_UDP, length), bytes, offset, offset + length);
  return foldChecksum(sum) === 0 ? 'valid' : 'wrong';
}

interface UdpPacket {
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** DSCP and ECN; 0 when absent. */
  readonly trafficClass?: number;
  /** 64 when absent. */
  readonly hopLimit?: number;
  /** IPv6 only. */
  readonly flowLabel?: number;
  /** IPv4 only. */
  readonly identification?: number;
  readonly dontFragment?: boolean;
  /** False leaves the UDP checksum 0. */
  readonly checksum: boolean;
  readonly payload: Uint8Array;
}

/** A whole IPv4 or IPv6 packet, after the addresses' family. @throws EncodeError */
export function encodeUdpPacket(packet: UdpPacket): Uint8Array {
  const { source, destination, payload } = packet;
  const length = UDP_HEADER + payload.length;
  if (length > 0xffff) throw new EncodeError('packet-too-long', `a UDP datagram of ${length} bytes`);
  const udp = new Uint8Array(UDP_HEADER);
  put16(udp, 0, packet.sourcePort);
  put16(udp, 2, packet.destinationPort);
  put16(udp, 4, length);
  if (packet.checksum) {
    const sum = addWords(addWords(pseudoHeaderSum(source, destination, PROTOCOL_UDP, length), udp), payload);
    // 0 on the wire would say "no checksum".
    put16(udp, 6, foldChecksum(sum) || 0xffff);
  }
  const common = { source, destination, trafficClass: packet.trafficClass ?? 0, hopLimit: packet.hopLimit ?? 64 };
  if (source.family === 6) {
    return concat(
      encodeIpv6({ ...common, flowLabel: packet.flowLabel ?? 0, payloadLength: length, nextHeader: PROTOCOL_UDP }),
      udp,
      payload,
    );
  }
  const { identification = 0, dontFragment = false } = packet;
  return concat(
    encodeIpv4({ ...common, protocol: PROTOCOL_UDP, payloadLength: length, identification, dontFragment }),
    udp,
    payload,
  );
}
