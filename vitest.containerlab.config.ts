import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:containerlab`: the scenes as containerlab deploys them, in a Docker of the suite's own.
export default defineConfig({
  test: {
    name: 'containerlab',
    reporters: ['default', new ClosingLine()],
    include: ['test/containerlab/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 1_200_000,
  },
});
