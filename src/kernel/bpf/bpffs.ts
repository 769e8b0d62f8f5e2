// The BPF file system for the pins. cnpd mounts its own in its run directory: a bpffs belongs to its mount, and `ip
// netns exec` hides the one at /sys/fs/bpf, while a mount elsewhere stays visible.
import { chmodSync, mkdirSync, statfsSync } from 'node:fs';
import { mount, unmount } from '../ffi/libc.ts';

const BPF_FS_MAGIC = 0xcafe4a11;
const MS = { NOSUID: 2, NODEV: 4, NOEXEC: 8 } as const;
const PRIVATE = 0o700;

/** Whether `path` is in a BPF file system. */
export const isBpffs = (path: string): boolean => statfsSync(path).type >>> 0 === BPF_FS_MAGIC;

/**
 * Mounts a BPF file system at `path` unless it is one already; creates the directory.
 * @throws KernelError ENODEV (kernel without bpffs), EPERM
 */
export function mountBpffs(path: string): void {
  makePrivate(path);
  if (isBpffs(path)) return;
  mount('bpf', path, 'bpf', MS.NOSUID | MS.NODEV | MS.NOEXEC, 'mode=0700');
}

/**
 * Creates the directory `path` in the BPF file system at `mountPoint`, and mounts that first: otherwise the directory
 * would be created on the disk below.
 * @throws KernelError like mountBpffs
 */
export function makePinDirectory(mountPoint: string, path: string): void {
  mountBpffs(mountPoint);
  makePrivate(path);
}

/** Sets the mode regardless of the umask, and of that of an earlier run. */
function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE });
  chmodSync(path, PRIVATE);
}

/**
 * Unmounts a file system of mountBpffs, and with it removes everything pinned there. Does nothing when `path` is not a
 * BPF file system.
 */
export function unmountBpffs(path: string): void {
  let there: boolean;
  try {
    there = isBpffs(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (there) unmount(path);
}
