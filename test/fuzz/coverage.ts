// Which parts of the bundle have run, from V8's block coverage: an input that makes a part run that never ran before is
// worth keeping. No library does this for ES modules on Debian 12: jazzer.js instruments CommonJS, and its prebuilt
// engine needs a newer C library (glibc 2.38).
import { Session } from 'node:inspector';
import type { Profiler } from 'node:inspector';

export class Coverage {
  private readonly session = new Session();
  private readonly seen = new Set<string>();

  constructor() {
    this.session.connect();
    this.session.post('Profiler.enable');
    this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** How many parts have run since the last call that had never run before. */
  news(): number {
    let result: Profiler.ScriptCoverage[] = [];
    // In the same thread the answer is there when post returns.
    this.session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error) throw error;
      result = taken.result;
    });
    const before = this.seen.size;
    for (const { url, functions } of result) {
      if (!url.endsWith('/out/fuzz/main.mjs')) continue;
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges)
          if (count > 0) this.seen.add(`${startOffset}-${endOffset}`);
    }
    return this.seen.size - before;
  }

  get parts(): number {
    return this.seen.size;
  }
}
