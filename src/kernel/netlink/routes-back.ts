// Through which interfaces the kernel would send to an address: all next hops of the route that matches it, not the one that a hash picks (RTM_GETROUTE with
// RTM_F_FIB_MATCH). Asked without waiting (synchronous.ts): a few tens of microseconds.
import type { IpAddress } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import { RTM_ROUTE, routeTo } from './address.ts';
import { type Attributes, type NetlinkMessage, attribute, concat, decodeAttributes, readU32, u32, viewOf } from './message.ts';
import { SynchronousNetlink } from './synchronous.ts';

const RTM_F_FIB_MATCH = 0x2000;
const RTN = { UNICAST: 1, LOCAL: 2 } as const;
const RTA = { OIF: 4, MULTIPATH: 9, NH_ID: 30 } as const;
const RTM_GETNEXTHOP = 106;
const NHA = { ID: 1, GROUP: 2, OIF: 5 } as const;
/** What is sent to an address of this router goes through this, and nothing comes from there but what the router has sent itself. */
export const LOOPBACK_IFINDEX = 1;
/** Answers that say that there is no way: no route, unreachable, blackhole (EINVAL), prohibit. Those of a next hop that went a moment ago, too. */
const NO_WAY = ['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES', 'ENOENT'];

export class RoutesBack {
  readonly #netlink: SynchronousNetlink;

  private constructor(netlink: SynchronousNetlink) {
    this.#netlink = netlink;
  }

  /** @throws KernelError */
  static open(netns?: Netns): RoutesBack {
    return new RoutesBack(SynchronousNetlink.open({ netns }));
  }

  /** Indexes of the interfaces; none when there is no way. @throws KernelError when the kernel cannot be asked */
  interfacesTo(address: IpAddress): ReadonlySet<number> {
    try {
      const body = routeTo(address);
      viewOf(body).setUint32(8, RTM_F_FIB_MATCH, true);
      return new Set(this.#netlink.request({ operation: 'look up the route back', type: RTM_ROUTE.GET, body }).flatMap((answer) => this.#ofRoute(answer)));
    } catch (error) {
      if (isKernelError(error) && NO_WAY.includes(error.code)) return new Set();
      throw error;
    }
  }

  close(): void {
    this.#netlink.close();
  }

  #ofRoute({ body }: NetlinkMessage): number[] {
    if (body.length < 12) return [];
    if (body[7] === RTN.LOCAL) return [LOOPBACK_IFINDEX];
    if (body[7] !== RTN.UNICAST) return [];
    const attributes = decodeAttributes(body, 12);
    const hops = attributes.get(RTA.MULTIPATH);
    if (hops) return interfacesOf(hops);
    return optional(readU32(attributes.get(RTA.OIF))) ?? this.#ofNextHop(readU32(attributes.get(RTA.NH_ID)));
  }

  /** Where `net.ipv4.nexthop_compat_mode` is 0 a route names its next hop object alone. */
  #ofNextHop(id: number | undefined, inGroup = false): number[] {
    if (id === undefined) return [];
    const answers = this.#netlink.request({ operation: 'look up a next hop', type: RTM_GETNEXTHOP, body: concat([new Uint8Array(8), attribute(NHA.ID, u32(id))]) });
    const attributes: Attributes = answers[0] ? decodeAttributes(answers[0].body, 8) : new Map();
    const group = attributes.get(NHA.GROUP);
    if (!group || inGroup) return optional(readU32(attributes.get(NHA.OIF))) ?? [];
    // struct nexthop_grp: id, weight, reserved; 8 bytes. A group has no groups in it.
    return Array.from({ length: Math.floor(group.length / 8) }, (_, i) => viewOf(group).getUint32(8 * i, true)).flatMap((member) => this.#ofNextHop(member, true));
  }
}

const optional = (ifindex: number | undefined): number[] | undefined => (ifindex === undefined ? undefined : [ifindex]);

/** struct rtnexthop: length, flags, hops, interface index; then its attributes. */
function interfacesOf(hops: Uint8Array): number[] {
  const view = viewOf(hops);
  const interfaces: number[] = [];
  for (let at = 0; at + 8 <= hops.length; ) {
    const length = view.getUint16(at, true);
    if (length < 8) break;
    interfaces.push(view.getInt32(at + 4, true));
    at += (length + 3) & ~3;
  }
  return interfaces;
}
