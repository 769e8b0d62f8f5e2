// tc filters on the clsact qdisc: how a program is attached where the kernel has no TCX (before Linux 6.6). The
// filter's handle is derived from the attachment's name, so that the next process finds its own filter and replaces it
// atomically, and several attachments share an interface. The filter outlives the process by itself. Where a TCX link
// would be pinned stands a symbolic link that says in its text where the filter is, so that a later process finds what
// it is to take off.
import { readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { libbpf } from '../ffi/libbpf.ts';
import { PinnedBuffer } from '../ffi.ts';
import { type Netns, within } from '../netns.ts';
import type { BpfProgram } from './program.ts';
import type { TcxLink, TcxOptions } from './tc-attachment.ts';

/** enum bpf_tc_attach_point. */
const ATTACH_POINT = { ingress: 1, egress: 2 } as const;
const BPF_TC_F_REPLACE = 1;
/** tc filter priorities of cnpd; the lower one is for what must see packets first. */
const CNPD_PRIORITY = 0xc4;
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

/**
 * Call inside the interface's namespace.
 * @throws KernelError ENODEV (no such interface), ENOENT (kernel without clsact)
 */
export function attachClsact(opts: TcxOptions): TcxLink {
  const lib = libbpf();
  const where = `clsact ${opts.direction} of interface ${opts.ifindex}`;
  try {
    lib.checked(`create(${where})`, () => lib.tcHookCreate(hook(opts.ifindex, ATTACH_POINT[opts.direction]).address));
  } catch (error) {
    if (!isKernelError(error, 'EEXIST')) throw error;
  }
  const place: FilterPlace = {
    ifindex: opts.ifindex,
    direction: opts.direction,
    handle: filterHandle(basename(opts.pinPath ?? opts.program.name)),
    priority: opts.first ? FIRST_PRIORITY : CNPD_PRIORITY,
  };
  // Before the filter: a mark without one does no harm, a filter without one is never found again.
  if (opts.pinPath !== undefined) writeMark(opts.pinPath, place);
  return new ClsactFilter({ ...place, where, pinPath: opts.pinPath, netns: opts.netns }).begin(opts.program);
}

interface FilterPlace {
  readonly ifindex: number;
  readonly direction: 'ingress' | 'egress';
  readonly handle: number;
  readonly priority: number;
}

const MARK = /^clsact ifindex (\d+) (ingress|egress) handle (\d+) priority (\d+)$/;

function writeMark(pinPath: string, { ifindex, direction, handle, priority }: FilterPlace): void {
  if (readMark(pinPath)) rmSync(pinPath);
  symlinkSync(`clsact ifindex ${ifindex} ${direction} handle ${handle} priority ${priority}`, pinPath);
}

function readMark(pinPath: string): FilterPlace | undefined {
  let mark: RegExpExecArray | null;
  try {
    mark = MARK.exec(readlinkSync(pinPath));
  } catch (error) {
    // EINVAL: what is there is no symbolic link.
    if (['ENOENT', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  return mark
    ? {
        ifindex: Number(mark[1]),
        direction: mark[2] as 'ingress' | 'egress',
        handle: Number(mark[3]),
        priority: Number(mark[4]),
      }
    : undefined;
}

/** The filter that a mark at this path tells of, there or not; undefined when there is no mark. */
export function markedFilter(
  pinPath: string,
): (FilterPlace & { readonly exists: () => boolean; readonly detach: () => void }) | undefined {
  const place = readMark(pinPath);
  if (!place) return undefined;
  const filterLink = new ClsactFilter({
    ...place,
    where: `clsact ${place.direction} of interface ${place.ifindex}`,
    pinPath,
    netns: undefined,
  });
  return { ...place, exists: () => filterLink.exists(), detach: () => filterLink.detach() };
}

interface ClsactFilterOptions extends FilterPlace {
  readonly where: string;
  readonly pinPath: string | undefined;
  readonly netns: Netns | undefined;
}

class ClsactFilter implements TcxLink {
  readonly mechanism = 'clsact';
  adopted = false;
  private readonly opts: ClsactFilterOptions;
  private detached = false;

  constructor(opts: ClsactFilterOptions) {
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
    const request = filter({
      programFd: program.fd,
      flags: BPF_TC_F_REPLACE,
      handle: this.opts.handle,
      priority: this.opts.priority,
    });
    this.inside(() =>
      lib.checked(`attach(${program.name} to ${this.opts.where})`, () =>
        lib.tcAttach(this.hook().address, request.address),
      ),
    );
  }

  /** It outlives its mark and this object: to attach anew replaces it in place, and marks it. */
  hangsAt(): boolean {
    return false;
  }

  pin(): void {}

  detach(): void {
    if (this.detached) return;
    this.detached = true;
    const lib = libbpf();
    const request = filter({ programFd: 0, flags: 0, handle: this.opts.handle, priority: this.opts.priority });
    try {
      this.inside(() =>
        lib.checked(`detach(${this.opts.where})`, () => lib.tcDetach(this.hook().address, request.address)),
      );
    } catch (error) {
      // Gone already, with the interface or by somebody's hand.
      if (!(error instanceof KernelError) || ![ERRNO.ENOENT, ERRNO.ENODEV, ERRNO.EINVAL].includes(error.errno as 2))
        throw error;
    }
    if (this.opts.pinPath !== undefined) rmSync(this.opts.pinPath, { force: true });
  }

  close(): void {
    // There is no descriptor: the filter belongs to the interface.
  }

  exists(): boolean {
    const lib = libbpf();
    try {
      const request = filter({ programFd: 0, flags: 0, handle: this.opts.handle, priority: this.opts.priority });
      this.inside(() =>
        lib.checked(`query(${this.opts.where})`, () => lib.tcQuery(this.hook().address, request.address)),
      );
      return true;
    } catch (error) {
      if (isKernelError(error)) return false;
      throw error;
    }
  }

  private hook(): PinnedBuffer {
    return hook(this.opts.ifindex, ATTACH_POINT[this.opts.direction]);
  }

  private inside<T>(fn: () => T): T {
    return within(this.opts.netns, fn);
  }
}
