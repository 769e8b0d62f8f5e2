// Curves: thinning them for a report, and the moment at which one crosses a level. Pure.
import type { Point } from './results.ts';

/** At most two points (smallest and largest, in their order) a bin of `binMs`: peaks survive. */
export function thin(points: readonly Point[], binMs: number): Point[] {
  const out: Point[] = [];
  for (let i = 0; i < points.length; ) {
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

export const peak = (points: readonly Point[]): number => points.reduce((most, [, v]) => Math.max(most, v), 0);
