// gNMI Set (gNMI specification §3.4): members of groups that applications declare at run time. Only
// /cnpd/groups/group[proxy-address=…] and its member[role=…][address=…] can be set. What the values mean is checked by
// whoever applies them; here are the paths and the JSON.
import { create } from '@bufbuild/protobuf';
import type { ChangeRefusal, ChangeResult, GroupChange } from '../model/group-change.ts';
import {
  type Path,
  type SetRequest,
  type SetResponse,
  SetResponseSchema,
  type TypedValue,
  type Update,
  UpdateResult_Operation,
  UpdateResultSchema,
} from './gen/gnmi/gnmi_pb.js';
import { checkPath, clip, formatPath } from './paths.ts';
import { checkExtensions } from './request.ts';
import type { CheckPath } from './rights.ts';
import { RpcError } from './rpc-error.ts';

export type ApplyChanges = (changes: readonly GroupChange[]) => Promise<ChangeResult>;

interface SetOptions {
  /** Nanoseconds since the Unix epoch. */
  readonly now: () => bigint;
  readonly apply: ApplyChanges;
  readonly checkWrite: CheckPath;
}

/** A whole router's worth of members one by one, and some. */
const MOST_CHANGES = 8192;

const CODES = {
  invalid: 'INVALID_ARGUMENT',
  conflict: 'FAILED_PRECONDITION',
  full: 'RESOURCE_EXHAUSTED',
  'not-stored': 'RESOURCE_EXHAUSTED',
  stopping: 'UNAVAILABLE',
} as const satisfies Record<ChangeRefusal['code'], string>;

export const refusal = ({ code, errors }: ChangeRefusal): RpcError => new RpcError(CODES[code], errors.join('; '));

/** @throws RpcError; then nothing has changed */
export async function answerSet(request: SetRequest, { now, apply, checkWrite }: SetOptions): Promise<SetResponse> {
  const { prefix } = request;
  checkExtensions(request.extension);
  if (request.unionReplace.length > 0) throw new RpcError('UNIMPLEMENTED', 'union_replace is not served: use replace');
  const total = request.delete.length + request.replace.length + request.update.length;
  if (total === 0) throw new RpcError('INVALID_ARGUMENT', 'the request has no delete, replace or update');
  if (total > MOST_CHANGES)
    throw new RpcError('INVALID_ARGUMENT', `${total} changes in one request; at most ${MOST_CHANGES}`);
  const placeOf = (path: Path) => checkedPlace(prefix, path, checkWrite);
  const withValue = (operation: 'replace' | 'update') => (update: Update) => {
    if (!update.path) throw new RpcError('INVALID_ARGUMENT', `${operation}: the path is missing`);
    const at = placeOf(update.path);
    return { operation, ...at, value: valueOf(update.val, clip(formatPath(update.path.elem))) };
  };
  const changes: GroupChange[] = [
    ...request.delete.map((path) => ({ operation: 'delete' as const, ...placeOf(path) })),
    ...request.replace.map(withValue('replace')),
    ...request.update.map(withValue('update')),
  ];
  const applied = await apply(changes);
  if (!applied.ok) throw refusal(applied.error);
  const result = (op: UpdateResult_Operation) => (path: Path | undefined) =>
    create(UpdateResultSchema, { op, ...(path && { path }) });
  return create(SetResponseSchema, {
    ...(prefix && { prefix }),
    timestamp: now(),
    response: [
      ...request.delete.map(result(UpdateResult_Operation.DELETE)),
      ...request.replace.map(({ path }) => path).map(result(UpdateResult_Operation.REPLACE)),
      ...request.update.map(({ path }) => path).map(result(UpdateResult_Operation.UPDATE)),
    ],
  });
}

const SETTABLE = '/cnpd/groups/group[proxy-address=…] and its member[role=…][address=…]';

function checkedPlace(
  prefix: Path | undefined,
  path: Path,
  checkWrite: CheckPath,
): Pick<GroupChange, 'group' | 'member'> {
  const checked = checkPath(prefix, path);
  checkWrite(checked);
  const { steps } = checked;
  const where = clip(formatPath([...(prefix?.elem ?? []), ...path.elem]));
  const names = steps.map(({ name }) => name).join('/');
  if (names !== 'cnpd/groups/group' && names !== 'cnpd/groups/group/member')
    throw new RpcError('INVALID_ARGUMENT', `${where}: cannot be set; what can: ${SETTABLE}`);
  // checkPath leaves out keys that match everything.
  const key = (at: number, name: string): string => {
    const text = steps[at]!.keys.get(name);
    if (text === undefined)
      throw new RpcError('INVALID_ARGUMENT', `${where}: the key ${name} is missing, or a wildcard`);
    return text;
  };
  if (steps[0]!.keyed || steps[1]!.keyed) throw new RpcError('INVALID_ARGUMENT', `${where}: a container has no keys`);
  const group = key(2, 'proxy-address');
  return steps.length === 3 ? { group } : { group, member: { role: key(3, 'role'), address: key(3, 'address') } };
}

function valueOf(value: TypedValue | undefined, where: string): unknown {
  const typed = value?.value;
  if (typed?.case !== 'jsonIetfVal' && typed?.case !== 'jsonVal')
    throw new RpcError('INVALID_ARGUMENT', `${where}: the value must be json_ietf_val or json_val`);
  try {
    return JSON.parse(Buffer.from(typed.value).toString('utf8')) as unknown;
  } catch (error) {
    throw new RpcError('INVALID_ARGUMENT', `${where}: ${clip(String((error as Error).message))}`);
  }
}
