// A path of gobgpd's in cnpd's words: what both versions of the API share once their wrapping is off (Any in v3, oneofs in v4; octets of BGP in v3's lists,
// src/packet/bgp/route.ts). Attributes that are not in the table below are none of cnpd's business.
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { type Family, type IpAddress, formatAddress, isLinkLocal, parseAddress } from '../../../model/address.ts';
import { type Prefix, prefixOf } from '../../../model/prefix.ts';
import { type Result, fail, ok } from '../../../model/result.ts';
import { NHC_TYPE } from '../../../packet/bgp/path-attribute.ts';
import { AS_SEGMENTS, type AsSegment, decodeNlri } from '../../../packet/bgp/route.ts';
import type { DecodeError } from '../../../packet/decode.ts';
import { toHex } from '../../../packet/hex.ts';
import type { HeardPath, PathError } from './api.ts';
import {
  AsPathAttributeSchema,
  type Family as FamilyMessage,
  type IPAddressPrefix,
  MpReachNLRIAttributeSchema,
  MultiExitDiscAttributeSchema,
  NextHopAttributeSchema,
  UnknownAttributeSchema,
} from './gen/gobgp/messages_pb.js';

/** No BGP message holds a path that is larger than this in gobgpd's words: 65,535 octets (RFC 8654), AS numbers and addresses spelt out. Decoding more would hold up the event loop. */
export const MAX_PATH_BYTES = 256 << 10;

export interface Attributes {
  /** As gobgpd writes them, or read already. */
  nextHops: readonly (string | IpAddress)[];
  nhc?: Uint8Array;
  asPath: readonly AsSegment[];
  med: number;
}

/** An attribute that cnpd reads: its schema, its name in v4's oneof, and what it says. */
interface Reader {
  readonly schema: DescMessage;
  readonly oneof: string;
  take(into: Attributes, message: unknown): void;
}
const reader = <S extends DescMessage>(schema: S, oneof: string, take: (into: Attributes, message: MessageShape<S>) => void): Reader => ({
  schema,
  oneof,
  take: (into, message) => take(into, message as MessageShape<S>),
});

export const READERS: readonly Reader[] = [
  reader(NextHopAttributeSchema, 'nextHop', (into, { nextHop }) => void (into.nextHops = [nextHop])),
  reader(MpReachNLRIAttributeSchema, 'mpReach', (into, { nextHops }) => void (into.nextHops = nextHops)),
  reader(AsPathAttributeSchema, 'asPath', (into, { segments }) => {
    into.asPath = segments.map(({ type, numbers }) => ({ type: AS_SEGMENTS[type] ?? 'sequence', numbers }));
  }),
  reader(MultiExitDiscAttributeSchema, 'multiExitDisc', (into, { med }) => void (into.med = med)),
  // RFC 7606 §3 g: of an attribute that occurs twice the first counts. A copy, so that the whole message is not kept for it.
  reader(UnknownAttributeSchema, 'unknown', (into, { type, value }) => void (type === NHC_TYPE && (into.nhc ??= new Uint8Array(value)))),
];

/** What Path says in both versions, its NLRI and attributes taken out of their wrapping. */
export interface PathFields {
  readonly family: FamilyMessage | undefined;
  /** Bytes: as in an UPDATE. */
  readonly nlri: Pick<IPAddressPrefix, 'prefix' | 'prefixLen'> | Uint8Array | undefined;
  readonly neighborIp: string;
  readonly identifier: number;
  readonly best: boolean;
  readonly isWithdraw: boolean;
  readonly isNexthopInvalid: boolean;
}

/** @param read reads the attributes, each through its row of READERS; throws when one is no protocol buffer */
export function heardPath(fields: PathFields, read: (into: Attributes) => void): Result<HeardPath, PathError> | undefined {
  const family = unicast(fields.family);
  if (family === undefined) return undefined;
  const prefix = prefixIn(fields.nlri, family);
  if (!prefix) return fail({ code: 'prefix', message: `a path whose prefix is ${nlriText(fields.nlri)}` });
  const neighbor = neighborIn(fields.neighborIp);
  if (neighbor === null) return fail({ code: 'neighbor', message: `a path from the neighbour ${clip(fields.neighborIp)}`, prefix });
  const { identifier, best, isNexthopInvalid: unreachable } = fields;
  const heard = { prefix, neighbor, identifier, unreachable };
  if (fields.isWithdraw) return ok({ ...heard, path: undefined });
  const attributes: Attributes = { nextHops: [], asPath: [], med: 0 };
  read(attributes);
  const { nextHops, nhc, asPath, med } = attributes;
  const nextHop = nextHopIn(nextHops);
  if (!nextHop) return fail({ code: 'next-hop', message: `a path whose next hop is ${nextHops.length > 0 ? clip(nextHops.map((hop) => (typeof hop === 'string' ? hop : formatAddress(hop))).join(', ')) : 'missing'}`, prefix });
  return ok({ ...heard, path: { identifier, neighbor, nextHop, ...(nhc && { nhc }), asPath, med, best: best && !unreachable } });
}

const clip = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

function unicast(family: FamilyMessage | undefined): Family | undefined {
  if (family?.safi !== 1) return undefined;
  return family.afi === 1 ? 4 : family.afi === 2 ? 6 : undefined;
}

function nlriText(nlri: PathFields['nlri']): string {
  if (!nlri) return 'missing';
  return clip(nlri instanceof Uint8Array ? toHex(nlri) : `${nlri.prefix}/${nlri.prefixLen}`);
}

function prefixIn(nlri: PathFields['nlri'], family: Family): Prefix | undefined {
  if (nlri instanceof Uint8Array) {
    const prefix = decodeNlri(nlri, family);
    return prefix.ok ? prefix.value : undefined;
  }
  const address = nlri && addressIn(nlri.prefix, family);
  if (!address || nlri.prefixLen > (family === 4 ? 32 : 128)) return undefined;
  return prefixOf(address, nlri.prefixLen);
}

/** gobgpd writes an IPv4-mapped prefix of IPv6 as IPv4; it is none that anybody forwards to. */
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

/** What cnpd has no name for is left out of messages, not kept. */
export const LEAN = { readUnknownFields: false } as const;
export const tooLong = (bytes: number): PathError => ({ code: 'too-long', message: `a path of ${bytes} bytes; no BGP message holds one of more than ${MAX_PATH_BYTES}` });
export const notBgp = (error: DecodeError): PathError => ({ code: 'not-bgp', message: `a path whose attributes are malformed: ${error.detail}` });
export const notProtobuf = (error: unknown): PathError => ({ code: 'not-protobuf', message: `a path that cannot be decoded: ${error instanceof Error ? error.message : String(error)}` });
