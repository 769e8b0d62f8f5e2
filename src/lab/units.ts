// Quantities as people write them in topology files and on command lines: durations, rates, sizes. One table a kind; a
// bare number has no meaning of its own and is refused, except 0.

const DURATIONS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };
const RATES: Readonly<Record<string, number>> = { bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9 };
const SIZES: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6 };

function quantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-zA-Z]*)$/.exec(text.trim());
  if (!match) return undefined;
  const value = Number(match[1]);
  if (match[2] === '') return value === 0 ? 0 : undefined;
  const scale = units[match[2]!.toLowerCase()];
  return scale === undefined ? undefined : value * scale;
}

/** `10ms`, `50us`, `1.5s` → milliseconds; undefined for anything else. */
export const parseDuration = (text: string): number | undefined => quantity(text, DURATIONS);

/** `100mbit` → bits per second; undefined for anything else. */
export const parseRate = (text: string): number | undefined => quantity(text, RATES);

/** `100kB` → bytes (decimal units, as in cnpd.yaml); undefined for anything else. */
export const parseSize = (text: string): number | undefined => quantity(text, SIZES);
