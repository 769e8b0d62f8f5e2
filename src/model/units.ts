// Numbers with units as an operator writes them: sizes (`50kB` is 50,000 bytes, `50KiB` is 51,200), times (`20ms`) and
// rates (`1000/s`). Arithmetic is exact: a value that is no whole number of bytes, nanoseconds or events is refused,
// never rounded.

type Units = Readonly<Record<string, number>>;

/**
 * Multiples of one byte. Decimal as in LHCNP §6.1 and the facts (1 kB = 1000 B); the binary ones for those who mean
 * them.
 */
export const SIZE_UNITS: Units = { '': 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
/** Multiples of one nanosecond. A bare number is refused: its unit is unknown. */
export const TIME_UNITS: Units = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };
/** Multiples of one event a second. */
export const RATE_UNITS: Units = { '/s': 1, 'k/s': 1e3, 'M/s': 1e6 };

/** Multiples of one bit a second, decimal as link rates are. */
export const BIT_RATE_UNITS: Units = { kbit: 1e3, Mbit: 1e6, Gbit: 1e9, Tbit: 1e12 };
/** Multiples of one byte a second. */
export const BYTE_RATE_UNITS: Units = { 'B/s': 1, 'kB/s': 1e3, 'MB/s': 1e6, 'GB/s': 1e9 };
/** Multiples of a thousandth of a percent, so that three decimals are exact. */
export const PERCENT_UNITS: Units = { '%': 1000 };
/** Thousandths of a plain number. */
export const FACTOR_UNITS: Units = { '': 1000 };

const NUMBER = '(\\d{1,12})(?:\\.(\\d{1,3}))?';

/** A regular expression that every text of the unit table matches, also used in the JSON Schema. */
export function unitPattern(units: Units): string {
  const names = Object.keys(units).filter((name) => name !== '');
  const name = names.length === 0 ? '()' : ` ?(${names.join('|')})${'' in units ? '?' : ''}`;
  return `^${NUMBER}${name}$`;
}

function parseUnit(text: string, units: Units, pattern: RegExp): number | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const scale = units[match[3] ?? '']!;
  const fraction = match[2] ?? '';
  const parts = Number(fraction === '' ? 0 : fraction) * scale;
  const divisor = 10 ** fraction.length;
  const value = Number(match[1]) * scale + parts / divisor;
  return parts % divisor === 0 && Number.isSafeInteger(value) ? value : undefined;
}

const SIZE = new RegExp(unitPattern(SIZE_UNITS));
const TIME = new RegExp(unitPattern(TIME_UNITS));
const RATE = new RegExp(unitPattern(RATE_UNITS));
const BIT_RATE = new RegExp(unitPattern(BIT_RATE_UNITS));
const BYTE_RATE = new RegExp(unitPattern(BYTE_RATE_UNITS));
const PERCENT = new RegExp(unitPattern(PERCENT_UNITS));
const FACTOR = new RegExp(unitPattern(FACTOR_UNITS));

/** Bytes, or undefined when the text is no size. */
export const parseSize = (text: string): number | undefined => parseUnit(text, SIZE_UNITS, SIZE);

/** Milliseconds, possibly a fraction (`50us` is 0.05), or undefined when the text is no time. */
export function parseTime(text: string): number | undefined {
  const nanoseconds = parseUnit(text, TIME_UNITS, TIME);
  return nanoseconds === undefined ? undefined : nanoseconds / 1e6;
}

/** Events a second, or undefined when the text is no rate. */
export const parseRate = (text: string): number | undefined => parseUnit(text, RATE_UNITS, RATE);

/** bit/s, or undefined when the text is no bit rate. */
export const parseBitRate = (text: string): number | undefined => parseUnit(text, BIT_RATE_UNITS, BIT_RATE);

/** Bytes a second, or undefined when the text is none. */
export const parseByteRate = (text: string): number | undefined => parseUnit(text, BYTE_RATE_UNITS, BYTE_RATE);

/** A fraction (`50%` is 0.5), or undefined when the text is no percentage. */
export function parsePercent(text: string): number | undefined {
  const thousandths = parseUnit(text, PERCENT_UNITS, PERCENT);
  return thousandths === undefined ? undefined : thousandths / 100_000;
}

/** A plain number with at most three decimals, or undefined. */
export function parseFactor(text: string): number | undefined {
  const thousandths = parseUnit(text, FACTOR_UNITS, FACTOR);
  return thousandths === undefined ? undefined : thousandths / 1000;
}
