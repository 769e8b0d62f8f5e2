// Calls that a process makes about itself: drop capabilities, check access to a path, replace its program. They concern
// the calling thread only, which is the main one: none of these calls is made on a worker.
import { KernelError } from '../errors.ts';
import { type Memory, PinnedBuffer, check, lastErrno, openLibrary } from '../ffi.ts';

const libc = openLibrary(['libc.so.6'], 'cnpd needs glibc on Linux.');
const c = {
  prctl: libc.bind<(option: number, a: number, b: number, c: number, d: number) => number>(
    'int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)',
  ),
  capset: libc.bind<(header: Memory, data: Memory) => number>('int capset(void *header, const void *data)'),
  faccessat: libc.bind<(directory: number, path: string, mode: number, flags: number) => number>(
    'int faccessat(int directory, const char *path, int mode, int flags)',
  ),
  fcntl: libc.bind<(fd: number, command: number, argument: number) => number>(
    'int fcntl(int fd, int command, long argument)',
  ),
  execv: libc.bind<(path: string, argv: Memory) => number>('int execv(const char *path, void *argv)'),
};

const PR_CAPBSET_DROP = 24;
const PR_GET_SECUREBITS = 27;
const SECBIT_NOROOT = 1;
const LINUX_CAPABILITY_VERSION_3 = 0x2008_0522;
const AT_FDCWD = -100;
const AT_EACCESS = 0x200;
const F_SETFD = 2;

/** Sets of capabilities, a bit each. */
interface CapabilitySets {
  readonly effective: bigint;
  readonly permitted: bigint;
  readonly inheritable: bigint;
}

/** struct __user_cap_data_struct, twice: the lower 32 bits of the three sets, then the upper ones. */
export function setCapabilities({ effective, permitted, inheritable }: CapabilitySets): void {
  const halves = [0n, 32n].flatMap((shift) =>
    [effective, permitted, inheritable].map((set) => Number((set >> shift) & 0xffff_ffffn)),
  );
  check('capset', c.capset(Uint32Array.of(LINUX_CAPABILITY_VERSION_3, 0), Uint32Array.from(halves)));
}

export const dropFromBoundingSet = (capability: number): void =>
  void check('prctl(PR_CAPBSET_DROP)', c.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0));

/** Whether a program that root starts has root's capabilities, which is the default. */
export const rootIsPrivileged = (): boolean =>
  (check('prctl(PR_GET_SECUREBITS)', c.prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)) & SECBIT_NOROOT) === 0;

export const ACCESS = { SEARCH: 1, WRITE: 2, READ: 4 } as const;

/**
 * The symbolic errno when the thread's effective user and capabilities do not allow this use of `path`; undefined when
 * they do.
 */
export function accessRefused(path: string, mode: number): string | undefined {
  return c.faccessat(AT_FDCWD, path, mode, AT_EACCESS) < 0 ? new KernelError('faccessat', lastErrno()).code : undefined;
}

/** Referenced until the exec. */
const argumentsOfExec: PinnedBuffer[] = [];

function pinnedText(text: string): PinnedBuffer {
  const bytes = new TextEncoder().encode(`${text}\0`);
  const pinned = new PinnedBuffer(bytes.length);
  pinned.bytes.set(bytes);
  return pinned;
}

/**
 * Replaces the program of the process by `path`; process number, environment and standard streams stay, all other
 * threads end. Returns only on failure.
 * @throws KernelError
 */
export function become(path: string, argv: readonly string[]): never {
  // Node.js marks all descriptors close-on-exec, including its standard streams.
  for (const fd of [0, 1, 2]) c.fcntl(fd, F_SETFD, 0);
  const vector = new PinnedBuffer((argv.length + 1) * 8);
  argumentsOfExec.push(vector, ...argv.map(pinnedText));
  argumentsOfExec.slice(1).forEach(({ address }, i) => vector.view.setBigUint64(i * 8, address, true));
  c.execv(path, vector.address);
  const errno = lastErrno();
  argumentsOfExec.length = 0;
  throw new KernelError(`execv(${path})`, errno);
}
