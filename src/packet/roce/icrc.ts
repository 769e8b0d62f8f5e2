// The Invariant CRC of RoCEv2 (InfiniBand annex A17 §A17.3.3): a CRC-32 over the packet with all fields that may change
// on the path replaced by ones: TOS, TTL and checksum of IPv4; traffic class, flow label and hop limit of IPv6; the UDP
// checksum; BTH byte 4 (FECN, BECN, reserved). Eight bytes of ones come first, in place of InfiniBand's local route
// header. On the wire it is little-endian, unlike everything else.
//
// The treatment of IPv6 extension headers is undefined. Here they are covered as they are: the Fast CNP option selects
// the Queue Pair.
import { crc32 } from 'node:zlib';

export const ICRC_LENGTH = 4;

const PREFIX = new Uint8Array(8).fill(0xff);
const UDP_AND_BTH = 8 + 5;

/**
 * @param packet begins with the IP header, its lengths final
 * @param udpOffset of the UDP header
 * @param end offset of the ICRC
 */
export function icrc(packet: Uint8Array, udpOffset: number, end: number): number {
  const maskedLength = Math.min(udpOffset + UDP_AND_BTH, end);
  const head = new Uint8Array(PREFIX.length + maskedLength);
  head.set(PREFIX);
  head.set(packet.subarray(0, maskedLength), PREFIX.length);
  const masked = head.subarray(PREFIX.length);
  if (masked[0]! >>> 4 === 4) {
    masked[1] = 0xff;
    masked[8] = 0xff;
    masked.fill(0xff, 10, 12);
  } else {
    masked[0] = 0x6f;
    masked.fill(0xff, 1, 4);
    masked[7] = 0xff;
  }
  masked.fill(0xff, udpOffset + 6, udpOffset + 8);
  masked.fill(0xff, udpOffset + 12, udpOffset + 13);
  return crc32(packet.subarray(maskedLength, end), crc32(head)) >>> 0;
}

/** Reads the four little-endian bytes at `offset`. */
export const readIcrc = (b: Uint8Array, offset: number): number =>
  (b[offset]! | (b[offset + 1]! << 8) | (b[offset + 2]! << 16) | (b[offset + 3]! << 24)) >>> 0;

export function writeIcrc(b: Uint8Array, offset: number, value: number): void {
  for (let i = 0; i < ICRC_LENGTH; i++) b[offset + i] = value >>> (8 * i);
}
