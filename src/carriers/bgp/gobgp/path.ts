// A path of gobgpd's in cnpd's words: what both versions of the API share once their wrapping is off (Any in v3, oneofs
// in v4; octets of BGP in v3's lists, src/packet/bgp/route.ts). Read field by field (wire.ts): tables have paths by the
// hundred thousand.
import { type Family, type IpAddress, formatAddress, isLinkLocal, parseAddress } from '../../../model/address.ts';
import { messageOf } from '../../../model/error-text.ts';
import { type Prefix, prefixOf } from '../../../model/prefix.ts';
import { type Result, fail, ok } from '../../../model/result.ts';
import { type PathAttribute, decodePathAttributes } from '../../../packet/bgp/path-attribute.ts';
import { decodeNlri, decodeRoute } from '../../../packet/bgp/route.ts';
import type { DecodeError } from '../../../packet/decode.ts';
import { toHex } from '../../../packet/hex.ts';
import { markOf, strongest } from '../domain-marks.ts';
import type { HeardPath, PathError } from './api.ts';
import type { Attributes, Reader } from './path-attributes.ts';
import { Fields } from './wire.ts';

/**
 * No BGP message holds a path that is larger than this in gobgpd's words: 65,535 octets (RFC 8654), AS numbers and
 * addresses spelled out. Decoding more would hold up the event loop.
 */
export const MAX_PATH_BYTES = 256 << 10;

const NOTHING = new Uint8Array(0);

/** How the version wraps what a path consists of. Messages are read once. */
export interface Wrapped {
  /** The IPAddressPrefix in a path's NLRI. */
  prefix(nlri: Fields): Fields | undefined;
  /** How to read an attribute, and its message; undefined: none of cnpd's business. */
  attribute(attribute: Fields): { readonly reader: Reader; readonly message: Fields } | undefined;
}

/** Path of both versions, its parts not read yet. */
interface PathFields {
  afi: number;
  safi: number;
  nlri: Fields | undefined;
  readonly attributes: Fields[];
  neighborIp: string;
  sourceAsn: number;
  identifier: number;
  best: boolean;
  isWithdraw: boolean;
  isNexthopInvalid: boolean;
  /** As in an UPDATE: instead of `nlri` and `attributes`. */
  nlriOctets: Uint8Array;
  readonly attributeOctets: Uint8Array[];
}

function fieldsOf(bytes: Uint8Array): PathFields {
  const path: PathFields = {
    afi: 0,
    safi: 0,
    nlri: undefined,
    attributes: [],
    neighborIp: '',
    sourceAsn: 0,
    identifier: 0,
    best: false,
    isWithdraw: false,
    isNexthopInvalid: false,
    nlriOctets: NOTHING,
    attributeOctets: [],
  };
  for (const fields = new Fields(bytes); fields.next();) {
    const { number } = fields;
    if (number === 1) path.nlri = fields.message();
    else if (number === 2) path.attributes.push(fields.message());
    else if (number === 4) path.best = fields.uint() !== 0;
    else if (number === 5) path.isWithdraw = fields.uint() !== 0;
    else if (number === 9) readFamily(path, fields.message());
    else if (number === 10) path.sourceAsn = fields.uint();
    else if (number === 15) path.neighborIp = fields.text();
    else if (number === 17) path.isNexthopInvalid = fields.uint() !== 0;
    else if (number === 18) path.identifier = fields.uint();
    else if (number === 20) path.nlriOctets = fields.bytes();
    else if (number === 21) path.attributeOctets.push(fields.bytes());
  }
  return path;
}

function readFamily(path: PathFields, family: Fields): void {
  while (family.next()) {
    if (family.number === 1) path.afi = family.uint();
    else if (family.number === 2) path.safi = family.uint();
  }
}

export function decodePath(bytes: Uint8Array, wrapped: Wrapped): Result<HeardPath, PathError> | undefined {
  if (bytes.length > MAX_PATH_BYTES)
    return fail({
      code: 'too-long',
      message: `a path of ${bytes.length} bytes; no BGP message holds one of more than ${MAX_PATH_BYTES}`,
    });
  try {
    return heardPath(fieldsOf(bytes), wrapped);
  } catch (error) {
    return fail({
      code: 'not-protobuf',
      message: `a path that cannot be decoded: ${messageOf(error)}`,
    });
  }
}

