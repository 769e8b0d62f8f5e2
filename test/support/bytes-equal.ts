// Bytes are compared in one call. Vitest compares typed arrays as it compares all iterables, a step and two keys for
// each byte: of a test of thousands of packets that is most of the time.
import { expect } from 'vitest';

declare global {
  var bytesAreComparedAtOnce: true | undefined;
}

function bytesEqual(a: unknown, b: unknown): boolean | undefined {
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array)) return undefined;
  // Whether a Buffer equals a Uint8Array is for Vitest to decide.
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
  return Buffer.compare(a, b) === 0;
}

// Files share a process, and this runs for each of them.
if (!globalThis.bytesAreComparedAtOnce) expect.addEqualityTesters([bytesEqual]);
globalThis.bytesAreComparedAtOnce = true;
