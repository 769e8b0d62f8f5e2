// Next hop objects (RTM_GETNEXTHOP), to which routes refer. With `net.ipv4.nexthop_compat_mode` 0 routes have no other
// next hops.
import { type Attributes, attribute, concat, decodeAttributes, readU32, u32, viewOf } from './message.ts';
import type { SynchronousNetlink } from './synchronous.ts';

const RTM_GETNEXTHOP = 106;
const NHA = { ID: 1, GROUP: 2, OIF: 5, GATEWAY: 6, ENCAP: 8 } as const;
/** struct nhmsg. */
const HEADER = 8;
/** struct nexthop_grp: id, weight, reserved. */
const MEMBER = 8;

export interface NextHop {
  readonly ifindex: number;
  /** Its address; none when the destination itself is on the link. */
  readonly gateway?: Uint8Array | undefined;
  /** Packets are first encapsulated (SRv6, MPLS). */
  readonly inTunnel: boolean;
}

/** The next hops of a next hop object; a group contains no groups. @throws KernelError ENOENT when it is gone */
export function nextHopsOf(netlink: SynchronousNetlink, id: number, inGroup = false): NextHop[] {
  const answers = netlink.request({
    operation: 'look up a next hop',
    type: RTM_GETNEXTHOP,
    body: concat([new Uint8Array(HEADER), attribute(NHA.ID, u32(id))]),
  });
  const attributes: Attributes = answers[0] ? decodeAttributes(answers[0].body, HEADER) : new Map();
  const group = attributes.get(NHA.GROUP);
  if (!group || inGroup) {
    const ifindex = readU32(attributes.get(NHA.OIF));
    if (ifindex === undefined) return [];
    return [{ ifindex, gateway: attributes.get(NHA.GATEWAY), inTunnel: attributes.has(NHA.ENCAP) }];
  }
  const members = Array.from({ length: Math.floor(group.length / MEMBER) }, (_, i) =>
    viewOf(group).getUint32(MEMBER * i, true),
  );
  return members.flatMap((member) => nextHopsOf(netlink, member, true));
}
