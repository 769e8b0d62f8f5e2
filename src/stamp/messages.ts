// Test packets of cnpd's own Session-Sender and Session-Reflector (RFC 8762 §4): which fields they fill in and how.
// Timestamps are NTP's. Pure.
import { type Decoded } from '../packet/decode.ts';
import { ntpDifferenceNs, ntpFromUnixNs } from '../packet/ntp.ts';
import {
  type StampReply,
  UNSYNCHRONIZED,
  decodeStampReply,
  decodeStampTest,
  encodeStampReply,
  encodeStampTest,
} from '../packet/stamp/stamp.ts';
import { ok } from '../model/result.ts';
import type { ProbeAnswer } from './prober.ts';

/** RFC 8762 §4.2, §4.3: so that a receiver can compute the number of routers on the path. */
export const STAMP_HOP_LIMIT = 255;
/** CS6, as the notifications: probes measure the path, not the queue of data. */
export const STAMP_TRAFFIC_CLASS = 48 << 2;
/**
 * Part of a timestamp, filled with random bits: a microsecond that is not needed here and that a forger of answers
 * cannot guess.
 */
const RANDOM_BITS = 12n;

/** A time as it goes into a probe. @param random 32 random bits */
export const probeTimestamp = (unixNs: bigint, random: number): bigint => {
  const mask = (1n << RANDOM_BITS) - 1n;
  return (ntpFromUnixNs(unixNs) & ~mask) | (BigInt(random >>> 0) & mask);
};

export const encodeProbe = (sequence: number, timestamp: bigint, key?: Uint8Array): Uint8Array =>
  encodeStampTest({ sequence, timestamp, error: UNSYNCHRONIZED, ssid: 0 }, key);

/** Codes: those of decodeStampReply. */
export function decodeAnswer(bytes: Uint8Array, key?: Uint8Array): Decoded<ProbeAnswer> {
  const reply = decodeStampReply(bytes, key);
  if (!reply.ok) return reply;
  const { senderSequence, senderTimestamp } = reply.value;
  return ok({ senderSequence, senderTimestamp, heldNs: heldNs(reply.value) });
}

/** Both times of the reflector are in the format that its error estimate names. */
function heldNs({ timestamp, received, error }: StampReply): bigint {
  return error.ptp ? ptpNs(timestamp) - ptpNs(received) : ntpDifferenceNs(timestamp, received);
}

/** The truncated PTPv2 timestamp (RFC 8186 §2.1.2): seconds, nanoseconds. */
const ptpNs = (timestamp: bigint): bigint => (timestamp >> 32n) * 1_000_000_000n + (timestamp & 0xffff_ffffn);

interface Arrival {
  readonly receivedNs: bigint;
  /** Undefined: the kernel did not say. */
  readonly hopLimit: number | undefined;
}

/**
 * The answer of a stateless reflector (RFC 8762 §4.3): it repeats the probe's sequence number. Codes: those of
 * decodeStampTest.
 * @param sendingNs read last: the time between arrival and then is not transit time
 */
export function answerProbe(
  bytes: Uint8Array,
  { receivedNs, hopLimit = STAMP_HOP_LIMIT }: Arrival,
  sendingNs: () => bigint,
  key?: Uint8Array,
): Decoded<Uint8Array> {
  const probe = decodeStampTest(bytes, key);
  if (!probe.ok) return probe;
  const { sequence, timestamp, error, ssid } = probe.value;
  const sender = { senderSequence: sequence, senderTimestamp: timestamp, senderError: error, senderTtl: hopLimit };
  return ok(
    encodeStampReply(
      {
        sequence,
        timestamp: ntpFromUnixNs(sendingNs()),
        error: UNSYNCHRONIZED,
        ssid,
        received: ntpFromUnixNs(receivedNs),
        ...sender,
      },
      key,
    ),
  );
}
