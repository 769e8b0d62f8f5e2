// Protobuf messages from pieces. A large answer is never one object: its parts are encoded one by one and framed as
// length-delimited fields around bytes that already exist, with one copy at the end. (Encoding:
// https://protobuf.dev/programming-guides/encoding/.)
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Steps } from '../model/work.ts';
import { RpcError } from './rpc-error.ts';

const CHUNK = 16 * 1024;

/**
 * Bytes in several parts, in order, with a bound on their sum. Small parts are gathered into chunks, so that there are
 * never many.
 */
export class Pieces {
  readonly #parts: Uint8Array[] = [];
  readonly #limit: number;
  #chunk: Buffer | undefined;
  #used = 0;
  size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get parts(): readonly Uint8Array[] {
    this.#flush();
    return this.#parts;
  }

  /** @throws RpcError RESOURCE_EXHAUSTED when the sum passes the bound. */
  add(...parts: readonly (Uint8Array | string)[]): this {
    for (const part of parts) this.#append(typeof part === 'string' ? Buffer.from(part) : part);
    return this;
  }

  #append(bytes: Uint8Array): void {
    this.size += bytes.length;
    if (this.size > this.#limit)
      throw new RpcError(
        'RESOURCE_EXHAUSTED',
        `the answer is larger than ${this.#limit} bytes: request less at once, e.g. one list or one entry`,
      );
    if (bytes.length >= CHUNK / 4) {
      this.#flush();
      this.#parts.push(bytes);
      return;
    }
    if (this.#chunk && this.#used + bytes.length > this.#chunk.length) this.#flush();
    // The first chunk is small: most collections hold one short value.
    this.#chunk ??= Buffer.allocUnsafe(this.#parts.length === 0 && bytes.length < 256 ? 512 : CHUNK);
    this.#chunk.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #flush(): void {
    if (this.#chunk && this.#used > 0) this.#parts.push(this.#chunk.subarray(0, this.#used));
    this.#chunk = undefined;
    this.#used = 0;
  }

  /** An empty collection with the same bound. */
  fresh(): Pieces {
    return new Pieces(this.#limit);
  }

  /** Adds `field` (a length-delimited field number) around everything in `inner`. */
  addField(field: number, inner: Pieces): this {
    this.add(new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(inner.size).finish());
    for (const part of inner.parts) this.add(part);
    return this;
  }

  /** All parts in one buffer. */
  *join(): Steps<Buffer> {
    const out = Buffer.allocUnsafe(this.size);
    let at = 0;
    for (const [i, part] of this.parts.entries()) {
      out.set(part, at);
      at += part.length;
      if (i % 16 === 15) yield;
    }
    return out;
  }
}
