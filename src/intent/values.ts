// The kinds of value in cnpd.yaml: how each is written, what is allowed in words, and its JSON Schema. One table entry
// per kind. A kind reads text, whatever its quoting: YAML alone would make the number 49.001 of the area `49.0010`.
// Addresses and prefixes are in address-values.ts.
import { HIDDEN, MASK } from '../model/masks.ts';
import { type Result, fail, ok } from '../model/result.ts';
import {
  BIT_RATE_UNITS,
  BYTE_RATE_UNITS,
  FACTOR_UNITS,
  PERCENT_UNITS,
  RATE_UNITS,
  SIZE_UNITS,
  TIME_UNITS,
  parseBitRate,
  parseByteRate,
  parseFactor,
  parsePercent,
  parseRate,
  parseSize,
  parseTime,
  unitPattern,
} from '../model/units.ts';

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

export const hostname = patternKind(
  'a name of letters, digits, dots, hyphens and underscores, at most 64',
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  (text) => text,
);

/** Linux: 1 to 15 characters without space, slash or colon. */
export const interfaceName = patternKind(
  'the name of a network interface, at most 15 characters',
  '^(?!\\.{1,2}$)[!-.0-9;-~]{1,15}$',
  (text) => text,
);

/** sun_path holds 107 bytes and a zero. */
export const socketPath = patternKind('an absolute path of at most 107 characters', '^/[!-~]{1,106}$', (text) => text);

/** As groupadd(8) allows them, and a number, which may be of no group that this machine knows. */
export const groupName = patternKind(
  'a group: its name, or its number',
  '^(?:[a-z_][a-z0-9_-]{0,30}[a-z0-9_$-]?|0|[1-9]\\d{0,8})$',
  (text) => text,
);

/** Of a client: a name in its certificate, such as a host's, an address, a URI. */
export const certificateName = patternKind(
  'a name of 1 to 255 printable ASCII characters',
  '^[!-~](?:[ -~]{0,253}[!-~])?$',
  (text) => text,
);

/** Names only: a right is for whole lists. */
export const statePath = patternKind(
  'a path without keys, such as /cnpd/ports',
  '^/(?:[a-z][a-z0-9-]{0,62}(?:/[a-z][a-z0-9-]{0,62}){0,7})?$',
  (text) => text,
);

/** What is shown in place of a key is no key. */
function keyKind(most: number): ValueKind<string> {
  const kind = patternKind(
    `a key of 1 to ${most} printable ASCII characters`,
    `^(?!(?:${HIDDEN}|${MASK})$)[ -~]{1,${most}}$`,
    (text) => text,
  );
  return {
    ...kind,
    secret: true,
    parse: (text) =>
      text === HIDDEN || text === MASK
        ? fail(`${text} is what is shown in place of a key: give the key itself`)
        : kind.parse(text),
  };
}

export const hmacKey = keyKind(64);

/** FRR cuts a longer one, and so would the algorithm (RFC 2328 §D.4.3). */
export const md5Key = keyKind(16);

const hexBytes = (text: string): Uint8Array =>
  Uint8Array.from(text.replaceAll('.', '').match(/../g)!, (pair) => parseInt(pair, 16));

