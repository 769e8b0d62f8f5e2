// Frames into an interface's receive path, any number in one system call: BPF_PROG_TEST_RUN of an XDP program
// that passes every frame on, with live frames (Linux 5.18). The kernel makes packets of them and receives them as if a
// driver had.
import type { BpfProgram } from '../../../kernel/bpf/program.ts';
import { BPF_CMD, attributes, bpf } from '../../../kernel/bpf/syscall.ts';
import { PinnedBuffer } from '../../../kernel/ffi.ts';
import type { Netns } from '../../../kernel/netns.ts';

/** enum bpf_attach_type. */
const BPF_XDP = 37;
const BPF_F_TEST_XDP_LIVE_FRAMES = 1 << 1;
/** struct xdp_md. */
const CONTEXT = { size: 24, dataEnd: 4, ingressIfindex: 12 } as const;
const AT = {
  sizeIn: 8,
  dataIn: 16,
  repeat: 32,
  duration: 36,
  contextSizeIn: 40,
  contextIn: 48,
  flags: 64,
  batch: 72,
} as const;
/** Frames received together, as a driver's poll does. */
const BATCH = 64;

/**
 * Attaches the program to an interface, which a virtual one needs to have a receive queue. Returns the link's
 * descriptor.
 * @throws KernelError
 */
export function attachXdp(program: BpfProgram, ifindex: number, netns: Netns): number {
  const attr = attributes(64);
  attr.view.setUint32(0, program.fd, true);
  attr.view.setUint32(4, ifindex, true);
  attr.view.setUint32(8, BPF_XDP, true);
  return netns.run(() => bpf('attach(XDP)', BPF_CMD.LINK_CREATE, attr));
}

/**
 * Receives `count` copies of a frame at an interface. Returns nanoseconds a frame, everything that the kernel does with
 * it included.
 * @throws KernelError
 */
export function receiveFrames(
  program: BpfProgram,
  opts: { frame: Uint8Array; ifindex: number; count: number; netns: Netns },
): number {
  const data = new PinnedBuffer(opts.frame.length);
  data.bytes.set(opts.frame);
  const context = new PinnedBuffer(CONTEXT.size);
  context.view.setUint32(CONTEXT.dataEnd, opts.frame.length, true);
  context.view.setUint32(CONTEXT.ingressIfindex, opts.ifindex, true);
  const attr = attributes(80);
  attr.view.setUint32(0, program.fd, true);
  attr.view.setUint32(AT.sizeIn, opts.frame.length, true);
  attr.view.setBigUint64(AT.dataIn, data.address, true);
  attr.view.setUint32(AT.repeat, opts.count, true);
  attr.view.setUint32(AT.contextSizeIn, CONTEXT.size, true);
  attr.view.setBigUint64(AT.contextIn, context.address, true);
  attr.view.setUint32(AT.flags, BPF_F_TEST_XDP_LIVE_FRAMES, true);
  attr.view.setUint32(AT.batch, BATCH, true);
  const before = process.hrtime.bigint();
  opts.netns.run(() => bpf('receive frames', BPF_CMD.PROG_TEST_RUN, attr));
  return Number(process.hrtime.bigint() - before) / opts.count;
}
