// Big-endian reads and writes at an offset. Readers do not check bounds: each decoder checks once that its bytes are
// there.
import { type Family, type IpAddress, ipv6FromWords } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';

export const u16 = (b: Uint8Array, o: number): number => (b[o]! << 8) | b[o + 1]!;
export const u24 = (b: Uint8Array, o: number): number => (b[o]! << 16) | (b[o + 1]! << 8) | b[o + 2]!;
export const u32 = (b: Uint8Array, o: number): number =>
  ((b[o]! << 24) | (b[o + 1]! << 16) | (b[o + 2]! << 8) | b[o + 3]!) >>> 0;
export const u64 = (b: Uint8Array, o: number): bigint => (BigInt(u32(b, o)) << 32n) | BigInt(u32(b, o + 4));

export function put16(b: Uint8Array, o: number, value: number): void {
  b[o] = value >>> 8;
  b[o + 1] = value;
}

export function put24(b: Uint8Array, o: number, value: number): void {
  b[o] = value >>> 16;
  b[o + 1] = value >>> 8;
  b[o + 2] = value;
}

export function put32(b: Uint8Array, o: number, value: number): void {
  b[o] = value >>> 24;
  b[o + 1] = value >>> 16;
  b[o + 2] = value >>> 8;
  b[o + 3] = value;
}

export function put64(b: Uint8Array, o: number, value: bigint): void {
  put32(b, o, Number((value >> 32n) & 0xffffffffn));
  put32(b, o + 4, Number(value & 0xffffffffn));
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** A copy of `length` bytes. Not `slice`, which on a Buffer shares memory. */
export const copyOf = (b: Uint8Array, start = 0, end = b.length): Uint8Array => new Uint8Array(b.subarray(start, end));

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Whether the `length` bytes at two places are the same; a place that is negative is none. */
export function sameRange(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  if (a < 0 || b < 0) return false;
  for (let i = 0; i < length; i++) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

/** The 4 or 16 bytes at `offset` as an address. */
export function readAddress(b: Uint8Array, offset: number, family: Family): IpAddress {
  if (family === 4) return { family, value: BigInt(u32(b, offset)) };
  return ipv6FromWords(u32(b, offset), u32(b, offset + 4), u32(b, offset + 8), u32(b, offset + 12));
}

/** The ceil(length / 8) bytes at `offset` as a prefix; host bits that are set on the wire are cleared. */
export function readPrefix(b: Uint8Array, offset: number, family: Family, length: number): Prefix {
  const address =
    family === 4
      ? { family, value: BigInt(leadingBits(b, offset, length)) }
      : ipv6FromWords(
          leadingBits(b, offset, length),
          leadingBits(b, offset + 4, length - 32),
          leadingBits(b, offset + 8, length - 64),
          leadingBits(b, offset + 12, length - 96),
        );
  return { address, length };
}

/**
 * The first `bits` bits at `offset` as the leading ones of a 32-bit word, of whose bytes those behind are not read;
 * none for bits ≤ 0, all for more than 32.
 */
function leadingBits(b: Uint8Array, offset: number, bits: number): number {
  if (bits <= 0) return 0;
  if (bits >= 32) return u32(b, offset);
  let word = b[offset]! << 24;
  if (bits > 8) word |= b[offset + 1]! << 16;
  if (bits > 16) word |= b[offset + 2]! << 8;
  if (bits > 24) word |= b[offset + 3]!;
  return (word & (0xffffffff << (32 - bits))) >>> 0;
}

/** The bytes of a prefix of this length in routing protocols. */
export const prefixBytes = (length: number): number => (length + 7) >>> 3;
