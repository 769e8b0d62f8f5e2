// Curves: thinning them for a report, and the moment at which one crosses a level. Pure.
import type { Point } from './results.ts';

/** At most two points (smallest and largest, in their order) a bin of `binMs`: peaks survive. */
export function thin(points: readonly Point[], binMs: number): Point[] {
  const out: Point[] = [];
  for (let i = 0; i < points.length;) {
    const bin = Math.floor(points[i]![0] / binMs);
    let low = points[i]!;
    let high = low;
    for (; i < points.length && Math.floor(points[i]![0] / binMs) === bin; i++) {
      if (points[i]![1] < low[1]) low = points[i]!;
      if (points[i]![1] > high[1]) high = points[i]!;
    }
    out.push(...(low === high ? [low] : low[0] < high[0] ? [low, high] : [high, low]));
  }
  return out.map(([t, v]) => [Math.round(t * 10) / 10, Math.round(v)]);
}

/** When the curve first reaches `level`, on the straight line between the two samples around it. */
export function firstCrossing(points: readonly Point[], level: number): number | undefined {
  const i = points.findIndex(([, v]) => v >= level);
  if (i < 0) return undefined;
  const [t1, v1] = points[i]!;
  if (i === 0 || v1 === level) return t1;
  const [t0, v0] = points[i - 1]!;
  return t0 + ((level - v0) / (v1 - v0)) * (t1 - t0);
}

/** When the curve, having been at `level`, is below it and stays there for `holdMs`; undefined: it does not. */
export function settledAt(points: readonly Point[], level: number, holdMs: number): number | undefined {
  const first = points.findIndex(([, v]) => v >= level);
  if (first < 0) return undefined;
  let since: number | undefined;
  for (const [t, v] of points.slice(first)) {
    if (v >= level) since = undefined;
    else since ??= t;
    if (since !== undefined && t - since >= holdMs) return since;
  }
  return undefined;
}

export const peak = (points: readonly Point[]): number => points.reduce((most, [, v]) => Math.max(most, v), 0);

/**
 * How long any of the curves is at its level or above, in the curves' unit of time. Between two samples a curve keeps
 * the value of the first.
 */
export function timeAbove(curves: readonly { readonly points: readonly Point[]; readonly level: number }[]): number {
  // +1 when a curve comes to its level, -1 when it leaves it.
  const changes = curves.flatMap(({ points, level }) => {
    const out: [t: number, change: number][] = [];
    let above = false;
    for (const [t, v] of points) {
      if (v >= level === above) continue;
      above = !above;
      out.push([t, above ? 1 : -1]);
    }
    if (above) out.push([points.at(-1)![0], -1]);
    return out;
  });
  changes.sort(([a], [b]) => a - b);
  let [total, count, since] = [0, 0, 0];
  for (const [t, change] of changes) {
    if (count > 0) total += t - since;
    since = t;
    count += change;
  }
  return total;
}
