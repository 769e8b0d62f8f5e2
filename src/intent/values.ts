// The kinds of value that cnpd.yaml is made of: how each is written, what is allowed in words, and its JSON Schema. One table entry a kind.
// A kind reads text, whatever its quoting: YAML alone would make the number 49.001 of the area `49.0010`.
import { type Family, type IpAddress, formatAddress, isIpv4Mapped, isLinkLocal, isUnicastHost, parseAddress } from '../model/address.ts';
import { type Prefix, formatPrefix, parsePrefix, prefixOf } from '../model/prefix.ts';
import { type Result, fail, ok } from '../model/result.ts';
import { RATE_UNITS, SIZE_UNITS, TIME_UNITS, parseRate, parseSize, parseTime, unitPattern } from './units.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ValueKind<T> {
  /** Completes the sentence "allowed: …". */
  readonly allowed: string;
  readonly json: JsonSchema;
  /** Fails with why the text is refused, in words, or with undefined when `allowed` says it all. */
  parse(text: string): Result<T, string | undefined>;
  /** Set when the text must not be repeated in messages. */
  readonly secret?: true;
}

/** Text that YAML may take for a number, a boolean or null when it is not quoted. */
const ANY_SCALAR = ['string', 'number', 'boolean', 'null'];
const TEXT_OR_NUMBER = ['string', 'number'];

function patternKind<T>(allowed: string, pattern: string, read: (text: string) => T | undefined): ValueKind<T> {
  const regex = new RegExp(pattern);
  return {
    allowed,
    json: { type: ANY_SCALAR, pattern },
    parse: (text) => {
      const value = regex.test(text) ? read(text) : undefined;
      return value === undefined ? fail(undefined) : ok(value);
    },
  };
}

export const hostname = patternKind('a name of letters, digits, dots, hyphens and underscores, at most 64', '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$', (text) => text);

/** Linux: 1 to 15 characters without space, slash or colon. */
export const interfaceName = patternKind('the name of a network interface, at most 15 characters', '^(?!\\.{1,2}$)[!-.0-9;-~]{1,15}$', (text) => text);

/** sun_path holds 107 bytes and a zero. */
export const socketPath = patternKind('an absolute path of at most 107 characters', '^/[!-~]{1,106}$', (text) => text);

export const hmacKey: ValueKind<string> = {
  ...patternKind('a key of 1 to 64 printable ASCII characters', '^[ -~]{1,64}$', (text) => text),
  secret: true,
};

const hexBytes = (text: string): Uint8Array => Uint8Array.from(text.replaceAll('.', '').match(/../g)!, (pair) => parseInt(pair, 16));

export const systemId: ValueKind<Uint8Array> = {
  ...patternKind('a system ID such as 0000.0000.c001, not all zero', '^[0-9a-fA-F]{4}\\.[0-9a-fA-F]{4}\\.[0-9a-fA-F]{4}$', (text) =>
    /[1-9a-f]/i.test(text) ? hexBytes(text) : undefined,
  ),
};

/** ISO 10589 §7.1.1: 1 to 13 octets, hexadecimal, dots anywhere between octets. */
export const areaAddress: ValueKind<Uint8Array> = patternKind(
  'an area address such as 49.0001: 1 to 13 bytes in hexadecimal',
  '^[0-9a-fA-F]{2}(\\.?[0-9a-fA-F]{2}){0,12}$',
  hexBytes,
);

export function oneOf<const T extends string>(...words: readonly T[]): ValueKind<T> {
  return {
    allowed: words.length === 1 ? words[0]! : `one of ${words.join(', ')}`,
    json: { enum: words.flatMap((word) => (/^\d+$/.test(word) ? [word, Number(word)] : [word])) },
    parse: (text) => (words.includes(text as T) ? ok(text as T) : fail(undefined)),
  };
}

export const onOff: ValueKind<boolean> = {
  allowed: 'on, off, true or false',
  json: { enum: [true, false, 'on', 'off', 'true', 'false'] },
  parse: (text) => (/^(on|true)$/.test(text) ? ok(true) : /^(off|false)$/.test(text) ? ok(false) : fail(undefined)),
};

export const integer = (min: number, max: number): ValueKind<number> => ({
  allowed: `a whole number from ${min} to ${max}`,
  json: { type: ['string', 'integer'], pattern: '^(0|[1-9]\\d{0,9})$', minimum: min, maximum: max },
  parse: (text) => (/^(0|[1-9]\d{0,9})$/.test(text) && Number(text) >= min && Number(text) <= max ? ok(Number(text)) : fail(undefined)),
});

