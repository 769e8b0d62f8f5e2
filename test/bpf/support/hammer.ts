// Packets from several CPUs at once through the program that a monitored port has.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { pinObject } from '../../../src/kernel/bpf/syscall.ts';
import { EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { allowedCpus } from '../../support/cpus.ts';
import type { CongestedRouter } from './congested-router.ts';
import { runOnCpu } from './on-cpu.ts';
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
        const run = { pin: join(this.#pins, 'egress'), data: file, context: contextFile, repeat };
        return runOnCpu({ cpu: cpus[i % cpus.length]!, ...run }, this.#router.router);
      }),
    );
  }

  close(): void {
    unmountBpffs(this.#pins);
    for (const directory of [this.#pins, this.#directory]) rmSync(directory, { recursive: true });
  }
}
