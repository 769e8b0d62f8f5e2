// The sending half of a reliable connection (InfiniBand vol. 1 §9.7): which packet goes next, and what ACK, NAK, RNR
// NAK and timeout mean. Go-back-N: a NAK or a timeout sends everything from the first unacknowledged packet again, as
// network cards without selective repeat do. Messages are SENDs or WRITEs of a fixed number of packets; a packet is
// known by its index from the start, so nothing has to be kept to send it again. Pure: time comes with every call.
import { PSN_MODULUS, psnDistance } from '../../model/roce.ts';
import { type Aeth, NAK } from '../../packet/roce/aeth.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';
import { RNR_TIMER_MS } from './rnr-timer.ts';

export interface RequesterOptions {
  readonly startingPsn: number;
  readonly packetsPerMessage: number;
  /** Packets in flight at most. */
  readonly window: number;
  /** An acknowledgement is requested at least this often, in packets; also with the last packet of a message. */
  readonly ackEvery: number;
  readonly timeoutMs: number;
  /** Timeouts in a row without progress before the connection counts as lost. */
  readonly retries: number;
  /** Default SEND. */
  readonly operation?: 'send' | 'write' | undefined;
  /** All that there is to send; the last message ends with it. Absent: as many as are asked for. */
  readonly packets?: number | undefined;
}

const OPCODES = {
  send: { first: OPCODE.sendFirst, middle: OPCODE.sendMiddle, last: OPCODE.sendLast, only: OPCODE.sendOnly },
  write: { first: OPCODE.writeFirst, middle: OPCODE.writeMiddle, last: OPCODE.writeLast, only: OPCODE.writeOnly },
} as const;

interface DataPacket {
  /** From the first packet of the connection on. */
  readonly index: number;
  readonly psn: number;
  readonly opcode: number;
  readonly ackRequest: boolean;
  readonly retransmission: boolean;
}

export class Requester {
  sent = 0;
  retransmitted = 0;
  acks = 0;
  naks = 0;
  rnrNaks = 0;
  timeouts = 0;
  /** Reason of a NAK after which the Queue Pair sends nothing (`NAK`). */
  error: number | undefined;
  /** Acknowledgements outside the packets in flight: old ones, or forged. */
  strayAcks = 0;
  /** Most recent round trip, ms; packets that were sent twice are no sample (Karn). */
  rttMs: number | undefined;
  minimumRttMs: number | undefined;
  readonly #opts: RequesterOptions;
  /** All that there is to send. */
  #packets: number | undefined;
  /** Indices: first unacknowledged, next to send, first never sent. */
  #unacked = 0;
  #next = 0;
  #fresh = 0;
  #progressAt = 0;
  #timeoutsInARow = 0;
  /** The receiver is not ready before. */
  #resumeAt = -Infinity;
  #probe: { index: number; at: number } | undefined;

  constructor(opts: RequesterOptions) {
    this.#opts = opts;
    this.#packets = opts.packets;
  }

