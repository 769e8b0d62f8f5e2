// Closes a test run with one plain line, `N passed, N failed, N skipped`, for people and programs that read the end of
// a log.
import type { Reporter, TestModule } from 'vitest/node';

export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tally = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) tally[test.result().state]++;
      // A file that does not even load has no tests but has failed.
      if (module.state() === 'failed' && [...module.children.allTests()].every((t) => t.result().state !== 'failed'))
        tally.failed++;
    }
    process.stdout.write(
      `\n${tally.passed} passed, ${tally.failed} failed, ${tally.skipped + tally.pending} skipped\n`,
    );
  }
}