interface Quantity {
  readonly example: string;
  readonly units: Readonly<Record<string, number>>;
  read(text: string): number | undefined;
}
const SIZE: Quantity = { example: 'a size in bytes such as 50kB', units: SIZE_UNITS, read: parseSize };
const TIME: Quantity = { example: 'a time such as 20ms', units: TIME_UNITS, read: parseTime };
const RATE: Quantity = { example: 'a rate such as 1000/s', units: RATE_UNITS, read: parseRate };

function quantity(kind: Quantity, min: string, max: string): ValueKind<number> {
  const [least, most] = [kind.read(min)!, kind.read(max)!];
  const unitNames = Object.keys(kind.units).filter((name) => name !== '');
  return {
    allowed: `${kind.example}, from ${min} to ${max} (units: ${unitNames.join(', ')})`,
    json: { type: TEXT_OR_NUMBER, pattern: unitPattern(kind.units) },
    parse: (text) => {
      const value = kind.read(text);
      return value !== undefined && value >= least && value <= most ? ok(value) : fail(undefined);
    },
  };
}

/** Bytes. */
export const size = (min: string, max: string): ValueKind<number> => quantity(SIZE, min, max);
/** Milliseconds. */
export const time = (min: string, max: string): ValueKind<number> => quantity(TIME, min, max);
/** Events a second. */
export const rate = (min: string, max: string): ValueKind<number> => quantity(RATE, min, max);

/** A unicast address that can stand in a packet as one router's own. */
export function hostAddress(family?: Family): ValueKind<IpAddress> {
  const allowed = `a unicast ${family ? `IPv${family}` : 'IPv4 or IPv6'} address, neither loopback nor link-local`;
  return {
    allowed,
    json: { type: 'string', maxLength: 45, pattern: '^[0-9a-fA-F:.]+$' },
    parse: (text) => {
      const address = parseAddress(text);
      if (!address || (family && address.family !== family)) return fail(undefined);
      return isUnicastHost(address) ? ok(address) : fail(`${formatAddress(address)} is not ${allowed}`);
    },
  };
}

const PREFIX_JSON: JsonSchema = { type: 'string', maxLength: 49, pattern: '^[0-9a-fA-F:.]+/\\d{1,3}$' };

/** A prefix, with the two usual mistakes told apart: no length, and host bits that are set. */
function readPrefix(text: string): Result<Prefix, string | undefined> {
  const parsed = parsePrefix(text);
  if (parsed) return ok(parsed);
  const bare = parseAddress(text);
  if (bare) return fail(`a prefix needs a length; for this address alone write ${formatAddress(bare)}/${bare.family === 4 ? 32 : 128}`);
  const [head, tail] = text.split('/');
  const address = parseAddress(head ?? '');
  const length = /^\d{1,3}$/.test(tail ?? '') ? Number(tail) : NaN;
  if (!address || text.split('/').length !== 2 || !(length <= (address.family === 4 ? 32 : 128))) return fail(undefined);
  const masked = prefixOf(address, length);
  return masked.address.value === address.value ? fail(undefined) : fail(`host bits are set beyond /${length}: the prefix is ${formatPrefix(masked)}`);
}

/** A prefix of traffic senders. A default route is refused: this router cannot be the proxy of everybody (PNC-6-a). */
export const senderPrefix: ValueKind<Prefix> = {
  allowed: 'a unicast prefix such as 2001:db8:1::/64, longer than /0, with no host bits set',
  json: PREFIX_JSON,
  parse: (text) => {
    const read = readPrefix(text);
    if (!read.ok) return read;
    const { address, length } = read.value;
    if (length === 0) return fail('a default route is no sender prefix: name the prefixes of the senders');
    const multicast = address.family === 4 ? address.value >> 28n === 14n : address.value >> 120n === 0xffn;
    const loopback = address.family === 4 ? address.value >> 24n === 127n : length === 128 && address.value <= 1n;
    if (multicast || loopback || isLinkLocal(address) || isIpv4Mapped(address)) return fail(`no sender has a source address in ${formatPrefix(read.value)}`);
    return read;
  },
};

/** The widest block that one domain can own: 10.0.0.0/8 and fc00::/7. */
const WIDEST = { 4: 8, 6: 7 } as const;

/** An entry of an allow-list. "From anybody" cannot be said: a notice is obeyed only inside one controlled domain (PNC-6-a, PNC-6-c). */
export const trustedPrefix: ValueKind<Prefix> = {
  allowed: 'a prefix of routers of this domain such as 2001:db8:ffff::/48, not wider than /8 (IPv4) or /7 (IPv6)',
  json: PREFIX_JSON,
  parse: (text) => {
    const read = readPrefix(text);
    if (!read.ok) return read;
    const widest = WIDEST[read.value.address.family];
    return read.value.length >= widest
      ? read
      : fail(`${formatPrefix(read.value)} lets notices in from outside the domain: name the routers' prefixes, not wider than /${widest}`);
  },
};
