// What keeps groups from working, and the remedy. A group may have many receivers, and a router many groups. Of each
// kind of problem there is one, which names the first group and counts the others.
import { type Conflict, type ConflictKind, type Membership, receiversByEdge } from '../groups/membership.ts';
import type { OwnSids } from '../groups/network.ts';
import { overhead, roceMtuWithin, rocePacket } from '../groups/sizes.ts';
import type { Intent } from '../intent/intent.ts';
import { routerKind } from '../learned/kinds.ts';
import type { SidEntry } from '../learned/routers.ts';
import { type IpAddress, formatAddress, mapKey, sameAddress } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import type { Problem } from '../model/problem.ts';
import { type Facts, type LinkFact, linkOfHost, roceLinks } from './facts.ts';
import { type GroupView, type LearnedAboutGroups, MOST_BRANCHES, hasTooMany } from './group-view.ts';
import { FEATURE, summary } from './group-findings.ts';
import type { HeadEndPlan } from './multicast-plan.ts';

interface Inputs {
  /** With those whose Proxy Address is taken. */
  readonly all: readonly GroupView[];
  /** addressesOfRouters(). */
  readonly taken: ReadonlyMap<string, boolean>;
  readonly views: readonly GroupView[];
  readonly membership: Membership;
  readonly own: OwnSids;
  readonly intent: Intent;
  readonly facts: Facts;
  readonly core: readonly LinkFact[];
  readonly headEnds: readonly HeadEndPlan[];
  readonly sids: readonly SidEntry[];
}

export const noCorePort = (names: readonly string[]): Problem => ({
  code: 'groups.no-core-port',
  feature: FEATURE,
  problem: `none of the core ports ${names.join(', ')} exists with an Ethernet header: no packet of a group leaves or arrives`,
  remedy: 'create them, or correct their names under srv6.core-ports in cnpd.yaml; cnpd notices when they appear',
});

/** Undefined: not known yet. */
export const sourceQpn = ({ declared }: GroupView): number | undefined => declared?.source?.qpn;

export function groupProblems(inputs: Inputs): Problem[] {
  return [contested, takenByRouter, designated, tooMany, misplaced, edges, flat, sizes, sources].flatMap((check) =>
    check(inputs),
  );
}

const CONFLICTS: Readonly<Record<ConflictKind, (conflict: Conflict) => string>> = {
  'second-source': ({ claim, winner }) =>
    sameAddress(claim.address, winner.address)
      ? twice('source', claim, winner)
      : `has two sources: ${formatAddress(winner.address)} counts, and ${formatAddress(claim.address)} does not`,
  'second-edge': ({ claim, winner }) => twice('receiver', claim, winner),
  'source-too': ({ claim }) => `${formatAddress(claim.address)} is the source, and does not count as a receiver`,
  'proxy-is-member': ({ winner: { group, address, node } }) =>
    `does not count: its Proxy Address belongs to the member ${formatAddress(address)} at ${formatAddress(node)} ` +
    `of the group ${formatAddress(group)}`,
};

/** One host that is claimed in two ways. */
function twice(role: string, claim: GroupMember, winner: GroupMember): string {
  const differs = (of: (member: GroupMember) => string): boolean => of(claim) !== of(winner);
  const parts: readonly (readonly [name: string, of: (member: GroupMember) => string])[] = [
    [role === 'source' ? 'replication SID' : 'edge', ({ node }) => formatAddress(node)],
    [role === 'source' ? 'Designated Queue Pair' : 'Queue Pair', ({ qpn }) => `${qpn}`],
    ['psn-delta', ({ psnDelta }) => `${psnDelta}`],
    ['write', ({ write }) => (write ? `va-delta ${BigInt.asIntN(64, write.vaDelta)}, r-key ${write.rKey}` : 'none')],
  ];
  const [name, of] = parts.find(([, one]) => differs(one)) ?? parts[0]!;
  const host = `${role} ${formatAddress(claim.address)}`;
  return `the ${host} is declared twice: with ${name} ${of(winner)}, which counts, and with ${of(claim)}, which does not`;
}

/** In groups that concern this router, and of groups that are in the way of their members. */
function contested({ all, membership, intent: { groups = [] } }: Inputs): Problem[] {
  const concerned = new Set([...all.map(({ id }) => id), ...groups.map((group) => formatAddress(group.proxyAddress))]);
  const found = membership.conflicts.filter(({ claim, winner }) =>
    [claim, winner].some(({ group }) => concerned.has(formatAddress(group))),
  );
  const sentence = (one: Conflict): string => `group ${formatAddress(one.claim.group)}: ${CONFLICTS[one.kind](one)}`;
  const ofKind = (kind: ConflictKind): Conflict[] => found.filter((one) => one.kind === kind);
  return [
    ...(['second-source', 'second-edge', 'source-too'] as const).flatMap((kind) =>
      summary(
        'groups.contested',
        ofKind(kind),
        sentence,
        ({ claim: { group } }) =>
          `\`cnpctl show groups ${formatAddress(group)} members\` shows who claims what: correct cnpd.yaml of one of ` +
          'them, or let a member that was declared at run time leave (`cnpctl group leave`)',
      ),
    ),
    ...summary('groups.proxy-address-taken', ofKind('proxy-is-member'), sentence, FREE_PROXY_ADDRESS),
  ];
}

