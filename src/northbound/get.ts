// gNMI Get (gNMI specification §3.3): one Notification a requested path, in it one Update a match (JSON, JSON_IETF) or
// a leaf (PROTO). A path that ends in a list without keys is answered with the whole list as one JSON array, with keys
// or wildcards with one Update an entry. The answer is built as encoded pieces, a step at a time, and bounded in size.
// CONFIG is the container `configuration`, and STATE and OPERATIONAL are all the rest.
import { create, toBinary } from '@bufbuild/protobuf';
import { JsonText } from '../model/configuration-state.ts';
import type { StateSource } from '../model/state.ts';
import type { Steps } from '../model/work.ts';
import {
  Encoding,
  type GetRequest,
  GetRequest_DataType,
  NotificationSchema,
  PathSchema,
  UpdateSchema,
} from './gen/gnmi/gnmi_pb.js';
import { type CheckedPath, checkPath } from './paths.ts';
import { checkCount, checkEncoding, checkExtensions, checkModels, echoed } from './request.ts';
import type { CheckPath } from './rights.ts';
import { RpcError } from './rpc-error.ts';
import type { SchemaNode } from './schema.ts';
import { childValue, type ConcreteElem, type Match, Sections, select } from './select.ts';
import { type JsonFlavor, memberName, toJson, typedValue } from './values.ts';
import { Pieces } from './wire.ts';

interface GetOptions {
  /** Bound on the encoded answer, bytes. */
  readonly maxAnswerBytes: number;
  /** Nanoseconds since the Unix epoch. */
  readonly now: () => bigint;
  readonly checkRead?: CheckPath;
}

// Field numbers of gnmi.proto that frame pieces.
const FIELD = {
  response: { notification: 1 },
  notification: { update: 4 },
  update: { val: 3 },
  value: { json: 10, jsonIetf: 11 },
} as const;

/** The encoded GetResponse. @throws RpcError with a precise code; whatever the source throws passes through. */
export function* answerGet(request: GetRequest, source: StateSource, options: GetOptions): Steps<Buffer> {
  checkRequest(request);
  const requested = request.path.length > 0 ? request.path : [create(PathSchema)];
  const paths = requested.map((path) => ({ path, checked: checkPath(request.prefix, path) }));
  for (const { checked } of paths) options.checkRead?.(checked);
  const sections = new Sections(source, (field) => isOfType(request.type, field));
  const response = new Pieces(options.maxAnswerBytes);
  for (const { path, checked } of paths) {
    const notification = response
      .fresh()
      .add(
        toBinary(
          NotificationSchema,
          create(NotificationSchema, { timestamp: options.now(), ...echoed(request.prefix, path) }),
        ),
      );
    if (hasType(request.type, checked)) yield* addUpdates(notification, checked, request.encoding, sections);
    response.addField(FIELD.response.notification, notification);
  }
  return yield* response.join();
}

/** Configuration is one section, and everything else is state. */
const isOfType = (type: GetRequest_DataType, section: string): boolean =>
  type === GetRequest_DataType.ALL || (type === GetRequest_DataType.CONFIG) === (section === 'configuration');

/** A path that leads into one section has nothing of the other type, which is no error. */
function hasType(type: GetRequest_DataType, { steps }: CheckedPath): boolean {
  const section = steps[1]?.name ?? '*';
  return section === '*' || isOfType(type, section);
}

function checkRequest(request: GetRequest): void {
  checkEncoding(request.encoding);
  checkModels(request.useModels);
  checkExtensions(request.extension);
  if (GetRequest_DataType[request.type] === undefined)
    throw new RpcError('INVALID_ARGUMENT', `type ${request.type} is not one of ALL, CONFIG, STATE, OPERATIONAL`);
  checkCount('paths', request.path.length);
}

function* addUpdates(notification: Pieces, path: CheckedPath, encoding: Encoding, sections: Sections): Steps {
  const flavor = { ietf: encoding === Encoding.JSON_IETF };
  yield* select(path, sections, function* (match) {
    if (encoding === Encoding.PROTO) yield* addLeaves(notification, match);
    else yield* addJson(notification, match, flavor);
    yield;
  });
}

const encodePath = (elem: readonly ConcreteElem[]): Uint8Array =>
  toBinary(UpdateSchema, create(UpdateSchema, { path: { elem: [...elem] } }));

function* addJson(notification: Pieces, match: Match, flavor: JsonFlavor): Steps {
  const json = notification.fresh();
  yield* writeJson(json, match.node, match.value, flavor, true);
  if (json.size === 0) return;
  const value = notification.fresh().addField(flavor.ietf ? FIELD.value.jsonIetf : FIELD.value.json, json);
  notification.addField(
    FIELD.notification.update,
    notification.fresh().add(encodePath(match.elems)).addField(FIELD.update.val, value),
  );
}

/** JSON text of a value of any size; nothing at all when the value is absent. */
function* writeJson(out: Pieces, node: SchemaNode, value: unknown, flavor: JsonFlavor, top: boolean): Steps {
  if (Array.isArray(value) && node.kind === 'list') return yield* writeList(out, node, value, flavor);
  if (value instanceof JsonText) return void out.add(value.text);
  if (node.kind !== 'container') {
    const json = toJson(node, value, flavor, top);
    if (json !== undefined) out.add(JSON.stringify(json));
    return;
  }
  if (value === undefined || value === null) return;
  let separator = '';
  out.add('{');
  for (const child of node.children.values()) {
    const inner = out.fresh();
    yield* writeJson(inner, child, yield* childValue(value, child), flavor, false);
    if (inner.size === 0) continue;
    out.add(`${separator}${JSON.stringify(memberName(child, flavor, top))}:`, ...inner.parts);
    separator = ',';
  }
  out.add('}');
}

function* writeList(out: Pieces, node: SchemaNode, list: readonly unknown[], flavor: JsonFlavor): Steps {
  let batch = '[';
  for (const [i, entry] of list.entries()) {
    batch += (i > 0 ? ',' : '') + JSON.stringify(toJson(node, entry, flavor, false));
    if (i % 64 !== 63) continue;
    out.add(batch);
    batch = '';
    yield;
  }
  out.add(`${batch}]`);
}

/** A key of a list entry: text or a number. */
const keyText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** One Update a leaf below the match. */
function* addLeaves(notification: Pieces, match: Match): Steps {
  const { node, value, elems } = match;
  if (value === undefined || value === null) return;
  if (node.kind === 'leaf' || node.kind === 'leaf-list') {
    const val = typedValue(node, value);
    if (val) {
      const update = notification
        .fresh()
        .add(toBinary(UpdateSchema, create(UpdateSchema, { path: { elem: [...elems] }, val })));
      notification.addField(FIELD.notification.update, update);
    }
    yield;
  } else if (Array.isArray(value)) {
    for (const entry of value) {
      const key = Object.fromEntries(
        node.keys.map((k) => [k.name, keyText((entry as Record<string, unknown>)[k.field])]),
      );
      yield* addLeaves(notification, { node, value: entry, elems: [...elems.slice(0, -1), { name: node.name, key }] });
    }
  } else {
    for (const child of node.children.values()) {
      yield* addLeaves(notification, {
        node: child,
        value: yield* childValue(value, child),
        elems: [...elems, { name: child.name, key: {} }],
      });
    }
  }
}
