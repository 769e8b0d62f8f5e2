// Cryptographic authentication of OSPFv2: keyed MD5 (RFC 2328 §D) and HMAC-SHA (RFC 5709). The header has the key ID,
// the digest length and a sequence number that must not decrease. The digest follows the packet and is not part of its
// length. Plain-text passwords are not supported. Replay protection belongs to the caller, which remembers the sequence
// number of each neighbor (RFC 2328 §D.5.3).
import { concat, copyOf, put16, put32, u32 } from '../bytes.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';
import {
  type AuthenticationKey,
  type AuthenticationVerdict,
  DIGESTS,
  apad,
  hmac,
  keyedMd5,
  sameDigest,
} from './digest.ts';
import { AUTHENTICATION_AT, AUTHENTICATION_TYPE, clearChecksum, readPacketHeader } from './packet-header.ts';

/** Bytes that signing adds to a packet. */
export const digestLength = ({ algorithm }: AuthenticationKey): number => DIGESTS[algorithm].length;

/** Apad is that of RFC 5709, as in FRR: without the source address of RFC 7474 §5. */
function digest(packet: Uint8Array, { algorithm, secret }: AuthenticationKey): Uint8Array {
  if (algorithm === 'md5') return keyedMd5(packet, secret);
  return hmac(algorithm, secret, packet, apad(DIGESTS[algorithm].length));
}

/**
 * @param packet as encodePacket returns it
 * @param sequence unsigned 32 bits, never lower than in the previous packet
 * @returns a copy with the authentication fields set, the checksum 0 and the digest appended
 * @throws EncodeError
 */
export function signPacketV2(packet: Uint8Array, key: AuthenticationKey, sequence: number): Uint8Array {
  const header = readPacketHeader(2, packet);
  if (!header.ok || header.value.length !== packet.length)
    throw new EncodeError('not-ospf', 'only an encoded packet can be signed');
  const out = copyOf(packet);
  clearChecksum(out);
  put16(out, 14, AUTHENTICATION_TYPE.cryptographic);
  out.fill(0, AUTHENTICATION_AT, AUTHENTICATION_AT + 2);
  out[AUTHENTICATION_AT + 2] = field('key ID', key.id, 8);
  out[AUTHENTICATION_AT + 3] = digestLength(key);
  put32(out, AUTHENTICATION_AT + 4, field('sequence number', sequence, 32));
  return concat(out, digest(out, key));
}

/** @param bytes the IP payload: the packet, its digest, and perhaps an LLS block, which is ignored */
export function verifyPacketV2(bytes: Uint8Array, keys: readonly AuthenticationKey[]): AuthenticationVerdict {
  const header = readPacketHeader(2, bytes);
  if (!header.ok) return { ok: false, reason: 'wrong' };
  const { length, authenticationType } = header.value;
  if (authenticationType !== AUTHENTICATION_TYPE.cryptographic) return { ok: false, reason: 'missing' };
  const keyId = bytes[AUTHENTICATION_AT + 2]!;
  const key = keys.find(({ id }) => id === keyId);
  if (!key) return { ok: false, reason: 'unknown-key' };
  const end = length + digestLength(key);
  if (bytes[AUTHENTICATION_AT + 3] !== digestLength(key)) return { ok: false, reason: 'wrong' };
  if (!sameDigest(bytes.subarray(length, end), digest(bytes.subarray(0, length), key)))
    return { ok: false, reason: 'wrong' };
  return { ok: true, keyId, sequence: BigInt(u32(bytes, AUTHENTICATION_AT + 4)) };
}
