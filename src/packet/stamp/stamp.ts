// STAMP test packets (RFC 8762 §4.2, §4.3): what a session sender sends and what a session reflector answers,
// unauthenticated (44 bytes) and authenticated (112 bytes, HMAC-SHA-256 cut to 128 bits over the 96 bytes before it,
// §4.4). The session identifier of RFC 8972 §3 is read and written; optional TLVs are not: what follows the base packet
// is ignored. They ride in UDP, the reflector on port 862 unless configured otherwise.
//
//   sender      sequence 4, [0 ×12], timestamp 8, error 2, SSID 2, 0 ×28 | 0 ×68, HMAC 16
//   reflector   sequence 4, timestamp 8, error 2, SSID 2, received 8,
//               sender's sequence 4, timestamp 8, error 2, 0 ×2, TTL 1, 0 ×3;
//               authenticated: each group on a multiple of 16, HMAC 16 at the end
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ok } from '../../model/result.ts';
import { put16, put32, put64, u16, u32, u64 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';

export const STAMP_LENGTH = { unauthenticated: 44, authenticated: 112 } as const;
const HMAC = { at: 96, length: 16 } as const;

/** How good a timestamp is (RFC 8762 §4.2.1, RFC 4656 §4.1.2): the error is multiplier × 2^(scale − 32) seconds. */
interface ErrorEstimate {
  /** The clock is synchronized to UTC by an external source. */
  readonly synchronized: boolean;
  /** The timestamp is PTPv2's, not NTP's. cnpd sends NTP. */
  readonly ptp: boolean;
  /** 6 bits. */
  readonly scale: number;
  /** 8 bits, not 0. */
  readonly multiplier: number;
}

/**
 * NTP format, not known to be synchronized, about a millisecond: RTT needs one clock only, so no receiver may compute a
 * one-way delay from it.
 */
export const UNSYNCHRONIZED: ErrorEstimate = { synchronized: false, ptp: false, scale: 15, multiplier: 8 };

export interface StampTest {
  readonly sequence: number;
  /** When it was sent: 64 bits in the format of `error`. */
  readonly timestamp: bigint;
  readonly error: ErrorEstimate;
  /** STAMP session identifier, 16 bits; 0: none. */
  readonly ssid: number;
}

export interface StampReply extends StampTest {
  /** When the test packet arrived, by the reflector's clock. */
  readonly received: bigint;
  /** Copied from the test packet. */
  readonly senderSequence: number;
  readonly senderTimestamp: bigint;
  readonly senderError: ErrorEstimate;
  /** TTL or hop limit with which the test packet arrived. */
  readonly senderTtl: number;
}

interface Layout {
  readonly length: number;
  readonly timestamp: number;
  readonly error: number;
  readonly ssid: number;
  readonly received: number;
  readonly senderSequence: number;
  readonly senderTimestamp: number;
  readonly senderError: number;
  readonly senderTtl: number;
}

/** Offsets; the first four fields of both packets are at the same places. */
const OPEN: Layout = {
  length: STAMP_LENGTH.unauthenticated,
  timestamp: 4,
  error: 12,
  ssid: 14,
  received: 16,
  senderSequence: 24,
  senderTimestamp: 28,
  senderError: 36,
  senderTtl: 40,
};
const SEALED: Layout = {
  length: STAMP_LENGTH.authenticated,
  timestamp: 16,
  error: 24,
  ssid: 26,
  received: 32,
  senderSequence: 48,
  senderTimestamp: 64,
  senderError: 72,
  senderTtl: 80,
};

const layoutOf = (key: Uint8Array | undefined): Layout => (key ? SEALED : OPEN);

const hmac = (bytes: Uint8Array, key: Uint8Array): Uint8Array =>
  createHmac('sha256', key).update(bytes.subarray(0, HMAC.at)).digest().subarray(0, HMAC.length);

function putError(out: Uint8Array, at: number, e: ErrorEstimate): void {
  put16(
    out,
    at,
    (e.synchronized ? 0x8000 : 0) | (e.ptp ? 0x4000 : 0) | ((e.scale & 0x3f) << 8) | (e.multiplier & 0xff),
  );
}

function readError(bytes: Uint8Array, at: number): ErrorEstimate {
  const word = u16(bytes, at);
  return {
    synchronized: (word & 0x8000) !== 0,
    ptp: (word & 0x4000) !== 0,
    scale: (word >>> 8) & 0x3f,
    multiplier: word & 0xff,
  };
}

function start(layout: Layout, test: StampTest): Uint8Array {
  const out = new Uint8Array(layout.length);
  put32(out, 0, test.sequence);
  put64(out, layout.timestamp, test.timestamp);
  putError(out, layout.error, test.error);
  put16(out, layout.ssid, test.ssid);
  return out;
}

function seal(out: Uint8Array, key: Uint8Array | undefined): Uint8Array {
  if (key) out.set(hmac(out, key), HMAC.at);
  return out;
}

/** The session sender's UDP payload: 44 bytes, or 112 with a key. */
export const encodeStampTest = (test: StampTest, key?: Uint8Array): Uint8Array => seal(start(layoutOf(key), test), key);

/** The session reflector's UDP payload, of the same length. */
export function encodeStampReply(reply: StampReply, key?: Uint8Array): Uint8Array {
  const layout = layoutOf(key);
  const out = start(layout, reply);
  put64(out, layout.received, reply.received);
  put32(out, layout.senderSequence, reply.senderSequence);
  put64(out, layout.senderTimestamp, reply.senderTimestamp);
  putError(out, layout.senderError, reply.senderError);
  out[layout.senderTtl] = reply.senderTtl;
  return seal(out, key);
}

/** The error of a packet before its fields are read. */
function refusal(bytes: Uint8Array, key: Uint8Array | undefined): ReturnType<typeof malformed> | undefined {
  const { length } = layoutOf(key);
  if (bytes.length < length)
    return malformed('truncated', bytes.length, `shorter than the ${length} bytes of a STAMP test packet`);
  if (key && !timingSafeEqual(hmac(bytes, key), bytes.subarray(HMAC.at, HMAC.at + HMAC.length)))
    return malformed('bad-hmac', HMAC.at, 'the HMAC is wrong');
  return undefined;
}

function readTest(bytes: Uint8Array, layout: Layout): StampTest {
  return {
    sequence: u32(bytes, 0),
    timestamp: u64(bytes, layout.timestamp),
    error: readError(bytes, layout.error),
    ssid: u16(bytes, layout.ssid),
  };
}

/** A session sender's packet. MBZ fields are ignored. Codes: `truncated`, `bad-hmac`. */
export function decodeStampTest(bytes: Uint8Array, key?: Uint8Array): Decoded<StampTest> {
  return refusal(bytes, key) ?? ok(readTest(bytes, layoutOf(key)));
}

/** A session reflector's packet. Codes: `truncated`, `bad-hmac`. */
export function decodeStampReply(bytes: Uint8Array, key?: Uint8Array): Decoded<StampReply> {
  const layout = layoutOf(key);
  return (
    refusal(bytes, key) ??
    ok({
      ...readTest(bytes, layout),
      received: u64(bytes, layout.received),
      senderSequence: u32(bytes, layout.senderSequence),
      senderTimestamp: u64(bytes, layout.senderTimestamp),
      senderError: readError(bytes, layout.senderError),
      senderTtl: bytes[layout.senderTtl]!,
    })
  );
}
