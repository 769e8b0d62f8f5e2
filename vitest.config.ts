import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';
import { SlowFirst } from './test/support/slow-first.ts';

// Three projects: `unit` is pure and needs nothing, and uses two CPUs where Vitest by itself would leave one free; `bpf` needs root, loads programs into the kernel and asks other decoders; `e2e` builds networks. One
// project runs after the other (groupOrder). The files of `bpf` run one after another: some of them keep every CPU busy. Those of `e2e` have names of their own
// for everything and mostly wait for FRR's timers, so three of them run at a time.
const serial = { fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    reporters: ['default', new ClosingLine()],
    sequence: { sequencer: SlowFirst },
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'test/conformance/**/*.test.ts'], maxWorkers: 2, testTimeout: 60_000, sequence: { groupOrder: 0 } } },
      { test: { name: 'bpf', include: ['test/{bpf,kernel,codec}/**/*.test.ts'], ...serial, sequence: { groupOrder: 1 } } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], pool: 'forks', maxWorkers: 3, testTimeout: 240_000, hookTimeout: 240_000, sequence: { groupOrder: 2 } } },
    ],
  },
});
