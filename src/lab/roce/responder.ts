// The receiving half of a reliable connection (InfiniBand vol. 1 §9.7.4, §9.7.5): in order or not at all. A gap is
// answered with one NAK that names the awaited PSN, a repeated request with an ACK of the last PSN received in order, a
// SEND without a buffer with an RNR NAK. After a request that is invalid, or that reaches for memory it may not write,
// the Queue Pair is in error and answers nothing. SENDs and WRITEs only. Pure.
import { PSN_MODULUS, psnDistance } from '../../model/roce.ts';
import { NAK, NO_CREDITS, type Aeth } from '../../packet/roce/aeth.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';
import type { Reth } from '../../packet/roce/reth.ts';

interface Answer {
  readonly psn: number;
  readonly aeth: Aeth;
}

export interface Request {
  readonly psn: number;
  readonly opcode: number;
  readonly ackRequest: boolean;
  /** Of the first packet of a WRITE. */
  readonly reth?: Reth | undefined;
}

export interface ResponderOptions {
  /** PSN of the first request; undefined: that of the first packet that begins a message. */
  readonly startingPsn: number | undefined;
  /** What WRITEs may reach; absent: none are accepted. `length` in bytes. */
  readonly memory?: { readonly virtualAddress: bigint; readonly rkey: number; readonly length: number } | undefined;
  /**
   * Asked once for each SEND, by its number from 0: timer code of an RNR NAK (InfiniBand vol. 1 table 45), or undefined
   * when there is a buffer.
   */
  readonly notReady?: ((message: number) => number | undefined) | undefined;
}

interface Kind {
  readonly operation: 'send' | 'write';
  readonly first: boolean;
  readonly last: boolean;
}
const kinds = (operation: Kind['operation'], [first, middle, last, only]: readonly number[]): [number, Kind][] => [
  [first!, { operation, first: true, last: false }],
  [middle!, { operation, first: false, last: false }],
  [last!, { operation, first: false, last: true }],
  [only!, { operation, first: true, last: true }],
];
/** What an opcode means to a message under way. Others are not for this responder. */
const REQUESTS: ReadonlyMap<number, Kind> = new Map([
  ...kinds('send', [OPCODE.sendFirst, OPCODE.sendMiddle, OPCODE.sendLast, OPCODE.sendOnly]),
  ...kinds('write', [OPCODE.writeFirst, OPCODE.writeMiddle, OPCODE.writeLast, OPCODE.writeOnly]),
]);

/** A message of which more packets have to come. */
interface Message {
  readonly operation: Kind['operation'];
  /** Payload of each packet but the last. */
  readonly packetLength: number;
  /** Of a WRITE: where the next byte goes, and how many are still to come. */
  readonly at: bigint | undefined;
  readonly remaining: number | undefined;
}

export class Responder {
  packets = 0;
  bytes = 0;
  duplicates = 0;
  outOfOrder = 0;
  invalid = 0;
  /** RNR NAKs that it answered. */
  notReady = 0;
  /** Whole messages, modulo 2²⁴ on the wire. */
  messages = 0;
  /** Requests that came after the Queue Pair went to the error state. */
  afterError = 0;
  /** The reason of the NAK that put the Queue Pair into the error state (`NAK`). */
  error: number | undefined;
  readonly #opts: ResponderOptions;
  readonly #deliver: (payload: Uint8Array, at: bigint | undefined) => void;
  #expected: number | undefined;
  #message: Message | undefined;
  /** A NAK or an RNR NAK has gone out for the awaited packet: everything behind it is dropped in silence. */
  #nakSent = false;
  /** The message for which `notReady` was asked last. */
  #askedFor = -1;

  /** @param deliver is called once for each packet, in order; `at`: the virtual address of a WRITE */
  constructor(opts: ResponderOptions, deliver: (payload: Uint8Array, at: bigint | undefined) => void = () => {}) {
    this.#opts = opts;
    this.#deliver = deliver;
    this.#expected = opts.startingPsn;
  }

