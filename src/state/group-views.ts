// Groups for `cnpctl show groups`: what this router declares, its branches with their progress, and the trees.
import type { RunTimeGroup, RunTimeGroups, RunTimeMember } from '../intent/run-time-groups.ts';
import type { GroupIntent, Intent } from '../intent/intent.ts';
import type { Tree } from '../groups/tree.ts';
import { type GroupMembers, membersInForce, receiversByEdge } from '../groups/membership.ts';
import type { LearnedRouters } from '../learned/routers.ts';
import {
  type IpAddress,
  compareAddresses,
  formatAddress,
  mapKey,
  parseAddress,
  sameAddress,
} from '../model/address.ts';
import type { GroupRoleView, BranchView } from '../model/group-view.ts';
import type {
  DeclaredMemberState,
  GroupBranchState,
  GroupState,
  GroupTreeState,
  GroupsState,
} from '../model/group-state.ts';
import type { BranchStatus } from '../model/telemetry-state.ts';
import { groupStates } from './groups.ts';
import type { Names } from './names.ts';

export interface GroupSources {
  readonly file: { readonly intent: Pick<Intent, 'groups'> };
  /** In force: the file's, with the members declared at run time. */
  readonly intent: Pick<Intent, 'groups' | 'srv6' | 'codePoints'>;
  readonly members: { readonly declared: RunTimeGroups; whyAside(group: string, member: string): string | undefined };
  readonly routers: Pick<LearnedRouters, 'groupMembers' | 'sids'>;
  /** By Proxy Address, as text. */
  readonly trees: ReadonlyMap<string, Tree>;
  readonly roles: readonly GroupRoleView[];
  /** The name of a router whose protocol has one, by its originator. */
  readonly hostnameOf: (originator: string) => string | undefined;
  readonly timeOfDay: Names['timeOfDay'];
}

export function groupsState(sources: GroupSources): GroupsState {
  const { intent, routers } = sources;
  const own = (intent.groups ?? []).flatMap(({ members }) => members);
  const { groups, conflicts } = membersInForce([...own, ...routers.groupMembers().map(({ member }) => member)]);
  const known = new Set([
    ...groups.keys(),
    ...(intent.groups ?? []).map(({ proxyAddress }) => formatAddress(proxyAddress)),
    ...sources.members.declared.keys(),
  ]);
  const ordered = [...known].sort((a, b) => compareAddresses(parseAddress(a)!, parseAddress(b)!));
  return {
    group: ordered.map((id) => groupState(id, groups.get(id), sources)),
    members: groupStates(intent, routers, conflicts),
    branches: sources.roles.flatMap((role) =>
      role.branches.map((branch) => branchState(role, branch, sources.timeOfDay)),
    ),
    tree: ordered.flatMap((id) => treeStates(id, groups.get(id), sources)),
  };
}

function groupState(id: string, members: GroupMembers | undefined, sources: GroupSources): GroupState {
  const inForce = sources.intent.groups?.find(({ proxyAddress }) => formatAddress(proxyAddress) === id);
  const added = sources.members.declared.get(id);
  const tree = sources.trees.get(id);
  const views = sources.roles.filter(({ group }) => group === id);
  return {
    proxyAddress: id,
    name: inForce?.name ?? added?.name ?? null,
    designatedQpn: members?.source?.qpn ?? inForce?.designatedQpn ?? added?.designatedQpn ?? null,
    roles: rolesOf(members, tree, sources.intent),
    source: members?.source ? formatAddress(members.source.address) : null,
    receivers: members?.receivers.length ?? 0,
    edges: members ? receiversByEdge(members).length : 0,
    tree: tree ? (tree.isFlat ? 'flat' : 'shortest-paths') : null,
    epoch: views.find(({ current }) => current)?.current?.epoch ?? null,
    status: statusOf(members, views),
    member: declaredStates(id, sources.file.intent.groups ?? [], added, sources.members),
  };
}

function rolesOf(members: GroupMembers | undefined, tree: Tree | undefined, { srv6 }: Pick<Intent, 'srv6'>): string[] {
  const [edge, replication] = [srv6?.endMt?.sid, srv6?.replication?.sid];
  const isRoot = replication && members?.source && sameAddress(members.source.node, replication);
  const isBranching = !isRoot && replication && tree?.nodes.has(mapKey(replication));
  const isEdge = edge && members?.receivers.some(({ node }) => sameAddress(node, edge));
  return [...(isRoot ? ['root'] : []), ...(isBranching ? ['branching'] : []), ...(isEdge ? ['edge'] : [])];
}

function statusOf(members: GroupMembers | undefined, views: readonly GroupRoleView[]): string {
  if (!members?.source) return 'no source';
  if (members.receivers.length === 0) return 'no receivers';
  const states = views.flatMap((view) => view.branches.map((branch) => branchStatus(view, branch)));
  for (const state of ['stalled', 'behind'] as const) {
    const found = states.filter((one) => one === state).length;
    if (found > 0) return `${state}: ${found} of ${states.length} branches`;
  }
  if (views.length === 0) return 'declared';
  return views.some(({ current }) => current) ? 'in use' : 'ready: no data yet';
}

function declaredStates(
  id: string,
  file: readonly GroupIntent[],
  added: RunTimeGroup | undefined,
  members: GroupSources['members'],
): DeclaredMemberState[] {
  const ofFile = file.filter(({ proxyAddress }) => formatAddress(proxyAddress) === id);
  return [
    ...ofFile.flatMap((group) => group.members.map((member) => fileMember(group, member))),
    ...[...(added?.members ?? [])].map(([name, member]) => addedMember(member, members.whyAside(id, name))),
  ];
}

