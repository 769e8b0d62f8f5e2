// IP prefixes as values: an address whose host bits are zero, and a length in bits.
import {
  type Family,
  type IpAddress,
  addressBits,
  compareAddresses,
  formatAddress,
  isUnicastHost,
  parseAddress,
} from './address.ts';

export interface Prefix {
  /** Host bits are zero. */
  readonly address: IpAddress;
  /** 0..32 for IPv4, 0..128 for IPv6. */
  readonly length: number;
}

const hostMask = (family: Family, length: number): bigint => (1n << BigInt(addressBits(family) - length)) - 1n;

/** Masks the host bits away. @throws RangeError when the length does not fit the family. */
export function prefixOf(address: IpAddress, length: number): Prefix {
  if (!Number.isInteger(length) || length < 0 || length > addressBits(address.family)) {
    throw new RangeError(`prefix length ${length} does not fit IPv${address.family}`);
  }
  return { address: { family: address.family, value: address.value & ~hostMask(address.family, length) }, length };
}

export const hostPrefix = (address: IpAddress): Prefix => ({ address, length: addressBits(address.family) });

/**
 * Parses `address/length`. Undefined when malformed or when host bits are set: `10.0.0.1/24` is a mistake worth
 * reporting.
 */
export function parsePrefix(text: string): Prefix | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = match && parseAddress(match[1]!);
  if (!match || !address) return undefined;
  const length = Number(match[2]);
  if (length > addressBits(address.family)) return undefined;
  return (address.value & hostMask(address.family, length)) === 0n ? { address, length } : undefined;
}

/** As parsePrefix, for literals in code and tests. @throws RangeError */
export function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed) throw new RangeError(`not an IP prefix: ${JSON.stringify(text)}`);
  return parsed;
}

/**
 * `address/length`, also the key of a prefix in maps. `join` copies; a template would keep its pieces in memory as long
 * as the text, three times its size.
 */
export const formatPrefix = (p: Prefix): string => [formatAddress(p.address), p.length].join('/');

export function prefixContains(p: Prefix, a: IpAddress): boolean {
  return p.address.family === a.family && (a.value & ~hostMask(a.family, p.length)) === p.address.value;
}

/** Whether every address of `inner` is also in `outer` (a prefix covers itself). */
export const prefixCovers = (outer: Prefix, inner: Prefix): boolean =>
  outer.length <= inner.length && prefixContains(outer, inner.address);

/** Of several prefixes with an address, the one that counts. Of equal ones the first. Undefined: there is none. */
export const longestPrefix = <T extends { readonly prefix: Prefix }>(all: readonly T[]): T | undefined =>
  all.reduce<T | undefined>((a, b) => (a && a.prefix.length >= b.prefix.length ? a : b), undefined);

/** Total order: by address, then shorter first. */
export const comparePrefixes = (a: Prefix, b: Prefix): number =>
  compareAddresses(a.address, b.address) || a.length - b.length;

export const samePrefix = (a: Prefix, b: Prefix): boolean => comparePrefixes(a, b) === 0;

/** A key that is cheaper than text and as unique, for maps of thousands of prefixes. */
export const prefixKey = (p: Prefix): string => `${p.address.family}:${p.address.value.toString(32)}/${p.length}`;

/** Finds the longest of these prefixes that covers another one. */
export function covering<T extends { readonly prefix: Prefix }>(all: readonly T[]): (inner: Prefix) => T | undefined {
  const byKey = new Map(all.map((one) => [prefixKey(one.prefix), one]));
  const lengths = [...new Set(all.map(({ prefix }) => prefix.length))].sort((a, b) => b - a);
  return ({ address, length: inner }) => {
    for (const length of lengths) {
      const found = length <= inner ? byKey.get(prefixKey(prefixOf(address, length))) : undefined;
      if (found) return found;
    }
    return undefined;
  };
}

/** A use that excludes host addresses. */
export type SpecialUse =
  | 'unspecified'
  | 'loopback'
  | 'link-local'
  | 'multicast'
  | 'broadcast'
  | 'reserved'
  | 'ipv4-mapped';

/**
 * IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), multicast (RFC 5771, RFC 4291 §2.7). Narrower
 * prefixes first.
 */
const SPECIAL: readonly (readonly [Prefix, SpecialUse])[] = [
  [prefix('255.255.255.255/32'), 'broadcast'],
  [prefix('0.0.0.0/8'), 'unspecified'],
  [prefix('127.0.0.0/8'), 'loopback'],
  [prefix('169.254.0.0/16'), 'link-local'],
  [prefix('224.0.0.0/4'), 'multicast'],
  [prefix('240.0.0.0/4'), 'reserved'],
  [prefix('::/128'), 'unspecified'],
  [prefix('::/127'), 'loopback'],
  [prefix('fe80::/10'), 'link-local'],
  [prefix('ff00::/8'), 'multicast'],
  [prefix('::ffff:0:0/96'), 'ipv4-mapped'],
];

/**
 * The special use of all addresses of a prefix; undefined if some may belong to hosts. A wider prefix that merely
 * contains such addresses has hosts, as a default route does.
 */
export function specialUse(p: Prefix): SpecialUse | undefined {
  // If a prefix lies within a range, so does its first address. This test settles most prefixes.
  return isUnicastHost(p.address) ? undefined : SPECIAL.find(([range]) => prefixCovers(range, p))?.[1];
}

/** The special use of one address; undefined if isUnicastHost accepts it. */
export const addressUse = (a: IpAddress): SpecialUse | undefined => specialUse(hostPrefix(a));

/**
 * The special use that excludes senders in a prefix; undefined if senders are possible. 240.0.0.0/4 is reserved, but
 * used inside networks.
 */
export function senderlessUse(p: Prefix): SpecialUse | undefined {
  const use = specialUse(p);
  return use === 'reserved' ? undefined : use;
}
