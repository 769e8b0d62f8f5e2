// A refusal with its gRPC code, thrown by handlers and turned into a status by the adapter (grpc.ts). Everything else a
// handler throws is INTERNAL.
import { status } from '@grpc/grpc-js';
import type { ChangeRefusal } from '../model/group-change.ts';

type RpcCode =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'UNIMPLEMENTED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'PERMISSION_DENIED'
  | 'UNAVAILABLE'
  | 'CANCELLED'
  | 'UNAUTHENTICATED'
  | 'DEADLINE_EXCEEDED'
  | 'INTERNAL';

export class RpcError extends Error {
  readonly code: RpcCode;
  constructor(code: RpcCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
  }
  get status(): number {
    return status[this.code];
  }
}

/** What the system has no room for: the same request may succeed once there is some. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** The device fails, whatever somebody does about files and rights. */
const BROKEN: ReadonlySet<string> = new Set(['EIO', 'EUCLEAN']);

/**
 * The code for a file that cannot be written, by the system's error. EACCES is not PERMISSION_DENIED: that is for what
 * the caller may not do, and here it is cnpd that may not.
 */
export function notStoredCode(systemCode: string | undefined): RpcCode {
  if (systemCode === undefined || BROKEN.has(systemCode)) return 'INTERNAL';
  return NO_ROOM.has(systemCode) ? 'RESOURCE_EXHAUSTED' : 'FAILED_PRECONDITION';
}

const CODES = {
  invalid: 'INVALID_ARGUMENT',
  conflict: 'FAILED_PRECONDITION',
  full: 'RESOURCE_EXHAUSTED',
  stopping: 'UNAVAILABLE',
} as const satisfies Record<Exclude<ChangeRefusal['code'], 'not-stored'>, RpcCode>;

export const refusal = ({ code, errors, systemCode }: ChangeRefusal): RpcError =>
  new RpcError(code === 'not-stored' ? notStoredCode(systemCode) : CODES[code], errors.join('; '));
