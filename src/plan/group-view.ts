// The part of this router in each group, from what all routers know. Computed again only for what has changed: a plan
// is due for many reasons, and there may be a thousand groups.
import { type GroupMembers, type Membership, membersInForce, receiversByEdge } from '../groups/membership.ts';
import { type LocatedSid, type Network, type OwnSids, networkOf } from '../groups/network.ts';
import { type Tree, type TreeNode, computeTree } from '../groups/tree.ts';
import type { GroupIntent, Intent } from '../intent/intent.ts';
import type { Origin } from '../learned/preference.ts';
import type { SidEntry } from '../learned/routers.ts';
import { type IpAddress, formatAddress, mapKey, sameAddress } from '../model/address.ts';
import { type GroupMember, compareClaims } from '../model/group.ts';
import type { TopologyReport } from '../model/topology.ts';
import type { Facts } from './facts.ts';
import type { MulticastBranchPlan } from './multicast-plan.ts';

/** What the network advertises about groups. Lists that have not changed are the same objects. */
export interface LearnedAboutGroups {
  sids(): readonly SidEntry[];
  members(): readonly GroupMember[];
  /** How many members are advertised beyond the limits, and by whom first. Undefined, or absent: none. */
  membersLeftOut?(): { readonly count: number; readonly originator: string } | undefined;
  topologies(): readonly TopologyReport[];
  /** Of reachable routers. Absent: nothing is known. */
  routerAddresses?(): readonly IpAddress[];
  /** Who advertises the longest prefix with this address; undefined: nobody. */
  originatorOf(address: IpAddress): { readonly carrier: Origin; readonly originator: string } | undefined;
}

const NONE: readonly never[] = [];
export const NOTHING_ABOUT_GROUPS: LearnedAboutGroups = {
  sids: () => NONE,
  members: () => NONE,
  topologies: () => NONE,
  originatorOf: () => undefined,
};

/** Branches that the programs serve: one copy of a packet each. */
export const MOST_BRANCHES = 64;

type WithSource = GroupMembers & { readonly source: GroupMember };
const hasSource = (members: GroupMembers): members is WithSource => members.source !== undefined;

/** A group in which this router has a part. */
export interface GroupView {
  /** The Proxy Address as text. */
  readonly id: string;
  readonly members: WithSource;
  /** Undefined: there are no receivers. */
  readonly tree: Tree | undefined;
  readonly isRoot: boolean;
  /** Those of which this router is the edge. */
  readonly receivers: readonly GroupMember[];
  /** Present if this router replicates. */
  readonly node: TreeNode | undefined;
  /** Of the node; this router's own edge role comes first. */
  readonly branches: readonly MulticastBranchPlan[];
  readonly declared: GroupIntent | undefined;
}

/** Whether some router could not make all copies that the tree asks of it. */
export const hasTooMany = ({ members, tree }: Pick<GroupView, 'members' | 'tree'>): boolean =>
  [...(tree?.nodes.values() ?? [])].some(({ children }) => children.length > MOST_BRANCHES) ||
  receiversByEdge(members).some(({ receivers }) => receivers.length > MOST_BRANCHES);

let lastMembership: { readonly inputs: readonly unknown[]; readonly value: Membership } | undefined;

/** Computed once as long as the claims are the same objects, and anew only for groups with other claims. */
export function membershipOf(groups: readonly GroupIntent[], members: readonly GroupMember[]): Membership {
  const inputs = [...groups, members];
  if (!lastMembership || !sameElements(lastMembership.inputs, inputs))
    lastMembership = {
      inputs,
      value: membersInForce([...groups.flatMap((group) => group.members), ...members], lastMembership?.value),
    };
  return lastMembership.value;
}

/**
 * Addresses of routers, and all SIDs, by their mapKey; true: of this router. A group with one of them as Proxy Address
 * would take what is sent to that router, at its edges, its root and the borders; so it does not count there.
 */
