// The clock that is injected into components that wait: monotonic milliseconds and one-shot timers. Tests use a manual
// clock.

export interface Clock {
  /** Milliseconds, monotonic; the origin has no meaning. */
  now(): number;
  /** Calls `run` once after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** A clock for tests: time passes only in `advance`, which runs due timers in order. */
export function manualClock(start = 0): Clock & { advance(ms: number): void } {
  let now = start;
  let serial = 0;
  const due = new Map<number, { at: number; run: () => void }>();
  return {
    now: () => now,
    after: (ms, run) => {
      const id = serial++;
      due.set(id, { at: now + ms, run });
      return () => void due.delete(id);
    },
    advance: (ms) => {
      const end = now + ms;
      for (;;) {
        const next = [...due].filter(([, t]) => t.at <= end).sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
        if (!next) break;
        due.delete(next[0]);
        now = next[1].at;
        next[1].run();
      }
      now = end;
    },
  };
}
