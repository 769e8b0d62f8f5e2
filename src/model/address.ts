// IPv4 and IPv6 addresses as values. An address is a family and an unsigned integer in network order, so that
// comparing, masking and hashing are one operation; text and bytes exist only at the edges. Text follows RFC 5952.

export type Family = 4 | 6;

export interface IpAddress {
  readonly family: Family;
  /** The address as an unsigned integer, most significant bit first: 32 bits for IPv4, 128 for IPv6. */
  readonly value: bigint;
}

/**
 * Key of an address in maps and sets of addresses of one family. Not the value itself: V8 hashes only the low 64 bits
 * of a bigint. Those are equal for the SIDs that locators allocate, so each look-up would compare with all of them.
 */
export const mapKey = ({ value }: IpAddress): string => value.toString(32);

/** The same in maps of both families. */
export const familyKey = (address: IpAddress): string => `${address.family} ${mapKey(address)}`;

export const addressBits = (family: Family): 32 | 128 => (family === 4 ? 32 : 128);

/** Parses dotted-quad IPv4 or RFC 4291 IPv6 text (no zone index). Returns undefined for anything else. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.includes(':')) return parseIpv6(text);
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

const GROUPS = new Uint16Array(8);
const [DOT, COLON] = [46, 58];

/** Parses character by character for speed: tables have hundreds of thousands of addresses as text. */
function parseIpv6(text: string): IpAddress | undefined {
  if (text.length > MAX_IPV6_TEXT) return undefined;
  let count = 0;
  let gap = text.startsWith('::') ? 0 : -1;
  for (let at = gap === 0 ? 2 : 0; at < text.length;) {
    const start = at;
    let word = 0;
    for (let digit = hexDigit(text, at); digit >= 0; digit = hexDigit(text, ++at)) word = (word << 4) | digit;
    if (text.charCodeAt(at) === DOT) {
      // A dotted quad may be the end of the whole address (RFC 4291 §2.2).
      const quad = count <= 6 ? parseIpv4(text.slice(start)) : undefined;
      if (quad === undefined) return undefined;
      GROUPS[count++] = quad >>> 16;
      GROUPS[count++] = quad;
      break;
    }
    if (count === 8 || at === start || at > start + 4) return undefined;
    GROUPS[count++] = word;
    if (at === text.length) break;
    if (text.charCodeAt(at++) !== COLON || at === text.length) return undefined;
    if (text.charCodeAt(at) !== COLON) continue;
    if (gap >= 0) return undefined;
    gap = count;
    at++;
  }
  if (gap < 0 ? count < 8 : count > 7) return undefined;
  if (gap >= 0) GROUPS.copyWithin(8 - (count - gap), gap, count).fill(0, gap, 8 - (count - gap));
  return ipv6FromWords(wordOf(0), wordOf(2), wordOf(4), wordOf(6));
}

const wordOf = (i: number): number => ((GROUPS[i]! << 16) | GROUPS[i + 1]!) >>> 0;

/** −1: not a hex digit, or past the end. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

// A 64-bit integer and its two 32-bit halves in shared memory. They convert between an address and its words without
// the temporary integers of shifting and masking, some ten per address. Tables have thousands of addresses.
const HALVES = new Uint32Array(2);
const WHOLE = new BigUint64Array(HALVES.buffer);
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0]! === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/** The 128 bits of an IPv6 address as four 32-bit words, most significant first. */
export function ipv6Words({ value }: IpAddress, words: Uint32Array): void {
  WHOLE[0] = value >> 64n;
  words[0] = HALVES[HIGH]!;
  words[1] = HALVES[LOW]!;
  // Keeps the low 64 bits.
  WHOLE[0] = value;
  words[2] = HALVES[HIGH]!;
  words[3] = HALVES[LOW]!;
}

/** The inverse of ipv6Words. The words are unsigned. */
export function ipv6FromWords(w0: number, w1: number, w2: number, w3: number): IpAddress {
  HALVES[HIGH] = w0;
  HALVES[LOW] = w1;
  const high = WHOLE[0]! << 64n;
  if (w2 === 0 && w3 === 0) return { family: 6, value: high };
  HALVES[HIGH] = w2;
  HALVES[LOW] = w3;
  return { family: 6, value: high | WHOLE[0]! };
}

const WORDS = new Uint32Array(4);

const formatIpv4 = (v: number): string => `${v >>> 24}.${(v >>> 16) & 255}.${(v >>> 8) & 255}.${v & 255}`;

