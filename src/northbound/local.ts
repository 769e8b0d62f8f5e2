// Get without a socket: reads a state in this process, as the gNMI server would answer.
import { create, fromBinary } from '@bufbuild/protobuf';
import type { StateSource } from '../model/state.ts';
import { type Work, finish } from '../model/work.ts';
import { pathOf } from './client.ts';
import { GetRequestSchema, GetResponseSchema } from './gen/gnmi/gnmi_pb.js';
import { answerGet } from './get.ts';

const MAX_ANSWER_BYTES = 1 << 30;
const BUDGET_MS = 4;

/** Like NorthboundClient.get. @throws RpcError */
export async function localGet(source: StateSource, names: readonly string[], work: Work): Promise<unknown> {
  const request = create(GetRequestSchema, { path: [pathOf(names)] });
  const options = { maxAnswerBytes: MAX_ANSWER_BYTES, now: () => 0n };
  const bytes = await finish(work, answerGet(request, source, options), BUDGET_MS);
  const value = fromBinary(GetResponseSchema, bytes).notification[0]?.update[0]?.val?.value;
  return value?.case === 'jsonVal' ? (JSON.parse(Buffer.from(value.value).toString()) as unknown) : undefined;
}
