import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:view`: the page of `lab view` in headless Chromium, of a lab with congestion.
export default defineConfig({
  test: {
    name: 'view',
    reporters: ['default', new ClosingLine()],
    include: ['test/view/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
