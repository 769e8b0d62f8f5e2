// cnpd.v1.Control: Reload, LogLevels, the status of a recording, and on the socket of Set also Record, RestartGroup and
// Release. Only on the unix sockets.
import { create } from '@bufbuild/protobuf';
import type { Server as GrpcServer } from '@grpc/grpc-js';
import { parseAddress } from '../model/address.ts';
import type { ReleaseRequest } from '../model/source.ts';
import type { NorthboundDependencies } from './dependencies.ts';
import {
  Control,
  type ReleaseRequest as ReleaseMessage,
  ReleaseResponseSchema,
  ReloadResponseSchema,
  type RestartGroupRequest,
  RestartGroupResponseSchema,
} from './gen/cnpd/v1/control_pb.js';
import { handle, unary } from './grpc.ts';
import { logLevelsHandler } from './log-levels.ts';
import { recordHandler } from './record.ts';
import { checkServed } from './rights.ts';
import { RpcError } from './rpc-error.ts';
import { refusal } from './set.ts';

interface ControlOptions {
  /** Where changes are served, if not on this socket. */
  readonly setSocket: string | undefined;
}

/** However many ask: those who wait share one reload. */
export function addControl(grpc: GrpcServer, options: ControlOptions, dependencies: NorthboundDependencies): void {
  const reload = async () => {
    const { ok, errors, changed } = await dependencies.actions.reload();
    return create(ReloadResponseSchema, { ok, errors: [...errors], changed: [...changed] });
  };
  grpc.addService(
    {
      reload: unary(Control.method.reload),
      restartGroup: unary(Control.method.restartGroup),
      release: unary(Control.method.release),
      logLevels: unary(Control.method.logLevels),
      record: unary(Control.method.record),
    },
    {
      release: handle(Control.method.release, releaseHandler(options, dependencies), dependencies),
      reload: handle(Control.method.reload, reload, dependencies),
      logLevels: handle(Control.method.logLevels, logLevelsHandler(dependencies.actions.logLevels), dependencies),
      record: handle(
        Control.method.record,
        recordHandler(dependencies.actions.recording, options.setSocket),
        dependencies,
      ),
      restartGroup: handle(Control.method.restartGroup, restartHandler(options, dependencies), dependencies),
    },
  );
}

function restartHandler({ setSocket }: ControlOptions, { actions }: NorthboundDependencies) {
  return async ({ proxyAddress }: RestartGroupRequest) => {
    checkServed('RestartGroup', setSocket);
    const done = actions.restartGroup(proxyAddress);
    if (!done.ok) throw refusal(done.error);
    return create(RestartGroupResponseSchema);
  };
}

function releaseHandler({ setSocket }: ControlOptions, { actions }: NorthboundDependencies) {
  return async (request: ReleaseMessage) => {
    checkServed('Release', setSocket);
    return create(ReleaseResponseSchema, { released: actions.release(flowsIn(request)) });
  };
}

/** @throws RpcError INVALID_ARGUMENT */
function flowsIn({ sender, receiver, receiverQpn }: ReleaseMessage): ReleaseRequest {
  if (sender === '' && receiver === '' && receiverQpn === 0) return 'all';
  const [from, to] = [parseAddress(sender), parseAddress(receiver)];
  if (!from || !to) throw new RpcError('INVALID_ARGUMENT', 'sender, receiver: allowed: addresses, or nothing for all');
  return { sender: from, receiver: to, receiverQpn };
}
