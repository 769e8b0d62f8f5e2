// The class of a held flow, in the terms of the dataplane: its rate, its silences, and the time that it takes to drain.

import { LONGEST_PAUSE_US } from '../model/notification.ts';
import { LONGEST_ROCE_FRAME } from '../model/roce.ts';

/** What may leave at once after a silence: a millisecond at the rate, and at least two of the longest frames. */
const BURST_MS = 1;
const LEAST_BURST = 2 * LONGEST_ROCE_FRAME;

/** The longest frame takes no longer. A class owes it before a raised rate is in force (kernel/netlink/htb.ts). */
const LONGEST_FRAME_MS = 100;

/**
 * bit/s: below, a reduced flow could not recover in time. On a link that is so slow itself that its frames take longer,
 * half its rate.
 */
export const leastRate = (lineRate: number): number =>
  Math.min(lineRate / 2, (LONGEST_ROCE_FRAME * 8 * 1000) / LONGEST_FRAME_MS);

/** bit/s: a flow is reduced no further, unless it is stopped. */
export const minimumRate = ({
  lineRate,
  minimumShare,
}: {
  readonly lineRate: number;
  readonly minimumShare: number;
}): number => Math.max(minimumShare * lineRate, leastRate(lineRate));

/** What waits in a class shares the line with other traffic, which precedes it: it may take so much longer. */
const SHARED = 2;
const [LEAST_DRAIN_MS, MOST_DRAIN_MS] = [1000, 60_000];

/**
 * How long a class may take to be empty once its flow leaves: what it owes for its last frame or pause, and a full
 * queue at the rate of the line. A flow that never pauses is let go then: its class is empty or nearly so.
 * @param buffer bytes
 */
export function drainMs(lineRate: number, buffer: number): number {
  const owed = Math.max(LONGEST_PAUSE_US / 1000, (LONGEST_ROCE_FRAME * 8 * 1000) / leastRate(lineRate));
  const queued = ((buffer + LEAST_BURST) * 8 * 1000) / lineRate;
  return Math.min(MOST_DRAIN_MS, Math.max(LEAST_DRAIN_MS, SHARED * (owed + queued)));
}

const bytesPerSecond = (bits: number): bigint => BigInt(Math.max(1, Math.round(bits / 8)));
/** @param bits per second */
export const classRate = (bits: number): { readonly rate: bigint; readonly burst: number } => ({
  rate: bytesPerSecond(bits),
  burst: Math.max(LEAST_BURST, Math.round((bits / 8 / 1000) * BURST_MS)),
});

/** What a pause lets through: a frame before each silence, at most this share of the line. One of 1,518 bytes: 4 %. */
const LEAK = 0.11;
const LEAST_SILENCE_US = 1000;

/**
 * Of a class that is paused until further notice, in silences one after another. What is let go on waits for the end of
 * one, so it is no longer than the leak requires.
 */
export const silenceUs = (lineRate: number): number =>
  Math.min(
    LONGEST_PAUSE_US,
    Math.max(LEAST_SILENCE_US, Math.round((1e6 * LONGEST_ROCE_FRAME * 8) / (LEAK * lineRate))),
  );
