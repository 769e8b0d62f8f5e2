// By which ways the kernel would send to an address: all next hops of the route that matches it, not the one that a
// hash picks (RTM_GETROUTE with RTM_F_FIB_MATCH). Asked without waiting (synchronous.ts): a few tens of microseconds.
import { type IpAddress, addressBytes } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import { RTM_ROUTE, routeTo } from './address.ts';
import { type Attributes, type NetlinkMessage, decodeAttributes, readU32, viewOf } from './message.ts';
import { type NextHop, nextHopsOf } from './next-hops.ts';
import { SynchronousNetlink } from './synchronous.ts';

const RTM_F_FIB_MATCH = 0x2000;
const RTN = { UNICAST: 1, LOCAL: 2 } as const;
const RTA = { OIF: 4, GATEWAY: 5, MULTIPATH: 9, VIA: 18, ENCAP: 22, NH_ID: 30 } as const;
const NEXT_HOP_HEADER = 8;
/**
 * What is sent to an address of this router goes through this, and nothing comes from there but what the router has
 * sent itself.
 */
const LOOPBACK_IFINDEX = 1;
/**
 * Answers that say that there is no way: no route, unreachable, blackhole (EINVAL), prohibit. Those of a next hop that
 * went a moment ago, too.
 */
const NO_WAY = ['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES', 'ENOENT'];

/** A next hop on the way to an address. */
export interface WayBack {
  readonly ifindex: number;
  readonly through: 'link' | 'gateway' | 'tunnel';
}

export class RoutesBack {
  readonly #netlink: SynchronousNetlink;

  private constructor(netlink: SynchronousNetlink) {
    this.#netlink = netlink;
  }

  /** @throws KernelError */
  static open(netns?: Netns): RoutesBack {
    return new RoutesBack(SynchronousNetlink.open({ netns }));
  }

  /** The next hops of the route; none when there is no way. @throws KernelError when the kernel cannot be asked */
  waysTo(address: IpAddress): readonly WayBack[] {
    try {
      const body = routeTo(address);
      viewOf(body).setUint32(8, RTM_F_FIB_MATCH, true);
      const to = addressBytes(address);
      return this.#netlink
        .request({ operation: 'look up the route back', type: RTM_ROUTE.GET, body })
        .flatMap((answer) => this.#hopsOf(answer))
        .map((hop) => ({ ifindex: hop.ifindex, through: throughOf(hop, to) }));
    } catch (error) {
      if (isKernelError(error) && NO_WAY.includes(error.code)) return [];
      throw error;
    }
  }

  close(): void {
    this.#netlink.close();
  }

  #hopsOf({ body }: NetlinkMessage): NextHop[] {
    if (body.length < 12) return [];
    if (body[7] === RTN.LOCAL) return [{ ifindex: LOOPBACK_IFINDEX, inTunnel: false }];
    if (body[7] !== RTN.UNICAST) return [];
    const attributes = decodeAttributes(body, 12);
    const hops = attributes.get(RTA.MULTIPATH);
    if (hops) return membersOf(hops);
    const named = readU32(attributes.get(RTA.OIF));
    const object = readU32(attributes.get(RTA.NH_ID));
    if (named !== undefined) return [nextHop(named, attributes)];
    return object === undefined ? [] : nextHopsOf(this.#netlink, object);
  }
}

const nextHop = (ifindex: number, attributes: Attributes): NextHop => ({
  ifindex,
  gateway: attributes.get(RTA.GATEWAY) ?? attributes.get(RTA.VIA),
  inTunnel: attributes.has(RTA.ENCAP),
});

/** A route through the destination itself is one to its link. */
function throughOf({ gateway, inTunnel }: NextHop, to: Uint8Array): WayBack['through'] {
  if (inTunnel) return 'tunnel';
  return gateway && Buffer.compare(gateway, to) !== 0 ? 'gateway' : 'link';
}

/** struct rtnexthop: length, flags, hops, interface index; then its attributes. */
function membersOf(hops: Uint8Array): NextHop[] {
  const view = viewOf(hops);
  const members: NextHop[] = [];
  for (let at = 0; at + NEXT_HOP_HEADER <= hops.length;) {
    const length = view.getUint16(at, true);
    if (length < NEXT_HOP_HEADER || at + length > hops.length) break;
    const attributes = decodeAttributes(hops.subarray(0, at + length), at + NEXT_HOP_HEADER);
    members.push(nextHop(view.getInt32(at + 4, true), attributes));
    at += (length + 3) & ~3;
  }
  return members;
}
