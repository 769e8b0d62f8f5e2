// The Acknowledge Extended Transport Header (InfiniBand vol. 1 §9.3.5): a syndrome and a message number. The PSN
// acknowledged is the BTH's.
import { ok } from '../../model/result.ts';
import { put24, u24 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';

type AethKind = 'ack' | 'rnr-nak' | 'reserved' | 'nak';

export interface Aeth {
  readonly kind: AethKind;
  /** Credits of an ACK (31: no information), timer of an RNR NAK, reason of a NAK. */
  readonly value: number;
  /** Message sequence number, 24 bits. */
  readonly msn: number;
}

/** Reasons of a NAK. */
export const NAK = {
  psnSequenceError: 0,
  invalidRequest: 1,
  remoteAccessError: 2,
  remoteOperationalError: 3,
  invalidRdRequest: 4,
} as const;
/** Credit value of an ACK without credits. */
export const NO_CREDITS = 0x1f;

/** Index is bits 6 and 5 of the syndrome. */
const KINDS: readonly AethKind[] = ['ack', 'rnr-nak', 'reserved', 'nak'];
const LENGTH = 4;

/** Code: `truncated`. */
export function decodeAeth(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<Aeth> {
  if (offset + LENGTH > end) return malformed('truncated', offset, 'shorter than an AETH');
  const syndrome = bytes[offset]!;
  return ok({ kind: KINDS[(syndrome >>> 5) & 3]!, value: syndrome & 0x1f, msn: u24(bytes, offset + 1) });
}

/** 4 bytes. */
export function encodeAeth({ kind, value, msn }: Aeth): Uint8Array {
  const out = new Uint8Array(LENGTH);
  out[0] = (KINDS.indexOf(kind) << 5) | (value & 0x1f);
  put24(out, 1, msn);
  return out;
}