/** RFC 5952 text. */
export function formatAddress(a: IpAddress): string {
  if (a.family === 4) return formatIpv4(Number(a.value));
  ipv6Words(a, WORDS);
  if (WORDS[0] === 0 && WORDS[1] === 0 && WORDS[2] === 0xffff) return `::ffff:${formatIpv4(WORDS[3]!)}`;
  const gap = longestGap();
  const end = gap.start + gap.length;
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i === gap.start) text += '::';
    if (i >= gap.start && i < end) continue;
    if (i > 0 && i !== end) text += ':';
    text += group(i).toString(16);
  }
  return text;
}

/** The 16-bit group `i` of WORDS. */
const group = (i: number): number => ((i & 1) === 0 ? WORDS[i >> 1]! >>> 16 : WORDS[i >> 1]! & 0xffff);

/** The first of the longest runs of two or more zero groups in WORDS. If there is none, `start` is 8. */
function longestGap(): { readonly start: number; readonly length: number } {
  let [best, longest] = [8, 1];
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && group(end) === 0) end++;
    if (end - start > longest) [best, longest] = [start, end - start];
    if (end > start) start = end;
  }
  return { start: best, length: longest };
}

/** Network-order bytes: 4 or 16. */
export function addressBytes(a: IpAddress): Uint8Array {
  const out = new Uint8Array(addressBits(a.family) / 8);
  putAddress(out, 0, a);
  return out;
}

/** Writes the 4 or 16 bytes of an address at `offset`. */
export function putAddress(out: Uint8Array, offset: number, a: IpAddress): void {
  if (a.family === 4) return putWord(out, offset, Number(a.value));
  ipv6Words(a, WORDS);
  for (let i = 0; i < 4; i++) putWord(out, offset + 4 * i, WORDS[i]!);
}

function putWord(out: Uint8Array, offset: number, word: number): void {
  out[offset] = word >>> 24;
  out[offset + 1] = word >>> 16;
  out[offset + 2] = word >>> 8;
  out[offset + 3] = word;
}

/** The inverse of addressBytes. @throws RangeError unless given 4 or 16 bytes. */
export function addressFromBytes(bytes: Uint8Array): IpAddress {
  if (bytes.length !== 4 && bytes.length !== 16)
    throw new RangeError(`an address has 4 or 16 bytes, not ${bytes.length}`);
  return bytes.length === 4
    ? { family: 4, value: BigInt(wordAt(bytes, 0)) }
    : ipv6FromWords(wordAt(bytes, 0), wordAt(bytes, 4), wordAt(bytes, 8), wordAt(bytes, 12));
}

const wordAt = (b: Uint8Array, o: number): number =>
  ((b[o]! << 24) | (b[o + 1]! << 16) | (b[o + 2]! << 8) | b[o + 3]!) >>> 0;

/** Total order: IPv4 before IPv6, then numerically. */
export function compareAddresses(a: IpAddress, b: IpAddress): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

export const sameAddress = (a: IpAddress, b: IpAddress): boolean => a.family === b.family && a.value === b.value;

/** Whether both are the same address, or neither is one. */
export const sameOptional = (a: IpAddress | null | undefined, b: IpAddress | null | undefined): boolean =>
  a === b || (a?.value === b?.value && a?.family === b?.family);

/** ff00::. */
const MULTICAST6 = 0xff00n << 112n;
const LINK_LOCAL6 = [0xfe80n << 112n, 0xfec0n << 112n] as const;

/**
 * Whether `value` is at least `from` and below `end`. Compared, not shifted: shifting would allocate an integer for
 * each address.
 */
const between = (value: bigint, from: bigint, end: bigint): boolean => value >= from && value < end;

/** fe80::/10, 169.254.0.0/16. */
export const isLinkLocal = (a: IpAddress): boolean =>
  a.family === 6 ? between(a.value, LINK_LOCAL6[0], LINK_LOCAL6[1]) : between(a.value, 0xa9fe_0000n, 0xa9ff_0000n);

/** IPv4-mapped IPv6 addresses (RFC 4291 §2.5.5.2). They never appear on the wire. */
export const isIpv4Mapped = (a: IpAddress): boolean =>
  a.family === 6 && between(a.value, 0xffff_0000_0000n, 0x1_0000_0000_0000n);

/**
 * Loopback, multicast, unspecified, link-local, IPv4-mapped addresses, 0.0.0.0/8 and 240.0.0.0/4 cannot be a proxy, a
 * sender or a notifier.
 */
export function isUnicastHost(a: IpAddress): boolean {
  if (isLinkLocal(a) || isIpv4Mapped(a)) return false;
  if (a.family === 6) return between(a.value, 2n, MULTICAST6);
  return between(a.value, 0x0100_0000n, 0xe000_0000n) && !between(a.value, 0x7f00_0000n, 0x8000_0000n);
}
