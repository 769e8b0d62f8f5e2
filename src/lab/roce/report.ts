// The endpoint's output: one JSON object per line on standard output. `t` is milliseconds of CLOCK_MONOTONIC, which all
// processes of the machine share, so that lines of both ends and samples of a queue between them fit on one axis. Rates
// are bit/s.

export type Report = (event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Milliseconds of CLOCK_MONOTONIC. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

export function jsonLines(write: (line: string) => void, now: () => number): Report {
  return (event, fields = {}) => write(`${JSON.stringify({ event, t: Number(now().toFixed(3)), ...fields })}\n`);
}

const PLACES = 1000;
export const rounded = (value: number | undefined): number | null =>
  value === undefined ? null : Math.round(value * PLACES) / PLACES;
