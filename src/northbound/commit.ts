// The extension Commit of gNMI (Commit Confirmed): a Set of the configuration that is taken back unless it is confirmed
// in time.
import { checkConfirmMs } from './confirm-time.ts';
import type { Commit, Duration, Extension } from './gen/gnmi/gnmi_pb.js';
import { checkExtensions } from './request.ts';
import { RpcError } from './rpc-error.ts';

export type CommitAction =
  | { readonly id: string; readonly kind: 'confirm' | 'cancel' }
  | { readonly id: string; readonly kind: 'commit' | 'extend'; readonly confirmMs: number };

/** As the specification has it. */
const DEFAULT_MS = 10 * 60_000;
const LONGEST_ID = 128;

/** @throws RpcError UNIMPLEMENTED, INVALID_ARGUMENT */
export function commitIn(extensions: readonly Extension[]): CommitAction | undefined {
  const [first, ...rest] = extensions;
  checkExtensions(extensions.filter(({ ext }) => ext.case !== 'commit'));
  if (rest.length > 0) throw new RpcError('INVALID_ARGUMENT', 'the extension commit is there twice');
  return first?.ext.case === 'commit' ? actionOf(first.ext.value) : undefined;
}

function actionOf({ id, action }: Commit): CommitAction {
  if (id === '' || id.length > LONGEST_ID)
    throw new RpcError('INVALID_ARGUMENT', `commit: allowed as id: 1 to ${LONGEST_ID} characters`);
  switch (action.case) {
    case 'commit':
      return { id, kind: 'commit', confirmMs: msOf(action.value.rollbackDuration) };
    case 'setRollbackDuration':
      return { id, kind: 'extend', confirmMs: msOf(action.value.rollbackDuration) };
    case 'confirm':
    case 'cancel':
      return { id, kind: action.case };
    case undefined:
      throw new RpcError('INVALID_ARGUMENT', 'commit: commit, confirm, cancel or set_rollback_duration is missing');
  }
}

const msOf = (duration: Duration | undefined): number =>
  duration ? checkConfirmMs(Number(duration.seconds) * 1000 + duration.nanos / 1e6) : DEFAULT_MS;
