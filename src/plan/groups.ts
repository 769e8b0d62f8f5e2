// End.MT groups (draft RMC): what this router does in the tree of each group. Every router computes all trees from the
// same claims, SIDs and topologies, and takes its own place from each.
import { digestText, membersDigest } from '../groups/digests.ts';
import type { Membership } from '../groups/membership.ts';
import type { OwnSids } from '../groups/network.ts';
import { tlvsThatFit } from '../groups/sizes.ts';
import type { GroupIntent, Intent, Srv6Intent } from '../intent/intent.ts';
import type { SidEntry } from '../learned/routers.ts';
import { formatAddress, mapKey } from '../model/address.ts';
import { compareClaims } from '../model/group.ts';
import type { DesiredState } from './desired.ts';
import {
  type Facts,
  type LinkFact,
  findLink,
  forwardingProblems,
  loopbackProblems,
  missingFeatures,
  roceLinks,
} from './facts.ts';
import { groupProblems, membersLeftOut, noCorePort, sourceQpn, withoutEdge } from './group-problems.ts';
import {
  type GroupView,
  type LearnedAboutGroups,
  MOST_BRANCHES,
  addressesOfRouters,
  hasTooMany,
  membershipOf,
  networkFrom,
  treeOf,
  viewOf,
} from './group-view.ts';
import type { HeadEndPlan, MulticastGroupPlan, MulticastListPlan, MulticastPlan } from './multicast-plan.ts';
import { joined } from './port-roles.ts';
import { burstOf, nanoseconds } from './token-bucket.ts';

/** Of links whose MTU is not known. */
const DEFAULT_MTU = 1500;

type Share = Pick<DesiredState, 'multicast' | 'groupSids' | 'problems'>;

export function planGroups(intent: Intent, learned: LearnedAboutGroups, facts: Facts): Share {
  const share = planTrees(intent, learned, facts);
  const leftOut = share.multicast ? membersLeftOut(learned) : [];
  return { ...share, problems: [...share.problems, ...withoutEdge(intent), ...leftOut] };
}

function planTrees(intent: Intent, learned: LearnedAboutGroups, facts: Facts): Share {
  const { srv6, groups = [] } = intent;
  const own: OwnSids = { edge: srv6?.endMt?.sid, replication: srv6?.replication?.sid };
  if (!srv6 || !(own.edge ?? own.replication)) return { problems: [] };
  const groupSids = ownSids(own).map(({ id }) => id);
  const missing = missingFeatures('groups', facts);
  if (missing.length > 0) return { groupSids, problems: missing };
  const core = srv6.corePorts.flatMap((name) => findLink(facts, name) ?? []).filter(({ etherLike }) => etherLike);
  if (core.length === 0) return { groupSids, problems: [noCorePort(srv6.corePorts)] };
  const membership = membershipOf(groups, learned.members());
  const network = networkFrom(learned, own, intent);
  const declared = new Map(groups.map((group) => [formatAddress(group.proxyAddress), group]));
  const mtu = Math.min(...core.map((link) => link.mtu ?? DEFAULT_MTU));
  const all = [...membership.groups].flatMap(([id, members]): GroupView[] => {
    const view = viewOf(id, members, treeOf(members, network, declared.get(id)), own, declared.get(id));
    return view ? [view] : [];
  });
  const taken = addressesOfRouters(intent, learned, facts);
  const views = all.filter(({ members: { group } }) => !taken.has(mapKey(group)));
  const headEnds = views.flatMap((view) => headEnd(view, { own, srv6, mtu }));
  return {
    groupSids,
    multicast: {
      endMtTlv: intent.codePoints['srh-end-mt-tlv'],
      treeTlv: intent.codePoints['srh-tree-tlv'],
      sids: ownSids(own),
      fastCnpOption: intent.codePoints['fast-cnp-option'],
      fastCnpIoamOption: intent.codePoints['fast-cnp-ioam-option'],
      routers: routers(learned.sids(), own, intent),
      notifiers: own.edge ? notifiers(learned) : [],
      ports: ports(intent, facts, core),
      groups: views.map((view) => groupPlan(view, own)),
      lists: views.flatMap((view) => listsOf(view, own)),
      discards: discards(groups, membership, taken),
      headEnds,
      settleMs: srv6.multicast.settleMs,
      stallMs: srv6.multicast.stallMs,
      dropStalled: srv6.multicast.dropStalled,
    },
    problems: [
      ...forwardingProblems('groups', [6], facts),
      // Copies to a next hop that the neighbor table lacks take the way through it.
      ...loopbackProblems('groups', facts),
      ...groupProblems({
        ...{ all, taken, views, membership, own, intent, facts, core, headEnds },
        sids: learned.sids(),
      }),
    ],
  };
}

/**
 * Of each group that counts, and whose source in force is the one declared here. Elsewhere the Proxy Address is the
 * sender of copies, and a Fast CNP about one needs its route; or it is the address of somebody who loses nothing.
 */
