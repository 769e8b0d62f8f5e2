// bpf(2) itself, for calls that libbpf 1.1 lacks (TCX links) or that are simpler without it (map elements, object
// information). Attributes are written as bytes at the offsets of union bpf_attr (include/uapi/linux/bpf.h); the kernel
// accepts shorter and longer unions alike.
import { KernelError } from '../errors.ts';
import { syscall3 } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';

/** __NR_bpf (arch/…/syscall.tbl). */
const BPF_SYSCALL: Readonly<Record<string, number>> = { x64: 321, arm64: 280, riscv64: 280, loong64: 280 };

export const BPF_CMD = {
  MAP_LOOKUP_ELEM: 1,
  MAP_UPDATE_ELEM: 2,
  MAP_DELETE_ELEM: 3,
  MAP_GET_NEXT_KEY: 4,
  PROG_LOAD: 5,
  OBJ_PIN: 6,
  OBJ_GET: 7,
  PROG_TEST_RUN: 10,
  OBJ_GET_INFO_BY_FD: 15,
  PROG_QUERY: 16,
  MAP_LOOKUP_BATCH: 24,
  MAP_UPDATE_BATCH: 26,
  LINK_CREATE: 28,
  LINK_UPDATE: 29,
  LINK_DETACH: 34,
} as const;

/** enum bpf_map_type, the names that appear in messages. */
const MAP_TYPE = {
  1: 'hash',
  2: 'array',
  3: 'prog_array',
  4: 'perf_event_array',
  5: 'percpu_hash',
  6: 'percpu_array',
  9: 'lru_hash',
  10: 'lru_percpu_hash',
  11: 'lpm_trie',
  12: 'array_of_maps',
  13: 'hash_of_maps',
  14: 'devmap',
  16: 'cpumap',
  21: 'percpu_cgroup_storage',
  22: 'queue',
  23: 'stack',
  27: 'ringbuf',
} as const;

export const mapTypeName = (type: number): string =>
  (MAP_TYPE as Readonly<Record<number, string>>)[type] ?? `type ${type}`;

/** Result of the command, or a negative errno. */
export function tryBpf(command: number, attributes: PinnedBuffer): number {
  const number = BPF_SYSCALL[process.arch];
  if (number === undefined) throw new Error(`bpf(2) has no known number on ${process.arch}`);
  return syscall3(number, command, attributes.address, attributes.bytes.length);
}

/** @throws KernelError */
export function bpf(operation: string, command: number, attributes: PinnedBuffer): number {
  const result = tryBpf(command, attributes);
  if (result < 0) throw new KernelError(operation, -result);
  return result;
}

/** A union bpf_attr of the size needed, all zero. */
export const attributes = (size: number): PinnedBuffer => new PinnedBuffer(size);

function pathAttributes(path: string, fd: number): { attr: PinnedBuffer; text: PinnedBuffer } {
  const encoded = new TextEncoder().encode(`${path}\0`);
  const text = new PinnedBuffer(encoded.length);
  text.bytes.set(encoded);
  const attr = attributes(24);
  attr.view.setBigUint64(0, text.address, true);
  attr.view.setUint32(8, fd, true);
  return { attr, text };
}

/**
 * Pins a map, program or link to a path in a BPF file system.
 * @throws KernelError EEXIST, ENOENT, EPERM (not on bpffs)
 */
export function pinObject(fd: number, path: string): void {
  const { attr } = pathAttributes(path, fd);
  bpf(`pin(${path})`, BPF_CMD.OBJ_PIN, attr);
}

/** Opens the object pinned at a path; the caller closes the descriptor. @throws KernelError ENOENT */
export function openPinned(path: string): number {
  const { attr } = pathAttributes(path, 0);
  return bpf(`open pinned(${path})`, BPF_CMD.OBJ_GET, attr);
}

/** The leading `size` bytes of struct bpf_{map,prog,link}_info. */
export function objectInfo(operation: string, fd: number, size: number): DataView {
  const info = new PinnedBuffer(size);
  const attr = attributes(16);
  attr.view.setUint32(0, fd, true);
  attr.view.setUint32(4, size, true);
  attr.view.setBigUint64(8, info.address, true);
  bpf(operation, BPF_CMD.OBJ_GET_INFO_BY_FD, attr);
  return info.view;
}

export interface MapInfo {
  readonly type: number;
  readonly id: number;
  readonly keySize: number;
  readonly valueSize: number;
  readonly maxEntries: number;
  readonly flags: number;
}

export function mapInfo(operation: string, fd: number): MapInfo {
  const info = objectInfo(operation, fd, 80);
  const word = (index: number): number => info.getUint32(index * 4, true);
  return { type: word(0), id: word(1), keySize: word(2), valueSize: word(3), maxEntries: word(4), flags: word(5) };
}

/** struct bpf_prog_info, its id. */
export const programId = (operation: string, fd: number): number => objectInfo(operation, fd, 64).getUint32(4, true);
