// Sends at a rate although timers are coarse: a token bucket of bytes that may go now. Time lost to a late timer is
// made up for, up to the burst. Pure: the caller passes the time.

export class Pacer {
  readonly #burstMs: number;
  #rate: number;
  #tokens = 0;
  #at: number;

  /**
   * @param rate bit/s of whole packets.
   * @param burstMs how much sending time may be saved up
   */
  constructor(rate: number, burstMs: number, now: number) {
    this.#rate = rate;
    this.#burstMs = burstMs;
    this.#at = now;
  }

  /** Takes effect from now on; tokens earned at the old rate stay. */
  setRate(rate: number, now: number): void {
    this.#earn(now);
    this.#rate = rate;
  }

  /** Whether `bytes` may go now; if so they are taken. A single packet may always overdraw a full bucket. */
  take(bytes: number, now: number): boolean {
    this.#earn(now);
    if (this.#tokens < Math.min(bytes, this.#limit())) return false;
    this.#tokens -= bytes;
    return true;
  }

  #limit(): number {
    return (this.#rate / 8000) * this.#burstMs;
  }

  #earn(now: number): void {
    this.#tokens = Math.min(this.#limit(), this.#tokens + ((now - this.#at) * this.#rate) / 8000);
    this.#at = now;
  }
}