export function addressesOfRouters(
  { router, srv6 }: Intent,
  { sids, routerAddresses }: LearnedAboutGroups,
  { addresses = [] }: Pick<Facts, 'addresses'>,
): ReadonlyMap<string, boolean> {
  const theirs = [...sids().map(({ sid }) => sid), ...(routerAddresses?.() ?? [])];
  const groupSids = [srv6?.endMt?.sid, srv6?.replication?.sid];
  const own = [router.loopback6, ...groupSids, ...(srv6?.endCon ?? []).map(({ sid }) => sid), ...addresses];
  return new Map([
    ...theirs.map((one) => [mapKey(one), false] as const),
    ...own.flatMap((one) => (one ? [[mapKey(one), true] as const] : [])),
  ]);
}

let lastNetwork: { readonly inputs: readonly unknown[]; readonly value: Network } | undefined;

export function networkFrom(learned: LearnedAboutGroups, own: OwnSids, { codePoints }: Intent): Network {
  const [sids, topologies] = [learned.sids(), learned.topologies()];
  const behaviors = { edge: codePoints['end-mt-behavior'], replication: codePoints['replication-behavior'] };
  const inputs = [...topologies, sids, own.edge?.value, own.replication?.value, ...Object.values(behaviors)];
  if (!lastNetwork || !sameElements(lastNetwork.inputs, inputs)) {
    const located = sids.flatMap(({ sid, behavior, carrier, originator }): LocatedSid[] => {
      const kind =
        behavior === behaviors.edge ? 'edge' : behavior === behaviors.replication ? 'replication' : undefined;
      return kind === undefined || carrier === 'local' ? [] : [{ sid, kind, carrier, originator }];
    });
    lastNetwork = { inputs, value: networkOf(topologies, located, own) };
  }
  return lastNetwork.value;
}

const sameElements = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((element, i) => element === b[i]);

const trees = new WeakMap<GroupMembers, { readonly inputs: readonly unknown[]; readonly tree: Tree | undefined }>();

export function treeOf(members: GroupMembers, network: Network, declared: GroupIntent | undefined): Tree | undefined {
  const inputs = [network, declared?.branches];
  const known = trees.get(members);
  if (known && sameElements(known.inputs, inputs)) return known.tree;
  const tree = computeTree(members, network, declared?.branches);
  trees.set(members, { inputs, tree });
  return tree;
}

/** The trees of all groups that have one, by Proxy Address as text: what is shown is what was planned. */
export function groupTrees(intent: Intent, learned: LearnedAboutGroups): ReadonlyMap<string, Tree> {
  const { srv6, groups = [] } = intent;
  const network = networkFrom(learned, { edge: srv6?.endMt?.sid, replication: srv6?.replication?.sid }, intent);
  const declared = new Map(groups.map((group) => [formatAddress(group.proxyAddress), group]));
  const found = new Map<string, Tree>();
  for (const [id, members] of membershipOf(groups, learned.members()).groups) {
    const tree = treeOf(members, network, declared.get(id));
    if (tree) found.set(id, tree);
  }
  return found;
}

/**
 * Undefined: this router has no part in the group, or the group has no source. A source that another router claims to
 * be behind this one is none: this router would lead what its hosts send to any address into a tree.
 */
export function viewOf(
  id: string,
  members: GroupMembers,
  tree: Tree | undefined,
  own: OwnSids,
  declared: GroupIntent | undefined,
): GroupView | undefined {
  if (!hasSource(members)) return undefined;
  const isRoot = own.replication !== undefined && sameAddress(members.source.node, own.replication);
  if (isRoot && !declared?.members.some((member) => compareClaims(member, members.source) === 0)) return undefined;
  const receivers = own.edge ? members.receivers.filter(({ node }) => node.value === own.edge!.value) : [];
  const node = own.replication && tree?.nodes.get(mapKey(own.replication));
  const branches = node ? branchesOf(node, own) : [];
  if (!isRoot && receivers.length === 0 && branches.length === 0) return undefined;
  return { id, members, tree, isRoot, receivers, node, branches, declared };
}

/** This router's own edge role comes first. */
function branchesOf({ children }: TreeNode, { edge }: OwnSids): MulticastBranchPlan[] {
  const isOwn = (sid: IpAddress): boolean => edge !== undefined && sameAddress(sid, edge);
  return [
    ...children.filter(isOwn).map(() => ({ kind: 'local' }) as const),
    ...children.filter((sid) => !isOwn(sid)).map((sid) => ({ kind: 'child', sid }) as const),
  ];
}
