// A loaded BPF program, and running it on a packet without a network (BPF_PROG_TEST_RUN): for tests, and to send the
// packets that a program builds.
import { type Netns, within } from '../netns.ts';
import { PinnedBuffer } from '../ffi.ts';
import { BPF_CMD, attributes, bpf, programId } from './syscall.ts';

/** Offsets in the struct `test` of union bpf_attr. */
const AT = {
  fd: 0,
  retval: 4,
  sizeIn: 8,
  sizeOut: 12,
  dataIn: 16,
  dataOut: 24,
  repeat: 32,
  duration: 36,
  contextSizeIn: 40,
  contextSizeOut: 44,
  contextIn: 48,
  contextOut: 56,
} as const;
/** Space for bytes that a program adds to the packet. */
const GROWTH = 4096;

interface TestRun {
  /** The packet from its Ethernet header on, at least 14 bytes. */
  readonly data: Uint8Array;
  readonly repeat?: number | undefined;
  /**
   * struct __sk_buff as the program sees it (192 bytes; for tc programs mark, priority, ifindex, cb and a few more may
   * be set).
   */
  readonly ctx?: Uint8Array | undefined;
  /** Namespace of the packet: its ifindexes, its loopback device, its routes. */
  readonly netns?: Netns | undefined;
}

export interface TestRunResult {
  /** Return value of the program, unsigned. */
  readonly retval: number;
  /** The packet afterwards. */
  readonly data: Uint8Array;
  /** The context afterwards, if one was passed. */
  readonly ctx: Uint8Array | undefined;
  /** Mean of one run, in nanoseconds. */
  readonly durationNs: number;
}

/** Memory for one call after the other. */
class Scratch {
  #buffer = new PinnedBuffer(2 * GROWTH);

  of(size: number): PinnedBuffer {
    if (size > this.#buffer.bytes.length) this.#buffer = new PinnedBuffer(2 * size);
    return this.#buffer;
  }

  with(bytes: Uint8Array): PinnedBuffer {
    const buffer = this.of(bytes.length);
    buffer.bytes.set(bytes);
    return buffer;
  }
}

/** Test runs are synchronous, and some callers make a hundred thousand of them. */
const scratch = {
  attr: attributes(80),
  input: new Scratch(),
  output: new Scratch(),
  contextIn: new Scratch(),
  contextOut: new Scratch(),
};

export class BpfProgram {
  readonly name: string;
  readonly fd: number;

  constructor(opts: { name: string; fd: number }) {
    this.name = opts.name;
    this.fd = opts.fd;
  }

  /** The kernel's number of this program, as `bpftool prog` shows it. */
  get id(): number {
    return programId(`information(program ${this.name})`, this.fd);
  }

  /**
   * @throws KernelError EINVAL (packet too short, context not accepted), ENOSPC (the packet grew by more than 4 KiB)
   */
  testRun(run: TestRun): TestRunResult {
    const { attr } = scratch;
    const input = scratch.input.with(run.data);
    const output = scratch.output.of(run.data.length + GROWTH);
    attr.view.setUint32(AT.fd, this.fd, true);
    attr.view.setUint32(AT.sizeIn, run.data.length, true);
    attr.view.setUint32(AT.sizeOut, run.data.length + GROWTH, true);
    attr.view.setBigUint64(AT.dataIn, input.address, true);
    attr.view.setBigUint64(AT.dataOut, output.address, true);
    attr.view.setUint32(AT.repeat, run.repeat ?? 1, true);
    const context = run.ctx && { in: scratch.contextIn.with(run.ctx), out: scratch.contextOut.of(run.ctx.length) };
    const size = run.ctx?.length ?? 0;
    attr.view.setUint32(AT.contextSizeIn, size, true);
    attr.view.setUint32(AT.contextSizeOut, size, true);
    attr.view.setBigUint64(AT.contextIn, context?.in.address ?? 0n, true);
    attr.view.setBigUint64(AT.contextOut, context?.out.address ?? 0n, true);
    within(run.netns, () => bpf(`test run(program ${this.name})`, BPF_CMD.PROG_TEST_RUN, attr));
    return {
      retval: attr.view.getUint32(AT.retval, true),
      data: output.bytes.slice(0, attr.view.getUint32(AT.sizeOut, true)),
      ctx: context?.out.bytes.slice(0, size),
      durationNs: attr.view.getUint32(AT.duration, true),
    };
  }
}
