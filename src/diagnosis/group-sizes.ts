// What `cnpd check` notes about the size of packets in the trees of End.MT groups. A file does not say what the links
// of the core pass; the running cnpd and doctor compare.
import { coreMtuNeeds, endMtTlvs, overhead, tlvOctets } from '../groups/sizes.ts';
import { membersInForce } from '../groups/membership.ts';
import type { Intent } from '../intent/intent.ts';
import type { Problem } from '../model/problem.ts';

/** None without groups in the file, or for a router that passes nothing on in trees. */
export function groupSizeNotes({ srv6, groups = [] }: Intent): Problem[] {
  if (!srv6?.replication || groups.length === 0) return [];
  const members = [...membersInForce(groups.flatMap((group) => group.members)).groups.values()];
  const { tlvLimit } = srv6.multicast;
  const sizes = members.map((group) => tlvOctets(endMtTlvs(group))).filter((octets) => octets <= tlvLimit);
  const largest = Math.max(0, ...sizes);
  const tlvs = largest === 0 ? '' : `, and up to ${largest} where there is room for the receivers of this file`;
  return [
    {
      code: 'groups.mtu',
      feature: 'groups',
      problem: `a tree adds ${overhead([])} octets to each packet${tlvs}: a connection with an MTU of ${coreMtuNeeds()}`,
      remedy: 'give every link of the core such an MTU, or the Queue Pairs a smaller path MTU',
    },
  ];
}
