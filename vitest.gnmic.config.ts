import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:gnmic`: a client of gNMI that is not ours, built here with Go. Not in `npm test`.
export default defineConfig({
  test: {
    name: 'gnmic',
    reporters: ['default', new ClosingLine()],
    include: ['test/gnmic/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 3_600_000,
  },
});
