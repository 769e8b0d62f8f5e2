// gobgpd's API version 3 (proto/gobgp/v3.proto): NLRI and attributes in Any, enumerations that begin with the first
// value.
//
// A list is asked for in octets of BGP. gobgpd keeps MP_REACH_NLRI as it came, with the prefixes of the whole UPDATE,
// puts it into every path and all paths into memory before it sends the first: as Any, 50,000 paths of a neighbor that
// packs 400 an UPDATE take it gigabytes.
import { type DescMessage, type MessageShape, create, toBinary } from '@bufbuild/protobuf';
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt';
import { formatPrefix } from '../../../model/prefix.ts';
import { type GobgpApi, afiSafi } from './api.ts';
import { IPAddressPrefixSchema } from './gen/gobgp/messages_pb.js';
import {
  AddPathStreamRequestSchema,
  GobgpApi as Service,
  ListPathRequestSchema,
  PathSchema,
  TableLookupPrefix_Type,
  TableType,
  WatchEventRequestSchema,
  WatchEventRequest_Filter_Type as Filter,
} from './gen/gobgp/v3_pb.js';
import type { Learn } from './gobgp.ts';
import { type OwnAttribute, field, ownMessages, prefixMessage } from './own-path.ts';
import { READERS } from './path-attributes.ts';
import { type Wrapped, decodePath } from './path.ts';
import { Fields } from './wire.ts';

const FILTERS: Readonly<Record<Learn, readonly Filter[]>> = {
  best: [Filter.BEST],
  all: [Filter.BEST, Filter.POST_POLICY],
};

/** gobgpd calls its messages `apipb.…`, whatever the package of ours is. */
const typeUrl = (schema: DescMessage): string =>
  `type.googleapis.com/${Service.typeName.split('.', 1)[0]}.${schema.name}`;
const READER_OF = new Map(READERS.map((reader) => [typeUrl(reader.schema), reader]));
const PREFIX_URL = typeUrl(IPAddressPrefixSchema);

const EMPTY = new Fields(new Uint8Array(0));

/** Any: a name and a message. */
function unwrap(any: Fields): { readonly url: string; readonly message: Fields } {
  let url = '';
  let message = EMPTY;
  while (any.next()) {
    if (any.number === 1) url = any.text();
    else if (any.number === 2) message = any.message();
  }
  return { url, message };
}

const WRAPPED: Wrapped = {
  prefix(nlri) {
    const { url, message } = unwrap(nlri);
    return url === PREFIX_URL ? message : undefined;
  },
  attribute(attribute) {
    const { url, message } = unwrap(attribute);
    const reader = READER_OF.get(url);
    return reader && { reader, message };
  },
};

const any = (schema: DescMessage, message: MessageShape<DescMessage>): Any =>
  create(AnySchema, { typeUrl: typeUrl(schema), value: toBinary(schema, message) });

export const v3: GobgpApi = {
  name: 'v3',
  numbers: {
    neighborSet: 1,
    largeCommunitySet: 6,
    matchAny: 0,
    matchInvert: 2,
    communityAdd: 0,
    softIn: 0,
    softOut: 1,
  },
  takesBack: false,
  service: Service.typeName,
  watchRequest: (learn) =>
    toBinary(
      WatchEventRequestSchema,
      create(WatchEventRequestSchema, { peer: {}, table: { filters: FILTERS[learn].map((type) => ({ type })) } }),
    ),
  listRequest: (family, prefixes) =>
    toBinary(
      ListPathRequestSchema,
      create(ListPathRequestSchema, {
        tableType: TableType.GLOBAL,
        family: afiSafi(family),
        prefixes: prefixes.map((p) => ({ prefix: formatPrefix(p), type: TableLookupPrefix_Type.EXACT })),
        enableOnlyBinary: true,
      }),
    ),
  ...ownMessages({
    path: PathSchema,
    request: toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, { tableType: TableType.GLOBAL })),
    encodeAttributes,
    nlri: (prefix) => field(1, PREFIX_URL) + field(2, prefixMessage(prefix)),
  }),
  decodePath: (bytes) => decodePath(bytes, WRAPPED),
};

function encodeAttributes(attributes: readonly OwnAttribute[]): Uint8Array {
  return toBinary(
    PathSchema,
    create(PathSchema, { pattrs: attributes.map(({ schema, message }) => any(schema, message)) }),
  );
}
