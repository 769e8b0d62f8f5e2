// The next hops by which the kernel would send to an address: all those of the matching route, not only the one that a
// hash selects (RTM_GETROUTE with RTM_F_FIB_MATCH). The query is synchronous (synchronous.ts) and takes a few tens of
// microseconds.
import { type IpAddress, addressBytes, addressFromBytes } from '../../model/address.ts';
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
 * Packets to an address of this router pass through it, and it delivers only packets that the router itself has sent.
 */
const LOOPBACK_IFINDEX = 1;
/**
 * Errors that mean that there is no route: none, unreachable, blackhole (EINVAL), prohibit; also a next hop that was
 * just removed.
 */
const NO_WAY = ['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES', 'ENOENT'];

/** A next hop on the route to an address. */
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

  /** The next hops of the route; none without a route. @throws KernelError when the query fails */
  waysTo(address: IpAddress): readonly WayBack[] {
    const to = addressBytes(address);
    return this.#nextHops(address).map((hop) => ({ ifindex: hop.ifindex, through: throughOf(hop, to) }));
  }

  /** The routers behind an interface to which the route leads, through no tunnel. @throws KernelError as waysTo() */
  routersTo(address: IpAddress, ifindex: number): readonly IpAddress[] {
    const to = addressBytes(address);
    return this.#nextHops(address).flatMap((hop) =>
      hop.ifindex === ifindex && hop.gateway && throughOf(hop, to) === 'gateway' ? [addressFromBytes(hop.gateway)] : [],
    );
  }

  #nextHops(address: IpAddress): NextHop[] {
    try {
      const body = routeTo(address);
      viewOf(body).setUint32(8, RTM_F_FIB_MATCH, true);
      return this.#netlink
        .request({ operation: 'look up the route back', type: RTM_ROUTE.GET, body })
        .flatMap((answer) => this.#hopsOf(answer));
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
  // struct rtvia: the address follows its family.
  gateway: attributes.get(RTA.GATEWAY) ?? attributes.get(RTA.VIA)?.subarray(2),
  inTunnel: attributes.has(RTA.ENCAP),
});

/** A route whose gateway is the destination itself is an on-link route. */
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
