// cnpd.v1.Control/LogLevels: levels of the log by component, at run time. Whoever may reload may do this.
import { create } from '@bufbuild/protobuf';
import type { ChangeLevels } from '../model/log-levels.ts';
import { type LogLevelsRequest, type LogLevelsResponse, LogLevelsResponseSchema } from './gen/cnpd/v1/control_pb.js';
import { clip } from './paths.ts';
import { RpcError } from './rpc-error.ts';

const MAX_CHANGES = 64;

/** @throws RpcError INVALID_ARGUMENT (from the returned function) */
export const logLevelsHandler =
  (change: ChangeLevels) =>
  async ({ changes }: LogLevelsRequest): Promise<LogLevelsResponse> => {
    if (changes.length > MAX_CHANGES) throw new RpcError('INVALID_ARGUMENT', `at most ${MAX_CHANGES} changes at once`);
    const changed = change(
      changes.map(({ component, level }) => ({ component: clip(component, 64), level: clip(level, 64) })),
    );
    if (!changed.ok) throw new RpcError('INVALID_ARGUMENT', changed.error);
    const levels = changed.value.map(({ component, level, isSet }) => ({ component, level, set: isSet }));
    return create(LogLevelsResponseSchema, { levels });
  };