function fileMember({ source, nearest }: GroupIntent, member: GroupIntent['members'][number]): DeclaredMemberState {
  const isSource = member.role === 'source';
  const isOpen = nearest?.some((address) => sameAddress(address, member.address));
  return {
    role: member.role,
    address: formatAddress(member.address),
    qpn: isSource ? (source?.qpn ?? null) : member.qpn,
    startPsn: isSource ? (source?.startPsn ?? null) : null,
    edge: isSource || isOpen ? null : formatAddress(member.node),
    psnDelta: isSource ? null : member.psnDelta,
    vaDelta: member.write ? `${BigInt.asIntN(64, member.write.vaDelta)}` : null,
    rKey: member.write?.rKey ?? null,
    persistent: true,
    origin: 'file',
    status: 'declared',
  };
}

function addedMember({ role, address, persistent, values }: RunTimeMember, why: string | undefined) {
  const number = (name: string): number | null => (values[name] === undefined ? null : Number(values[name]));
  return {
    role,
    address: formatAddress(address),
    qpn: Number.isNaN(number('qpn')) ? null : number('qpn'),
    startPsn: Number.isNaN(number('start-psn')) ? null : number('start-psn'),
    edge: values['edge'] ?? null,
    psnDelta: number('psn-delta'),
    vaDelta: values['va-delta'] ?? null,
    rKey: number('r-key'),
    persistent,
    origin: 'run-time' as const,
    status: why === undefined ? 'declared' : `not in force: ${why}`,
  };
}

const PSN_MASK = 0xff_ffff;

function branchState(view: GroupRoleView, branch: BranchView, timeOfDay: Names['timeOfDay']): GroupBranchState {
  return {
    group: view.group,
    role: view.role,
    branch: branch.address ? formatAddress(branch.address) : 'local',
    kind: branch.kind,
    qpn: branch.qpn,
    nextPsn: branch.nextPsn,
    lag: lagOf(view, branch),
    nakPsn: branch.nak?.psn ?? null,
    nakSyndrome: branch.nak?.syndrome ?? null,
    cnps: Number(branch.cnps),
    copies: Number(branch.copies),
    lastHeard: branch.heardNs === null ? null : timeOfDay(branch.heardNs),
    stalledMs: branch.stalledMs,
    status: branchStatus(view, branch),
  };
}

const lagOf = ({ nextDataPsn }: GroupRoleView, { nextPsn }: BranchView): number | null =>
  nextDataPsn === null || nextPsn === null ? null : (nextDataPsn - nextPsn) & PSN_MASK;

/** After so long without data nothing is on its way any more. Milliseconds. */
const QUIET_MS = 1000;

export function branchStatus(view: GroupRoleView, branch: BranchView): BranchStatus {
  if (branch.isExcluded) return 'excluded';
  if (branch.stalledMs !== null) return 'stalled';
  if (branch.isWaiting) return 'waiting';
  if (view.nextDataPsn === null) return 'ready';
  if (branch.heardNs === null) return 'silent';
  return lagOf(view, branch) !== 0 && (view.dataAgeMs ?? 0) >= QUIET_MS ? 'behind' : 'up';
}

/** The root first; the parent of each is before it. Without a computed tree every edge is a child of the root. */
function treeStates(id: string, members: GroupMembers | undefined, sources: GroupSources): GroupTreeState[] {
  const root = members?.source?.node;
  if (!members || !root) return [];
  const receivers = new Map(receiversByEdge(members).map((one) => [mapKey(one.edge), one.receivers]));
  const tree = sources.trees.get(id);
  const childrenOf = (node: IpAddress): readonly IpAddress[] =>
    tree ? (tree.nodes.get(mapKey(node))?.children ?? []) : sameAddress(node, root) ? edgesOf(members) : [];
  const rows: GroupTreeState[] = [];
  const seen = new Set<string>();
  const visit = (node: IpAddress, parent: IpAddress | null): void => {
    if (seen.has(mapKey(node))) return;
    seen.add(mapKey(node));
    rows.push({
      group: id,
      node: formatAddress(node),
      parent: parent && formatAddress(parent),
      kind:
        parent === null ? 'root' : receivers.has(mapKey(node)) && !tree?.nodes.has(mapKey(node)) ? 'edge' : 'branching',
      ...routerOf(node, sources),
      receivers: (receivers.get(mapKey(node)) ?? []).map(({ address }) => formatAddress(address)),
    });
    for (const child of childrenOf(node)) visit(child, node);
  };
  visit(root, null);
  return rows;
}

const edgesOf = (members: GroupMembers): IpAddress[] => receiversByEdge(members).map(({ edge }) => edge);

/** As its protocol names it, and its host name. */
function routerOf(
  sid: IpAddress,
  { intent: { srv6, codePoints }, routers, hostnameOf }: GroupSources,
): Pick<GroupTreeState, 'router' | 'hostname'> {
  if ([srv6?.endMt?.sid, srv6?.replication?.sid].some((own) => own && sameAddress(own, sid)))
    return { router: 'this router', hostname: null };
  const behaviors = [codePoints['end-mt-behavior'], codePoints['replication-behavior']];
  const found = routers.sids().find((one) => behaviors.includes(one.behavior) && sameAddress(one.sid, sid));
  return { router: found?.originator ?? null, hostname: (found && hostnameOf(found.originator)) ?? null };
}
