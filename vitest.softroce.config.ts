import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:softroce`: guests with Linux SoftRoCE. One file after the other: a guest computes like a processor.
export default defineConfig({
  test: {
    name: 'softroce',
    reporters: ['default', new ClosingLine()],
    include: ['test/softroce/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
