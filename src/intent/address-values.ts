// Addresses and prefixes of cnpd.yaml, as kinds of value (values.ts): which are allowed depends on their use.
import { type Family, type IpAddress, formatAddress, parseAddress } from '../model/address.ts';
import {
  type Prefix,
  type SpecialUse,
  addressUse,
  formatPrefix,
  parsePrefix,
  prefixOf,
  senderlessUse,
} from '../model/prefix.ts';
import { type Result, fail, ok } from '../model/result.ts';
import { WIDEST_OF_ONE_DOMAIN } from '../model/understood.ts';
import type { JsonSchema, ValueKind } from './values.ts';

/** A unicast address that can be a router's own in a packet. */
export function hostAddress(family?: Family): ValueKind<IpAddress> {
  const allowed = `a unicast ${family ? `IPv${family}` : 'IPv4 or IPv6'} address, neither loopback nor link-local`;
  return {
    allowed,
    json: { type: 'string', maxLength: 45, pattern: '^[0-9a-fA-F:.]+$' },
    parse: (text) => {
      const address = parseAddress(text);
      if (!address || (family && address.family !== family)) return fail(undefined);
      const use = addressUse(address);
      return use === undefined ? ok(address) : fail(`${formatAddress(address)} is not ${allowed}: it is ${USES[use]}`);
    },
  };
}

/** Besides addresses that a host can have: all addresses of this router, and those that only it can reach. */
const LISTENS_ALSO = new Set<string | undefined>([undefined, 'unspecified', 'loopback']);

/** Whether a server may listen there. A link-local address would need the name of its link. */
export const canListen = (address: IpAddress): boolean => LISTENS_ALSO.has(addressUse(address));

/** Where a server listens: an address of this machine, or all of them. */
export const serverAddress: ValueKind<IpAddress> = {
  allowed: 'an IPv4 or IPv6 address of this machine but a link-local one, or :: or 0.0.0.0 for all',
  json: { type: 'string', maxLength: 45, pattern: '^[0-9a-fA-F:.]+$' },
  parse: (text) => {
    const address = parseAddress(text);
    return address && canListen(address) ? ok(address) : fail(undefined);
  },
};

/** A router on the same link, which usually has a link-local address there. */
export const neighborAddress: ValueKind<IpAddress> = {
  allowed: 'a unicast IPv6 address, which may be link-local',
  json: { type: 'string', maxLength: 45, pattern: '^[0-9a-fA-F:.]+$' },
  parse: (text) => {
    const address = parseAddress(text);
    if (address?.family !== 6) return fail(undefined);
    const use = addressUse(address);
    return use === undefined || use === 'link-local'
      ? ok(address)
      : fail(`${formatAddress(address)} is no neighbor's address: it is ${USES[use]}`);
  },
};

const PREFIX_JSON: JsonSchema = { type: 'string', maxLength: 49, pattern: '^[0-9a-fA-F:.]+/\\d{1,3}$' };

/** A prefix. The two usual mistakes are distinguished: no length, and host bits that are set. */
function readPrefix(text: string): Result<Prefix, string | undefined> {
  const parsed = parsePrefix(text);
  if (parsed) return ok(parsed);
  const bare = parseAddress(text);
  if (bare)
    return fail(
      `a prefix needs a length; for this address alone write ${formatAddress(bare)}/${bare.family === 4 ? 32 : 128}`,
    );
  const [head, tail] = text.split('/');
  const address = parseAddress(head ?? '');
  const length = /^\d{1,3}$/.test(tail ?? '') ? Number(tail) : NaN;
  if (!address || text.split('/').length !== 2 || !(length <= (address.family === 4 ? 32 : 128)))
    return fail(undefined);
  const masked = prefixOf(address, length);
  return masked.address.value === address.value
    ? fail(undefined)
    : fail(`host bits are set beyond /${length}: the prefix is ${formatPrefix(masked)}`);
}

const USES: Readonly<Record<SpecialUse, string>> = {
  unspecified: 'unspecified (0.0.0.0/8, ::)',
  loopback: 'loopback (127.0.0.0/8, ::1)',
  'link-local': 'link-local (169.254.0.0/16, fe80::/10)',
  multicast: 'multicast (224.0.0.0/4, ff00::/8)',
  broadcast: 'the broadcast address',
  reserved: 'reserved (240.0.0.0/4)',
  'ipv4-mapped': 'IPv4-mapped (::ffff:0:0/96)',
};

/** Why no sender has its source address in the prefix, or undefined when some may. */
function noSenders(prefix: Prefix): string | undefined {
  const use = senderlessUse(prefix);
  return use && `no sender has a source address in ${formatPrefix(prefix)}: it is ${USES[use]}`;
}

function prefixKind(allowed: string, refusal: (prefix: Prefix) => string | undefined): ValueKind<Prefix> {
  return {
    allowed,
    json: PREFIX_JSON,
    parse: (text) => {
      const read = readPrefix(text);
      if (!read.ok) return read;
      const refused = refusal(read.value);
      return refused === undefined ? read : fail(refused);
    },
  };
}

/** A prefix of traffic senders. A default route is refused: this router cannot be the proxy of everybody (PNC-6-a). */
export const senderPrefix = prefixKind(
  'a unicast prefix such as 2001:db8:1::/64, longer than /0, with no host bits set',
  (prefix) =>
    prefix.length === 0
      ? 'a default route is not a sender prefix: name the prefixes of the senders'
      : noSenders(prefix),
);

/** Senders that a policy is for: the default route means those that no other policy names. */
export const policyPrefix = prefixKind(
  'a unicast prefix such as 2001:db8:1::/64, or ::/0 or 0.0.0.0/0 for all others, with no host bits set',
  noSenders,
);

/** An SRv6 locator: a block of SIDs (RFC 8986 §3.1). */
export const locatorPrefix = prefixKind(
  'a unicast IPv6 prefix such as 2001:db8:c::/48, longer than /0, with no host bits set',
  (prefix) =>
    prefix.address.family === 4
      ? 'a locator is an IPv6 prefix'
      : prefix.length === 0
        ? 'a default route is not a locator'
        : noSenders(prefix) && `${formatPrefix(prefix)} is not a unicast prefix`,
);

/**
 * An entry of an allow-list. "From any source" is not possible: notifications are for one controlled domain (PNC-6-a,
 * PNC-6-c, FCNP-5-a).
 */
export const trustedPrefix = prefixKind(
  'a prefix of this domain such as 2001:db8:ffff::/48, not wider than /8 (IPv4) or /7 (IPv6)',
  (prefix) => {
    const widest = WIDEST_OF_ONE_DOMAIN[prefix.address.family];
    return prefix.length >= widest
      ? undefined
      : `${formatPrefix(prefix)} reaches outside the domain: name its prefixes, not wider than /${widest}`;
  },
);

/** Neighbors on the links of this router, by link-local or global addresses. */
export const neighborPrefix = prefixKind(
  'an IPv6 prefix such as fe80::/10 or 2001:db8:ffff::/48, not wider than /7',
  (prefix) =>
    prefix.address.family === 4
      ? 'neighbors ask over IPv6'
      : prefix.length < WIDEST_OF_ONE_DOMAIN[6]
        ? `${formatPrefix(prefix)} reaches outside the domain: name its prefixes, not wider than /7`
        : undefined,
);
