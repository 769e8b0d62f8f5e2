import { defineConfig } from 'vitest/config';

// Three projects: `unit` is pure and needs nothing; `bpf` loads programs into the kernel; `e2e` builds networks. The latter two need root.
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 30_000 } },
      { test: { name: 'bpf', include: ['test/bpf/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 240_000, hookTimeout: 240_000, fileParallelism: false } },
    ],
  },
});
