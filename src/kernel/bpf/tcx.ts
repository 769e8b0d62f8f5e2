// Attaches a tc program to an interface. On Linux 6.6 and later by a pinned TCX link (bpf(2) LINK_CREATE). Link and
// program outlive the process, and the next process adopts the link and swaps the program atomically. On older kernels
// by a filter on the clsact qdisc (clsact.ts), which outlives the process too. Programs return TC_ACT_UNSPEC (-1) to
// let the next program on the hook decide.
import { readlinkSync, rmSync } from 'node:fs';
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { close } from '../ffi/libc.ts';
import { within } from '../netns.ts';
import { attachClsact, markedFilter } from './clsact.ts';
import type { BpfProgram } from './program.ts';
import type { Direction, TcxLink, TcxOptions } from './tc-attachment.ts';
import { BPF_CMD, attributes, bpf, objectInfo, openPinned, pinObject, tryBpf } from './syscall.ts';

/** enum bpf_attach_type (Linux 6.6). */
const ATTACH_TYPE: Readonly<Record<Direction, number>> = { ingress: 46, egress: 47 };
/** In front of all others when no other link is named. */
const BPF_F_BEFORE = 1 << 3;
/** enum bpf_link_type. */
const LINK_TYPE_TCX = 11;

/**
 * Attaches `program`, or swaps it into the link that is pinned at `pinPath` if that is still on this interface and
 * direction. A pinned link is replaced if its interface is gone, or is another one.
 * @throws KernelError ENODEV (no such interface), EEXIST (something else is pinned there), EINVAL
 */
export function attachTcx(opts: TcxOptions): TcxLink {
  return within(opts.netns, () => {
    if (opts.mechanism === 'clsact') return attachClsact(opts);
    const adopted = opts.pinPath === undefined ? undefined : adopt(opts, opts.pinPath);
    if (adopted) return adopted;
    const fd = create(opts);
    if (fd === undefined) {
      if (opts.mechanism === 'tcx')
        throw new KernelError(`attach(${opts.program.name})`, ERRNO.EINVAL, 'this kernel has no TCX (Linux 6.6)');
      return attachClsact(opts);
    }
    return pinned(fd, opts);
  });
}

/** Detaches the link that is pinned at a path, whatever its program. Does nothing when there is none. */
export function detachPinnedLink(pinPath: string): void {
  const marked = markedFilter(pinPath);
  if (marked) return marked.detach();
  const fd = openLink(pinPath);
  if (fd !== undefined) new Tcx({ fd, pinPath, adopted: true }).detach();
}

/** Where the link pinned at a path is attached. Undefined when nothing is pinned there, or its interface is gone. */
export function pinnedLinkTarget(
  pinPath: string,
): { readonly ifindex: number; readonly direction: Direction } | undefined {
  const marked = markedFilter(pinPath);
  if (marked) return marked.exists() ? { ifindex: marked.ifindex, direction: marked.direction } : undefined;
  const fd = openLink(pinPath);
  if (fd === undefined) return undefined;
  try {
    const { ifindex, attachType } = linkTarget(fd, pinPath);
    return ifindex === 0
      ? undefined
      : { ifindex, direction: attachType === ATTACH_TYPE.ingress ? 'ingress' : 'egress' };
  } finally {
    close(fd);
  }
}

/** Returns undefined when this kernel has no TCX. */
function create(opts: TcxOptions): number | undefined {
  const attr = attributes(64);
  attr.view.setUint32(0, opts.program.fd, true);
  attr.view.setUint32(4, opts.ifindex, true);
  attr.view.setUint32(8, ATTACH_TYPE[opts.direction], true);
  attr.view.setUint32(12, opts.first ? BPF_F_BEFORE : 0, true);
  const result = tryBpf(BPF_CMD.LINK_CREATE, attr);
  if (result >= 0) return result;
  if (result === -ERRNO.EINVAL && !kernelHasTcx()) return undefined;
  throw new KernelError(`attach(${opts.program.name} to the ${opts.direction} of interface ${opts.ifindex})`, -result);
}

/** BPF_PROG_QUERY of a TCX hook of the loopback: a kernel without the attach type returns EINVAL. */
export function kernelHasTcx(): boolean {
  const attr = attributes(64);
  attr.view.setUint32(0, 1, true);
  attr.view.setUint32(4, ATTACH_TYPE.ingress, true);
  return tryBpf(BPF_CMD.PROG_QUERY, attr) >= 0;
}

