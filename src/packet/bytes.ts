// Big-endian reads and writes at an offset. Readers do not check bounds: each decoder checks once that what it reads is there.
import type { Family, IpAddress } from '../model/address.ts';
import { type Prefix, prefixOf } from '../model/prefix.ts';

export const u16 = (b: Uint8Array, o: number): number => (b[o]! << 8) | b[o + 1]!;
export const u24 = (b: Uint8Array, o: number): number => (b[o]! << 16) | (b[o + 1]! << 8) | b[o + 2]!;
export const u32 = (b: Uint8Array, o: number): number => ((b[o]! << 24) | (b[o + 1]! << 16) | (b[o + 2]! << 8) | b[o + 3]!) >>> 0;
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
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The 4 or 16 bytes at `offset` as an address. */
export function readAddress(b: Uint8Array, offset: number, family: Family): IpAddress {
  if (family === 4) return { family, value: BigInt(u32(b, offset)) };
  return { family, value: (u64(b, offset) << 64n) | u64(b, offset + 8) };
}

/** The ceil(length / 8) bytes at `offset` as a prefix; host bits that are set on the wire are cleared. */
export function readPrefix(b: Uint8Array, offset: number, family: Family, length: number): Prefix {
  const whole = new Uint8Array(family === 4 ? 4 : 16);
  whole.set(b.subarray(offset, offset + prefixBytes(length)));
  return prefixOf(readAddress(whole, 0, family), length);
}

/** How many bytes a prefix of this length takes in routing protocols. */
export const prefixBytes = (length: number): number => (length + 7) >>> 3;
