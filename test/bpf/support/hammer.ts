// Packets from several CPUs at once through the program that a monitored port has: BPF_PROG_TEST_RUN in as many
// processes, bpftool's, at a time.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { pinObject } from '../../../src/kernel/bpf/syscall.ts';
import { EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { allowedCpus } from '../../support/cpus.ts';
import type { CongestedRouter } from './congested-router.ts';
import { context } from './packets.ts';

export class Hammer {
  readonly #router: CongestedRouter;
  readonly #directory = mkdtempSync(join(tmpdir(), 't-bpf-'));
  readonly #pins = mkdtempSync(join(tmpdir(), 't-bpf-'));

  constructor(router: CongestedRouter) {
    this.#router = router;
    mountBpffs(this.#pins);
    pinObject(router.egress.program(EGRESS_PROGRAMS.egress).fd, join(this.#pins, 'egress'));
  }

  /** Sends `repeat` packets of each frame from as many processes at once, one a frame, spread over the CPUs. */
  async run(frames: readonly Uint8Array[], repeat: number): Promise<void> {
    const contextFile = join(this.#directory, 'context');
    writeFileSync(contextFile, context({ ifindex: this.#router.portIfindex }));
    const cpus = allowedCpus();
    await Promise.all(
      frames.map((bytes, i) => {
        const file = join(this.#directory, `frame-${i}`);
        writeFileSync(file, bytes);
        return this.#one([
          '-c',
          String(cpus[i % cpus.length]),
          'bpftool',
          'prog',
          'run',
          'pinned',
          join(this.#pins, 'egress'),
          'data_in',
          file,
          'ctx_in',
          contextFile,
          'repeat',
          String(repeat),
        ]);
      }),
    );
  }

  #one(args: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = this.#router.router.run(() => spawn('taskset', args, { stdio: ['ignore', 'ignore', 'pipe'] }));
      let output = '';
      child.stderr.on('data', (text) => (output += text));
      child.on('error', reject);
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`bpftool: ${output}`))));
    });
  }

  close(): void {
    unmountBpffs(this.#pins);
    for (const directory of [this.#pins, this.#directory]) rmSync(directory, { recursive: true });
  }
}
