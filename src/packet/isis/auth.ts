// HMAC-MD5 authentication of PDUs (RFC 5304): TLV 10, type 54. The digest covers the whole PDU with the digest itself
// zero and, in an LSP, Remaining Lifetime and Checksum zero too (§3); the checksum is computed after it. Cleartext and
// RFC 5310 are recognized, not supported: FRR has no RFC 5310.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { copyOf, put16, u16 } from '../bytes.ts';
import { EncodeError } from '../encode-error.ts';
import { lspChecksum } from './checksum.ts';
import { PDU_BY_TYPE, type PduFormat } from './pdu-format.ts';
import { AUTHENTICATION_TLV } from './tlv/authentication.ts';

export type Verdict = 'ok' | 'missing' | 'wrong' | 'unsupported';

const HMAC_MD5 = 54;
const DIGEST_LENGTH = 16;
/** Bytes by which signPdu lengthens a PDU: type, length, authentication type, digest. */
export const AUTHENTICATION_LENGTH = 3 + DIGEST_LENGTH;

function digest(pdu: Uint8Array, format: PduFormat, digestAt: number, key: Uint8Array): Uint8Array {
  const text = copyOf(pdu);
  if (format.kind === 'lsp') {
    text.fill(0, 10, 12);
    text.fill(0, 24, 26);
  }
  text.fill(0, digestAt, digestAt + DIGEST_LENGTH);
  return createHmac('md5', key).update(text).digest();
}

/**
 * @returns a copy of an encoded PDU without TLV 10, with one put first, and PDU Length, digest and (LSP) checksum set.
 * @throws EncodeError
 */
export function signPdu(pdu: Uint8Array, key: Uint8Array): Uint8Array {
  const format = formatOf(pdu);
  if (!format) throw new EncodeError('not-isis', 'only an encoded PDU can be signed');
  const { headerLength, lengthOffset } = format;
  if (findTlv(pdu, headerLength, AUTHENTICATION_TLV) !== undefined)
    throw new EncodeError('already-signed', 'the PDU already has a TLV 10');
  const out = new Uint8Array(pdu.length + AUTHENTICATION_LENGTH);
  if (out.length > 0xffff) throw new EncodeError('pdu-too-long', `a PDU of ${out.length} bytes`);
  out.set(pdu.subarray(0, headerLength));
  out.set([AUTHENTICATION_TLV, 1 + DIGEST_LENGTH, HMAC_MD5], headerLength);
  out.set(pdu.subarray(headerLength), headerLength + AUTHENTICATION_LENGTH);
  put16(out, lengthOffset, out.length);
  out.set(digest(out, format, headerLength + 3, key), headerLength + 3);
  if (format.kind === 'lsp') put16(out, 24, lspChecksum(out));
  return out;
}

/**
 * Verifies the first TLV 10 of what decodePdu accepts. `missing`: there is none; `unsupported`: its type is not
 * HMAC-MD5; `wrong`: the digest differs, or the PDU is not one. Trailing Ethernet padding is ignored.
 */
export function verifyPdu(bytes: Uint8Array, key: Uint8Array): Verdict {
  const format = formatOf(bytes);
  if (!format) return 'wrong';
  const length = u16(bytes, format.lengthOffset);
  if (length > bytes.length || length < format.headerLength) return 'wrong';
  const pdu = bytes.subarray(0, length);
  const at = findTlv(pdu, format.headerLength, AUTHENTICATION_TLV);
  if (at === undefined) return 'missing';
  const valueLength = pdu[at + 1]!;
  if (valueLength === 0) return 'wrong';
  if (pdu[at + 2] !== HMAC_MD5) return 'unsupported';
  if (valueLength !== 1 + DIGEST_LENGTH) return 'wrong';
  const expected = digest(pdu, format, at + 3, key);
  return timingSafeEqual(expected, pdu.subarray(at + 3, at + 3 + DIGEST_LENGTH)) ? 'ok' : 'wrong';
}

function formatOf(pdu: Uint8Array): PduFormat | undefined {
  const format = pdu.length < 8 ? undefined : PDU_BY_TYPE.get(pdu[4]! & 0x1f);
  return format && pdu.length >= format.headerLength ? format : undefined;
}

/** Where the first TLV of this type begins, if it lies whole within the PDU. */
function findTlv(pdu: Uint8Array, start: number, type: number): number | undefined {
  for (let at = start; at + 2 <= pdu.length; at += 2 + pdu[at + 1]!) {
    if (pdu[at] === type) return at + 2 + pdu[at + 1]! <= pdu.length ? at : undefined;
  }
  return undefined;
}
