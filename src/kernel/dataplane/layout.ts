// The common parts of all map layouts: structures in the machine's byte order, and addresses and prefixes as map keys
// (bpf/lib/wire/address.h). An address is 16 bytes in network order, IPv4 as ::ffff:a.b.c.d; the length of an IPv4
// prefix is then 96 + n. test/bpf/objects/layouts.test.ts compares every layout in this folder with the compiled C.
import { endianness } from 'node:os';
import { type IpAddress, putAddress } from '../../model/address.ts';
import { type Prefix, prefixOf } from '../../model/prefix.ts';

/** Whether the machine is little-endian: numbers in maps have its byte order. */
export const LITTLE_ENDIAN = endianness() === 'LE';

const MAPPED = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff);

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A zeroed structure of `size` bytes, filled in. */
export function structure(size: number, fill: (view: DataView, bytes: Uint8Array) => void): Uint8Array {
  const bytes = new Uint8Array(size);
  fill(viewOf(bytes), bytes);
  return bytes;
}

export const u32Key = (value: number): Uint8Array => structure(4, (view) => view.setUint32(0, value, LITTLE_ENDIAN));
export const readU32Key = (key: Uint8Array): number => viewOf(key).getUint32(0, LITTLE_ENDIAN);

/** 16 bytes. */
export function mappedAddress(a: IpAddress): Uint8Array {
  const bytes = new Uint8Array(16);
  putMapped(bytes, 0, a);
  return bytes;
}

/** Writes the 16 bytes at `offset`, which must be zero before. */
export function putMapped(bytes: Uint8Array, offset: number, a: IpAddress): void {
  if (a.family === 4) bytes.set(MAPPED, offset);
  putAddress(bytes, a.family === 4 ? offset + MAPPED.length : offset, a);
}

/** The inverse of mappedAddress, of the first 16 bytes. */
export const unmappedAddress = (bytes: Uint8Array): IpAddress => unmappedAddressAt(viewOf(bytes), 0);

/** The same for the 16 bytes at `offset`: in large tables, a view for each address would be most of the work. */
export function unmappedAddressAt(view: DataView, offset: number): IpAddress {
  const high = view.getBigUint64(offset);
  if (high === 0n && view.getUint32(offset + 8) === 0xffff)
    return { family: 4, value: BigInt(view.getUint32(offset + 12)) };
  return { family: 6, value: (high << 64n) | view.getBigUint64(offset + 8) };
}

/** Key of an LPM trie, struct prefix_key, 20 bytes: prefix length (u32), address. */
export function prefixKey(p: Prefix): Uint8Array {
  const bytes = new Uint8Array(20);
  // At most 128: one byte of the four. A view would cost as much as the rest.
  bytes[LITTLE_ENDIAN ? 0 : 3] = p.length + (p.address.family === 4 ? 96 : 0);
  putMapped(bytes, 4, p.address);
  return bytes;
}

export function decodePrefixKey(key: Uint8Array): Prefix {
  const length = readU32Key(key);
  const address = unmappedAddress(key.subarray(4));
  return prefixOf(address, address.family === 4 && length >= 96 ? length - 96 : length);
}

/**
 * A value of a per-CPU map whose fields are all u64, as the kernel returns it: one structure a CPU. Returns each field
 * summed over the CPUs.
 */
export function sumOverCpus(value: Uint8Array, fields: number): bigint[] {
  const view = viewOf(value);
  const sums = new Array<bigint>(fields).fill(0n);
  for (let at = 0; at + 8 * fields <= value.length; at += 8 * fields) {
    for (let i = 0; i < fields; i++) sums[i] = sums[i]! + view.getBigUint64(at + 8 * i, LITTLE_ENDIAN);
  }
  return sums;
}
