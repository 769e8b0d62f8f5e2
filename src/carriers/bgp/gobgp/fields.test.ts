// Fields that cnpd has no name for, in every message that a path consists of: a newer gobgpd may have them.
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import {
  AsPathAttributeSchema,
  AsSegmentSchema,
  IPAddressPrefixSchema,
  LargeCommunitiesAttributeSchema,
  LargeCommunitySchema,
  MpReachNLRIAttributeSchema,
  MultiExitDiscAttributeSchema,
  NextHopAttributeSchema,
  UnknownAttributeSchema,
} from './gen/gobgp/messages_pb.js';
import { PathSchema as V3Path } from './gen/gobgp/v3_pb.js';
import { AttributeSchema, NLRISchema, PathSchema as V4Path } from './gen/gobgp/v4_pb.js';
import { MARK_KIND, MARK_OUTSIDE } from '../domain-marks.ts';
import { field } from './own-path.ts';
import { v3 } from './v3.ts';
import { v4 } from './v4.ts';

/** Fields 31, 30 and 29, numbers and a string: no message has them. */
const UNKNOWN = '\xf8\x01\x07\xf2\x01\x02hi\xe8\x01\x00';
const raw = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
/** Before, between and after what the message has. */
const among = (...parts: readonly string[]): string => UNKNOWN + parts.join(UNKNOWN) + UNKNOWN;

const segment = raw(toBinary(AsSegmentSchema, create(AsSegmentSchema, { type: 2, numbers: [65010, 65020] })));
const community = raw(
  toBinary(
    LargeCommunitySchema,
    create(LargeCommunitySchema, { globalAdmin: 65001, localData1: MARK_KIND, localData2: MARK_OUTSIDE }),
  ),
);
const HOP = raw(toBinary(NextHopAttributeSchema, create(NextHopAttributeSchema, { nextHop: '192.0.2.1' })));
const REACH = raw(
  toBinary(MpReachNLRIAttributeSchema, create(MpReachNLRIAttributeSchema, { nextHops: ['192.0.2.1', '192.0.2.2'] })),
);
/** By the attribute's name in v3; fields of AS_PATH and of large communities have the number 1. */
const ATTRIBUTES = {
  NextHopAttribute: [NextHopAttributeSchema, 'nextHop', among(HOP)],
  MpReachNLRIAttribute: [MpReachNLRIAttributeSchema, 'mpReach', among(REACH)],
  AsPathAttribute: [AsPathAttributeSchema, 'asPath', among(field(1, among(segment)))],
  MultiExitDiscAttribute: [
    MultiExitDiscAttributeSchema,
    'multiExitDisc',
    among(raw(toBinary(MultiExitDiscAttributeSchema, create(MultiExitDiscAttributeSchema, { med: 7 })))),
  ],
  LargeCommunitiesAttribute: [LargeCommunitiesAttributeSchema, 'largeCommunities', among(field(1, among(community)))],
  UnknownAttribute: [
    UnknownAttributeSchema,
    'unknown',
    among(
      raw(
        toBinary(
          UnknownAttributeSchema,
          create(UnknownAttributeSchema, { flags: 0xc0, type: 39, value: Uint8Array.of(0xaa) }),
        ),
      ),
    ),
  ],
} as const;
const PREFIX = among(
  raw(toBinary(IPAddressPrefixSchema, create(IPAddressPrefixSchema, { prefix: '10.0.0.0', prefixLen: 8 }))),
);
const FAMILY = { family: { afi: 1, safi: 1 } };
/** Fields of Path: 1 the prefix, 2 an attribute. */
const paths = (names: readonly (keyof typeof ATTRIBUTES)[]) => {
  const url = (name: string): string => field(1, `type.googleapis.com/apipb.${name}`);
  const number = (oneof: string): number => AttributeSchema.fields.find(({ localName }) => localName === oneof)!.number;
  return {
    v3: bytes(
      field(1, among(url('IPAddressPrefix'), field(2, PREFIX))) +
        names.map((name) => field(2, among(url(name), field(2, ATTRIBUTES[name][2])))).join('') +
        raw(toBinary(V3Path, create(V3Path, FAMILY))),
    ),
    v4: bytes(
      field(1, among(field(NLRISchema.field.prefix.number, PREFIX))) +
        names.map((name) => field(2, among(field(number(ATTRIBUTES[name][1]), ATTRIBUTES[name][2])))).join('') +
        raw(toBinary(V4Path, create(V4Path, FAMILY))),
    ),
  };
};

describe.each([
  ['v3', v3],
  ['v4', v4],
] as const)('%s: what cnpd has no name for is passed over', (name, api) => {
  test.each([['NextHopAttribute'], ['MpReachNLRIAttribute']] as const)('in %s and all other attributes', (hop) => {
    const others = Object.keys(ATTRIBUTES).filter((one) => !/Hop|Reach/.test(one)) as (keyof typeof ATTRIBUTES)[];
    expect(api.decodePath(paths([hop, ...others])[name])).toMatchObject({
      ok: true,
      value: {
        path: {
          nextHop: { family: 4, value: 0xc000_0201n },
          asPath: [{ type: 'sequence', numbers: [65010, 65020] }],
          med: 7,
          mark: 'outside',
          nhc: { 0: 0xaa, length: 1 },
        },
      },
    });
  });
});
