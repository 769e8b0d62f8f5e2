// The receiving half of a reliable connection (InfiniBand vol. 1 §9.7.5): in order or not at all. A gap is answered
// with one NAK that names the awaited PSN, a repeated packet with an ACK of the last PSN received in order. Pure.
import { PSN_MODULUS, psnDistance } from '../../model/roce.ts';
import { NAK, NO_CREDITS, type Aeth } from '../../packet/roce/aeth.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';

interface Answer {
  readonly psn: number;
  readonly aeth: Aeth;
}

/**
 * What an opcode means to a message under way: whether it begins one, and ends one. Others are not for this responder.
 */
const SENDS: ReadonlyMap<number, { readonly first: boolean; readonly last: boolean }> = new Map([
  [OPCODE.sendFirst, { first: true, last: false }],
  [OPCODE.sendMiddle, { first: false, last: false }],
  [OPCODE.sendLast, { first: false, last: true }],
  [OPCODE.sendOnly, { first: true, last: true }],
]);

export class Responder {
  packets = 0;
  bytes = 0;
  duplicates = 0;
  outOfOrder = 0;
  invalid = 0;
  /** Whole messages, modulo 2²⁴ on the wire. */
  messages = 0;
  #expected: number;
  #insideMessage = false;
  #nakSent = false;

  constructor(startingPsn: number) {
    this.#expected = startingPsn;
  }

  /** @returns what to answer, if anything */
  onData(
    packet: { readonly psn: number; readonly opcode: number; readonly ackRequest: boolean },
    payloadLength: number,
  ): Answer | undefined {
    const send = SENDS.get(packet.opcode);
    if (!send) {
      this.invalid++;
      return this.#answer(packet.psn, 'nak', NAK.invalidRequest);
    }
    const distance = psnDistance(packet.psn, this.#expected);
    if (distance > 0) {
      this.outOfOrder++;
      if (this.#nakSent) return undefined;
      this.#nakSent = true;
      return this.#answer(this.#expected, 'nak', NAK.psnSequenceError);
    }
    if (distance < 0) {
      this.duplicates++;
      return packet.ackRequest
        ? this.#answer((this.#expected + PSN_MODULUS - 1) % PSN_MODULUS, 'ack', NO_CREDITS)
        : undefined;
    }
    if (send.first === this.#insideMessage) {
      this.invalid++;
      return this.#answer(packet.psn, 'nak', NAK.invalidRequest);
    }
    this.#insideMessage = !send.last;
    this.#nakSent = false;
    this.#expected = (this.#expected + 1) % PSN_MODULUS;
    this.packets++;
    this.bytes += payloadLength;
    if (send.last) this.messages++;
    return packet.ackRequest ? this.#answer(packet.psn, 'ack', NO_CREDITS) : undefined;
  }

  #answer(psn: number, kind: 'ack' | 'nak', value: number): Answer {
    return { psn, aeth: { kind, value, msn: this.messages % PSN_MODULUS } };
  }
}
