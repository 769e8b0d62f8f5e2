// The Prefix Attribute Flags sub-TLV as a bit string (RFC 7794 §2.1): any number of bytes, bit 0 the most significant
// bit of the first, bits beyond the end are clear.
import { withFlag } from '../bit-string.ts';

/** Bits with a meaning here. The P-flag (PNC-5.1-a) is a code point: `isis-pnc-flag-bit`, 7 by default. */
export const ATTRIBUTE_BIT = {
  /** X: external prefix. */
  external: 0,
  /** R: re-advertised from another level. */
  readvertised: 1,
  /** N: identifies the node; ignored unless a host prefix. */
  node: 2,
  /** E (RFC 9088). */
  entropyLabel: 3,
  /** A (RFC 9352). */
  anycast: 4,
  unreachable: 5,
  unreachablePlanned: 6,
} as const;

/** The shortest bit string with these bits set; always at least one byte. */
export function flagsOf(...bits: number[]): Uint8Array {
  return bits.reduce<Uint8Array>((flags, bit) => withFlag(flags, bit), new Uint8Array(1));
}
