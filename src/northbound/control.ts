// cnpd.v1.Control: what an operator may ask of a running cnpd besides reading its state. Who may ask what is in
// rights.ts: each call amounts to reading or changing a path.
import { create } from '@bufbuild/protobuf';
import type { Server as GrpcServer } from '@grpc/grpc-js';
import { parseAddress } from '../model/address.ts';
import type { ReleaseRequest } from '../model/source.ts';
import type { NorthboundDependencies } from './dependencies.ts';
import { configHandlers } from './control-config.ts';
import {
  Control,
  type RecordRequest,
  RecordRequest_Action,
  type RecordResponse,
  type ReleaseRequest as ReleaseMessage,
  ReleaseResponseSchema,
  type RestartGroupRequest,
  RestartGroupResponseSchema,
} from './gen/cnpd/v1/control_pb.js';
import { type Caller, handle, served } from './grpc.ts';
import { logLevelsHandler } from './log-levels.ts';
import { recordHandler } from './record.ts';
import type { Access, Certificate, ControlCall } from './rights.ts';
import { RpcError, refusal } from './rpc-error.ts';

const { method } = Control;

/** What each call amounts to. */
const CALLS = {
  reload: { name: 'Reload', what: 'write', path: ['cnpd', 'configuration'] },
  plan: { name: 'Plan', what: 'read', path: ['cnpd', 'configuration'] },
  configuration: { name: 'Configuration', what: 'read', path: ['cnpd', 'configuration'] },
  apply: { name: 'Apply', what: 'write', path: ['cnpd', 'configuration'] },
  confirm: { name: 'Confirm', what: 'write', path: ['cnpd', 'configuration'] },
  rollback: { name: 'Rollback', what: 'write', path: ['cnpd', 'configuration'] },
  logLevels: { name: 'LogLevels', what: 'write', path: ['cnpd', 'status'] },
  // It takes room on the disk, and may begin the carriers anew.
  record: { name: 'Record', what: 'write', path: ['cnpd', 'configuration'] },
  release: { name: 'Release', what: 'write', path: ['cnpd', 'holds'] },
  restartGroup: { name: 'RestartGroup', what: 'write', path: ['cnpd', 'groups'] },
} as const satisfies Record<keyof typeof method, ControlCall>;

/** To see whether one is made. */
const RECORD_STATUS = { name: 'Record', what: 'read', path: ['cnpd', 'status'] } as const satisfies ControlCall;

/** Before the request is read. @param name of the method @throws RpcError */
export function checkControlCaller(name: string, access: Access, certificate: Certificate): void {
  const call = Object.values(CALLS).find((one) => one.name === name);
  if (!call) throw new RpcError('UNIMPLEMENTED', `there is no call ${name}`);
  access.checkCaller('any', certificate);
  // Of Record it depends on the request: recordCall.
  if (call !== CALLS.record) access.checkControl(call, certificate);
}

/** However many ask: those who wait share one reload. */
export function addControl(grpc: GrpcServer, access: Access, dependencies: NorthboundDependencies): void {
  const { actions } = dependencies;
  const { reload, plan, configuration, apply, confirm, rollback } = configHandlers(actions);
  grpc.addService(
    {
      reload: served(method.reload),
      plan: served(method.plan),
      configuration: served(method.configuration),
      apply: served(method.apply),
      confirm: served(method.confirm),
      rollback: served(method.rollback),
      restartGroup: served(method.restartGroup),
      release: served(method.release),
      logLevels: served(method.logLevels),
      record: served(method.record),
    },
    {
      reload: handle(method.reload, reload, dependencies),
      plan: handle(method.plan, plan, dependencies),
      configuration: handle(method.configuration, configuration, dependencies),
      apply: handle(method.apply, apply, dependencies),
      confirm: handle(method.confirm, confirm, dependencies),
      rollback: handle(method.rollback, rollback, dependencies),
      release: handle(method.release, releaseHandler(dependencies), dependencies),
      logLevels: handle(method.logLevels, logLevelsHandler(actions.logLevels), dependencies),
      record: handle(method.record, recordCall(access, actions), dependencies),
      restartGroup: handle(method.restartGroup, restartHandler(dependencies), dependencies),
    },
  );
}

/** To see a recording is reading. @throws RpcError (from the returned function) */
export function recordCall(access: Access, { recording }: Pick<NorthboundDependencies['actions'], 'recording'>) {
  const record = recordHandler(recording);
  return async (request: RecordRequest, { certificate }: Caller): Promise<RecordResponse> => {
    access.checkControl(request.action === RecordRequest_Action.STATUS ? RECORD_STATUS : CALLS.record, certificate);
    return record(request);
  };
}

function restartHandler({ actions }: NorthboundDependencies) {
  return async ({ proxyAddress }: RestartGroupRequest) => {
    const done = actions.restartGroup(proxyAddress);
    if (!done.ok) throw refusal(done.error);
    return create(RestartGroupResponseSchema);
  };
}

function releaseHandler({ actions }: NorthboundDependencies) {
  return async (request: ReleaseMessage) =>
    create(ReleaseResponseSchema, { released: actions.release(flowsIn(request)) });
}

/** @throws RpcError INVALID_ARGUMENT */
function flowsIn({ sender, receiver, receiverQpn }: ReleaseMessage): ReleaseRequest {
  if (sender === '' && receiver === '' && receiverQpn === 0) return 'all';
  const [from, to] = [parseAddress(sender), parseAddress(receiver)];
  if (!from || !to) throw new RpcError('INVALID_ARGUMENT', 'sender, receiver: allowed: addresses, or nothing for all');
  return { sender: from, receiver: to, receiverQpn };
}
