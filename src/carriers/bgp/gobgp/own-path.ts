// A path of cnpd's own in gobgpd's words, as far as both versions of the API share them: its attributes, each with its
// schema and its name in v4's oneof, and what every path contains. The wrapping is the version's. Paths come by the ten
// thousand and mostly differ in their prefix alone, so that the attributes are encoded once for all that have them
// alike.
import { type DescMessage, type MessageInitShape, type MessageShape, create, toBinary } from '@bufbuild/protobuf';
import { type Family, type IpAddress, formatAddress } from '../../../model/address.ts';
import type { Prefix } from '../../../model/prefix.ts';
import { NHC_TYPE, OPTIONAL_TRANSITIVE } from '../../../packet/bgp/path-attribute.ts';
import type { LargeCommunity } from '../../../packet/bgp/route.ts';
import { type GobgpApi, afiSafi } from './api.ts';
import {
  AsPathAttributeSchema,
  CommunitiesAttributeSchema,
  LargeCommunitiesAttributeSchema,
  NextHopAttributeSchema,
  OriginAttributeSchema,
  UnknownAttributeSchema,
} from './gen/gobgp/messages_pb.js';
import { OWN_IDENTIFIER, type OwnPath, samePaths } from './gobgp.ts';

export interface OwnAttribute {
  readonly schema: DescMessage;
  readonly oneof: string;
  readonly message: MessageShape<DescMessage>;
}
const attribute = <S extends DescMessage>(schema: S, oneof: string, init?: MessageInitShape<S>): OwnAttribute => ({
  schema,
  oneof,
  message: create(schema, init),
});

const ORIGIN_IGP = attribute(OriginAttributeSchema, 'origin', { origin: 0 });
const EMPTY_AS_PATH = attribute(AsPathAttributeSchema, 'asPath');
/** Of either family: gobgpd makes MP_REACH_NLRI of it where the prefix is IPv6. */
const nextHopAttribute = (nextHop: IpAddress): OwnAttribute =>
  attribute(NextHopAttributeSchema, 'nextHop', { nextHop: formatAddress(nextHop) });

function ownAttributes(
  { nextHop, nhc, communities, largeCommunities: declared }: OwnPath,
  mark: LargeCommunity | undefined,
): OwnAttribute[] {
  const largeCommunities = mark && !declared.some((own) => own.join() === mark.join()) ? [...declared, mark] : declared;
  const attributes = [ORIGIN_IGP, EMPTY_AS_PATH, nextHopAttribute(nextHop)];
  if (communities.length > 0)
    attributes.push(attribute(CommunitiesAttributeSchema, 'communities', { communities: [...communities] }));
  if (largeCommunities.length > 0) {
    const parts = largeCommunities.map(([globalAdmin, localData1, localData2]) => ({
      globalAdmin,
      localData1,
      localData2,
    }));
    attributes.push(attribute(LargeCommunitiesAttributeSchema, 'largeCommunities', { communities: parts }));
  }
  attributes.push(
    attribute(UnknownAttributeSchema, 'unknown', { flags: OPTIONAL_TRANSITIVE, type: NHC_TYPE, value: nhc }),
  );
  return attributes;
}

/** gobgpd builds the path to take out from the same message as one to put in, and wants a next hop of some kind. */
const withdrawalAttributes = (family: Family): OwnAttribute[] => [nextHopAttribute({ family, value: 0n })];

interface OwnFields {
  readonly identifier: number;
  readonly isWithdraw: boolean;
}

/** Bytes as text of as many characters (latin1), which V8 joins and copies fast. */
const raw = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const varint = (value: number): string =>
  value < 0x80 ? String.fromCharCode(value) : String.fromCharCode((value & 0x7f) | 0x80) + varint(value >>> 7);
/** A field whose wire type is "length-delimited": a message, a string or bytes. */
export const field = (number: number, content: string): string =>
  varint((number << 3) | 2) + varint(content.length) + content;
/** IPAddressPrefix (proto/gobgp/messages.proto). */
export const prefixMessage = ({ address, length }: Prefix): string =>
  varint(1 << 3) + varint(length) + field(2, formatAddress(address));

/** What the version adds to an own path: its schemas, and NLRI of a prefix. */
export interface Wrapping {
  readonly path: DescMessage;
  /** Of AddPathStreamRequest, without paths. */
  readonly request: Uint8Array;
  encodeAttributes(attributes: readonly OwnAttribute[]): Uint8Array;
  nlri(prefix: Prefix): string;
}

/**
 * Messages for AddPathStream, put together field by field: through the schemas it takes twenty times as long, and
 * gobgpd would wait. The fields of a message may come in any order, and two encoded messages one behind the other are
 * one with the fields of both.
 */
export function ownMessages(wrapping: Wrapping): Pick<GobgpApi, 'addRequest' | 'withdrawRequest'> {
  const rest = (family: Family, fields: OwnFields): string =>
    raw(toBinary(wrapping.path, create(wrapping.path, { ...fields, family: afiSafi(family) })));
  const rests = (identifier: number): Record<Family, string> => ({
    4: rest(4, { identifier, isWithdraw: false }),
    6: rest(6, { identifier, isWithdraw: false }),
  });
  const path = (prefix: Prefix, more: string): string => field(3, field(1, wrapping.nlri(prefix)) + more);
  const request = (paths: readonly string[]): Uint8Array =>
    Buffer.from(raw(wrapping.request) + paths.join(''), 'latin1');
  const own = rests(OWN_IDENTIFIER);
  const attributes = onceFor((path, mark) => raw(wrapping.encodeAttributes(ownAttributes(path, mark))));
  const withdrawal = (family: Family): string =>
    raw(wrapping.encodeAttributes(withdrawalAttributes(family))) +
    rest(family, { identifier: OWN_IDENTIFIER, isWithdraw: true });
  const withdrawals = { 4: withdrawal(4), 6: withdrawal(6) };
  return {
    addRequest(paths, identifier = OWN_IDENTIFIER, mark) {
      const last = identifier === OWN_IDENTIFIER ? own : rests(identifier);
      return request(
        paths.map((added) => path(added.prefix, attributes(added, mark) + last[added.prefix.address.family])),
      );
    },
    withdrawRequest: (prefixes) => request(prefixes.map((prefix) => path(prefix, withdrawals[prefix.address.family]))),
  };
}

/** Encodes attributes with `encode`, those of the next path only when they are others. */
function onceFor(encode: (path: OwnPath, mark: LargeCommunity | undefined) => string): typeof encode {
  let last: { readonly path: OwnPath; readonly mark: LargeCommunity | undefined; readonly bytes: string } | undefined;
  return (path, mark) => {
    if (!last || last.mark !== mark || !samePaths(last.path, path)) last = { path, mark, bytes: encode(path, mark) };
    return last.bytes;
  };
}
