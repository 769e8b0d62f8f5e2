import { defineConfig } from 'vitest/config';

// The unit tests alone, for mutation testing: nothing that needs root, git or a kernel. Stryker runs it in a copy of
// the tree, in threads, which have no umask of their own.
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    exclude: ['src/daemon/run-dir.test.ts'],
    isolate: false,
    testTimeout: 60_000,
    reporters: [],
    setupFiles: ['test/mutation/setup.ts'],
  },
});
