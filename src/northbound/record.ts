// cnpd.v1.Control/Record: begins, ends and shows a recording of the machines' events. Who may
// change something may begin and end one: it takes room on the disk, and may begin the carriers anew.
import { create } from '@bufbuild/protobuf';
import { messageOf, systemCodeOf } from '../model/error-text.ts';
import { RECORDING_LIMITS, type Recording, type RecordingStatus } from '../model/recording.ts';
import {
  type RecordRequest,
  RecordRequest_Action as Action,
  type RecordResponse,
  RecordResponseSchema,
} from './gen/cnpd/v1/control_pb.js';
import { RpcError, notStoredCode } from './rpc-error.ts';

/** @throws RpcError (from the returned function) */
export const recordHandler =
  (recording: Recording | undefined) =>
  async ({ action, limitBytes, limitSeconds, restart }: RecordRequest): Promise<RecordResponse> => {
    if (!recording) throw new RpcError('FAILED_PRECONDITION', 'nothing can be recorded here');
    if (action === Action.STATUS) return response(recording.status());
    if (action !== Action.START && action !== Action.STOP)
      throw new RpcError('INVALID_ARGUMENT', 'action: allowed: STATUS, START, STOP');
    const request = {
      limitBytes: limited('limit_bytes', Number(limitBytes), RECORDING_LIMITS.bytes),
      limitSeconds: limited('limit_seconds', limitSeconds, RECORDING_LIMITS.seconds),
    };
    try {
      return response(await (action === Action.START ? recording.start(request, restart) : recording.stop()));
    } catch (error) {
      const systemCode = systemCodeOf(error);
      const code = systemCode === undefined ? 'FAILED_PRECONDITION' : notStoredCode(systemCode);
      throw new RpcError(code, messageOf(error), { cause: error });
    }
  };

function limited(name: string, value: number, { least, most, default: usual }: Limits): number {
  if (value === 0) return usual;
  if (value >= least && value <= most) return value;
  throw new RpcError('INVALID_ARGUMENT', `${name}: allowed: ${least} to ${most}, or 0 for ${usual}`);
}

interface Limits {
  readonly least: number;
  readonly most: number;
  readonly default: number;
}

const response = ({ limitBytes = 0, limitSeconds = 0, ...status }: RecordingStatus): RecordResponse =>
  create(RecordResponseSchema, {
    ...{ state: status.state, file: status.file ?? '', startedAt: status.startedAt ?? '', reason: status.reason ?? '' },
    ...{ limitBytes: BigInt(limitBytes), limitSeconds, events: BigInt(status.events), bytes: BigInt(status.bytes) },
    ...{ dropped: BigInt(status.dropped), machines: [...status.machines] },
  });
