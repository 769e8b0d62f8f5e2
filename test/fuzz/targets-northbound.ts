// Requests of gNMI clients: each is refused with a code and a sentence, or what it selects can be encoded, and another
// decoder reads the same places.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { eventLoopWork, finish } from '../../src/model/work.ts';
import {
  Encoding,
  GetRequestSchema,
  PathSchema,
  SubscribeRequestSchema,
  SubscribeResponseSchema,
} from '../../src/northbound/gen/gnmi/gnmi_pb.js';
import { checkPath, formatPath } from '../../src/northbound/paths.ts';
import { RpcError } from '../../src/northbound/rpc-error.ts';
import { Sections } from '../../src/northbound/select.ts';
import { exampleState, sourceOf } from '../../src/northbound/state.fixture.ts';
import { Notifications } from '../../src/northbound/subscribe/encode.ts';
import { type Place, type Row, leavesOf, selected, walkPlaces } from '../../src/northbound/subscribe/places.ts';
import { checkSubscriptions, type Part } from '../../src/northbound/subscribe/request.ts';
import {
  onChange,
  pathTo,
  sampled,
  subscribeRequest,
  targetDefined,
} from '../../src/northbound/subscribe/subscriber.fixture.ts';
import { unitsOf } from '../../src/northbound/subscribe/units.ts';
import type { Target } from './target.ts';

/** All places of the example's state. */
const rows: { readonly place: Place; readonly row: Row }[] = [];
await finish(
  eventLoopWork(),
  walkPlaces({ steps: [], pattern: true }, new Sections(sourceOf(exampleState())), {
    visit: (place, row) => void rows.push({ place, row }),
    pause: () => undefined,
  }),
  1000,
);

/** Undefined: not protobuf, which the library refuses before cnpd sees it. */
function decoded<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

/** @throws when it is refused otherwise than with a code and a short sentence */
function unlessRefused(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RpcError) || error.code === 'INTERNAL') throw error;
    if (!/\S/.test(error.message) || error.message.length > 4000)
      throw new Error(`says ${error.message.length} characters`, { cause: error });
  }
}

function encodes({ path }: Part, encoding: Encoding): void {
  const out = new Notifications(encoding, undefined);
  const sent: string[] = [];
  for (const { place, row } of rows) {
    const only = selected(path, place);
    if (only === undefined) continue;
    for (const [i, leaf] of leavesOf(place.node).entries()) {
      if ((only !== null && only !== leaf.name) || row[i] === undefined) continue;
      out.update(place, leaf, row[i]);
      sent.push(leaf.name);
    }
  }
  if (sent.length > 0 && unitsOf(path).length === 0) throw new Error('selects what no unit has');
  if (out.isEmpty) return;
  const { response } = fromBinary(SubscribeResponseSchema, out.take());
  const read = response.case === 'update' ? response.value.update.map(({ path: to }) => to!.elem.at(-1)!.name) : [];
  if (read.join() !== sent.join()) throw new Error('another decoder reads other leaves');
}

function subscribes(input: Uint8Array): void {
  const message = decoded(() => fromBinary(SubscribeRequestSchema, input));
  if (message?.request.case !== 'subscribe') return;
  const list = message.request.value;
  unlessRefused(() => {
    // What one part costs is bounded elsewhere.
    for (const part of checkSubscriptions(list).parts.slice(0, 2)) encodes(part, list.encoding);
  });
}

function gets(input: Uint8Array): void {
  const message = decoded(() => fromBinary(GetRequestSchema, input));
  if (!message) return;
  for (const path of message.path)
    unlessRefused(() => void formatPath(checkPath(message.prefix, path).steps.map(asElem)));
}

const asElem = ({ name, keys }: { name: string; keys: ReadonlyMap<string, string> }) => ({
  name,
  key: Object.fromEntries(keys),
});

const subscribeSeeds = (): Uint8Array[] =>
  [
    subscribeRequest([targetDefined('cnpd', 'status')]),
    subscribeRequest([onChange('cnpd', ['ports', { interface: 'eth2' }], 'k-max'), sampled(100, 'cnpd', '*')]),
    subscribeRequest([{ ...sampled(500, 'cnpd', ['senders', { prefix: '*' }]), heartbeatInterval: 1_000_000_000n }], {
      encoding: Encoding.JSON_IETF,
      prefix: create(PathSchema, { target: 't', origin: 'cnpd' }),
      updatesOnly: true,
    }),
  ].map((request) => toBinary(SubscribeRequestSchema, request));

const getSeeds = (): Uint8Array[] =>
  [pathTo('cnpd', 'isis', '*', 'level'), pathTo('cnpd:cnpd', ['flows', { source: '2001:DB8::1' }])].map((path) =>
    toBinary(GetRequestSchema, create(GetRequestSchema, { path: [path], encoding: Encoding.PROTO })),
  );

export const NORTHBOUND_TARGETS: readonly Target[] = [
  { name: 'gnmi-subscribe', seeds: subscribeSeeds, run: subscribes, mostBytes: 2000, runs: 400 },
  { name: 'gnmi-get', seeds: getSeeds, run: gets, mostBytes: 2000, runs: 2000 },
];
