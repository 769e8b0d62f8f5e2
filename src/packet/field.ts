// Checks of encoders: a value that its field cannot hold is the caller's mistake.
import { EncodeError } from './encode-error.ts';

/** Checks that a number fits an unsigned field of `bits` bits. @throws EncodeError `bad-field` */
export function field(name: string, value: number, bits: number): number {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits)
    throw new EncodeError('bad-field', `${name} ${value} does not fit ${bits} bits`);
  return value;
}

/** @throws EncodeError `bad-field` unless `bytes` has exactly this length */
export function exactly(name: string, bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new EncodeError('bad-field', `${name} has ${bytes.length} bytes, not ${length}`);
  return bytes;
}
