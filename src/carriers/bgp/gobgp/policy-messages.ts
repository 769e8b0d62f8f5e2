// Messages about gobgpd's policies, of both versions (proto/gobgp/messages.proto), whose numbers differ (api.ts).
import { type MessageShape, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  AddPolicyRequestSchema,
  DefinedSetRequestSchema,
  DeleteDefinedSetRequestSchema,
  DeletePolicyRequestSchema,
  ListDefinedSetRequestSchema,
  ListDefinedSetResponseSchema,
  ListPolicyAssignmentRequestSchema,
  ListPolicyAssignmentResponseSchema,
  ListPolicyRequestSchema,
  ListPolicyResponseSchema,
  PolicyAssignmentRequestSchema,
  type PolicySchema,
  ResetPeerRequestSchema,
  type StatementSchema,
} from './gen/gobgp/messages_pb.js';
import type { PolicyData, StatementData } from './policy.ts';

const GLOBAL = 'global';

interface Named {
  readonly definedType: number;
  readonly name: string;
}

export const addSet = (set: Named, list: readonly string[]): Uint8Array =>
  toBinary(DefinedSetRequestSchema, create(DefinedSetRequestSchema, { definedSet: { ...set, list: [...list] } }));
/** @param list its entries alone; none: all of it */
export const deleteSet = (set: Named, list: readonly string[] = []): Uint8Array =>
  toBinary(
    DeleteDefinedSetRequestSchema,
    create(DeleteDefinedSetRequestSchema, { definedSet: { ...set, list: [...list] }, all: list.length === 0 }),
  );
export const listSet = (set: Named): Uint8Array =>
  toBinary(ListDefinedSetRequestSchema, create(ListDefinedSetRequestSchema, set));
/** Undefined: another one. */
export function decodeSet(bytes: Uint8Array, { name }: Named): readonly string[] | undefined {
  const { definedSet } = fromBinary(ListDefinedSetResponseSchema, bytes);
  return definedSet?.name === name ? definedSet.list : undefined;
}

export const addPolicy = (policy: PolicyData): Uint8Array =>
  toBinary(AddPolicyRequestSchema, create(AddPolicyRequestSchema, { policy: plain(policy) }));
export const deletePolicy = (name: string): Uint8Array =>
  toBinary(DeletePolicyRequestSchema, create(DeletePolicyRequestSchema, { policy: { name }, all: true }));
export const listPolicy = (name: string): Uint8Array =>
  toBinary(ListPolicyRequestSchema, create(ListPolicyRequestSchema, { name }));

const plain = (policy: PolicyData): never => policy as never;

/** Undefined: another one. @returns whether it is as it should be */
export function decodePolicy(bytes: Uint8Array, desired: PolicyData): boolean | undefined {
  const { policy } = fromBinary(ListPolicyResponseSchema, bytes);
  return policy?.name === desired.name ? samePolicy(policy, desired) : undefined;
}

const samePolicy = ({ statements }: MessageShape<typeof PolicySchema>, desired: PolicyData): boolean =>
  statements.length === desired.statements.length &&
  statements.every((statement, i) => sameStatement(statement, desired.statements[i]!));

/** Conditions and actions that cnpd has no name for are others' doing. */
function sameStatement(
  { name, conditions, actions }: MessageShape<typeof StatementSchema>,
  desired: StatementData,
): boolean {
  if (name !== desired.name || conditions?.$unknown?.length || actions?.$unknown?.length) return false;
  const { neighborSet: neighbors, largeCommunitySet: communities } = desired.conditions;
  const { routeAction = 0, largeCommunity } = desired.actions;
  return (
    sameMatch(conditions?.neighborSet, neighbors) &&
    sameMatch(conditions?.largeCommunitySet, communities) &&
    (actions?.routeAction ?? 0) === routeAction &&
    (actions?.largeCommunity?.communities ?? []).join() === (largeCommunity?.communities ?? []).join() &&
    (actions?.largeCommunity?.type ?? 0) === (largeCommunity?.type ?? 0)
  );
}

interface Match {
  readonly type: number;
  readonly name: string;
}
const sameMatch = (is: Match | undefined, desired: Match | undefined): boolean =>
  is?.name === desired?.name && is?.type === desired?.type;

const assignment = (direction: number, names: readonly string[]) => ({
  assignment: { name: GLOBAL, direction, policies: names.map((name) => ({ name })) },
});
/** Set, and delete. The default action stays as it is. */
export const assign = (direction: number, names: readonly string[]): Uint8Array =>
  toBinary(PolicyAssignmentRequestSchema, create(PolicyAssignmentRequestSchema, assignment(direction, names)));
export const listAssignment = (direction: number): Uint8Array =>
  toBinary(ListPolicyAssignmentRequestSchema, create(ListPolicyAssignmentRequestSchema, { name: GLOBAL, direction }));
export const decodeAssignment = (bytes: Uint8Array): string[] =>
  (fromBinary(ListPolicyAssignmentResponseSchema, bytes).assignment?.policies ?? []).map(({ name }) => name);

export const softReset = (address: string, direction: number): Uint8Array =>
  toBinary(ResetPeerRequestSchema, create(ResetPeerRequestSchema, { address, soft: true, direction }));
