// The attributes of a path that cnpd reads, from the messages that both versions of gobgpd's API share. Attributes that
// are not in the table are none of cnpd's business.
import type { DescMessage } from '@bufbuild/protobuf';
import type { IpAddress } from '../../../model/address.ts';
import { copyOf } from '../../../packet/bytes.ts';
import { NHC_TYPE, isOptionalTransitive } from '../../../packet/bgp/path-attribute.ts';
import { AS_SEGMENTS, type AsSegment } from '../../../packet/bgp/route.ts';
import { type Mark, markOf, strongest } from '../domain-marks.ts';
import {
  AsPathAttributeSchema,
  LargeCommunitiesAttributeSchema,
  MpReachNLRIAttributeSchema,
  MultiExitDiscAttributeSchema,
  NextHopAttributeSchema,
  UnknownAttributeSchema,
} from './gen/gobgp/messages_pb.js';
import type { Fields } from './wire.ts';

/** What cnpd reads of a path's attributes. */
export interface Attributes {
  /** As gobgpd writes them, or read already. */
  nextHops: readonly (string | IpAddress)[];
  nhc?: Uint8Array;
  badNhcFlags?: number;
  asPath: readonly AsSegment[];
  med: number;
  mark?: Mark | undefined;
}

/** An attribute that cnpd reads: its schema, its name in v4's oneof, and how. */
export interface Reader {
  readonly schema: DescMessage;
  readonly oneof: string;
  read(into: Attributes, message: Fields): void;
}

/** The numbers of fields, here and below, are those of proto/gobgp/. */
export const READERS: readonly Reader[] = [
  {
    schema: NextHopAttributeSchema,
    oneof: 'nextHop',
    read(into, message) {
      into.nextHops = [''];
      while (message.next()) if (message.number === 1) into.nextHops = [message.text()];
    },
  },
  {
    schema: MpReachNLRIAttributeSchema,
    oneof: 'mpReach',
    read(into, message) {
      const hops: string[] = [];
      while (message.next()) if (message.number === 2) hops.push(message.text());
      into.nextHops = hops;
    },
  },
  { schema: AsPathAttributeSchema, oneof: 'asPath', read: (into, message) => void (into.asPath = segmentsOf(message)) },
  {
    schema: MultiExitDiscAttributeSchema,
    oneof: 'multiExitDisc',
    read(into, message) {
      into.med = 0;
      while (message.next()) if (message.number === 1) into.med = message.uint();
    },
  },
  { schema: LargeCommunitiesAttributeSchema, oneof: 'largeCommunities', read: readLargeCommunities },
  { schema: UnknownAttributeSchema, oneof: 'unknown', read: readUnknown },
];

function readLargeCommunities(into: Attributes, message: Fields): void {
  while (message.next()) {
    if (message.number !== 1) continue;
    const parts = [0, 0, 0];
    for (const community = message.message(); community.next();)
      if (community.number <= 3) parts[community.number - 1] = community.uint();
    into.mark = strongest(into.mark, markOf(parts[1]!, parts[2]!));
  }
}

function segmentsOf(message: Fields): AsSegment[] {
  const segments: AsSegment[] = [];
  while (message.next()) {
    if (message.number !== 1) continue;
    let type = 0;
    const numbers: number[] = [];
    for (const segment = message.message(); segment.next();) {
      if (segment.number === 1) type = segment.uint();
      else if (segment.number === 2) segment.uints(numbers);
    }
    segments.push({ type: AS_SEGMENTS[type] ?? 'sequence', numbers });
  }
  return segments;
}

/**
 * RFC 7606 §3 g: of an attribute that occurs twice the first counts. A copy, so that the whole message is not kept for
 * it.
 */
function readUnknown(into: Attributes, message: Fields): void {
  let [flags, type] = [0, 0];
  let value: Uint8Array | undefined;
  while (message.next()) {
    if (message.number === 1) flags = message.uint();
    else if (message.number === 2) type = message.uint();
    else if (message.number === 3) value = message.bytes();
  }
  if (type !== NHC_TYPE || into.nhc) return;
  into.nhc = copyOf(value ?? new Uint8Array());
  if (!isOptionalTransitive(flags)) into.badNhcFlags = flags;
}
