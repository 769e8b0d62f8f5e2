// The error of a refused system call: symbolic code, number, attempted operation, and the kernel's own text.
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';

/** Numbers that the kernel uses but no libc header names (include/linux/errno.h), and some that Node does not list. */
const EXTRA: Readonly<Record<number, readonly [string, string]>> = {
  27: ['EFBIG', 'file too large'],
  56: ['EBADRQC', 'invalid request code'],
  95: ['EOPNOTSUPP', 'operation not supported'],
  100: ['ENETDOWN', 'network is down'],
  105: ['ENOBUFS', 'no buffer space available'],
  524: ['ENOTSUPP', 'operation is not supported by this kernel object'],
};

const BY_NUMBER = new Map<number, string>();
for (const [name, number] of Object.entries(constants.errno)) if (!BY_NUMBER.has(number)) BY_NUMBER.set(number, name);

/** The symbolic name of a positive errno: `EPERM`; `E524` for a number without a name. */
export const errnoName = (errno: number): string => EXTRA[errno]?.[0] ?? BY_NUMBER.get(errno) ?? `E${errno}`;

function errnoText(errno: number): string {
  const known = EXTRA[errno]?.[1] ?? getSystemErrorMap().get(-errno)?.[1];
  return known ?? 'unknown error';
}

/** Errno values that callers compare with; positive, as in errno(3). */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  EBADF: 9,
  EAGAIN: 11,
  ENOMEM: 12,
  EBUSY: 16,
  EEXIST: 17,
  ENODEV: 19,
  EINVAL: 22,
  ENOSPC: 28,
  EMSGSIZE: 90,
  ENOLINK: 67,
  EOPNOTSUPP: 95,
  ENETDOWN: 100,
  ENOBUFS: 105,
  ENOTCONN: 107,
  ENOTSUPP: 524,
} as const;

export class KernelError extends Error {
  override readonly name: string = 'KernelError';
  /** Symbolic errno, `EPERM`, `ENOENT`, … */
  readonly code: string;
  /** Positive errno. */
  readonly errno: number;
  /** What was attempted: `bind(AF_PACKET, eth0)`. */
  readonly operation: string;
  /** Text from the kernel besides the number: extended acknowledgment, tail of the verifier's log. */
  readonly detail: string | undefined;

  constructor(operation: string, errno: number, detail?: string) {
    super(`${operation}: ${errnoName(errno)} (${errnoText(errno)})${detail ? `: ${detail}` : ''}`);
    this.code = errnoName(errno);
    this.errno = errno;
    this.operation = operation;
    this.detail = detail;
  }
}

/** Whether `error` is a KernelError with this symbolic code. */
export const isKernelError = (error: unknown, code?: string): error is KernelError =>
  error instanceof KernelError && (code === undefined || error.code === code);
