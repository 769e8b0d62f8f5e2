// The authentication trailer of OSPFv3 (RFC 7166). It follows the packet and its LLS block (RFC 5613), outside the
// packet's length. The digest covers all three, with Apad in the digest's own place, and the source address through
// Apad. Senders set the AT option in hellos and Database Descriptions.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { concat, copyOf, put16, put64, u16, u24, u64 } from '../bytes.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';
import { type AuthenticationKey, type AuthenticationVerdict, DIGESTS, apad, hmac, sameDigest } from './digest.ts';
import { OPTION_V3 } from './numbers.ts';
import { HEADER_LENGTH, type PacketHeader, clearChecksum, readPacketHeader } from './packet-header.ts';

const TRAILER_FIXED = 16;
/** The only authentication type: HMAC (RFC 7166 §4.1). */
const HMAC_TYPE = 1;

/**
 * The number of OSPFv3 is appended to the key, so that another protocol's digest under the same key is not valid here
 * (RFC 7166 §4.5). FRR 8.4 on x86 appends it in the byte order of the machine; later releases follow the RFC. A speaker
 * uses its neighbor's order.
 */
export type ProtocolIdOrder = 'network' | 'reversed';

const PROTOCOL_ID: Readonly<Record<ProtocolIdOrder, Uint8Array>> = {
  network: Uint8Array.of(0x00, 0x01),
  reversed: Uint8Array.of(0x01, 0x00),
};
const ORDERS: readonly ProtocolIdOrder[] = ['network', 'reversed'];

type TrailerVerdict =
  | (Extract<AuthenticationVerdict, { ok: true }> & { readonly order: ProtocolIdOrder })
  | Extract<AuthenticationVerdict, { ok: false }>;

/** Bytes that signing adds to a packet. */
export const trailerLength = ({ algorithm }: AuthenticationKey): number => TRAILER_FIXED + DIGESTS[algorithm].length;

/** @param text packet, LLS block and the fixed part of the trailer */
const digest = (
  text: Uint8Array,
  { algorithm, secret }: AuthenticationKey,
  source: IpAddress,
  order: ProtocolIdOrder,
): Uint8Array =>
  hmac(algorithm, concat(secret, PROTOCOL_ID[order]), text, apad(DIGESTS[algorithm].length, addressBytes(source)));

/** The offset of the options in packets that have them. The options announce an LLS block. */
const OPTIONS_AT: Partial<Record<PacketHeader['kind'], number>> = {
  hello: HEADER_LENGTH[3] + 5,
  'database-description': HEADER_LENGTH[3] + 1,
};

/** 0 for a packet without options. */
function optionsOf(bytes: Uint8Array, { kind, length }: PacketHeader): number {
  const at = OPTIONS_AT[kind];
  return at === undefined || at + 3 > length ? 0 : u24(bytes, at);
}

/** Whether a hello or Database Description announces a trailer (the AT option). */
export function announcesTrailer(bytes: Uint8Array): boolean {
  const header = readPacketHeader(3, bytes);
  return header.ok && (optionsOf(bytes, header.value) & OPTION_V3.authenticationTrailer) !== 0;
}

/**
 * Where the trailer begins: after the packet, or after the LLS block. The second field of that block is its length in
 * 32-bit words.
 */
function trailerAt(bytes: Uint8Array, header: PacketHeader): number {
  const { length } = header;
  const hasLls = (optionsOf(bytes, header) & OPTION_V3.lls) !== 0;
  return hasLls && length + 4 <= bytes.length ? length + 4 * u16(bytes, length + 2) : length;
}

/**
 * @param packet as encodePacket returns it, without LLS block
 * @param sequence unsigned 64 bits, strictly higher than in the previous packet, also across restarts
 * @param source source address of the IPv6 header
 * @returns a copy with checksum 0 and the trailer appended
 * @throws EncodeError
 */
export function signPacketV3(
  packet: Uint8Array,
  key: AuthenticationKey,
  sequence: bigint,
  source: IpAddress,
  order: ProtocolIdOrder = 'network',
): Uint8Array {
  const header = readPacketHeader(3, packet);
  if (!header.ok || header.value.length !== packet.length)
    throw new EncodeError('not-ospf', 'only an encoded packet can be signed');
  if (key.algorithm === 'md5') throw new EncodeError('bad-field', 'OSPFv3 has no MD5 authentication');
  const out = copyOf(packet);
  clearChecksum(out);
  const trailer = new Uint8Array(TRAILER_FIXED);
  put16(trailer, 0, HMAC_TYPE);
  put16(trailer, 2, trailerLength(key));
  put16(trailer, 6, field('security association ID', key.id, 16));
  put64(trailer, 8, sequence);
  const text = concat(out, trailer);
  return concat(text, digest(text, key, source, order));
}

/** @param bytes the IP payload: packet, LLS block if any, trailer */
export function verifyPacketV3(
  bytes: Uint8Array,
  keys: readonly AuthenticationKey[],
  source: IpAddress,
): TrailerVerdict {
  const header = readPacketHeader(3, bytes);
  if (!header.ok) return { ok: false, reason: 'wrong' };
  const at = trailerAt(bytes, header.value);
  const digestAt = at + TRAILER_FIXED;
  if (digestAt > bytes.length || u16(bytes, at) !== HMAC_TYPE) return { ok: false, reason: 'missing' };
  const keyId = u16(bytes, at + 6);
  const key = keys.find(({ id }) => id === keyId);
  if (!key) return { ok: false, reason: 'unknown-key' };
  const end = at + trailerLength(key);
  if (u16(bytes, at + 2) !== trailerLength(key)) return { ok: false, reason: 'wrong' };
  const order = ORDERS.find((o) =>
    sameDigest(bytes.subarray(digestAt, end), digest(bytes.subarray(0, digestAt), key, source, o)),
  );
  return order ? { ok: true, keyId, sequence: u64(bytes, at + 8), order } : { ok: false, reason: 'wrong' };
}
