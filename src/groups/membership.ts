// Which claims of members count. All routers know the same claims and decide alike, without a message: of claims that
// exclude each other the first of compareClaims counts.
import { type IpAddress, compareAddresses, formatAddress, mapKey, sameAddress } from '../model/address.ts';
import { type GroupMember, compareClaims, excludes, isUsableMember } from '../model/group.ts';

/** The members in force of one group. */
export interface GroupMembers {
  /** The Proxy Address. */
  readonly group: IpAddress;
  /** Its `qpn` is the Designated Queue Pair. Absent: no router claims the source yet. */
  readonly source?: GroupMember;
  /** Of each host one, in address order. */
  readonly receivers: readonly GroupMember[];
}

/**
 * Why a claim does not count: another one comes first (`second-source`, `second-edge`), the host is the source of the
 * group (`source-too`), or the Proxy Address of its group is a host or a SID in another group (`proxy-is-member`). That
 * group as a whole does not count, and nothing is taken from the member: whoever invents a group excludes only that.
 */
export type ConflictKind = 'second-source' | 'second-edge' | 'source-too' | 'proxy-is-member';

export interface Conflict {
  readonly kind: ConflictKind;
  /** Of `proxy-is-member`: the first claim of the group. */
  readonly claim: GroupMember;
  /** The claim that counts instead; the member that is in the way. */
  readonly winner: GroupMember;
}

export interface Membership {
  /** By the text of the Proxy Address, in address order. */
  readonly groups: ReadonlyMap<string, GroupMembers>;
  readonly conflicts: readonly Conflict[];
}

/** What the claims for one group come to, if that group counts. */
interface Part {
  /** As they were given. */
  readonly claims: readonly GroupMember[];
  /** Those to which packets can be sent, in order. */
  readonly usable: readonly GroupMember[];
  readonly id: string;
  readonly members: GroupMembers;
  readonly conflicts: readonly Conflict[];
}

const partsOf = new WeakMap<Membership, ReadonlyMap<string, Part>>();

/**
 * @param claims of all routers, this one included, in any order; equal claims are one
 * @param former groups with the same claims as there are the same objects, and what is computed from them stays
 */
export function membersInForce(claims: readonly GroupMember[], former?: Membership): Membership {
  const known = former && partsOf.get(former);
  const parts = new Map<string, Part>();
  for (const [group, ofGroup] of byGroup(claims)) {
    const found = known?.get(group);
    const part = found && haveSameClaims(found.claims, ofGroup) ? found : partOf(ofGroup);
    if (part) parts.set(group, part);
  }
  const ordered = [...parts.values()].sort((a, b) => compareAddresses(a.members.group, b.members.group));
  const inTheWay = membersAt(parts, ordered);
  const groups = new Map<string, GroupMembers>();
  const conflicts: Conflict[] = [];
  for (const part of ordered) {
    const winner = inTheWay.get(mapKey(part.members.group));
    if (winner) conflicts.push({ kind: 'proxy-is-member', claim: part.usable[0]!, winner });
    else {
      groups.set(part.id, part.members);
      conflicts.push(...part.conflicts);
    }
  }
  const membership = { groups, conflicts };
  partsOf.set(membership, parts);
  return membership;
}

function byGroup(claims: readonly GroupMember[]): ReadonlyMap<string, readonly GroupMember[]> {
  const found = new Map<string, GroupMember[]>();
  let last: { readonly group: bigint; readonly claims: GroupMember[] } | undefined;
  for (const claim of claims) {
    const group = claim.group.value;
    if (last?.group !== group) {
      const key = mapKey(claim.group);
      last = { group, claims: found.get(key) ?? [] };
      found.set(key, last.claims);
    }
    last.claims.push(claim);
  }
  return found;
}

const haveSameClaims = (a: readonly GroupMember[], b: readonly GroupMember[]): boolean =>
  a.length === b.length && a.every((claim, i) => claim === b[i] || compareClaims(claim, b[i]!) === 0);

/** Undefined: no claim is usable. */
function partOf(claims: readonly GroupMember[]): Part | undefined {
  const usable = claims.filter(isUsableMember).sort(compareClaims);
  if (usable.length === 0) return undefined;
  const conflicts: Conflict[] = [];
  const members = groupOf(usable, conflicts);
  return { claims, usable, id: formatAddress(members.group), members, conflicts };
}

/** The first member that has a Proxy Address, or whose router has, by that address. */
function membersAt(proxies: ReadonlyMap<string, unknown>, ordered: readonly Part[]): ReadonlyMap<string, GroupMember> {
  const found = new Map<string, GroupMember>();
  for (const { usable } of ordered)
    for (const claim of usable)
      for (const key of [claim.address, claim.node].map(mapKey))
        if (proxies.has(key) && !found.has(key)) found.set(key, claim);
  return found;
}

/** @param claims of one group, in order */
function groupOf(claims: readonly GroupMember[], conflicts: Conflict[]): GroupMembers {
  const receivers: GroupMember[] = [];
  let source: GroupMember | undefined;
  let winner: GroupMember | undefined;
  for (const claim of claims) {
    if (winner && excludes(winner, claim)) {
      if (compareClaims(winner, claim) !== 0)
        conflicts.push({ kind: claim.role === 'source' ? 'second-source' : 'second-edge', claim, winner });
    } else if (claim.role === 'source') {
      source = winner = claim;
    } else if (source && sameAddress(source.address, claim.address)) {
      conflicts.push({ kind: 'source-too', claim, winner: source });
    } else {
      receivers.push((winner = claim));
    }
  }
  return { group: claims[0]!.group, ...(source && { source }), receivers };
}

interface EdgeReceivers {
  readonly edge: IpAddress;
  readonly receivers: readonly GroupMember[];
}

const edgesOf = new WeakMap<GroupMembers, readonly EdgeReceivers[]>();

/** The receivers of each edge, edges by SID, receivers by address. */
export function receiversByEdge(members: GroupMembers): readonly EdgeReceivers[] {
  let found = edgesOf.get(members);
  if (!found) edgesOf.set(members, (found = groupedByEdge(members)));
  return found;
}

function groupedByEdge({ receivers }: GroupMembers): readonly EdgeReceivers[] {
  const edges = new Map<string, { readonly edge: IpAddress; readonly receivers: GroupMember[] }>();
  for (const receiver of receivers) {
    const key = mapKey(receiver.node);
    const known = edges.get(key);
    if (known) known.receivers.push(receiver);
    else edges.set(key, { edge: receiver.node, receivers: [receiver] });
  }
  return [...edges.values()].sort((a, b) => (a.edge.value < b.edge.value ? -1 : 1));
}