  /** @returns what to answer, if anything */
  onRequest(request: Request, payload: Uint8Array): Answer | undefined {
    if (this.error !== undefined) {
      this.afterError++;
      return undefined;
    }
    const kind = REQUESTS.get(request.opcode);
    if (!kind) return this.#fail(request.psn, NAK.invalidRequest);
    if (this.#expected === undefined && !kind.first) {
      this.outOfOrder++;
      return undefined;
    }
    const expected = (this.#expected ??= request.psn);
    const distance = psnDistance(request.psn, expected);
    if (distance > 0) return this.#gap(expected);
    if (distance < 0) {
      // Always, whether it asks or not: the requester may have lost the last ACK (C9-105).
      this.duplicates++;
      return this.#answer((expected + PSN_MODULUS - 1) % PSN_MODULUS, 'ack', NO_CREDITS);
    }
    return this.#inOrder(request, kind, payload);
  }

  #gap(expected: number): Answer | undefined {
    this.outOfOrder++;
    if (this.#nakSent) return undefined;
    this.#nakSent = true;
    return this.#answer(expected, 'nak', NAK.psnSequenceError);
  }

  #inOrder(request: Request, kind: Kind, payload: Uint8Array): Answer | undefined {
    if (kind.first === (this.#message !== undefined)) return this.#fail(request.psn, NAK.invalidRequest);
    const message = this.#message ?? this.#begin(request, kind, payload);
    if (typeof message === 'number') return this.#fail(request.psn, message);
    if (!fits(message, kind, payload.length)) return this.#fail(request.psn, NAK.invalidRequest);
    const timer = kind.first && kind.operation === 'send' ? this.#timer() : undefined;
    if (timer !== undefined) {
      this.notReady++;
      this.#nakSent = true;
      return this.#answer(request.psn, 'rnr-nak', timer);
    }
    this.#deliver(payload, message.at);
    this.#message = kind.last ? undefined : advanced(message, payload.length);
    this.#nakSent = false;
    this.#expected = (request.psn + 1) % PSN_MODULUS;
    this.packets++;
    this.bytes += payload.length;
    if (kind.last) this.messages++;
    return request.ackRequest ? this.#answer(request.psn, 'ack', NO_CREDITS) : undefined;
  }

  /** @returns the reason of a NAK when the message may not begin */
  #begin({ reth }: Request, { operation }: Kind, payload: Uint8Array): Message | number {
    const packetLength = payload.length;
    if (operation === 'send') return { operation, packetLength, at: undefined, remaining: undefined };
    const { memory } = this.#opts;
    if (!reth) return NAK.invalidRequest;
    const { virtualAddress: at, length: remaining, rkey } = reth;
    if (!memory || rkey !== memory.rkey || at < memory.virtualAddress) return NAK.remoteAccessError;
    if (at + BigInt(remaining) > memory.virtualAddress + BigInt(memory.length)) return NAK.remoteAccessError;
    return { operation, packetLength, at, remaining };
  }

  #timer(): number | undefined {
    if (this.#askedFor === this.messages) return undefined;
    this.#askedFor = this.messages;
    return this.#opts.notReady?.(this.messages);
  }

  #fail(psn: number, reason: number): Answer {
    this.invalid++;
    this.error = reason;
    return this.#answer(psn, 'nak', reason);
  }

  #answer(psn: number, kind: 'ack' | 'nak' | 'rnr-nak', value: number): Answer {
    return { psn, aeth: { kind, value, msn: this.messages % PSN_MODULUS } };
  }
}

/** Each packet but the last is full, the last is not empty, and a WRITE has the length that its first packet says. */
function fits({ operation, packetLength, remaining }: Message, kind: Kind, length: number): boolean {
  if (kind.operation !== operation || length > packetLength) return false;
  if (!kind.last && (length !== packetLength || length === 0)) return false;
  if (kind.last && !kind.first && length === 0) return false;
  return remaining === undefined || (kind.last ? length === remaining : length < remaining);
}

const advanced = (message: Message, length: number): Message => ({
  ...message,
  at: message.at === undefined ? undefined : message.at + BigInt(length),
  remaining: message.remaining === undefined ? undefined : message.remaining - length,
});
