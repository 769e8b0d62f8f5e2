// A token bucket for the agent's own rate limits (the programs keep theirs in maps). Pure: the caller passes the time.

export interface RateLimit {
  readonly perSecond: number;
  /** Largest burst, at least 1. */
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

  /** Changes the limit. Tokens earned at the old rate stay, up to the new burst. */
  configure(limit: RateLimit, now: number): void {
    this.#earn(now);
    this.#limit = limit;
    this.#tokens = Math.min(this.#tokens, limit.burst);
  }

  /** Takes a token if there is one. Returns whether it did. */
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
