// Packets by the hundred thousand through a program. Nobody looks at what became of one: nothing is copied out, and
// nothing allocated for it.
import type { BpfProgram } from '../../../src/kernel/bpf/program.ts';
import { BPF_CMD, attributes, bpf } from '../../../src/kernel/bpf/syscall.ts';
import { LITTLE_ENDIAN } from '../../../src/kernel/dataplane/layout.ts';
import { PinnedBuffer } from '../../../src/kernel/ffi.ts';

/** Longest frame. */
const ROOM = 2048;

export class Flood {
  readonly #operation: string;
  readonly #attr = attributes(80);
  readonly #frame = new PinnedBuffer(ROOM);
  readonly #context: PinnedBuffer;

  /** @param context struct __sk_buff, as for BpfProgram.testRun */
  constructor(program: BpfProgram, context: Uint8Array) {
    this.#operation = `test run(program ${program.name})`;
    this.#context = new PinnedBuffer(context.length);
    this.#context.bytes.set(context);
    const { view } = this.#attr;
    // struct { prog_fd, retval, data_size_in, data_size_out: u32; data_in, data_out: u64; repeat, duration,
    // ctx_size_in, ctx_size_out: u32; ctx_in, ctx_out: u64; … }
    view.setUint32(0, program.fd, LITTLE_ENDIAN);
    view.setBigUint64(16, this.#frame.address, LITTLE_ENDIAN);
    view.setUint32(32, 1, LITTLE_ENDIAN);
    view.setUint32(40, context.length, LITTLE_ENDIAN);
    view.setBigUint64(48, this.#context.address, LITTLE_ENDIAN);
  }

  /** One packet, in the namespace of the caller. @throws KernelError */
  send(frame: Uint8Array): void {
    this.#frame.bytes.set(frame);
    this.#attr.view.setUint32(8, frame.length, LITTLE_ENDIAN);
    // Where the kernel has told how much it would have copied.
    this.#attr.view.setUint32(12, 0, LITTLE_ENDIAN);
    this.#attr.view.setUint32(44, 0, LITTLE_ENDIAN);
    bpf(this.#operation, BPF_CMD.PROG_TEST_RUN, this.#attr);
  }
}
