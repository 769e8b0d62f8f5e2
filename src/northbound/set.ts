// gNMI Set (gNMI specification §3.4): the configuration (set-configuration.ts), or members of groups that applications
// declare at run time, of which /cnpd/groups/group[proxy-address=…] and its member[role=…][address=…] can be set. What
// the values mean is checked by whoever applies them; here are the paths and the JSON.
import { create } from '@bufbuild/protobuf';
import type { ChangeResult, GroupChange } from '../model/group-change.ts';
import { commitIn } from './commit.ts';
import {
  type Path,
  type SetRequest,
  type SetResponse,
  SetResponseSchema,
  type Update,
  UpdateResult_Operation,
  UpdateResultSchema,
} from './gen/gnmi/gnmi_pb.js';
import { checkPath, clip, formatPath } from './paths.ts';
import type { CheckPath } from './rights.ts';
import { RpcError, refusal } from './rpc-error.ts';
import {
  type ConfigSetter,
  type ConfigurationSet,
  isOfConfiguration,
  readConfigurationSet,
  setConfiguration,
} from './set-configuration.ts';
import { type CheckedChange, jsonOf } from './set-value.ts';

export type ApplyChanges = (changes: readonly GroupChange[]) => Promise<ChangeResult>;

interface SetOptions {
  /** Nanoseconds since the Unix epoch. */
  readonly now: () => bigint;
  readonly apply: ApplyChanges;
  readonly config: ConfigSetter;
  readonly checkWrite: CheckPath;
}

/** A whole router's worth of members one by one, and some. */
const MOST_CHANGES = 8192;

/** What a request asks for: one change, of the one or the other. */
export type AskedSet = ConfigurationSet | { readonly call: 'groups'; readonly changes: readonly GroupChange[] };

/** @throws RpcError */
export function readSet(request: SetRequest, checkWrite: CheckPath): AskedSet {
  const commit = commitIn(request.extension);
  if (request.unionReplace.length > 0) throw new RpcError('UNIMPLEMENTED', 'union_replace is not served: use replace');
  const total = request.delete.length + request.replace.length + request.update.length;
  if (total > MOST_CHANGES)
    throw new RpcError('INVALID_ARGUMENT', `${total} changes in one request; at most ${MOST_CHANGES}`);
  const changes = changesIn(request, checkWrite);
  if (changes.some(isOfConfiguration) || commit) return readConfigurationSet(changes, commit, checkWrite);
  if (total === 0) throw new RpcError('INVALID_ARGUMENT', 'the request has no delete, replace or update');
  return { call: 'groups', changes: changes.map(groupChange) };
}

/** @throws RpcError; then nothing has changed */
export async function answerSet(request: SetRequest, options: SetOptions): Promise<SetResponse> {
  const { prefix } = request;
  const asked = readSet(request, options.checkWrite);
  if (asked.call !== 'groups') await setConfiguration(asked, options.config);
  else {
    const applied = await options.apply(asked.changes);
    if (!applied.ok) throw refusal(applied.error);
  }
  return create(SetResponseSchema, {
    ...(prefix && { prefix }),
    timestamp: options.now(),
    response: resultsOf(request),
  });
}

/** In the order in which they are made. */
function changesIn(request: SetRequest, checkWrite: CheckPath): CheckedChange[] {
  const { prefix } = request;
  const at = (path: Path) => {
    const checked = checkPath(prefix, path);
    checkWrite(checked);
    return { checked, where: clip(formatPath([...(prefix?.elem ?? []), ...path.elem])) };
  };
  const withValue =
    (operation: 'replace' | 'update') =>
    ({ path, val }: Update): CheckedChange => {
      if (!path) throw new RpcError('INVALID_ARGUMENT', `${operation}: the path is missing`);
      return { operation, ...at(path), value: val };
    };
  return [
    ...request.delete.map((path) => ({ operation: 'delete' as const, ...at(path) })),
    ...request.replace.map(withValue('replace')),
    ...request.update.map(withValue('update')),
  ];
}

function resultsOf(request: SetRequest) {
  const result = (op: UpdateResult_Operation) => (path: Path | undefined) =>
    create(UpdateResultSchema, { op, ...(path && { path }) });
  return [
    ...request.delete.map(result(UpdateResult_Operation.DELETE)),
    ...request.replace.map(({ path }) => path).map(result(UpdateResult_Operation.REPLACE)),
    ...request.update.map(({ path }) => path).map(result(UpdateResult_Operation.UPDATE)),
  ];
}

function groupChange(change: CheckedChange): GroupChange {
  const { operation } = change;
  const place = groupPlace(change);
  return operation === 'delete' ? { operation, ...place } : { operation, ...place, value: jsonOf(change) };
}

const SETTABLE =
  '/cnpd/configuration and its sections, /cnpd/groups/group[proxy-address=…] and its member[role=…][address=…]';

function groupPlace({ checked: { steps }, where }: CheckedChange): Pick<GroupChange, 'group' | 'member'> {
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
