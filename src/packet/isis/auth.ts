// HMAC-MD5 authentication of PDUs (RFC 5304): TLV 10, type 54.

export type Verdict = 'ok' | 'missing' | 'wrong' | 'unsupported';

/** Bytes by which signPdu lengthens a PDU. */
export const AUTHENTICATION_LENGTH = 19;

/** @returns a copy of an encoded PDU that has no TLV 10, with one put first, PDU Length, digest and (LSP) checksum set */
export function signPdu(_pdu: Uint8Array, _key: Uint8Array): Uint8Array {
  throw new Error('being written');
}

/** Verifies the first TLV 10. `missing`: none; `unsupported`: another type than HMAC-MD5; `wrong`: digest differs or the PDU is malformed. */
export function verifyPdu(_pdu: Uint8Array, _key: Uint8Array): Verdict {
  throw new Error('being written');
}
