// One input through a decoder, for tests and `npm run fuzz`: it must return, quickly, and its result must not depend on
// a byte outside the input. Each input is decoded in the middle of buffers whose surroundings differ.
import { isDeepStrictEqual } from 'node:util';
import { toHex } from './hex.ts';

export type Decoder = (bytes: Uint8Array) => unknown;

const MARGIN = 96;
/**
 * Processor time: who else has the machine does not count. No input of these sizes takes a decoder near this long; a
 * loop that does not advance takes for ever.
 */
const LIMIT_MS = 250;

/** What may be around an input; each repeats after PERIOD bytes. */
const PERIOD = 256;
const SURROUNDINGS = [() => 0x00, () => 0xff, (i: number) => (i * 37 + 11) & 0xff].map((fill) =>
  Uint8Array.from({ length: PERIOD + MARGIN }, (_, i) => fill(i)),
);

function surrounded(bytes: Uint8Array, surroundings: Uint8Array): Uint8Array {
  const buffer = new Uint8Array(bytes.length + 2 * MARGIN);
  const end = MARGIN + bytes.length;
  buffer.set(surroundings.subarray(0, MARGIN));
  buffer.set(bytes, MARGIN);
  buffer.set(surroundings.subarray(end % PERIOD, (end % PERIOD) + MARGIN), end);
  return buffer.subarray(MARGIN, end);
}

class TooSlow extends Error {}

/** A decoder uses no more of its processor than the time that passes, which is far cheaper to ask for. */
function withinLimit<T>(decode: () => T): T {
  const began = performance.now();
  const result = decode();
  if (performance.now() - began <= LIMIT_MS) return result;
  // A collection of garbage may fall into it, but not three times in a row.
  let took = 0;
  for (let attempt = 0; attempt < 3; attempt++) {
    const started = process.cpuUsage();
    decode();
    const { user, system } = process.cpuUsage(started);
    took = (user + system) / 1000;
    if (took <= LIMIT_MS) return result;
  }
  throw new TooSlow(`took ${took.toFixed(0)} ms`);
}

/** Throws, with the input, when the decoder throws, is slow, or reads outside. @returns what it decoded */
export function decodeSafely(decode: Decoder, bytes: Uint8Array): unknown {
  const results = SURROUNDINGS.map((surroundings) => {
    const input = surrounded(bytes, surroundings);
    try {
      return withinLimit(() => decode(input));
    } catch (error) {
      const what = error instanceof TooSlow ? error.message : 'threw';
      throw new Error(`${what} on ${toHex(bytes)}`, { cause: error });
    }
  });
  if (!results.every((result) => isDeepStrictEqual(result, results[0])))
    throw new Error(`depends on bytes outside of ${toHex(bytes)}`);
  return results[0];
}
