// The receiver's part in congestion control (RoCEv2 annex A17 §17.9.3, DCQCN's notification point): a packet that
// arrives marked "congestion experienced" is answered with a CNP, at most one an interval and flow. Pure.

/** The ECN codepoint in the low bits of the traffic class (RFC 3168 §5). */
export const ECT0 = 2;
const CE = 3;
export const ecnOf = (trafficClass: number): number => trafficClass & 3;

export class NotificationPoint {
  marked = 0;
  sent = 0;
  /** Of the first marked packet. */
  firstMarkedAt: number | undefined;
  readonly #intervalMs: number | undefined;
  #lastAt = -Infinity;

  /** @param intervalMs least time between two CNPs of the flow; undefined: marks are counted and not answered */
  constructor(intervalMs: number | undefined) {
    this.#intervalMs = intervalMs;
  }

  /** @returns whether to send a CNP for a packet of this traffic class */
  onData(trafficClass: number, now: number): boolean {
    if (ecnOf(trafficClass) !== CE) return false;
    this.marked++;
    this.firstMarkedAt ??= now;
    if (this.#intervalMs === undefined || now - this.#lastAt < this.#intervalMs) return false;
    this.#lastAt = now;
    this.sent++;
    return true;
  }
}
