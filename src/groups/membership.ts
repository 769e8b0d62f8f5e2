// Which claims of members count. All routers know the same claims and decide alike, without a message: of claims that
// exclude each other the first of compareClaims counts.
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import { type GroupMember, compareClaims, excludes, isUsableMember } from '../model/group.ts';

/** The members in force of one group. */
export interface GroupMembers {
  /** The Proxy Address. */
  readonly group: IpAddress;
  /** Its `qpn` is the Designated Queue Pair. Absent: nobody claims the source yet. */
  readonly source?: GroupMember;
  /** Of each host one, in address order. */
  readonly receivers: readonly GroupMember[];
}

/**
 * Why a claim does not count: another one comes first (`second-source`, `second-edge`), the host is the source of the
 * group (`source-too`), or the host or its router has the Proxy Address of a group (`is-proxy-address`). Copies for
 * such a host would enter that other group.
 */
export type ConflictKind = 'second-source' | 'second-edge' | 'source-too' | 'is-proxy-address';

export interface Conflict {
  readonly kind: ConflictKind;
  readonly claim: GroupMember;
  /** The claim that counts instead. */
  readonly winner?: GroupMember;
}

export interface Membership {
  /** By the text of the Proxy Address, in address order. */
  readonly groups: ReadonlyMap<string, GroupMembers>;
  readonly conflicts: readonly Conflict[];
}

/** @param claims of all routers, this one included, in any order; equal claims are one */
export function membersInForce(claims: readonly GroupMember[]): Membership {
  const sorted = claims.filter(isUsableMember).sort(compareClaims);
  const proxies = new Set(sorted.map(({ group }) => group.value));
  const groups = new Map<string, GroupMembers>();
  const conflicts: Conflict[] = [];
  for (let from = 0; from < sorted.length;) {
    const { group } = sorted[from]!;
    const begin = from;
    while (from < sorted.length && sameAddress(sorted[from]!.group, group)) from++;
    const members = groupOf(sorted.slice(begin, from), proxies, conflicts);
    if (members) groups.set(formatAddress(group), members);
  }
  return { groups, conflicts };
}

/** @param claims of one group, in order */
function groupOf(
  claims: readonly GroupMember[],
  proxies: ReadonlySet<bigint>,
  conflicts: Conflict[],
): GroupMembers | undefined {
  const receivers: GroupMember[] = [];
  let source: GroupMember | undefined;
  let winner: GroupMember | undefined;
  for (const claim of claims) {
    if (proxies.has(claim.address.value) || proxies.has(claim.node.value)) {
      conflicts.push({ kind: 'is-proxy-address', claim });
    } else if (winner && excludes(winner, claim)) {
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
  const { group } = claims[0]!;
  return source || receivers.length > 0 ? { group, ...(source && { source }), receivers } : undefined;
}

/** The receivers of each edge, edges by SID, receivers by address. */
export function receiversByEdge({ receivers }: GroupMembers): readonly {
  readonly edge: IpAddress;
  readonly receivers: readonly GroupMember[];
}[] {
  const edges = new Map<bigint, { readonly edge: IpAddress; readonly receivers: GroupMember[] }>();
  for (const receiver of receivers) {
    const known = edges.get(receiver.node.value);
    if (known) known.receivers.push(receiver);
    else edges.set(receiver.node.value, { edge: receiver.node, receivers: [receiver] });
  }
  return [...edges.values()].sort((a, b) => (a.edge.value < b.edge.value ? -1 : 1));
}
