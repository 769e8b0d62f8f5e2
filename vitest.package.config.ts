import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:package`: the packages, on a machine of their own with a real systemd. The tests follow one another, as
// install, upgrade and removal do.
export default defineConfig({
  test: {
    name: 'package',
    reporters: ['default', new ClosingLine()],
    include: ['test/package/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    bail: 1,
    testTimeout: 120_000,
    hookTimeout: 600_000,
  },
});
