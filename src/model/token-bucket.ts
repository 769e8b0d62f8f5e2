// A limit of so many a second with a burst: the agent's own rate limits (the programs keep theirs in maps). Pure: the
// caller says what time it is.

export interface RateLimit {
  readonly perSecond: number;
  /** How many may follow each other at once, at least 1. */
  readonly burst: number;
}

export class TokenBucket {
  #limit: RateLimit;
  #tokens: number;
  #at: number;

  /** Full at first. @param now milliseconds, monotonic */
  constructor(limit: RateLimit, now: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#at = now;
  }

  /** Tokens earned at the old rate stay, up to the new burst. */
  configure(limit: RateLimit, now: number): void {
    this.#earn(now);
    this.#limit = limit;
    this.#tokens = Math.min(this.#tokens, limit.burst);
  }

  /** Whether one more may go now; if so its token is taken. */
  take(now: number): boolean {
    this.#earn(now);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  #earn(now: number): void {
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + ((now - this.#at) * this.#limit.perSecond) / 1000);
    this.#at = now;
  }
}
