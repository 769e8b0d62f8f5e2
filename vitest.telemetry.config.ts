import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:telemetry`: Debian's Prometheus and promtool judge the metrics, and what lies in contrib/.
export default defineConfig({
  test: {
    name: 'telemetry',
    reporters: ['default', new ClosingLine()],
    include: ['test/telemetry/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
