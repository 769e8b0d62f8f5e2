// What the layouts of all maps share: structures in the machine's byte order, and addresses and prefixes as map keys (bpf/lib/address.h).
// An address is 16 bytes in network order, IPv4 as ::ffff:a.b.c.d; the length of an IPv4 prefix is then 96 + n.
import { endianness } from 'node:os';
import { type IpAddress, addressBytes, addressFromBytes } from '../../model/address.ts';
import { type Prefix, prefixOf } from '../../model/prefix.ts';

/** Whether numbers in a map are little-endian: they are in the byte order of the machine. */
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
export const mappedAddress = (a: IpAddress): Uint8Array => Uint8Array.of(...(a.family === 4 ? MAPPED : []), ...addressBytes(a));

/** The inverse of mappedAddress, of the first 16 bytes. */
export function unmappedAddress(bytes: Uint8Array): IpAddress {
  const mapped = MAPPED.every((byte, i) => bytes[i] === byte);
  return addressFromBytes(bytes.subarray(mapped ? 12 : 0, 16));
}

/** Key of an LPM trie, 20 bytes: prefix length (u32), address. */
export const prefixKey = (p: Prefix): Uint8Array =>
  structure(20, (view, bytes) => {
    view.setUint32(0, p.length + (p.address.family === 4 ? 96 : 0), LITTLE_ENDIAN);
    bytes.set(mappedAddress(p.address), 4);
  });

export function decodePrefixKey(key: Uint8Array): Prefix {
  const length = readU32Key(key);
  const address = unmappedAddress(key.subarray(4));
  return prefixOf(address, address.family === 4 && length >= 96 ? length - 96 : length);
}

/** A value of a per-CPU map whose fields are all u64, as the kernel returns it: one structure a CPU. Returns each field summed over the CPUs. */
export function sumOverCpus(value: Uint8Array, fields: number): bigint[] {
  const view = viewOf(value);
  const sums = new Array<bigint>(fields).fill(0n);
  for (let at = 0; at + 8 * fields <= value.length; at += 8 * fields) {
    for (let i = 0; i < fields; i++) sums[i] = sums[i]! + view.getBigUint64(at + 8 * i, LITTLE_ENDIAN);
  }
  return sums;
}