const FREE_PROXY_ADDRESS = 'give each group a Proxy Address of its own, which belongs to no host and no router';

/** Packets to a router are left alone. */
const takenByRouter = ({ all, taken }: Inputs): Problem[] =>
  summary(
    'groups.proxy-address-taken',
    all.filter(({ members: { group } }) => taken.has(mapKey(group))),
    ({ id, members: { group } }) =>
      taken.get(mapKey(group))
        ? `group ${id}: the Proxy Address is an address of this router, which keeps the packets`
        : `group ${id}: the Proxy Address is an address or a SID of another router, to which the packets go`,
    FREE_PROXY_ADDRESS,
  );

/** Receivers answer to the Queue Pair that they are connected to, and copies name that of the source's router. */
const designated = ({ views }: Inputs): Problem[] =>
  summary(
    'groups.designated-qpn',
    views.filter(({ declared, members }) => declared && declared.designatedQpn !== members.source.qpn),
    ({ id, declared, members }) =>
      `group ${id}: its Designated Queue Pair is ${declared!.designatedQpn} here, and ${members.source.qpn}, which ` +
      'counts, at the router of the source: what receivers answer to another one does not count',
    'name the same `designated-qpn` in cnpd.yaml, or `--designated-qpn` of `cnpctl group join`, at both routers, and ' +
      'connect all Queue Pairs to it',
  );

const tooMany = ({ views }: Inputs): Problem[] =>
  summary(
    'groups.too-many-branches',
    views.filter(hasTooMany),
    ({ id }) =>
      `group ${id}: a router would have to make more than ${MOST_BRANCHES} copies of a packet, so none is sent`,
    'let more routers replicate (srv6.replication), name other edges for receivers, or divide them among several groups',
  );

const misplaced = ({ views }: Inputs): Problem[] =>
  summary(
    'groups.not-an-edge',
    views.flatMap(({ id, tree }) => (tree?.misplaced ?? []).map((edge) => ({ id, edge }))),
    ({ id, edge }) => `group ${id}: ${formatAddress(edge)} is a replication SID, no edge of receivers; nothing is sent`,
    'name an End.MT SID as `edge` of these receivers',
  );

const LIMITS = routerKind('group-membership');
const [MOST_OF_ROUTER, MOST] = [LIMITS.mostOfOriginator, LIMITS.most].map(withThousands);

