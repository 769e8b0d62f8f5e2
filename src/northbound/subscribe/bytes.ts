// A buffer that grows, for encoding protobuf by hand, and what is the same in every path: the elements of containers.
import type { SchemaNode } from '../schema.ts';

export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/** Below, a loop is faster than a call into the runtime. */
const SHORT = 64;

export class Bytes {
  #buffer: Buffer;
  size = 0;

  constructor(room: number) {
    this.#buffer = Buffer.allocUnsafeSlow(room);
  }

  /** Goes on writing there. */
  at(position: number): this {
    this.size = position;
    return this;
  }

  byte(value: number): this {
    this.#reserve(1);
    this.#buffer[this.size++] = value;
    return this;
  }

  /** Up to 2^53. */
  varint(value: number): this {
    this.#reserve(8);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[this.size++] = (rest % 0x80) | 0x80;
    this.#buffer[this.size++] = rest;
    return this;
  }

  bytes(bytes: Uint8Array): this {
    const { length } = bytes;
    this.#reserve(length);
    // A call costs more than a few bytes.
    if (length > SHORT) this.#buffer.set(bytes, this.size);
    else for (let i = 0; i < length; i++) this.#buffer[this.size + i] = bytes[i]!;
    this.size += length;
    return this;
  }

  /** UTF-8, with its length before it. */
  text(text: string): this {
    return this.isAscii(text) ? this.varint(text.length).ascii(text) : this.varint(Buffer.byteLength(text)).utf8(text);
  }

  /** Short texts only: of others it is not found out. */
  isAscii(text: string): boolean {
    const { length } = text;
    if (length > SHORT) return false;
    for (let i = 0; i < length; i++) if (text.charCodeAt(i) > 0x7f) return false;
    return true;
  }

  ascii(text: string): this {
    const { length } = text;
    this.#reserve(length);
    for (let i = 0; i < length; i++) this.#buffer[this.size + i] = text.charCodeAt(i);
    this.size += length;
    return this;
  }

  utf8(text: string): this {
    this.#reserve(text.length * 3);
    this.size += this.#buffer.write(text, this.size);
    return this;
  }

  double(value: number): this {
    this.#reserve(8);
    this.size = this.#buffer.writeDoubleLE(value, this.size);
    return this;
  }

  /** What is in it; only as long as nothing more is written. */
  get view(): Uint8Array {
    return this.#buffer.subarray(0, this.size);
  }

  /** The bytes from there on. Nothing is written to them any more: the caller begins a new buffer. */
  slice(from: number): Buffer {
    return this.#buffer.subarray(from, this.size);
  }

  #reserve(more: number): void {
    if (this.size + more <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.size + more));
    this.#buffer.copy(larger, 0, 0, this.size);
    this.#buffer = larger;
  }
}

/** Tags of Path.elem, PathElem.name and .key, and of key and value in an entry of the map. */
const TAG = { elem: 0x1a, name: 0x0a, key: 0x12, mapKey: 0x0a, mapValue: 0x12 } as const;
const bare = new Map<SchemaNode, Uint8Array>();
const scratch = new Bytes(256);
const entry = new Bytes(256);

/** Field `elem` of a Path, for a node without keys. */
export function nameBytes(node: SchemaNode): Uint8Array {
  let known = bare.get(node);
  if (!known) bare.set(node, (known = Uint8Array.from(elemOf(new Bytes(64), node, NO_KEYS).view)));
  return known;
}

const NO_KEYS: readonly string[] = [];

/** Adds field `elem` of a Path. */
export const addElem = (out: Bytes, node: SchemaNode, keys: readonly string[]): Bytes =>
  keys.length === 0 ? out.bytes(nameBytes(node)) : elemOf(out, node, keys);

function elemOf(out: Bytes, node: SchemaNode, keys: readonly string[]): Bytes {
  const elem = scratch.at(0).byte(TAG.name).text(node.name);
  for (let i = 0; i < keys.length; i++) {
    const { view } = entry.at(0).byte(TAG.mapKey).text(node.keys[i]!.name).byte(TAG.mapValue).text(keys[i]!);
    elem.byte(TAG.key).varint(view.length).bytes(view);
  }
  return out.byte(TAG.elem).varint(elem.size).bytes(elem.view);
}
