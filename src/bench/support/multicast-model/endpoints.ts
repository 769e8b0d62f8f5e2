// The hosts of the model, as InfiniBand has them: an RC requester that goes back N, and RC responders. PSNs count on
// without end here; the network sees their low 24 bits.

export const AETH = { ack: 0, rnr: 0x20, nak: 0x60 } as const;
export const CREDITS_UNKNOWN = 0x1f;

/** Mulberry32: the same numbers for the same seed everywhere. */
export function randomFrom(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Answer {
  readonly psn: number;
  readonly syndrome: number;
  readonly msn: number;
}

export class Receiver {
  readonly address: number;
  /** Its Queue Pair begins here. */
  readonly start: number;
  /** Every packet from `start` on and before this one has arrived. */
  expected: number;
  msn = 0;
  #nakSent = false;

  constructor(address: number, start: number) {
    this.address = address;
    this.start = start;
    this.expected = start;
  }

  /** @param busy no receive buffer now */
  arrive(psn: number, isEnd: boolean, asks: boolean, busy: boolean): Answer | undefined {
    if (psn > this.expected) {
      if (this.#nakSent) return undefined;
      this.#nakSent = true;
      return { psn: this.expected, syndrome: AETH.nak, msn: this.msn };
    }
    if (psn === this.expected) {
      if (busy) {
        if (this.#nakSent) return undefined;
        this.#nakSent = true;
        return { psn, syndrome: AETH.rnr | (1 + (psn % 31)), msn: this.msn };
      }
      this.expected++;
      this.#nakSent = false;
      if (isEnd) this.msn++;
      if (!asks) return undefined;
    }
    return { psn: this.expected - 1, syndrome: CREDITS_UNKNOWN, msn: this.msn };
  }
}

export class Source {
  una: number;
  next: number;
  /** Highest PSN sent + 1. */
  top: number;
  /** Packets from here on are held back: a receiver joins with them. */
  hold = Infinity;
  waitUntil = 0;
  progressAt = 0;
  timeouts = 0;
  sent = 0;
  repeated = 0;
  readonly begin: number;
  readonly end: number;
  /** By PSN - begin: 1 the last packet of a message. */
  readonly #ends: Uint8Array;

  constructor(begin: number, packets: number, random: () => number) {
    this.begin = this.una = this.next = this.top = begin;
    this.end = begin + packets;
    this.#ends = Uint8Array.from({ length: packets }, (_, i) => (i === packets - 1 || random() < 0.15 ? 1 : 0));
  }

  isEnd(psn: number): boolean {
    return this.#ends[psn - this.begin] === 1;
  }

  isBegin(psn: number): boolean {
    return psn === this.begin || this.#ends[psn - 1 - this.begin] === 1;
  }

  /** The beginning of the first message of which nothing was sent; `end`: there is none. */
  get nextMessage(): number {
    let psn = this.top;
    while (psn < this.end && !this.isBegin(psn)) psn++;
    return psn;
  }

  /** The packet to be sent now, or -1. */
  send(now: number, window: number, timeout: number): number {
    if (now < this.waitUntil) return -1;
    if (this.una < this.top && now - this.progressAt > timeout) {
      this.next = this.una;
      this.progressAt = now;
      this.timeouts++;
    }
    if (this.next >= Math.min(this.end, this.hold, this.una + window)) return -1;
    if (this.next === this.una && this.top === this.una) this.progressAt = now;
    const psn = this.next++;
    this.sent++;
    if (psn < this.top) this.repeated++;
    this.top = Math.max(this.top, this.next);
    return psn;
  }

  /** @param m every packet before this one is confirmed */
  confirm(m: number, syndrome: number, now: number): void {
    if (m > this.una) {
      this.una = m;
      this.progressAt = now;
      this.next = Math.max(this.next, m);
    }
    if ((syndrome & AETH.nak) === 0 || m < this.una) return;
    this.next = m;
    if ((syndrome & AETH.nak) === AETH.rnr) this.waitUntil = now + (syndrome & 31);
  }

  get isDone(): boolean {
    return this.una === this.end;
  }
}