function heardPath(fields: PathFields, wrapped: Wrapped): Result<HeardPath, PathError> | undefined {
  const family = unicast(fields);
  if (family === undefined) return undefined;
  const octets = fields.nlriOctets.length > 0;
  const nlri = octets ? fields.nlriOctets : nlriOf(fields, wrapped);
  const prefix = prefixIn(nlri, family);
  if (!prefix) return fail({ code: 'prefix', message: `a path whose prefix is ${nlriText(nlri)}` });
  const neighbor = neighborIn(fields.neighborIp);
  if (neighbor === null)
    return fail({ code: 'neighbor', message: `a path from the neighbor ${clip(fields.neighborIp)}`, prefix });
  const { identifier, best, isNexthopInvalid: unreachable } = fields;
  if (fields.isWithdraw) return ok({ prefix, neighbor, identifier, unreachable, path: undefined });
  const attributes = octets ? octetsAttributes(fields) : ok(attributesOf(fields, wrapped));
  if (!attributes.ok)
    return fail({ code: 'not-bgp', message: `a path whose attributes are malformed: ${attributes.error.detail}` });
  const { nextHops, nhc, badNhcFlags, asPath, med, mark } = attributes.value;
  const nextHop = nextHopIn(nextHops);
  if (!nextHop) {
    const found = nextHops.map((hop) => (typeof hop === 'string' ? hop : formatAddress(hop))).join(', ');
    const message = `a path whose next hop is ${nextHops.length > 0 ? clip(found) : 'missing'}`;
    return fail({ code: 'next-hop', message, prefix });
  }
  return ok({
    prefix,
    neighbor,
    identifier,
    unreachable,
    path: {
      identifier,
      neighbor,
      neighborAs: fields.sourceAsn,
      ...(mark && { mark }),
      nextHop,
      ...(nhc && { nhc }),
      ...(badNhcFlags !== undefined && { badNhcFlags }),
      asPath,
      med,
      best: best && !unreachable,
    },
  });
}

function attributesOf({ attributes }: PathFields, wrapped: Wrapped): Attributes {
  const into: Attributes = { nextHops: [], asPath: [], med: 0 };
  for (const fields of attributes) {
    const known = wrapped.attribute(fields);
    known?.reader.read(into, known.message);
  }
  return into;
}

function octetsAttributes({ attributeOctets }: PathFields): Result<Attributes, DecodeError> {
  const attributes: PathAttribute[] = [];
  for (const bytes of attributeOctets) {
    const some = decodePathAttributes(bytes);
    if (!some.ok) return some;
    attributes.push(...some.value);
  }
  const route = decodeRoute(attributes);
  if (!route.ok) return route;
  const { largeCommunities, ...rest } = route.value;
  return ok({
    ...rest,
    mark: largeCommunities.map(([, kind, what]) => markOf(kind, what)).reduce(strongest, undefined),
  });
}

interface Nlri {
  prefix: string;
  length: number;
}

function nlriOf({ nlri }: PathFields, wrapped: Wrapped): Nlri | undefined {
  const message = nlri && wrapped.prefix(nlri);
  if (!message) return undefined;
  const read: Nlri = { prefix: '', length: 0 };
  while (message.next()) {
    if (message.number === 1) read.length = message.uint();
    else if (message.number === 2) read.prefix = message.text();
  }
  return read;
}

const clip = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

function unicast({ afi, safi }: PathFields): Family | undefined {
  if (safi !== 1) return undefined;
  return afi === 1 ? 4 : afi === 2 ? 6 : undefined;
}

function nlriText(nlri: Nlri | Uint8Array | undefined): string {
  if (!nlri) return 'missing';
  return clip(nlri instanceof Uint8Array ? toHex(nlri) : `${nlri.prefix}/${nlri.length}`);
}

function prefixIn(nlri: Nlri | Uint8Array | undefined, family: Family): Prefix | undefined {
  if (nlri instanceof Uint8Array) {
    const prefix = decodeNlri(nlri, family);
    return prefix.ok ? prefix.value : undefined;
  }
  const address = nlri && addressIn(nlri.prefix, family);
  if (!address || nlri.length > (family === 4 ? 32 : 128)) return undefined;
  return prefixOf(address, nlri.length);
}

/** gobgpd writes an IPv4-mapped prefix of IPv6 as IPv4; no packet is forwarded to it. */
function addressIn(text: string, family: Family): IpAddress | undefined {
  const address = parseAddress(text);
  return address?.family === family ? address : undefined;
}

/** Undefined: originated here, which v3 writes as Go's nil. Null: no address. */
function neighborIn(text: string): string | undefined | null {
  if (text === '' || text === '<nil>') return undefined;
  const address = parseAddress(withoutZone(text));
  return address ? formatAddress(address) : null;
}

const withoutZone = (text: string): string => text.split('%', 1)[0]!;

function nextHopIn(hops: Attributes['nextHops']): IpAddress | undefined {
  const addresses = hops.slice(0, 2).map((hop) => (typeof hop === 'string' ? parseAddress(withoutZone(hop)) : hop));
  return addresses.find((a) => a && !isLinkLocal(a)) ?? addresses[0];
}
