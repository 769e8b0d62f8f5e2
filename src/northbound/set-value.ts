// A change of a Set whose path is known to exist and to be allowed, and the JSON of its value.
import type { TypedValue } from './gen/gnmi/gnmi_pb.js';
import type { CheckedPath } from './paths.ts';
import { RpcError } from './rpc-error.ts';

export interface CheckedChange {
  readonly operation: 'delete' | 'replace' | 'update';
  readonly checked: CheckedPath;
  /** The path as the client wrote it, for messages. */
  readonly where: string;
  readonly value?: TypedValue | undefined;
}

/** @throws RpcError INVALID_ARGUMENT */
export function jsonOf({ value, where }: CheckedChange): unknown {
  const typed = value?.value;
  if (typed?.case !== 'jsonIetfVal' && typed?.case !== 'jsonVal')
    throw new RpcError('INVALID_ARGUMENT', `${where}: the value must be json_ietf_val or json_val`);
  try {
    return JSON.parse(Buffer.from(typed.value).toString('utf8')) as unknown;
  } catch (error) {
    // Node.js quotes what is around the place, which may be a key of authentication.
    const [place = ''] = / at position \d+/.exec(String((error as Error).message)) ?? [];
    throw new RpcError('INVALID_ARGUMENT', `${where}: the value is no JSON${place}`);
  }
}
