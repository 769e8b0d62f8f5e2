// The members of End.MT groups for `cnpctl show groups`: those that this router declares, and what other routers claim.
import type { Conflict } from '../groups/membership.ts';
import type { Intent } from '../intent/intent.ts';
import type { GroupClaim, LearnedRouters } from '../learned/routers.ts';
import { formatAddress, mapKey, sameAddress } from '../model/address.ts';
import { type GroupMember, compareClaims, excludes } from '../model/group.ts';
import type { GroupMemberState } from '../model/group-state.ts';

const LOCAL = 'local';
const IN_FORCE = 'in force';

interface Claim extends Pick<GroupClaim, 'member' | 'heldUntil' | 'originator'> {
  readonly carrier: GroupClaim['carrier'] | typeof LOCAL;
}

/**
 * All claims. Of claims that exclude each other the first counts, as on all routers; of equal claims this router shows
 * its own as the one in force.
 *
 * @param conflicts of these claims
 */
export function groupStates(
  { groups = [] }: Pick<Intent, 'groups'>,
  routers: Pick<LearnedRouters, 'groupMembers'>,
  conflicts: readonly Conflict[],
): GroupMemberState[] {
  const sources = new Set(conflicts.flatMap(({ kind, claim }) => (kind === 'source-too' ? [claim] : [])));
  const taken = new Map(
    conflicts.flatMap(({ kind, claim, winner }) => (kind === 'proxy-is-member' ? [[mapKey(claim.group), winner]] : [])),
  );
  const names = new Map(groups.map(({ proxyAddress, name }) => [mapKey(proxyAddress), name]));
  const own = groups.flatMap(({ members }) =>
    members.map((member): Claim => ({ member, originator: LOCAL, carrier: LOCAL })),
  );
  const claims = [...own, ...routers.groupMembers()].sort((a, b) => compareClaims(a.member, b.member));
  let first: Claim | undefined;
  return claims.map((claim) => {
    if (!first || !excludes(first.member, claim.member)) first = claim;
    const owner = taken.get(mapKey(claim.member.group));
    const why = sources.has(claim.member)
      ? 'it is the source of the group'
      : owner
        ? `the Proxy Address belongs to ${memberText(owner)}`
        : claim !== first && whyNot(claim.member, first);
    return stateOf(claim, why, names.get(mapKey(claim.member.group)));
  });
}

const memberText = ({ address, node, group }: GroupMember): string =>
  `the member ${formatAddress(address)} at ${formatAddress(node)} of the group ${formatAddress(group)}`;

/** @param why it does not count; false: it does */
function stateOf(claim: Claim, why: string | false, name: string | undefined): GroupMemberState {
  const { member, originator, carrier, heldUntil } = claim;
  return {
    group: formatAddress(member.group),
    role: member.role,
    address: formatAddress(member.address),
    carrier,
    originator,
    name: name ?? null,
    qpn: member.qpn,
    node: formatAddress(member.node),
    psnDelta: member.psnDelta,
    vaDelta: member.write ? `${BigInt.asIntN(64, member.write.vaDelta)}` : null,
    rKey: member.write?.rKey ?? null,
    status: why === false ? (heldUntil === undefined ? IN_FORCE : `held until ${heldUntil}`) : `not in force: ${why}`,
  };
}

function whyNot({ role, address }: GroupMember, { member, originator, carrier }: Claim): string {
  const whose = carrier === LOCAL ? 'this router' : `${originator} (${carrier})`;
  return role === 'source' && !sameAddress(member.address, address)
    ? `the source is ${formatAddress(member.address)}, of ${whose}`
    : `claimed by ${whose}`;
}
