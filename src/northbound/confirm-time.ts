import { LONGEST_CONFIRM_MS, SHORTEST_CONFIRM_MS } from '../model/config-change.ts';
import { RpcError } from './rpc-error.ts';

/** @throws RpcError INVALID_ARGUMENT */
export function checkConfirmMs(ms: number): number {
  if (ms >= SHORTEST_CONFIRM_MS && ms <= LONGEST_CONFIRM_MS) return ms;
  throw new RpcError(
    'INVALID_ARGUMENT',
    `time for the confirmation: allowed: ${SHORTEST_CONFIRM_MS / 1000} s to ${LONGEST_CONFIRM_MS / 3_600_000} h`,
  );
}
