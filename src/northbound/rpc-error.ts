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

const CODES = {
  invalid: 'INVALID_ARGUMENT',
  conflict: 'FAILED_PRECONDITION',
  full: 'RESOURCE_EXHAUSTED',
  'not-stored': 'RESOURCE_EXHAUSTED',
  stopping: 'UNAVAILABLE',
} as const satisfies Record<ChangeRefusal['code'], RpcCode>;

export const refusal = ({ code, errors }: ChangeRefusal): RpcError => new RpcError(CODES[code], errors.join('; '));
