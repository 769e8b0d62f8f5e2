// tc filters on the clsact qdisc: how a program is attached where the kernel has no TCX (before Linux 6.6). The filter's handle is derived from the
// attachment's name, so that the next process finds its own filter and replaces it atomically, and several attachments share an interface.
// The filter outlives the process by itself; nothing is pinned.
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { libbpf } from '../ffi/libbpf.ts';
import { PinnedBuffer } from '../ffi.ts';
import { type Netns, within } from '../netns.ts';
import type { BpfProgram } from './program.ts';
import type { TcxLink, TcxOptions } from './tcx.ts';

/** enum bpf_tc_attach_point. */
const ATTACH_POINT = { ingress: 1, egress: 2 } as const;
const BPF_TC_F_REPLACE = 1;
/** tc filter priorities of cnpd; the lower one is for what must see packets first. */
export const CNPD_PRIORITY = 0xc4;
const FIRST_PRIORITY = CNPD_PRIORITY - 1;

/** struct bpf_tc_hook of libbpf 1.1: size, ifindex, attach point, parent. */
function hook(ifindex: number, points: number): PinnedBuffer {
  const bytes = new PinnedBuffer(24);
  bytes.view.setBigUint64(0, 24n, true);
  bytes.view.setInt32(8, ifindex, true);
  bytes.view.setUint32(12, points, true);
  return bytes;
}

/** struct bpf_tc_opts: size, program descriptor, flags, program id, handle, priority. */
function filter(opts: { programFd: number; flags: number; handle: number; priority: number }): PinnedBuffer {
  const bytes = new PinnedBuffer(32);
  bytes.view.setBigUint64(0, 32n, true);
  bytes.view.setInt32(8, opts.programFd, true);
  bytes.view.setUint32(12, opts.flags, true);
  bytes.view.setUint32(20, opts.handle, true);
  bytes.view.setUint32(24, opts.priority, true);
  return bytes;
}

/** A filter handle for an attachment's name: not zero, the same in every process. */
export const filterHandle = (name: string): number => crc32(name) >>> 0 || 1;

/** Call inside the interface's namespace. @throws KernelError ENODEV (no such interface), ENOENT (kernel without clsact) */
export function attachClsact(opts: TcxOptions): TcxLink {
  const lib = libbpf();
  const where = `clsact ${opts.direction} of interface ${opts.ifindex}`;
  try {
    lib.checked(`create(${where})`, () => lib.tcHookCreate(hook(opts.ifindex, ATTACH_POINT[opts.direction]).address));
  } catch (error) {
    if (!isKernelError(error, 'EEXIST')) throw error;
  }
  const handle = filterHandle(basename(opts.pinPath ?? opts.program.name));
  const filterLink = new ClsactFilter({ ifindex: opts.ifindex, point: ATTACH_POINT[opts.direction], handle, priority: opts.first ? FIRST_PRIORITY : CNPD_PRIORITY, where, netns: opts.netns });
  return filterLink.begin(opts.program);
}

class ClsactFilter implements TcxLink {
  readonly mechanism = 'clsact';
  adopted = false;
  private readonly opts: { ifindex: number; point: number; handle: number; priority: number; where: string; netns: Netns | undefined };
  private detached = false;

  constructor(opts: { ifindex: number; point: number; handle: number; priority: number; where: string; netns: Netns | undefined }) {
    this.opts = opts;
  }

  begin(program: BpfProgram): this {
    this.adopted = this.exists();
    this.update(program);
    return this;
  }

  update(program: BpfProgram): void {
    if (this.detached) throw new Error('this filter was detached');
    const lib = libbpf();
    const request = filter({ programFd: program.fd, flags: BPF_TC_F_REPLACE, handle: this.opts.handle, priority: this.opts.priority });
    this.inside(() => lib.checked(`attach(${program.name} to ${this.opts.where})`, () => lib.tcAttach(this.hook().address, request.address)));
  }

  detach(): void {
    if (this.detached) return;
    this.detached = true;
    const lib = libbpf();
    const request = filter({ programFd: 0, flags: 0, handle: this.opts.handle, priority: this.opts.priority });
    try {
      this.inside(() => lib.checked(`detach(${this.opts.where})`, () => lib.tcDetach(this.hook().address, request.address)));
    } catch (error) {
      // Gone already, with the interface or by somebody's hand.
      if (!(error instanceof KernelError) || ![ERRNO.ENOENT, ERRNO.ENODEV, ERRNO.EINVAL].includes(error.errno as 2)) throw error;
    }
  }

  close(): void {
    // There is no descriptor: the filter belongs to the interface.
  }

  private exists(): boolean {
    const lib = libbpf();
    try {
      const request = filter({ programFd: 0, flags: 0, handle: this.opts.handle, priority: this.opts.priority });
      this.inside(() => lib.checked(`query(${this.opts.where})`, () => lib.tcQuery(this.hook().address, request.address)));
      return true;
    } catch (error) {
      if (isKernelError(error)) return false;
      throw error;
    }
  }

  private hook(): PinnedBuffer {
    return hook(this.opts.ifindex, this.opts.point);
  }

  private inside<T>(fn: () => T): T {
    return within(this.opts.netns, fn);
  }
}
