// What samples of a congested port say of one overload: when its queue crossed the threshold, how far it overshot, when
// what arrives fell, and when the flow was back after the port was free again. Pure. Times are ms, rates bit/s.

export interface PortSample {
  readonly t: number;
  /** Queued, bytes. */
  readonly backlog: number;
  /** All that has arrived so far, bytes: what has left, and what is queued. */
  readonly arrived: number;
}

export interface Overload {
  /** Queue from which feedback is given, bytes. */
  readonly threshold: number;
  /** Of the bottleneck. */
  readonly capacity: number;
  /** When the bottleneck became too narrow, and when it was wide again. */
  readonly from: number;
  readonly until: number;
}

export interface Crossing {
  readonly at: number;
  /** By which the flow exceeded the bottleneck, just before. */
  readonly overload: number;
}

/** Before the crossing, the flow's rate is that of so long. */
const STEADY_MS = 100;

/** What arrived between the last sample until `from` and the first one from `until` on; undefined: there are none. */
export function arrivalRate(samples: readonly PortSample[], from: number, until: number): number | undefined {
  const first = samples.findLast((s) => s.t <= from);
  const last = samples.find((s) => s.t >= until);
  return first && last && rateBetween(first, last);
}

const rateBetween = (first: PortSample, last: PortSample): number | undefined =>
  last.t > first.t ? ((last.arrived - first.arrived) * 8000) / (last.t - first.t) : undefined;

/**
 * Undefined: the queue never came to the threshold, or it is not known what arrived before.
 * @param toldAt when the port's own program was seen to speak, which it does from the threshold on: a peak between two
 * samples
 */
export function crossingOf(
  samples: readonly PortSample[],
  { threshold, capacity, from, until }: Overload,
  toldAt = Infinity,
): Crossing | undefined {
  const during = samples.filter(({ t }) => t >= from && t <= until);
  const i = during.findIndex(({ backlog }) => backlog >= threshold);
  if (i < 0) return undefined;
  const at = Math.min(toldAt, interpolated(during[i - 1], during[i]!, threshold));
  const offered = arrivalRate(samples, at - STEADY_MS, at);
  return offered === undefined ? undefined : { at, overload: offered - capacity };
}

/** When the queue crossed `level`, on the straight line between two samples. */
function interpolated(before: PortSample | undefined, after: PortSample, level: number): number {
  if (!before || after.backlog <= before.backlog) return after.t;
  return before.t + ((level - before.backlog) / (after.backlog - before.backlog)) * (after.t - before.t);
}

/** The highest queue of the samples between the two times, and when; undefined: there are none. */
export const peakOf = (samples: readonly PortSample[], from: number, until: number): PortSample | undefined =>
  samples.reduce<PortSample | undefined>(
    (most, s) => (s.t >= from && s.t <= until && s.backlog > (most?.backlog ?? -1) ? s : most),
    undefined,
  );

/**
 * How long after `from` the flow arrives at `rate` again: the start of the first window of `windowMs` in which it does.
 * Undefined: it does not within the samples.
 */
export function recoveryOf(
  samples: readonly PortSample[],
  { from, rate, windowMs }: { readonly from: number; readonly rate: number; readonly windowMs: number },
): number | undefined {
  let end = 0;
  for (const first of samples) {
    if (first.t < from) continue;
    while (end < samples.length && samples[end]!.t < first.t + windowMs) end++;
    const last = samples[end];
    if (!last) return undefined;
    if ((rateBetween(first, last) ?? 0) >= rate) return first.t - from;
  }
  return undefined;
}