const discards = (
  groups: readonly GroupIntent[],
  membership: Membership,
  taken: ReturnType<typeof addressesOfRouters>,
): MulticastPlan['discards'] =>
  groups.flatMap(({ proxyAddress: address, members }) => {
    const id = formatAddress(address);
    const source = membership.groups.get(id)?.source;
    const isHere = source !== undefined && members.some((member) => compareClaims(member, source) === 0);
    return isHere && !taken.has(mapKey(address)) ? [{ id, address }] : [];
  });

const ownSids = ({ edge, replication }: OwnSids): MulticastPlan['sids'] => [
  ...(edge ? [{ id: formatAddress(edge), sid: edge, kind: 'edge' } as const] : []),
  ...(replication ? [{ id: formatAddress(replication), sid: replication, kind: 'replication' } as const] : []),
];

/** Routers in the domain that may send packets of groups, this one included. */
function routers(learned: readonly SidEntry[], own: OwnSids, { codePoints }: Intent): MulticastPlan['routers'] {
  const behaviors = new Set([codePoints['end-mt-behavior'], codePoints['replication-behavior']]);
  const all = [...ownSids(own), ...learned.filter(({ behavior }) => behaviors.has(behavior))];
  return [...new Map(all.map(({ sid }) => [mapKey(sid), { id: formatAddress(sid), sid }])).values()];
}

/** A Fast CNP has the loopback address of the router that made it as its source (FCNP-4-c). */
const notifiers = ({ routerAddresses }: LearnedAboutGroups): MulticastPlan['notifiers'] =>
  (routerAddresses?.() ?? [])
    .filter(({ family }) => family === 6)
    .map((address) => ({ id: formatAddress(address), address }));

/**
 * Not the ports of a bridge or bond: routes lead to the bridge, so packets are judged at that, where the kernel sees
 * them again.
 */
function ports(intent: Intent, facts: Facts, core: readonly LinkFact[]): MulticastPlan['ports'] {
  const isCore = new Set(core.map(({ ifindex }) => ifindex));
  const linkOf = joined(facts.links);
  const routed = roceLinks(facts, intent).filter((link) => linkOf(link) === link.ifindex);
  const links = new Map([...routed, ...core].map((link) => [link.ifindex, link]));
  return [...links.values()].map(({ name, ifindex }) => ({
    ...{ id: name, interface: name, ifindex },
    isCore: isCore.has(ifindex),
  }));
}

/** Of a group of which this router does not declare anything. */
const DEFAULTS = { cnpWindowMs: 0.05, copiesPerSecond: 10_000_000, rewriteSource: true };

function groupPlan(view: GroupView, own: OwnSids): MulticastGroupPlan {
  const { id, members, isRoot, declared } = view;
  const { cnpWindowMs, copiesPerSecond, rewriteSource } = declared ?? DEFAULTS;
  const { source } = members;
  return {
    id,
    proxyAddress: members.group,
    designatedQpn: source.qpn,
    source: isRoot ? { address: source.address, qpn: sourceQpn(view) ?? null } : null,
    rootSid: source.node,
    edgeSid: own.edge ?? null,
    replicationSid: own.replication ?? null,
    cnpWindowNs: nanoseconds(cnpWindowMs),
    copiesPerSecond,
    copiesBurst: burstOf(copiesPerSecond),
    keepSource: !rewriteSource,
  };
}

function listsOf({ id, members, tree, receivers, node, branches }: GroupView, own: OwnSids): MulticastListPlan[] {
  const lists: MulticastListPlan[] = [];
  if (own.edge && receivers.length > 0 && receivers.length <= MOST_BRANCHES) {
    const digest = membersDigest(members);
    lists.push({
      ...{ id: `edge ${id} ${digestText(digest)}`, group: id, role: 'edge', digest, parent: null },
      branches: receivers.map(({ address, qpn, psnDelta, write }) => ({
        ...{ kind: 'receiver', address, qpn, psnDelta },
        ...(write && { write }),
      })),
    });
  }
  if (tree && node && branches.length > 0 && branches.length <= MOST_BRANCHES)
    lists.push({
      ...{ id: `tree ${id} ${digestText(tree.treeDigest)}`, group: id, role: 'branching', digest: tree.treeDigest },
      ...{ branches, parent: node.parent },
    });
  return lists;
}

interface HeadEndContext {
  readonly own: OwnSids;
  readonly srv6: Srv6Intent;
  readonly mtu: number;
}

function headEnd(view: GroupView, { own, srv6, mtu }: HeadEndContext): HeadEndPlan[] {
  const { id, members, tree, isRoot } = view;
  // Nobody may be left out: the source believes that all receivers get what is confirmed.
  if (!isRoot || !tree || hasTooMany(view) || tree.misplaced.length > 0) return [];
  return [
    {
      id,
      proxyAddress: members.group,
      replicationSid: own.replication!,
      membersDigest: tree.membersDigest,
      treeDigest: tree.treeDigest,
      endMtTlvs: tlvsThatFit(members, { tlvLimit: srv6.multicast.tlvLimit, mtu }).map(({ edge, receivers }) => ({
        edge,
        receivers: receivers.map(({ address, qpn }) => ({ address, qpn })),
      })),
      mtu,
    },
  ];
}
