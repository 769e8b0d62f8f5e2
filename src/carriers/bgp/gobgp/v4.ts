// gobgpd's API version 4 (proto/gobgp/v4.proto): NLRI and attributes in oneofs, enumerations whose first value is
// "unspecified", and a size for its batches.
import { create, toBinary } from '@bufbuild/protobuf';
import { formatPrefix } from '../../../model/prefix.ts';
import { type GobgpApi, afiSafi } from './api.ts';
import {
  AddPathStreamRequestSchema,
  type Attribute,
  AttributeSchema,
  GoBgpService,
  ListPathRequestSchema,
  NLRISchema,
  PathSchema,
  TableLookupPrefix_Type,
  TableType,
  WatchEventRequestSchema,
  WatchEventRequest_Filter_Type as Filter,
} from './gen/gobgp/v4_pb.js';
import type { Learn } from './gobgp.ts';
import { type OwnAttribute, field, ownMessages, prefixMessage } from './own-path.ts';
import { READERS } from './path-attributes.ts';
import { type Wrapped, decodePath } from './path.ts';
import type { Fields } from './wire.ts';

const FILTERS: Readonly<Record<Learn, readonly Filter[]>> = {
  best: [Filter.BEST],
  all: [Filter.BEST, Filter.POST_POLICY],
};
/** Most paths in an event, and most prefixes that gobgpd prepares at a time of a list. */
const BATCH = 100;

const READER_OF = new Map(
  READERS.map((reader) => [AttributeSchema.fields.find(({ localName }) => localName === reader.oneof)!.number, reader]),
);

/** Messages with one field, whose number is its kind; of several the last counts. */
const WRAPPED: Wrapped = {
  prefix(nlri) {
    let message: Fields | undefined;
    while (nlri.next()) if (nlri.number === NLRISchema.field.prefix.number) message = nlri.message();
    return message;
  },
  attribute(attribute) {
    let known: ReturnType<Wrapped['attribute']>;
    while (attribute.next()) {
      const reader = READER_OF.get(attribute.number);
      if (reader) known = { reader, message: attribute.message() };
    }
    return known;
  },
};

export const v4: GobgpApi = {
  name: 'v4',
  numbers: {
    neighborSet: 2,
    largeCommunitySet: 7,
    matchAny: 1,
    matchInvert: 3,
    communityAdd: 1,
    softIn: 1,
    softOut: 2,
  },
  takesBack: true,
  service: GoBgpService.typeName,
  watchRequest: (learn) =>
    toBinary(
      WatchEventRequestSchema,
      create(WatchEventRequestSchema, {
        peer: {},
        table: { filters: FILTERS[learn].map((type) => ({ type })) },
        batchSize: BATCH,
      }),
    ),
  listRequest: (family, prefixes) =>
    toBinary(
      ListPathRequestSchema,
      create(ListPathRequestSchema, {
        tableType: TableType.GLOBAL,
        family: afiSafi(family),
        prefixes: prefixes.map((p) => ({ prefix: formatPrefix(p), type: TableLookupPrefix_Type.EXACT })),
        batchSize: BigInt(BATCH),
      }),
    ),
  ...ownMessages({
    path: PathSchema,
    request: toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, { tableType: TableType.GLOBAL })),
    encodeAttributes,
    nlri: (prefix) => field(NLRISchema.field.prefix.number, prefixMessage(prefix)),
  }),
  decodePath: (bytes) => decodePath(bytes, WRAPPED),
};

function encodeAttributes(attributes: readonly OwnAttribute[]): Uint8Array {
  return toBinary(
    PathSchema,
    create(PathSchema, {
      pattrs: attributes.map(({ oneof, message }) =>
        create(AttributeSchema, { attr: { case: oneof, value: message } as Attribute['attr'] }),
      ),
    }),
  );
}
