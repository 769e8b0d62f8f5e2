import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// Three projects: `unit` is pure and needs nothing; `bpf` needs root, loads programs into the kernel and asks other decoders; `e2e` builds networks.
// Both of the latter use the machine as a whole, so their files run one after another, and one project after the other (groupOrder).
const serial = { fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    reporters: ['default', new ClosingLine()],
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'test/conformance/**/*.test.ts'], testTimeout: 60_000, sequence: { groupOrder: 0 } } },
      { test: { name: 'bpf', include: ['test/{bpf,kernel,codec}/**/*.test.ts'], ...serial, sequence: { groupOrder: 1 } } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...serial, testTimeout: 240_000, hookTimeout: 240_000, sequence: { groupOrder: 2 } } },
    ],
  },
});