function pinned(fd: number, opts: TcxOptions): TcxLink {
  try {
    if (opts.pinPath !== undefined) pinObject(fd, opts.pinPath);
    return new Tcx({ fd, pinPath: opts.pinPath, adopted: false });
  } catch (error) {
    close(fd);
    throw error;
  }
}

/**
 * The link pinned at the path with its program swapped; undefined when there is none (any more) and the path is free.
 */
function adopt(opts: TcxOptions, pinPath: string): TcxLink | undefined {
  const fd = openLink(pinPath);
  if (fd === undefined) return undefined;
  const link = new Tcx({ fd, pinPath, adopted: true });
  const target = linkTarget(fd, pinPath);
  if (target.ifindex === opts.ifindex && target.attachType === ATTACH_TYPE[opts.direction]) {
    // A packet would notice nothing; an observer of the kernel would see a change that is none.
    if (target.program !== opts.program.id) link.update(opts.program);
    return link;
  }
  link.detach();
  return undefined;
}

/**
 * A descriptor of the link pinned at a path; undefined when nothing is pinned.
 * @throws KernelError EEXIST (something else is pinned there)
 */
function openLink(pinPath: string): number | undefined {
  let fd: number;
  try {
    fd = openPinned(pinPath);
  } catch (error) {
    if (isKernelError(error, 'ENOENT')) return undefined;
    throw error;
  }
  requireLink(fd, pinPath);
  return fd;
}

/** Closes `fd` and throws unless it is a link: information about a map would be misread as one. */
function requireLink(fd: number, pinPath: string): void {
  const kind = readlinkSync(`/proc/self/fd/${fd}`);
  if (kind.includes('bpf_link') || kind.includes('bpf-link')) return;
  close(fd);
  throw new KernelError(`adopt(${pinPath})`, ERRNO.EEXIST, `what is pinned there is not a link but ${kind}; remove it`);
}

/**
 * struct bpf_link_info: type, id, prog_id, then for TCX at offset 16 ifindex (0 when the interface is gone) and attach
 * type.
 */
function linkTarget(fd: number, pinPath: string): { program: number; ifindex: number; attachType: number } {
  const info = objectInfo(`information(${pinPath})`, fd, 32);
  const program = info.getUint32(8, true);
  if (info.getUint32(0, true) !== LINK_TYPE_TCX) return { program, ifindex: 0, attachType: 0 };
  return { program, ifindex: info.getUint32(16, true), attachType: info.getUint32(20, true) };
}

class Tcx implements TcxLink {
  readonly mechanism = 'tcx';
  readonly adopted: boolean;
  private readonly fd: number;
  private readonly pinPath: string | undefined;
  private closed = false;

  constructor(opts: { fd: number; pinPath: string | undefined; adopted: boolean }) {
    this.fd = opts.fd;
    this.pinPath = opts.pinPath;
    this.adopted = opts.adopted;
  }

  update(program: BpfProgram): void {
    if (this.closed) throw new Error('this link was closed');
    const attr = attributes(16);
    attr.view.setUint32(0, this.fd, true);
    attr.view.setUint32(4, program.fd, true);
    bpf(`swap in(${program.name})`, BPF_CMD.LINK_UPDATE, attr);
  }

  hangsAt(ifindex: number, direction: Direction): boolean {
    if (this.closed) return false;
    const target = linkTarget(this.fd, this.pinPath ?? 'a link');
    return target.ifindex === ifindex && target.attachType === ATTACH_TYPE[direction];
  }

  pin(): void {
    if (this.pinPath !== undefined) pinObject(this.fd, this.pinPath);
  }

  detach(): void {
    if (this.closed) return;
    const attr = attributes(16);
    attr.view.setUint32(0, this.fd, true);
    const result = tryBpf(BPF_CMD.LINK_DETACH, attr);
    if (this.pinPath !== undefined) rmSync(this.pinPath, { force: true });
    this.close();
    // EINVAL/ENOLINK: the interface is gone, and the attachment with it.
    if (result < 0 && result !== -ERRNO.EINVAL && result !== -ERRNO.ENOLINK) throw new KernelError('detach', -result);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    close(this.fd);
  }
}