export const systemId: ValueKind<Uint8Array> = {
  ...patternKind(
    'a system ID such as 0000.0000.c001, not all zero',
    '^[0-9a-fA-F]{4}\\.[0-9a-fA-F]{4}\\.[0-9a-fA-F]{4}$',
    (text) => (/[1-9a-f]/i.test(text) ? hexBytes(text) : undefined),
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

/** Tools for RDMA print Queue Pairs and keys in hexadecimal. Undefined: it is no such number within these limits. */
function inDecimal(text: string, min: bigint, max: bigint): string | undefined {
  if (!/^0x[0-9a-f]{1,16}$/i.test(text)) return undefined;
  const value = BigInt(text);
  return value >= min && value <= max ? `found "${text}"; numbers are decimal here: ${value}` : undefined;
}

export const integer = (min: number, max: number): ValueKind<number> => ({
  allowed: `a whole number from ${min} to ${max}`,
  json: { type: ['string', 'integer'], pattern: '^(0|[1-9]\\d{0,9})$', minimum: min, maximum: max },
  parse: (text) =>
    /^(0|[1-9]\d{0,9})$/.test(text) && Number(text) >= min && Number(text) <= max
      ? ok(Number(text))
      : fail(inDecimal(text, BigInt(min), BigInt(max))),
});

interface Quantity {
  readonly example: string;
  readonly units: Readonly<Record<string, number>>;
  read(text: string): number | undefined;
}
const SIZE: Quantity = { example: 'a size in bytes such as 50kB', units: SIZE_UNITS, read: parseSize };
const TIME: Quantity = { example: 'a time such as 20ms', units: TIME_UNITS, read: parseTime };
const RATE: Quantity = { example: 'a rate such as 1000/s', units: RATE_UNITS, read: parseRate };
const BIT_RATE: Quantity = { example: 'a bit rate such as 100Gbit', units: BIT_RATE_UNITS, read: parseBitRate };
const BYTE_RATE: Quantity = { example: 'bytes per second such as 10MB/s', units: BYTE_RATE_UNITS, read: parseByteRate };
const PERCENT: Quantity = { example: 'a percentage such as 50%', units: PERCENT_UNITS, read: parsePercent };
const FACTOR: Quantity = { example: 'a number such as 1.5', units: FACTOR_UNITS, read: parseFactor };

function quantity(kind: Quantity, min: string, max: string): ValueKind<number> {
  const [least, most] = [kind.read(min)!, kind.read(max)!];
  const unitNames = Object.keys(kind.units).filter((name) => name !== '');
  return {
    allowed: `${kind.example}, from ${min} to ${max}${unitNames.length > 1 ? ` (units: ${unitNames.join(', ')})` : ''}`,
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
/** bit/s. */
export const bitRate = (min: string, max: string): ValueKind<number> => quantity(BIT_RATE, min, max);
/** Bytes a second. */
export const byteRate = (min: string, max: string): ValueKind<number> => quantity(BYTE_RATE, min, max);
/** A fraction: `50%` is 0.5. */
export const percent = (min: string, max: string): ValueKind<number> => quantity(PERCENT, min, max);
/** A plain number with at most three decimals. */
export const factor = (min: string, max: string): ValueKind<number> => quantity(FACTOR, min, max);

/** A word in place of a value. */
export function orWord<T, const W extends string>(word: W, kind: ValueKind<T>): ValueKind<T | W> {
  return {
    allowed: `${word}, or ${kind.allowed}`,
    json: { anyOf: [{ enum: [word] }, kind.json] },
    parse: (text) => (text === word ? ok(word) : kind.parse(text)),
  };
}

/** UTF-8; control characters have no place in an identifier, and its object must fit a notification. */
export const deviceId: ValueKind<string> = {
  allowed: 'an identifier of 1 to 64 bytes in UTF-8, without control characters',
  json: { type: ANY_SCALAR, maxLength: 64 },
  parse: (text) =>
    text !== '' && Buffer.byteLength(text) <= 64 && !/\p{Cc}|\p{Cs}/u.test(text) ? ok(text) : fail(undefined),
};

/**
 * Number of a routing table: `main` is 254 (rtnetlink(7)). Of the reserved ones only main is a place for routes to
 * senders.
 */
export const routingTable: ValueKind<number> = {
  allowed: 'main, or the number of a routing table from 1 to 4294967295, but neither 253 (default) nor 255 (local)',
  json: {
    anyOf: [{ enum: ['main'] }, { type: TEXT_OR_NUMBER, pattern: '^[1-9]\\d{0,9}$', minimum: 1, maximum: 0xffff_ffff }],
  },
  parse: (text) => {
    if (text === 'main') return ok(254);
    const table = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : NaN;
    return table <= 0xffff_ffff && table !== 253 && table !== 255 ? ok(table) : fail(undefined);
  },
};

/** The name of a group, as it is written on a command line. */
export const groupId = patternKind(
  'a name of 1 to 32 letters, digits, dots, dashes and underscores',
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$',
  (text) => text,
);

const [LEAST64, MOST64] = [-(2n ** 63n), 2n ** 63n - 1n];

export const signed64: ValueKind<bigint> = {
  allowed: `a whole number from ${LEAST64} to ${MOST64}`,
  json: { type: TEXT_OR_NUMBER, pattern: '^-?(0|[1-9]\\d{0,18})$' },
  parse(text) {
    const read = /^-?(0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
    return read !== undefined && read >= LEAST64 && read <= MOST64 ? ok(read) : fail(inDecimal(text, LEAST64, MOST64));
  },
};
