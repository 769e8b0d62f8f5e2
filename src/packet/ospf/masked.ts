// Packets without what authenticates them, for recordings: the password, or the digest, of OSPFv2, and the digest in
// the trailer of OSPFv3. No checksum covers them.
import { copyOf, u16 } from '../bytes.ts';
import type { Version } from './numbers.ts';
import { HEADER_LENGTH } from './packet-header.ts';

/** Of OSPFv2's header: the type of the authentication, and its data, to the header's end (RFC 2328 §A.3.1). */
const [AUTHENTICATION_TYPE_AT, AUTHENTICATION_AT] = [14, 16];
const SIMPLE_PASSWORD = 1;
/** Of OSPFv3's trailer, before its digest (RFC 7166 §4.1). */
const TRAILER_HEADER = 16;

/** @returns the packet itself if nothing in it is secret, else a copy */
export function maskPacket(version: Version, packet: Uint8Array): Uint8Array {
  const headerLength = HEADER_LENGTH[version];
  if (packet.length < headerLength) return packet;
  const isPassword = version === 2 && u16(packet, AUTHENTICATION_TYPE_AT) === SIMPLE_PASSWORD;
  const secretAt = Math.max(headerLength, u16(packet, 2)) + (version === 3 ? TRAILER_HEADER : 0);
  if (!isPassword && secretAt >= packet.length) return packet;
  const masked = copyOf(packet);
  if (isPassword) masked.fill(0, AUTHENTICATION_AT, headerLength);
  if (secretAt < masked.length) masked.fill(0, secretAt);
  return masked;
}
