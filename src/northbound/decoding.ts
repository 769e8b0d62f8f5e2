// Requests are decoded a few at a time, and only after it is known how much that costs. A message of two bytes each can
// be in a request a hundred thousand times: to make objects of them takes a second, to count them a millisecond.
import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { messageOf } from '../model/error-text.ts';
import { RpcError } from './rpc-error.ts';

/** In one turn of the event loop; one request is decoded in any case. */
const BUDGET_MS = 4;
/** A field that a message has, and one in a message within it, are two. */
export const MOST_FIELDS = 20_000;
const MOST_DEPTH = 32;
const [VARINT, FIXED64, LENGTH, FIXED32] = [0, 1, 2, 5];

/** @throws RpcError INVALID_ARGUMENT: more than `most` fields, or not the encoding of a message */
export function decode<I extends DescMessage>(schema: I, encoded: Uint8Array, most = MOST_FIELDS): MessageShape<I> {
  new FieldCount(encoded, most).within(schema, 0, encoded.length, 0);
  try {
    return fromBinary(schema, encoded);
  } catch (error) {
    throw new RpcError('INVALID_ARGUMENT', `the request is no ${schema.name}: ${messageOf(error)}`);
  }
}

class FieldCount {
  readonly #bytes: Uint8Array;
  readonly #most: number;
  #count = 0;
  #at = 0;

  constructor(bytes: Uint8Array, most: number) {
    this.#bytes = bytes;
    this.#most = most;
  }

  /** Counts the fields of the message from `from` to `to`, and those of the messages in it. */
  within(schema: DescMessage, from: number, to: number, depth: number): void {
    if (depth > MOST_DEPTH) throw malformed(`messages within ${MOST_DEPTH} others`);
    const messages = messagesOf(schema);
    this.#at = from;
    while (this.#at < to) {
      if (++this.#count > this.#most) throw malformed(`more than ${this.#most} fields`);
      const tag = this.#varint(to);
      const kind = tag & 7;
      if (kind === VARINT) this.#varint(to);
      else if (kind === FIXED64) this.#at += 8;
      else if (kind === FIXED32) this.#at += 4;
      else if (kind === LENGTH) {
        const length = this.#varint(to);
        const end = this.#at + length;
        if (end > to) throw malformed('a length beyond its end');
        const inner = messages.get(tag >>> 3);
        if (inner) this.within(inner, this.#at, end, depth + 1);
        this.#at = end;
      } else throw malformed(`wire type ${kind}`);
    }
    if (this.#at > to) throw malformed('a value beyond its end');
  }

  /** Its lowest 32 bits. */
  #varint(to: number): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= to) throw malformed('a number beyond its end');
      const byte = this.#bytes[this.#at++]!;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw malformed('a number of more than ten bytes');
  }
}

const malformed = (what: string): RpcError => new RpcError('INVALID_ARGUMENT', `the request has ${what}`);

const KNOWN = new WeakMap<DescMessage, ReadonlyMap<number, DescMessage>>();

/** The fields that are messages, by number. An entry of a map is one field. */
function messagesOf(schema: DescMessage): ReadonlyMap<number, DescMessage> {
  let known = KNOWN.get(schema);
  if (!known) {
    known = new Map(schema.fields.flatMap((field) => (field.message ? [[field.number, field.message] as const] : [])));
    KNOWN.set(schema, known);
  }
  return known;
}

/** A line of requests to decode. */
export class Decoding {
  readonly #line: (() => void)[] = [];
  #scheduled = false;

  /**
   * @param isOver whether nobody waits for it any more: then it is not decoded, and the promise stays open
   * @returns rejects as `decode` throws
   */
  decode<I extends DescMessage>(
    schema: I,
    encoded: Uint8Array,
    {
      most = MOST_FIELDS,
      isOver = () => false,
    }: { readonly most?: number | undefined; readonly isOver?: () => boolean } = {},
  ): Promise<MessageShape<I>> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        if (isOver()) return;
        try {
          resolve(decode(schema, encoded, most));
        } catch (error) {
          reject(error as Error);
        }
      };
      this.#line.push(run);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#line.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const start = performance.now();
      do this.#line.shift()?.();
      while (this.#line.length > 0 && performance.now() - start < BUDGET_MS);
      this.#schedule();
    });
  }
}
