import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:interop`: clients that are not ours, built here (Go). Not in `npm test`.
export default defineConfig({
  test: {
    name: 'interop',
    reporters: ['default', new ClosingLine()],
    include: ['test/interop/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 3_600_000,
  },
});
