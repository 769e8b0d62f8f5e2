// The sending half of a reliable connection (InfiniBand vol. 1 §9.7): which packet goes next, and what ACK, NAK and
// timeout mean. Go-back-N: a NAK or a timeout sends everything from the first unacknowledged packet again, as network
// cards without selective repeat do. Messages are SENDs of a fixed number of packets; a packet is known by its index
// from the start, so nothing has to be kept to send it again. Pure: time comes with every call.
import { PSN_MODULUS, psnDistance } from '../../model/roce.ts';
import { OPCODE } from '../../packet/roce/opcodes.ts';

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
}

interface DataPacket {
  readonly psn: number;
  readonly opcode: number;
  readonly ackRequest: boolean;
  readonly retransmission: boolean;
}

export class Requester {
  sent = 0;
  retransmitted = 0;
  naks = 0;
  timeouts = 0;
  /** Acknowledgements outside the packets in flight: old ones, or forged. */
  strayAcks = 0;
  /** Most recent round trip, ms; packets that were sent twice are no sample (Karn). */
  rttMs: number | undefined;
  minimumRttMs: number | undefined;
  readonly #opts: RequesterOptions;
  /** Indices: first unacknowledged, next to send, first never sent. */
  #unacked = 0;
  #next = 0;
  #fresh = 0;
  #progressAt = 0;
  #timeoutsInARow = 0;
  #probe: { index: number; at: number } | undefined;

  constructor(opts: RequesterOptions) {
    this.#opts = opts;
  }

  /** Packets that the peer has acknowledged. */
  get acknowledged(): number {
    return this.#unacked;
  }

  get idle(): boolean {
    return this.#unacked === this.#fresh;
  }

  get lost(): boolean {
    return this.#timeoutsInARow > this.#opts.retries;
  }

  #psn(index: number): number {
    return (this.#opts.startingPsn + index) % PSN_MODULUS;
  }

  /**
   * What to send now, or undefined while the window is full. With `finishing`, a started message is completed and no
   * new one begun.
   */
  next(now: number, finishing = false): DataPacket | undefined {
    if (this.#next - this.#unacked >= this.#opts.window) return undefined;
    const index = this.#next;
    const place = index % this.#opts.packetsPerMessage;
    if (finishing && index === this.#fresh && place === 0) return undefined;
    if (this.#unacked === this.#next) this.#progressAt = now;
    this.#next++;
    const retransmission = index < this.#fresh;
    const last = place === this.#opts.packetsPerMessage - 1;
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
    return { psn: this.#psn(index), opcode: this.#opcode(place, last), ackRequest, retransmission };
  }

  #opcode(place: number, last: boolean): number {
    if (place === 0) return last ? OPCODE.sendOnly : OPCODE.sendFirst;
    return last ? OPCODE.sendLast : OPCODE.sendMiddle;
  }

  /** ACK: everything up to and including `psn` has arrived. */
  onAck(psn: number, now: number): void {
    const distance = psnDistance(psn, this.#psn(this.#unacked));
    if (distance < 0 || distance >= this.#fresh - this.#unacked) {
      this.strayAcks++;
      return;
    }
    this.#advance(this.#unacked + distance + 1, now);
  }

  /** NAK (PSN sequence error): everything below `psn` has arrived, `psn` is awaited (codec facts §5.4). */
  onNak(psn: number, now: number): void {
    const distance = psnDistance(psn, this.#psn(this.#unacked));
    if (distance < 0 || distance >= this.#fresh - this.#unacked) {
      this.strayAcks++;
      return;
    }
    this.naks++;
    this.#advance(this.#unacked + distance, now);
    this.#next = this.#unacked;
    this.#progressAt = now;
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