  /** Packets up to the end of the message under way; of the first one before anything was sent. */
  get messageEnd(): number {
    const { packetsPerMessage } = this.#opts;
    return Math.max(1, Math.ceil(this.#fresh / packetsPerMessage)) * packetsPerMessage;
  }

  /** Nothing is sent behind the first `packets`, which must end a message that has not passed. */
  endAt(packets: number): void {
    this.#packets = Math.min(packets, this.#packets ?? packets);
  }

  /** Packets that the peer has acknowledged. */
  get acknowledged(): number {
    return this.#unacked;
  }

  get idle(): boolean {
    return this.#unacked === this.#fresh;
  }

  get lost(): boolean {
    return this.error !== undefined || this.#timeoutsInARow > this.#opts.retries;
  }

  /** Everything was acknowledged. */
  get done(): boolean {
    return this.#unacked === this.#packets;
  }

  #psn(index: number): number {
    return (this.#opts.startingPsn + index) % PSN_MODULUS;
  }

  /** Whether `next` has a packet now. */
  maySend(now: number): boolean {
    if (this.#next - this.#unacked >= this.#opts.window || this.#next === this.#packets) return false;
    return now >= this.#resumeAt && this.error === undefined;
  }

  /**
   * What to send now, or undefined while the window is full. With `finishing`, a started message is completed and no
   * new one begun.
   */
  next(now: number, finishing = false): DataPacket | undefined {
    if (!this.maySend(now)) return undefined;
    const index = this.#next;
    const place = index % this.#opts.packetsPerMessage;
    if (finishing && index === this.#fresh && place === 0) return undefined;
    if (this.#unacked === this.#next) this.#progressAt = now;
    this.#next++;
    const retransmission = index < this.#fresh;
    const last = place === this.#opts.packetsPerMessage - 1 || this.#next === this.#packets;
    const ackRequest =
      last ||
      index % this.#opts.ackEvery === this.#opts.ackEvery - 1 ||
      this.#next - this.#unacked >= this.#opts.window;
    if (retransmission) {
      this.retransmitted++;
      if (this.#probe && this.#probe.index <= index) this.#probe = undefined;
    } else {
      this.#fresh = this.#next;
      if (ackRequest) this.#probe ??= { index, at: now };
    }
    this.sent++;
    return { index, psn: this.#psn(index), opcode: this.#opcode(place, last), ackRequest, retransmission };
  }

  #opcode(place: number, last: boolean): number {
    const { first, middle, last: end, only } = OPCODES[this.#opts.operation ?? 'send'];
    if (place === 0) return last ? only : first;
    return last ? end : middle;
  }

  onAnswer(psn: number, { kind, value }: Pick<Aeth, 'kind' | 'value'>, now: number): void {
    if (kind === 'ack') this.onAck(psn, now);
    else if (kind === 'rnr-nak') this.onNotReady(psn, RNR_TIMER_MS[value]!, now);
    else if (kind === 'nak' && value === NAK.psnSequenceError) this.onNak(psn, now);
    else if (kind === 'nak') this.onFatalNak(psn, value, now);
  }

  /** ACK: everything up to and including `psn` has arrived. */
  onAck(psn: number, now: number): void {
    const distance = psnDistance(psn, this.#psn(this.#unacked));
    if (distance < 0 || distance >= this.#fresh - this.#unacked) {
      this.strayAcks++;
      return;
    }
    this.acks++;
    this.#advance(this.#unacked + distance + 1, now);
  }

  /** NAK (PSN sequence error): everything below `psn` has arrived, `psn` is awaited (codec facts §5.4). */
  onNak(psn: number, now: number): void {
    if (this.#backTo(psn, now)) this.naks++;
  }

  /** RNR NAK: as a NAK, and nothing is sent before `waitMs` are over. */
  onNotReady(psn: number, waitMs: number, now: number): void {
    if (!this.#backTo(psn, now)) return;
    this.rnrNaks++;
    this.#resumeAt = now + waitMs;
    this.#progressAt = this.#resumeAt;
    this.#timeoutsInARow = 0;
  }

  /** Any other NAK: the Queue Pair goes to the error state. */
  onFatalNak(psn: number, reason: number, now: number): void {
    if (this.#backTo(psn, now)) this.error = reason;
  }

  /** @returns false for a PSN that is not in flight, which changes nothing */
  #backTo(psn: number, now: number): boolean {
    const distance = psnDistance(psn, this.#psn(this.#unacked));
    if (distance < 0 || distance >= this.#fresh - this.#unacked) {
      this.strayAcks++;
      return false;
    }
    this.#advance(this.#unacked + distance, now);
    this.#next = this.#unacked;
    this.#progressAt = now;
    return true;
  }

  #advance(unacked: number, now: number): void {
    if (unacked === this.#unacked) return;
    this.#unacked = unacked;
    this.#next = Math.max(this.#next, unacked);
    this.#progressAt = now;
    this.#timeoutsInARow = 0;
    if (this.#probe && this.#probe.index < unacked) {
      this.rttMs = now - this.#probe.at;
      this.minimumRttMs = Math.min(this.minimumRttMs ?? Infinity, this.rttMs);
      this.#probe = undefined;
    }
  }

  /** Goes back when nothing was acknowledged for too long. @returns whether it did */
  checkTimeout(now: number): boolean {
    if (this.#unacked === this.#next || now - this.#progressAt < this.#opts.timeoutMs) return false;
    this.timeouts++;
    this.#timeoutsInARow++;
    this.#next = this.#unacked;
    this.#progressAt = now;
    return true;
  }
}