/** 4096 as 4,096. Number.toLocaleString() would load the data of all languages, in 20 ms. */
function withThousands(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Packets pass only where routers agree on the members of their group. */
export function membersLeftOut({ membersLeftOut: find }: LearnedAboutGroups): Problem[] {
  const found = find?.();
  if (!found) return [];
  const { count, originator } = found;
  return [
    {
      code: 'groups.members-left-out',
      feature: FEATURE,
      problem:
        `${count} members of groups are advertised beyond the limits and not known here, first of ${originator}: ` +
        'this router drops the packets of their groups',
      remedy:
        `let fewer members be declared (\`cnpctl show groups\`): a router may advertise ${MOST_OF_ROUTER}, those of other ` +
        `areas that it passes on included, and all together ${MOST}; what was left out counts when it is advertised anew`,
    },
  ];
}

interface EdgeAt {
  readonly id: string;
  readonly edge: IpAddress;
}

/** Where such a receiver is declared. */
export const withoutEdge = ({ groups = [] }: Intent): Problem[] =>
  summary(
    'groups.no-edge',
    groups.flatMap(({ proxyAddress, nearest = [], members }) => {
      const decided = new Set(members.flatMap(({ address, node }) => (node.value === 0n ? [] : [mapKey(address)])));
      const id = formatAddress(proxyAddress);
      return nearest.filter((one) => !decided.has(mapKey(one))).map((address) => ({ id, address }));
    }),
    ({ id, address }) =>
      `group ${id}: no edge is known for the receiver ${formatAddress(address)}: no link of this router has its ` +
      'address, and no router with an End.MT SID is near the one that advertises its prefix; it is no member meanwhile',
    'name its `edge` (`cnpctl group join … --edge`); or give its leaf srv6.end-mt, and let the leaf advertise the prefix',
  );

/** At the root, and where such a receiver is declared. */
function edges({ views, own, intent, sids }: Inputs): Problem[] {
  const ofEdges = sids.filter(({ behavior }) => behavior === intent.codePoints['end-mt-behavior']);
  const known = new Set(ofEdges.map(({ sid }) => mapKey(sid)));
  const alive = new Set(ofEdges.filter(({ heldUntil }) => heldUntil === undefined).map(({ sid }) => mapKey(sid)));
  const used = views
    .filter(({ isRoot, declared }) => isRoot || declared !== undefined)
    .flatMap(({ id, members, tree }) =>
      receiversByEdge(members)
        .filter(({ edge }) => !(own.edge && sameAddress(edge, own.edge)) && !tree?.misplaced.includes(edge))
        .map(({ edge }): EdgeAt => ({ id, edge })),
    );
  return [
    ...summary(
      'groups.unknown-edge',
      used.filter(({ edge }) => !known.has(mapKey(edge))),
      ({ id, edge }) =>
        `group ${id}: no router advertises the End.MT SID ${formatAddress(edge)}: its receivers get nothing, ` +
        'and the source waits for them',
      'give the router srv6.end-mt with this SID, or correct `edge` of the receivers',
    ),
    ...summary(
      'groups.edge-lost',
      used.filter(({ edge }) => known.has(mapKey(edge)) && !alive.has(mapKey(edge))),
      ({ id, edge }) =>
        `group ${id}: the router of the End.MT SID ${formatAddress(edge)}, or its cnpd, is unreachable, and the source ` +
        'waits for its receivers',
      'restore it, before its receivers are forgotten after hold-unreachable; or remove them from the group',
    ),
  ];
}

/** With BGP alone this is as it should be. */
const flat = ({ views, intent: { isis, ospfv2, ospfv3 } }: Inputs): Problem[] =>
  (isis ?? ospfv2 ?? ospfv3) === undefined
    ? []
    : summary(
        'groups.no-topology',
        views.filter(({ isRoot, tree }) => isRoot && tree?.isFlat),
        ({ id, branches }) =>
          `group ${id}: no carrier knows the topology around this router, so it makes all ${branches.length} copies itself`,
        '`cnpctl show isis neighbors` and `cnpctl show ospfv2 neighbors` show whether there is an adjacency',
      );

/**
 * The port from which a source sends. One behind a gateway may send as much as any port that is no core port lets in:
 * then it is the one with the largest MTU.
 */
function portOfSource(source: IpAddress, { facts, intent, core }: Inputs): LinkFact | undefined {
  const isCore = new Set(core.map(({ ifindex }) => ifindex));
  const hosts = roceLinks(facts, intent).filter(({ ifindex, up }) => up && !isCore.has(ifindex));
  const largest = hosts.reduce<LinkFact | undefined>(
    (a, b) => ((a?.mtu ?? 0) >= (b.mtu ?? 0) ? (a ?? b) : b),
    undefined,
  );
  return linkOfHost(facts, source) ?? largest;
}

/** Connections that the port of the source lets pass, and the core ports do not. */
function sizes(inputs: Inputs): Problem[] {
  const { views, headEnds, core } = inputs;
  const sourceOf = new Map(views.map(({ id, members }) => [id, members.source.address]));
  const small = headEnds.flatMap(({ id, mtu, endMtTlvs }) => {
    const port = portOfSource(sourceOf.get(id)!, inputs);
    const tlvs = roceMtuWithin(mtu - overhead([])) === 0 ? [] : endMtTlvs;
    const added = overhead(tlvs);
    const [most, allowed] = [roceMtuWithin(mtu - added), roceMtuWithin(port?.mtu ?? 0)];
    return most === 0 || most < allowed ? [{ id, mtu, added, most, allowed, port: port?.name }] : [];
  });
  const ports = core.map(({ name }) => name).join(', ');
  const grown = (roceMtu: number, added: number): number => rocePacket(roceMtu) + added;
  return summary(
    'groups.mtu',
    small,
    ({ id, mtu, added, most, allowed, port }) =>
      most === 0
        ? `group ${id}: no connection fits: in the tree the packets of the smallest RoCEv2 MTU, 256, have ` +
          `${grown(256, added)} octets, and the core ports pass ${mtu}`
        : `group ${id}: a connection with an RoCEv2 MTU above ${most} would get nothing through: the port ${port} of ` +
          `the source allows ${allowed}, whose packets have ${grown(allowed, added)} octets in the tree, and the ` +
          `core ports pass ${mtu}`,
    ({ added, most, allowed }) =>
      (most === 0 ? '' : `give the Queue Pairs of the source and of all receivers a path MTU of at most ${most}; or `) +
      `raise the MTU of ${ports}, and of every other link of the core, to at least ` +
      `${grown(most === 0 ? 1024 : allowed, added)}`,
  );
}

const sources = ({ views }: Inputs): Problem[] =>
  summary(
    'groups.source-unknown',
    views.filter((view) => view.isRoot && sourceQpn(view) === undefined),
    ({ id, members }) =>
      `group ${id}: the Queue Pair of the source ${formatAddress(members.source.address)} is not known yet, ` +
      'so it gets no answers',
    ({ id, members }) =>
      `\`cnpctl group join ${id} --source ${formatAddress(members.source.address)} --qpn N\` at this router, as soon ` +
      'as the application knows it; or write it as source.qpn in cnpd.yaml',
  );
