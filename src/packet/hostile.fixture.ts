// The test of every decoder (its fuzz target): random bytes, mutations of valid ones, and truncation at every length. A
// decoder must return, quickly, and its result must not depend on a byte outside the input: each input is decoded in
// the middle of two buffers whose surroundings differ.
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Decoder, decodeSafely } from './safely.fixture.ts';

/** Changes of a few bytes, a cut, an insertion, or two halves of different vectors. */
function mutation(valid: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const seed = fc.constantFrom(...valid);
  const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
  const flipped = fc.tuple(seed, flips).map(([bytes, list]) => {
    const out = new Uint8Array(bytes);
    for (const [at, byte] of list) if (out.length > 0) out[at % out.length] = byte;
    return out;
  });
  const cut = fc.tuple(flipped, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1)));
  const inserted = fc.tuple(seed, fc.nat(), fc.uint8Array({ maxLength: 40 })).map(([bytes, n, extra]) => {
    const at = n % (bytes.length + 1);
    return Uint8Array.from([...bytes.subarray(0, at), ...extra, ...bytes.subarray(at)]);
  });
  const spliced = fc
    .tuple(seed, seed, fc.nat(), fc.nat())
    .map(([a, b, m, n]) => Uint8Array.from([...a.subarray(0, m % (a.length + 1)), ...b.subarray(n % (b.length + 1))]));
  return fc.oneof(flipped, cut, inserted, spliced);
}

interface HostileOptions {
  /** Inputs of random bytes; half as many mutations again for each. */
  readonly runs?: number;
  readonly maxLength?: number;
  /** Repairs a checksum after mutation, so that the fuzzing goes deeper than its check. */
  readonly repair?: (bytes: Uint8Array) => Uint8Array;
}

/** The whole treatment. `valid` are inputs that the decoder accepts. */
export function fuzzDecoder(decode: Decoder, valid: readonly Uint8Array[], options: HostileOptions = {}): void {
  const { runs = 1500, maxLength = 400, repair = (bytes: Uint8Array) => bytes } = options;
  for (const bytes of valid) {
    for (let length = 0; length <= bytes.length; length++) decodeSafely(decode, bytes.subarray(0, length));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength }), (bytes) => void decodeSafely(decode, bytes)),
    { numRuns: runs },
  );
  fc.assert(
    fc.property(mutation(valid), (bytes) => void decodeSafely(decode, repair(bytes))),
    { numRuns: runs },
  );
}

/** Every proper prefix of `bytes` is refused. */
export function refusesTruncation(decode: (bytes: Uint8Array) => { readonly ok: boolean }, bytes: Uint8Array): void {
  for (let length = 0; length < bytes.length; length++)
    expect(decode(bytes.subarray(0, length)).ok, `cut at ${length}`).toBe(false);
}
