import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

// `npm run test:kernels`: what this machine's kernel may lack, in guests with Debian's, or with the kernel in the
// folder CNPD_KERNEL. One file after the other: a guest computes like a processor.
export default defineConfig({
  test: {
    name: 'kernels',
    reporters: ['default', new ClosingLine()],
    include: ['test/kernels/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
