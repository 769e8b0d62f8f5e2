// Requests of gNMI clients: each is refused with a code and a sentence, or what it selects can be encoded, and another
// decoder reads the same places.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { editedText } from '../../src/intent/edit.ts';
import { readSource } from '../../src/intent/yaml.ts';
import type { SectionChange } from '../../src/model/config-change.ts';
import { eventLoopWork, finish } from '../../src/model/work.ts';
import {
  Encoding,
  GetRequestSchema,
  PathSchema,
  SetRequestSchema,
  SubscribeRequestSchema,
  SubscribeResponseSchema,
} from '../../src/northbound/gen/gnmi/gnmi_pb.js';
import { checkPath, formatPath } from '../../src/northbound/paths.ts';
import { RpcError } from '../../src/northbound/rpc-error.ts';
import { Sections } from '../../src/northbound/select.ts';
import { readSet } from '../../src/northbound/set.ts';
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

function sets(input: Uint8Array): void {
  const message = decoded(() => fromBinary(SetRequestSchema, input));
  if (!message) return;
  unlessRefused(() => {
    const asked = readSet(message, () => undefined);
    if (asked.call === 'set') edits(asked.changes);
    if (asked.call === 'groups' && asked.changes.length === 0) throw new Error('changes nothing');
  });
}

const FILE = 'router: { name: r1, loopback: { ipv6: 2001:db8::1 } }\n# a comment\nlog: { level: warn }\n';

/** The text of a change says what the change says, or it is refused with a sentence. */
function edits(changes: readonly SectionChange[]): void {
  const text = editedText(FILE, changes);
  if (!text.ok && !/\S/.test(text.error)) throw new Error('refused without a word');
  if (text.ok && !readSource(text.value).ok) throw new Error('writes what is no YAML');
}

const setSeeds = (): Uint8Array[] => {
  const json = (value: unknown) => ({
    value: { case: 'jsonIetfVal' as const, value: Buffer.from(JSON.stringify(value)) },
  });
  const at = (...names: string[]) => pathTo('cnpd', 'configuration', ...names);
  const commit = { id: 'a', action: { case: 'commit' as const, value: { rollbackDuration: { seconds: 60n } } } };
  return [
    { update: [{ path: at('log'), val: json({ level: 'debug' }) }], delete: [at('ports')] },
    {
      replace: [
        { path: at(), val: json({ persistent: false, router: { name: 'r' }, ports: [{ interface: 'eth2' }] }) },
      ],
    },
    { update: [{ path: at('log'), val: json({}) }], extension: [{ ext: { case: 'commit' as const, value: commit } }] },
    {
      replace: [
        { path: pathTo('cnpd', 'groups', ['group', { 'proxy-address': '2001:db8::1' }]), val: json({ name: 'g' }) },
      ],
    },
  ].map((request) => toBinary(SetRequestSchema, create(SetRequestSchema, request)));
};

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
  { name: 'gnmi-set', seeds: setSeeds, run: sets, mostBytes: 2000, runs: 400 },
  { name: 'gnmi-get', seeds: getSeeds, run: gets, mostBytes: 2000, runs: 2000 },
];
