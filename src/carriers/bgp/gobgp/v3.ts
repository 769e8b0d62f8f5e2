// gobgpd's API version 3 (proto/gobgp/v3.proto): NLRI and attributes in Any, enumerations that begin with the first value.
//
// A list is asked for in octets of BGP. gobgpd keeps MP_REACH_NLRI as it came, with the prefixes of the whole UPDATE, puts it into every path and all paths into memory before it
// sends the first: as Any, 50,000 paths of a neighbour that packs 400 an UPDATE take it gigabytes.
import { type DescMessage, type MessageShape, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Any, AnySchema } from '@bufbuild/protobuf/wkt';
import { formatPrefix } from '../../../model/prefix.ts';
import { type Result, fail } from '../../../model/result.ts';
import { type PathAttribute, decodePathAttributes } from '../../../packet/bgp/path-attribute.ts';
import { decodeRoute } from '../../../packet/bgp/route.ts';
import { type GobgpApi, type HeardPath, type PathError, afiSafi } from './api.ts';
import { IPAddressPrefixSchema } from './gen/gobgp/messages_pb.js';
import {
  AddPathStreamRequestSchema,
  GobgpApi as Service,
  ListPathRequestSchema,
  type Path,
  PathSchema,
  TableLookupPrefix_Type,
  TableType,
  WatchEventRequestSchema,
  WatchEventRequest_Filter_Type as Filter,
} from './gen/gobgp/v3_pb.js';
import type { Learn } from './gobgp.ts';
import { type OwnAttribute, field, ownMessages, prefixMessage } from './own-path.ts';
import { LEAN, MAX_PATH_BYTES, READERS, heardPath, notBgp, notProtobuf, tooLong } from './path.ts';

const FILTERS: Readonly<Record<Learn, readonly Filter[]>> = { best: [Filter.BEST], all: [Filter.BEST, Filter.POST_POLICY] };

/** gobgpd calls its messages `apipb.…`, whatever the package of ours is. */
const typeUrl = (schema: DescMessage): string => `type.googleapis.com/${Service.typeName.split('.', 1)[0]}.${schema.name}`;
const READER_OF = new Map(READERS.map((reader) => [typeUrl(reader.schema), reader]));
const PREFIX_URL = typeUrl(IPAddressPrefixSchema);

const any = (schema: DescMessage, message: MessageShape<DescMessage>): Any => create(AnySchema, { typeUrl: typeUrl(schema), value: toBinary(schema, message) });

export const v3: GobgpApi = {
  name: 'v3',
  service: Service.typeName,
  watchRequest: (learn) => toBinary(WatchEventRequestSchema, create(WatchEventRequestSchema, { peer: {}, table: { filters: FILTERS[learn].map((type) => ({ type })) } })),
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
  decodePath: (bytes) => {
    if (bytes.length > MAX_PATH_BYTES) return fail(tooLong(bytes.length));
    try {
      const message = fromBinary(PathSchema, bytes, LEAN);
      if (message.nlriBinary.length > 0) return octetsPath(message);
      const nlri = message.nlri?.typeUrl === PREFIX_URL ? fromBinary(IPAddressPrefixSchema, message.nlri.value, LEAN) : undefined;
      return heardPath({ ...message, nlri, family: message.family }, (into) => {
        for (const { typeUrl: url, value } of message.pattrs) {
          const reader = READER_OF.get(url);
          if (reader) reader.take(into, fromBinary(reader.schema, value, LEAN));
        }
      });
    } catch (error) {
      return fail(notProtobuf(error));
    }
  },
};

function octetsPath(message: Path): Result<HeardPath, PathError> | undefined {
  const attributes: PathAttribute[] = [];
  for (const bytes of message.pattrsBinary) {
    const some = decodePathAttributes(bytes);
    if (!some.ok) return fail(notBgp(some.error));
    attributes.push(...some.value);
  }
  const route = decodeRoute(attributes);
  if (!route.ok) return fail(notBgp(route.error));
  return heardPath({ ...message, nlri: message.nlriBinary, family: message.family }, (into) => void Object.assign(into, route.value));
}

function encodeAttributes(attributes: readonly OwnAttribute[]): Uint8Array {
  return toBinary(PathSchema, create(PathSchema, { pattrs: attributes.map(({ schema, message }) => any(schema, message)) }));
}
