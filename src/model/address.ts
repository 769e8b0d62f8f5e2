// IPv4 and IPv6 addresses as values. An address is a family and an unsigned integer in network order, so that comparing, masking and
// hashing are one operation; text and bytes exist only at the edges. Text follows RFC 5952.

export type Family = 4 | 6;

export interface IpAddress {
  readonly family: Family;
  /** The address as an unsigned integer, most significant bit first: 32 bits for IPv4, 128 for IPv6. */
  readonly value: bigint;
}

export const addressBits = (family: Family): 32 | 128 => (family === 4 ? 32 : 128);

/** Parses dotted-quad IPv4 or RFC 4291 IPv6 text (no zone index). Returns undefined for anything else. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.includes(':')) {
    const value = parseIpv6(text);
    return value === undefined ? undefined : { family: 6, value };
  }
  const value = parseIpv4(text);
  return value === undefined ? undefined : { family: 4, value: BigInt(value) };
}

/** As parseAddress, for literals in code and tests. @throws RangeError when the text is not an address. */
export function address(text: string): IpAddress {
  const parsed = parseAddress(text);
  if (!parsed) throw new RangeError(`not an IP address: ${JSON.stringify(text)}`);
  return parsed;
}

function parseIpv4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part)) return undefined;
    const octet = Number(part);
    if (octet > 255) return undefined;
    value = value * 256 + octet;
  }
  return value;
}

/** The longest form: eight groups whose last two are written as a dotted quad. */
const MAX_IPV6_TEXT = 'ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255'.length;

function parseIpv6(text: string): bigint | undefined {
  if (text.length > MAX_IPV6_TEXT) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const last = halves.length - 1;
  const head = parseGroups(halves[0]!, last === 0);
  const rest = last === 0 ? [] : parseGroups(halves[1]!, true);
  if (!head || !rest) return undefined;
  const gap = 8 - head.length - rest.length;
  if (last === 0 ? gap !== 0 : gap < 1) return undefined;
  return [...head, ...new Array<number>(gap).fill(0), ...rest].reduce((value, word) => (value << 16n) | BigInt(word), 0n);
}

/** The 16-bit words of colon-separated groups; a dotted quad may be the last group of the whole address only (RFC 4291 §2.2). */
function parseGroups(text: string, endsAddress: boolean): number[] | undefined {
  if (text === '') return [];
  const words: number[] = [];
  const groups = text.split(':');
  for (const [i, group] of groups.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      words.push(parseInt(group, 16));
      continue;
    }
    const quad = endsAddress && i === groups.length - 1 ? parseIpv4(group) : undefined;
    if (quad === undefined) return undefined;
    words.push(Math.floor(quad / 65536), quad % 65536);
  }
  return words;
}

/** RFC 5952 text. */
export function formatAddress(a: IpAddress): string {
  if (a.family === 4) {
    const v = Number(a.value);
    return `${v >>> 24}.${(v >>> 16) & 255}.${(v >>> 8) & 255}.${v & 255}`;
  }
  const words: number[] = [];
  for (let i = 7; i >= 0; i--) words.push(Number((a.value >> BigInt(i * 16)) & 0xffffn));
  if (words.slice(0, 5).every((w) => w === 0) && words[5] === 0xffff) {
    return `::ffff:${formatAddress({ family: 4, value: a.value & 0xffffffffn })}`;
  }
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && words[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = (list: number[]): string => list.map((w) => w.toString(16)).join(':');
  if (best.start < 0) return hex(words);
  return `${hex(words.slice(0, best.start))}::${hex(words.slice(best.start + best.length))}`;
}

/** Network-order bytes: 4 or 16. */
export function addressBytes(a: IpAddress): Uint8Array {
  const out = new Uint8Array(addressBits(a.family) / 8);
  putAddress(out, 0, a);
  return out;
}

/** Writes the 4 or 16 bytes of an address at `offset`, 32 bits a step: a step a byte costs three times as much, and tables have thousands of addresses. */
export function putAddress(out: Uint8Array, offset: number, a: IpAddress): void {
  for (let shift = addressBits(a.family) - 32; shift >= 0; shift -= 32) {
    const word = Number(BigInt.asUintN(32, a.value >> BigInt(shift)));
    out[offset++] = word >>> 24;
    out[offset++] = word >>> 16;
    out[offset++] = word >>> 8;
    out[offset++] = word;
  }
}

/** The inverse of addressBytes. @throws RangeError unless given 4 or 16 bytes. */
export function addressFromBytes(bytes: Uint8Array): IpAddress {
  if (bytes.length !== 4 && bytes.length !== 16) throw new RangeError(`an address has 4 or 16 bytes, not ${bytes.length}`);
  // 64 bits a step, as in putAddress.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 4) return { family: 4, value: BigInt(view.getUint32(0)) };
  return { family: 6, value: (view.getBigUint64(0) << 64n) | view.getBigUint64(8) };
}

/** Total order: IPv4 before IPv6, then numerically. */
export function compareAddresses(a: IpAddress, b: IpAddress): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

export const sameAddress = (a: IpAddress, b: IpAddress): boolean => a.family === b.family && a.value === b.value;

export const isLinkLocal = (a: IpAddress): boolean =>
  a.family === 6 ? a.value >> 118n === 0x3fan : a.value >> 16n === 0xa9fen;

/** IPv6 addresses that only spell an IPv4 one (RFC 4291 §2.5.5.2). They never appear on the wire. */
export const isIpv4Mapped = (a: IpAddress): boolean => a.family === 6 && a.value >> 32n === 0xffffn;

/**
 * Loopback, multicast, unspecified, link-local, IPv4-mapped addresses, 0.0.0.0/8 and 240.0.0.0/4 cannot be a proxy, a sender or a notifier.
 */
export function isUnicastHost(a: IpAddress): boolean {
  if (isLinkLocal(a) || isIpv4Mapped(a)) return false;
  if (a.family === 6) return a.value > 1n && a.value >> 120n !== 0xffn;
  const first = a.value >> 24n;
  return first !== 0n && first !== 127n && first < 224n;
}
