// Formats quantities for the operator.

const BIT_RATES = [
  [1e12, 'Tbit/s'],
  [1e9, 'Gbit/s'],
  [1e6, 'Mbit/s'],
  [1e3, 'kbit/s'],
] as const;

export function formatBitRate(bitPerS: number): string {
  const [scale, unit] = BIT_RATES.find(([least]) => bitPerS >= least) ?? [1, 'bit/s'];
  return `${decimals(bitPerS / scale)} ${unit}`;
}

/** Nanoseconds as milliseconds. */
export const formatMs = (ns: number): string => `${decimals(ns / 1e6)} ms`;

/** A fraction as percent. */
export const formatPercent = (fraction: number): string => `${decimals(fraction * 100)} %`;

/** At most three decimals, without trailing zeros. */
const decimals = (value: number): string => String(Number(value.toFixed(3)));
