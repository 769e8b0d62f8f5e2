// SubscribeResponses with updates and deletes, encoded leaf by leaf into one buffer. A stream of 100,000 leaves would
// spend most of its time on objects that the generated code takes. Numbers of fields are those of gnmi.proto.
import { toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Encoding, type Path, PathSchema } from '../gen/gnmi/gnmi_pb.js';
import type { SchemaNode } from '../schema.ts';
import { toJson } from '../values.ts';
import { addElem, Bytes, nameBytes, varintSize } from './bytes.ts';
import type { LeafValue, Place, Scalar } from './places.ts';

/** Tags: number of the field, and wire type. */
const TAG = {
  response: { update: 0x0a },
  notification: { prefix: 2, update: 0x22, delete: 0x2a },
  update: { path: 0x0a, val: 0x1a, duplicates: 0x20 },
  value: { string: 0x0a, uint: 0x18, bool: 0x20, leaflist: 0x42, json: 0x52, jsonIetf: 0x5a, double: 0x71 },
  element: 0x0a,
} as const;

/** A message is sent when it has so many bytes. */
const FULL = 16 * 1024;
const NOTHING = new Uint8Array();
/** Of remembered values: how many, and how long. */
const MOST_VALUES = 256;
const LONG_VALUE = 64;
/** Before the notification: its tag and size. */
const HEAD = 11;

export class Notifications {
  readonly #encoding: Encoding;
  readonly #prefix: Uint8Array;
  readonly #value = new Bytes(256);
  readonly #item = new Bytes(256);
  readonly #values = new Map<string | boolean, Uint8Array>();
  readonly #path = new Bytes(256);
  #pathView: Uint8Array = NOTHING;
  #pathOf: Place | undefined;
  #out = new Bytes(FULL + 1024);
  #isOpen = false;
  #timestamp = 0n;

  /** @param prefix is repeated in each notification: target and origin of the request */
  constructor(encoding: Encoding, prefix: Path | undefined) {
    this.#encoding = encoding;
    const bytes = prefix && toBinary(PathSchema, prefix);
    this.#prefix = bytes
      ? new BinaryWriter().tag(TAG.notification.prefix, WireType.LengthDelimited).bytes(bytes).finish()
      : NOTHING;
  }

  get isEmpty(): boolean {
    return !this.#isOpen;
  }

  get isFull(): boolean {
    return this.#out.size >= FULL;
  }

  /** Nanoseconds since the Unix epoch, of what is added to an empty message. */
  at(timestamp: bigint): void {
    this.#timestamp = timestamp;
  }

  /** @param duplicates values that came before this one and were not sent */
  update(place: Place, leaf: SchemaNode, value: LeafValue, duplicates = 0): void {
    if (value === undefined) return;
    const encoded = this.#encodeValue(leaf, value);
    this.#open();
    const path = this.#pathBytes(place);
    const name = nameBytes(leaf);
    const pathSize = path.length + name.length;
    const count = duplicates > 0 ? 1 + varintSize(duplicates) : 0;
    const size = 1 + varintSize(pathSize) + pathSize + 1 + varintSize(encoded.length) + encoded.length + count;
    const out = this.#out;
    out.byte(TAG.notification.update).varint(size).byte(TAG.update.path).varint(pathSize).bytes(path).bytes(name);
    out.byte(TAG.update.val).varint(encoded.length).bytes(encoded);
    if (count > 0) out.byte(TAG.update.duplicates).varint(duplicates);
  }

  /** @param leaf absent: the whole place */
  delete(place: Place, leaf?: SchemaNode): void {
    this.#open();
    const path = this.#pathBytes(place);
    const name = leaf ? nameBytes(leaf) : NOTHING;
    this.#out
      .byte(TAG.notification.delete)
      .varint(path.length + name.length)
      .bytes(path)
      .bytes(name);
  }

  /** A path as the client wrote it. */
  deletePath(path: Path): void {
    this.#open();
    const bytes = toBinary(PathSchema, path);
    this.#out.byte(TAG.notification.delete).varint(bytes.length).bytes(bytes);
  }

  /** The message so far. */
  take(): Buffer {
    const body = this.#out.size - HEAD;
    const start = HEAD - 1 - varintSize(body);
    const out = this.#out;
    out.at(start).byte(TAG.response.update).varint(body);
    const message = out.at(HEAD + body).slice(start);
    this.#out = new Bytes(FULL + 1024);
    this.#isOpen = false;
    return message;
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const head = new BinaryWriter().tag(1, WireType.Varint).int64(this.#timestamp).finish();
    this.#out.at(HEAD).bytes(head).bytes(this.#prefix);
  }

  #pathBytes(place: Place): Uint8Array {
    if (this.#pathOf === place) return this.#pathView;
    this.#path.at(0);
    this.#addElems(place);
    this.#pathOf = place;
    this.#pathView = this.#path.view;
    return this.#pathView;
  }

  #addElems({ parent, node, keys }: Place): void {
    if (!parent) return;
    this.#addElems(parent);
    addElem(this.#path, node, keys);
  }

  /** TypedValue. Short ones are remembered: in a table many leaves have the same few values. */
  #encodeValue(leaf: SchemaNode, value: NonNullable<LeafValue>): Uint8Array {
    // Not of a number: its text depends on the type of the leaf.
    if (typeof value === 'number' || typeof value === 'object' || leaf.type === 'anyxml')
      return this.#encode(leaf, value).view;
    let known = this.#values.get(value);
    if (known) return known;
    const { view } = this.#encode(leaf, value);
    if (view.length > LONG_VALUE) return view;
    if (this.#values.size >= MOST_VALUES) this.#values.clear();
    this.#values.set(value, (known = Uint8Array.from(view)));
    return known;
  }

  #encode(leaf: SchemaNode, value: NonNullable<LeafValue>): Bytes {
    const out = this.#value.at(0);
    // JSON already, in each encoding.
    if (leaf.type === 'anyxml')
      return out.byte(this.#encoding === Encoding.JSON ? TAG.value.json : TAG.value.jsonIetf).text(value as string);
    if (this.#encoding !== Encoding.PROTO) return this.#json(leaf, value);
    if (typeof value !== 'object') return this.#scalar(out, leaf, value);
    for (const item of value) {
      const { view } = this.#scalar(this.#item.at(0), leaf, item);
      out.byte(TAG.element).varint(view.length).bytes(view);
    }
    const { view } = out;
    return this.#item.at(0).byte(TAG.value.leaflist).varint(view.length).bytes(view);
  }

  #scalar(out: Bytes, leaf: SchemaNode, value: Scalar): Bytes {
    if (typeof value === 'string') return out.byte(TAG.value.string).text(value);
    if (typeof value === 'boolean') return out.byte(TAG.value.bool).byte(value ? 1 : 0);
    return leaf.type === 'decimal64'
      ? out.byte(TAG.value.double).double(value)
      : out.byte(TAG.value.uint).varint(value);
  }

  #json(leaf: SchemaNode, value: LeafValue): Bytes {
    const ietf = this.#encoding === Encoding.JSON_IETF;
    const json = typeof value === 'object' || typeof value === 'number' ? toJson(leaf, value, { ietf }, false) : value;
    return this.#value.byte(ietf ? TAG.value.jsonIetf : TAG.value.json).text(JSON.stringify(json));
  }
}
