// The kinds of value that only BGP has (values.ts): where gobgpd is, files of TLS, communities, AS numbers.
import { parseAddress } from '../model/address.ts';
import { fail, ok } from '../model/result.ts';
import type { ValueKind } from './values.ts';

const PORT = '[1-9]\\d{0,4}';
const HOST = '[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?';
const TCP = new RegExp(`^(?:\\[([0-9A-Fa-f:.]{2,45})\\]|(${HOST})):(${PORT})$`);
const UNIX = /^unix:\/[!-~]{1,106}$/;

/**
 * The host of a `HOST:PORT`, an IPv6 address without its brackets; undefined for a UNIX socket and for anything else.
 */
function hostOf(target: string): string | undefined {
  const match = TCP.exec(target);
  return match ? (match[1] ?? match[2]) : undefined;
}

const isTcp = (text: string): boolean => {
  const match = TCP.exec(text);
  if (!match || Number(match[4]) > 65_535) return false;
  if (match[1] !== undefined) return parseAddress(match[1])?.family === 6;
  // 300.1.2.3 is neither an address nor a name that a host has.
  return !/^[\d.]+$/.test(match[2]!) || parseAddress(match[2]!)?.family === 4;
};

/** Whether traffic to this target stays on this machine. */
export function isLocalTarget(target: string): boolean {
  const host = hostOf(target);
  if (host === undefined || host === 'localhost') return true;
  const address = parseAddress(host);
  return address !== undefined && (address.family === 4 ? address.value >> 24n === 127n : address.value === 1n);
}

export const grpcTarget: ValueKind<string> = {
  allowed: 'HOST:PORT such as 127.0.0.1:50051 or [::1]:50051, or unix:/PATH',
  json: {
    type: 'string',
    maxLength: 260,
    pattern: `^(unix:/[!-~]{1,106}|(\\[[0-9A-Fa-f:.]{2,45}\\]|${HOST}):${PORT})$`,
  },
  parse: (text) => (UNIX.test(text) || isTcp(text) ? ok(text) : fail(undefined)),
};

/** Whether the file exists, and its contents, are facts of this machine, which the running daemon reports. */
export const pemFile: ValueKind<string> = {
  allowed: 'the absolute path of a PEM file',
  json: { type: 'string', maxLength: 1024, pattern: '^/[!-~]+$' },
  parse: (text) => (/^\/[!-~]{1,1023}$/.test(text) ? ok(text) : fail(undefined)),
};

export const serverName: ValueKind<string> = {
  allowed: "the name in gobgpd's certificate",
  json: { type: 'string', pattern: `^${HOST}$` },
  parse: (text) => (new RegExp(`^${HOST}$`).test(text) ? ok(text) : fail(undefined)),
};

/** 32 bits; AS_TRANS, 65535 and 4294967295 are reserved (RFC 6793 §9, RFC 7300). */
export const asNumber: ValueKind<number> = {
  allowed: 'an AS number from 1 to 4294967294, neither 23456 (AS_TRANS) nor 65535',
  json: { type: ['string', 'integer'], pattern: '^[1-9]\\d{0,9}$', minimum: 1, maximum: 4_294_967_294 },
  parse: (text) => {
    const number = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
    return number >= 1 && number <= 4_294_967_294 && number !== 23_456 && number !== 65_535
      ? ok(number)
      : fail(undefined);
  },
};

/**
 * RFC 1997, RFC 3765. Of the others that have names, those that change where traffic goes (GRACEFUL_SHUTDOWN,
 * BLACKHOLE) have no business on a sender prefix.
 */
const WELL_KNOWN: Readonly<Record<string, number>> = {
  'no-export': 0xffff_ff01,
  'no-advertise': 0xffff_ff02,
  'no-export-subconfed': 0xffff_ff03,
  'no-peer': 0xffff_ff04,
};

const digits = (text: string, most: number): number | undefined =>
  /^(0|[1-9]\d{0,9})$/.test(text) && Number(text) <= most ? Number(text) : undefined;

/**
 * 32 bits. The blocks of AS 0 and 65535 are reserved (RFC 1997); the names above cover the usable values of the latter.
 */
export const community: ValueKind<number> = {
  allowed: `AS:VALUE such as 65000:100, the AS from 1 to 65534, or one of ${Object.keys(WELL_KNOWN).join(', ')}`,
  json: { anyOf: [{ enum: Object.keys(WELL_KNOWN) }, { type: 'string', pattern: '^\\d{1,5}:\\d{1,5}$' }] },
  parse: (text) => {
    const known = Object.hasOwn(WELL_KNOWN, text) ? WELL_KNOWN[text] : undefined;
    if (known !== undefined) return ok(known);
    const parts = text.split(':');
    const [as, value] = parts.map((part) => digits(part, 65_535));
    return parts.length === 2 && as !== undefined && value !== undefined && as !== 0 && as !== 65_535
      ? ok(as * 65_536 + value)
      : fail(undefined);
  },
};

/** RFC 8092: three times 32 bits. The global administrators 0, 65535 and 4294967295 are reserved (§5). */
export const largeCommunity: ValueKind<readonly [number, number, number]> = {
  allowed: 'AS:VALUE:VALUE such as 65000:1:2, each of 32 bits, the AS neither 0 nor 65535 nor 4294967295',
  json: { type: 'string', pattern: '^\\d{1,10}:\\d{1,10}:\\d{1,10}$' },
  parse: (text) => {
    const parts = text.split(':');
    const [as, first, second] = parts.map((part) => digits(part, 0xffff_ffff));
    if (parts.length !== 3 || as === undefined || first === undefined || second === undefined) return fail(undefined);
    return as === 0 || as === 65_535 || as === 0xffff_ffff
      ? fail(`the global administrator ${as} is reserved (RFC 8092 §5)`)
      : ok([as, first, second]);
  },
};
