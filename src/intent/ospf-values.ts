// The kinds of value that only OSPF has (values.ts): router IDs, areas, and the addresses of a link, also of one that
// is not named.
import { type IpAddress, formatAddress, isUnicastHost, parseAddress } from '../model/address.ts';
import { type Prefix, parsePrefix } from '../model/prefix.ts';
import { type Result, fail, ok } from '../model/result.ts';
import type { ValueKind } from './values.ts';

const dottedQuad = (text: string): number | undefined => {
  const address = parseAddress(text);
  return address?.family === 4 ? Number(address.value) : undefined;
};

/** 32 bits, written as a dotted quad; 0.0.0.0 and 255.255.255.255 are reserved. */
export const ospfRouterId: ValueKind<number> = {
  allowed: 'a router ID such as 192.0.2.201, not 0.0.0.0',
  json: { type: 'string', pattern: '^(\\d{1,3}\\.){3}\\d{1,3}$' },
  parse: (text) => {
    const id = dottedQuad(text);
    return id === undefined || id === 0 || id === 0xffff_ffff ? fail(undefined) : ok(id);
  },
};

/** 32 bits, in either of the two ways in which FRR takes it. */
export const ospfArea: ValueKind<number> = {
  allowed: 'an area such as 0.0.0.0 or 0',
  json: {
    type: ['string', 'number'],
    pattern: '^((\\d{1,3}\\.){3}\\d{1,3}|\\d{1,10})$',
    minimum: 0,
    maximum: 0xffff_ffff,
  },
  parse: (text) => {
    const area = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : dottedQuad(text);
    return area === undefined || area > 0xffff_ffff ? fail(undefined) : ok(area);
  },
};

const LINK_ALLOWED = 'an IPv4 prefix of /30 or /31 such as 169.254.89.0/31, with no host bits set';

/**
 * The two ends of a link: of a /31 both addresses, of a /30 those in the middle. Link-local addresses will do: nothing
 * is routed to them.
 */
export const ospfLink: ValueKind<Prefix> = {
  allowed: LINK_ALLOWED,
  json: { type: 'string', maxLength: 18, pattern: '^(\\d{1,3}\\.){3}\\d{1,3}/(30|31)$' },
  parse: (text): Result<Prefix, string | undefined> => {
    const prefix = parsePrefix(text);
    if (prefix?.address.family !== 4 || (prefix.length !== 30 && prefix.length !== 31)) return fail(undefined);
    const host = { family: 4, value: prefix.address.value | 1n } as const;
    const linkLocal = host.value >> 16n === 0xa9fen;
    return linkLocal || isUnicastHost(host)
      ? ok(prefix)
      : fail(`no interface has an address such as ${formatAddress(host)}`);
  },
};

/**
 * The links of areas that name none, 169.254.89.0/31 and the following: link-local (RFC 3927), so that they conflict
 * with no address plan; the block has space for 128 areas.
 */
const FIRST_LINK = 0xa9fe_5900n;
export const linkOf = (n: number): Prefix => ({
  address: { family: 4, value: FIRST_LINK + 2n * BigInt(n) },
  length: 31,
});

/** FRR's end is the lower address. */
export function endsOf({ address, length }: Prefix): {
  readonly router: IpAddress;
  readonly own: IpAddress;
  readonly length: number;
} {
  const first = length === 31 ? address.value : address.value + 1n;
  const end = (value: bigint): IpAddress => ({ family: 4, value });
  return { router: end(first), own: end(first + 1n), length };
}
