import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:package`: the packages, on machines of their own with a real systemd. The tests follow one another, as
// install, upgrade and removal do. The first run installs two Debians.
export default defineConfig({
  test: {
    name: 'package',
    reporters: ['default', new ClosingLine()],
    include: ['test/package/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    bail: 1,
    testTimeout: 240_000,
    hookTimeout: 1_200_000,
  },
});
