// Bit strings of routing protocols, as in the prefix attribute flags of RFC 7794 and RFC 9792: any number of bytes, bit
// 0 the most significant bit of the first, bits beyond the end are clear.

export function hasFlag(flags: Uint8Array, bit: number): boolean {
  const byte = flags[bit >>> 3];
  return byte !== undefined && (byte & (0x80 >>> (bit & 7))) !== 0;
}

/** A copy with the bit set, lengthened to a multiple of `unit` bytes when it must be. */
export function withFlag(flags: Uint8Array, bit: number, unit = 1): Uint8Array {
  const needed = Math.ceil(((bit >>> 3) + 1) / unit) * unit;
  const out = new Uint8Array(Math.max(flags.length, needed));
  out.set(flags);
  out[bit >>> 3]! |= 0x80 >>> (bit & 7);
  return out;
}
