// Prefixes as keys of one 128-bit space: four 32-bit words, most significant first, and a length. IPv4 lies at
// ::ffff:0:0/96, as in the maps of the dataplane, so that a minimal table here is minimal there.
import { type IpAddress, ipv6FromWords, ipv6Words, isIpv4Mapped } from '../model/address.ts';
import type { Prefix } from '../model/prefix.ts';

/** Where IPv4 begins: its default route. */
const IPV4_BASE_LENGTH = 96;

export interface Key {
  readonly words: Uint32Array;
  length: number;
}

export const newKey = (): Key => ({ words: new Uint32Array(4), length: 0 });

export function setAddress(key: Key, address: IpAddress): void {
  const { words } = key;
  key.length = 128;
  if (address.family === 4) {
    words[0] = words[1] = 0;
    words[2] = 0xffff;
    words[3] = Number(address.value);
    return;
  }
  ipv6Words(address, words);
}

/** Length of the prefix in the common space. */
export const keyLength = ({ address, length }: Prefix): number =>
  (address.family === 4 ? IPV4_BASE_LENGTH : 0) + length;

/**
 * Host bits are masked away. False for invalid prefixes, and for IPv6 prefixes inside ::ffff:0:0/96: no packet has such
 * a source, and they would shadow IPv4.
 */
export function setPrefix(key: Key, prefix: Prefix): boolean {
  const { address, length } = prefix;
  const base = address.family === 4 ? IPV4_BASE_LENGTH : 0;
  if (!Number.isInteger(length) || length < 0 || base + length > 128) return false;
  if (address.family === 6 && length >= IPV4_BASE_LENGTH && isIpv4Mapped(address)) return false;
  setAddress(key, address);
  key.length = base + length;
  for (let i = 0; i < 4; i++) {
    const kept = key.length - 32 * i;
    if (kept < 32) key.words[i] = kept <= 0 ? 0 : (key.words[i]! & (0xffffffff << (32 - kept))) >>> 0;
  }
  return true;
}

/** The prefix of four words and a length. */
export function prefixFrom(w0: number, w1: number, w2: number, w3: number, length: number): Prefix {
  if (length >= IPV4_BASE_LENGTH && w0 === 0 && w1 === 0 && w2 === 0xffff) {
    return { address: { family: 4, value: BigInt(w3) }, length: length - IPV4_BASE_LENGTH };
  }
  return { address: ipv6FromWords(w0, w1, w2, w3), length };
}
