// Groups in a few numbers, for metrics: those that the file names, and all others together. So what other routers
// advertise adds none.
import type { Intent } from '../intent/intent.ts';
import type { LearnedRouters } from '../learned/routers.ts';
import { formatAddress, mapKey } from '../model/address.ts';
import type { GroupRoleView } from '../model/group-view.ts';
import type { BranchStatus, GroupSummary } from '../model/telemetry-state.ts';
import type { Steps } from '../model/work.ts';
import { branchStatus } from './group-views.ts';

export const OTHERS = 'other';
/** Members, or roles with their branches, of one step. */
const [MEMBERS_AT_ONCE, ROLES_AT_ONCE] = [512, 8];

interface Sources {
  /** With the members declared at run time. */
  readonly intent: Pick<Intent, 'groups'>;
  /** The file's. */
  readonly named: Pick<Intent, 'groups'>;
  readonly routers: Pick<LearnedRouters, 'groupMembers'>;
  readonly roles: Iterable<GroupRoleView>;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] extends string ? T[K] : { -readonly [L in keyof T[K]]: T[K][L] } };

const empty = (name: string): Writable<GroupSummary> => ({
  name,
  members: { source: 0, receiver: 0 },
  branches: {},
  packets: { branching: 0, edge: 0 },
  answers: { branching: 0, edge: 0 },
});

/** Those of the file in its order; `other` only where there are others. */
export function* groupSummaries({ intent, named, routers, roles }: Sources): Steps<GroupSummary[]> {
  const byAddress = new Map<string, Writable<GroupSummary>>();
  const made: Writable<GroupSummary>[] = [];
  for (const { name, proxyAddress } of named.groups ?? []) {
    const summary = empty(name);
    made.push(summary);
    byAddress.set(mapKey(proxyAddress), summary).set(formatAddress(proxyAddress), summary);
  }
  const others = empty(OTHERS);
  let hasOthers = false;
  const of = (key: string): Writable<GroupSummary> => byAddress.get(key) ?? ((hasOthers = true), others);
  let step = 0;
  const own = (intent.groups ?? []).flatMap(({ members }) => members);
  for (const member of [...own, ...routers.groupMembers().map((claim) => claim.member)]) {
    of(mapKey(member.group)).members[member.role]++;
    if (++step % MEMBERS_AT_ONCE === 0) yield;
  }
  for (const view of roles) {
    const { branches, packets, answers } = of(view.group);
    packets[view.role] += Number(view.packets);
    answers[view.role] += Number(view.answers);
    for (const branch of view.branches) {
      const status: BranchStatus = branchStatus(view, branch);
      branches[status] = (branches[status] ?? 0) + 1;
    }
    if (++step % ROLES_AT_ONCE === 0) yield;
  }
  return hasOthers ? [...made, others] : made;
}
