// tc filters on the clsact qdisc: how a program is attached where the kernel has no TCX (before Linux 6.6). The
// filter's handle is derived from the attachment's name, so that the next process finds its own filter and replaces it
// atomically, and several attachments share an interface. The filter outlives the process. In place of the pinned TCX
// link there is a symbolic link, the mark. Its text names the filter, so that a later process can detach it, and
// records whether cnpd created the qdisc. The last filter to be detached takes cnpd's own qdisc with it.
import { readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { libbpf } from '../ffi/libbpf.ts';
import { PinnedBuffer } from '../ffi.ts';
import { removeEmptyClsact } from '../netlink/clsact-qdisc.ts';
import { type Netns, within } from '../netns.ts';
import type { BpfProgram } from './program.ts';
import type { TcxLink, TcxOptions } from './tc-attachment.ts';

/** enum bpf_tc_attach_point. */
const ATTACH_POINT = { ingress: 1, egress: 2 } as const;
const BPF_TC_F_REPLACE = 1;
/** tc filter priorities of cnpd; the lower one is for programs that must see packets first. */
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
  const where = describe(opts);
  const place: FilterPlace = {
    ifindex: opts.ifindex,
    direction: opts.direction,
    handle: filterHandle(basename(opts.pinPath ?? opts.program.name)),
    priority: opts.first ? FIRST_PRIORITY : CNPD_PRIORITY,
    ownQdisc:
      createQdisc(opts, where) || (opts.pinPath !== undefined && isOwnQdisc(opts.ifindex, dirname(opts.pinPath))),
  };
  // Before the filter: a mark without a filter is harmless, a filter without a mark is never found again.
  if (opts.pinPath !== undefined) writeMark(opts.pinPath, place);
  return new ClsactFilter({ ...place, where, pinPath: opts.pinPath, netns: opts.netns }).begin(opts.program);
}

/** Returns false when the interface has a clsact qdisc already. */
function createQdisc({ ifindex, direction }: TcxOptions, where: string): boolean {
  const lib = libbpf();
  try {
    lib.checked(`create(${where})`, () => lib.tcHookCreate(hook(ifindex, ATTACH_POINT[direction]).address));
    return true;
  } catch (error) {
    if (isKernelError(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Whether cnpd created the qdisc that the interface has, by the marks in this directory. A mark without its filter
 * proves nothing: another program may have replaced the qdisc, or the interface is of another network namespace.
 */
const isOwnQdisc = (ifindex: number, directory: string): boolean =>
  readdirSync(directory).some((name) => {
    const filter = markedFilter(join(directory, name));
    return filter?.ifindex === ifindex && filter.ownQdisc && filter.exists();
  });

interface FilterPlace {
  readonly ifindex: number;
  readonly direction: 'ingress' | 'egress';
  readonly handle: number;
  readonly priority: number;
  /** Whether cnpd created the clsact qdisc. False in a mark of 0.4.0, which did not record it. */
  readonly ownQdisc: boolean;
}

const describe = ({ ifindex, direction }: Pick<FilterPlace, 'ifindex' | 'direction'>): string =>
  `clsact ${direction} of interface ${ifindex}`;

const MARK = /^clsact ifindex (\d+) (ingress|egress) handle (\d+) priority (\d+)( own-qdisc)?$/;

function writeMark(pinPath: string, { ifindex, direction, handle, priority, ownQdisc }: FilterPlace): void {
  if (readMark(pinPath)) rmSync(pinPath);
  const mark = `clsact ifindex ${ifindex} ${direction} handle ${handle} priority ${priority}`;
  symlinkSync(ownQdisc ? `${mark} own-qdisc` : mark, pinPath);
}

function readMark(pinPath: string): FilterPlace | undefined {
  let mark: RegExpExecArray | null;
  try {
    mark = MARK.exec(readlinkSync(pinPath));
  } catch (error) {
    // EINVAL: the path is no symbolic link.
    if (['ENOENT', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  return mark
    ? {
        ifindex: Number(mark[1]),
        direction: mark[2] as 'ingress' | 'egress',
        handle: Number(mark[3]),
        priority: Number(mark[4]),
        ownQdisc: mark[5] !== undefined,
      }
    : undefined;
}

interface MarkedFilter extends FilterPlace {
  readonly exists: () => boolean;
  /** Removes filter and mark, and the qdisc if it is cnpd's and now empty. @throws KernelError */
  readonly detach: () => void;
  /** Removes filter and mark only. @throws KernelError */
  readonly detachFilter: () => void;
}

/** The filter that the mark at this path names, whether it exists or not; undefined without a mark. */
export function markedFilter(pinPath: string): MarkedFilter | undefined {
  const place = readMark(pinPath);
  if (!place) return undefined;
  const filterLink = new ClsactFilter({ ...place, where: describe(place), pinPath, netns: undefined });
  return {
    ...place,
    exists: () => filterLink.exists(),
    detach: () => filterLink.detach(),
    detachFilter: () => void filterLink.detachFilter(),
  };
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
    const attached = this.attachedProgram();
    this.adopted = attached !== undefined;
    if (attached !== program.id) this.update(program);
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

  /** Always false: attaching again replaces the filter in place and restores the mark. */
  hangsAt(): boolean {
    return false;
  }

  pin(): void {}

  detach(): void {
    const wasAttached = this.detachFilter();
    // If another program has removed the filter, the qdisc may be another one by now.
    if (wasAttached && this.opts.ownQdisc) this.inside(() => removeEmptyClsact(this.opts.ifindex));
  }

  /** Returns whether there was a filter to detach. */
  detachFilter(): boolean {
    if (this.detached) return false;
    this.detached = true;
    const wasAttached = this.requestDetach();
    if (this.opts.pinPath !== undefined) rmSync(this.opts.pinPath, { force: true });
    return wasAttached;
  }

  close(): void {
    // There is no descriptor: the interface holds the filter.
  }

  exists(): boolean {
    return this.attachedProgram() !== undefined;
  }

  /** The kernel's number of the program; undefined without the filter. */
  private attachedProgram(): number | undefined {
    const lib = libbpf();
    try {
      const request = filter({ programFd: 0, flags: 0, handle: this.opts.handle, priority: this.opts.priority });
      this.inside(() =>
        lib.checked(`query(${this.opts.where})`, () => lib.tcQuery(this.hook().address, request.address)),
      );
      return request.view.getUint32(16, true);
    } catch (error) {
      if (isKernelError(error)) return undefined;
      throw error;
    }
  }

  /** Returns false when the filter is gone already, with its interface or because another program removed it. */
  private requestDetach(): boolean {
    const lib = libbpf();
    const request = filter({ programFd: 0, flags: 0, handle: this.opts.handle, priority: this.opts.priority });
    try {
      this.inside(() =>
        lib.checked(`detach(${this.opts.where})`, () => lib.tcDetach(this.hook().address, request.address)),
      );
      return true;
    } catch (error) {
      if (error instanceof KernelError && [ERRNO.ENOENT, ERRNO.ENODEV, ERRNO.EINVAL].includes(error.errno as 2))
        return false;
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
