// The client's side of cnpd.v1.Control/Record.
import type { RecordingRequest, RecordingState, RecordingStatus } from '../model/recording.ts';
import { RecordRequest_Action as Action, type RecordResponse } from './gen/cnpd/v1/control_pb.js';

/** What of `start` is not given has its default. */
export type RecordAction =
  | { readonly action: 'status' | 'stop' }
  | ({ readonly action: 'start'; readonly restart: boolean } & Partial<RecordingRequest>);

export const recordRequest = (request: RecordAction) =>
  request.action === 'start'
    ? {
        action: Action.START,
        restart: request.restart,
        limitBytes: BigInt(request.limitBytes ?? 0),
        limitSeconds: request.limitSeconds ?? 0,
      }
    : { action: request.action === 'stop' ? Action.STOP : Action.STATUS };

export const recordingStatus = (answer: RecordResponse): RecordingStatus => ({
  state: answer.state as RecordingState,
  ...{ events: Number(answer.events), bytes: Number(answer.bytes), dropped: Number(answer.dropped) },
  machines: answer.machines,
  ...(answer.file !== '' && {
    file: answer.file,
    startedAt: answer.startedAt,
    limitBytes: Number(answer.limitBytes),
    limitSeconds: answer.limitSeconds,
  }),
  ...(answer.reason !== '' && { reason: answer.reason }),
});
