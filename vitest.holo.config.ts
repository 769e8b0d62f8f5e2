import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:holo`: three routers with Holo, which is built from source the first time. Not in `npm test`.
export default defineConfig({
  test: {
    name: 'holo',
    reporters: ['default', new ClosingLine()],
    include: ['test/holo/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
