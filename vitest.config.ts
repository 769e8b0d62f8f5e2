import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';
import { SlowFirst } from './test/support/slow-first.ts';

// Where this names a file, every start of Node.js reads all the authorities in it, which doubles the CPU that a start
// of cnpd takes. Tests start hundreds of programs, and meet no server but their own.
delete process.env['NODE_EXTRA_CA_CERTS'];

// Three projects. `unit` is pure and needs nothing. `bpf` needs root, loads programs into the kernel and runs other
// decoders. `e2e` builds networks. One project runs after the other (groupOrder). The files of `bpf` make anonymous
// namespaces; those of `e2e` give everything names of their own. Files share a process, since to load everything
// again costs more than many of them take. Those of `unit` compute, and two run at a time, where Vitest by itself would
// leave one CPU free. Those of `bpf` wait for packets now and then, those of `e2e` for FRR's timers as well: more of
// them fill two CPUs.
export default defineConfig({
  test: {
    reporters: ['default', new ClosingLine()],
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/{conformance,docs,fuzz,support}/**/*.test.ts'],
          maxWorkers: 2,
          isolate: false,
          testTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'bpf',
          include: ['test/{bpf,kernel,codec}/**/*.test.ts'],
          setupFiles: ['test/support/bytes-equal.ts'],
          pool: 'forks',
          isolate: false,
          maxWorkers: 4,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          pool: 'forks',
          isolate: false,
          maxWorkers: 8,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
