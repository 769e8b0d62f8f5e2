// A buffer that grows, for encoding protobuf by hand, and what is the same in every path: the elements of containers.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { SchemaNode } from '../schema.ts';

export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

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
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.size);
    this.size += bytes.length;
    return this;
  }

  copy(from: Bytes): this {
    this.#reserve(from.size);
    from.#buffer.copy(this.#buffer, this.size, 0, from.size);
    this.size += from.size;
    return this;
  }

  /** UTF-8, with its length before it. */
  text(text: string): this {
    const length = text.length < 0x2a ? 0 : Buffer.byteLength(text);
    this.#reserve(8 + (length || text.length * 3));
    // Short enough that the length is one byte.
    if (length === 0) {
      const written = this.#buffer.write(text, this.size + 1);
      this.#buffer[this.size] = written;
      this.size += 1 + written;
      return this;
    }
    this.varint(length);
    this.size += this.#buffer.write(text, this.size);
    return this;
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

const ELEM = { field: 3, name: 1, key: 2 } as const;
const bare = new Map<SchemaNode, Uint8Array>();

/** Field `elem` of a Path, for a node without keys. */
export function nameBytes(node: SchemaNode): Uint8Array {
  let known = bare.get(node);
  if (!known) bare.set(node, (known = encodeElem(node, [])));
  return known;
}

/** Field `elem` of a Path. */
export const elemBytes = (node: SchemaNode, keys: readonly string[]): Uint8Array =>
  keys.length === 0 ? nameBytes(node) : encodeElem(node, keys);

function encodeElem(node: SchemaNode, keys: readonly string[]): Uint8Array {
  const elem = new BinaryWriter().tag(ELEM.name, WireType.LengthDelimited).string(node.name);
  for (const [i, key] of node.keys.entries()) {
    if (keys[i] === undefined) break;
    elem.tag(ELEM.key, WireType.LengthDelimited).fork();
    elem.tag(1, WireType.LengthDelimited).string(key.name).tag(2, WireType.LengthDelimited).string(keys[i]);
    elem.join();
  }
  return new BinaryWriter().tag(ELEM.field, WireType.LengthDelimited).bytes(elem.finish()).finish();
}
