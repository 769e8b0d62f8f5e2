// Through which interfaces the kernel would send to an address: all next hops of the route that matches it, not the one
// that a hash picks (RTM_GETROUTE with RTM_F_FIB_MATCH). Asked without waiting (synchronous.ts): a few tens of
// microseconds.
import type { IpAddress } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import { RTM_ROUTE, routeTo } from './address.ts';
import { type NetlinkMessage, decodeAttributes, readU32, viewOf } from './message.ts';
import { nextHopsOf } from './next-hops.ts';
import { SynchronousNetlink } from './synchronous.ts';

const RTM_F_FIB_MATCH = 0x2000;
const RTN = { UNICAST: 1, LOCAL: 2 } as const;
const RTA = { OIF: 4, MULTIPATH: 9, NH_ID: 30 } as const;
/**
 * What is sent to an address of this router goes through this, and nothing comes from there but what the router has
 * sent itself.
 */
export const LOOPBACK_IFINDEX = 1;
/**
 * Answers that say that there is no way: no route, unreachable, blackhole (EINVAL), prohibit. Those of a next hop that
 * went a moment ago, too.
 */
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
      return new Set(
        this.#netlink
          .request({ operation: 'look up the route back', type: RTM_ROUTE.GET, body })
          .flatMap((answer) => this.#ofRoute(answer)),
      );
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
    const named = readU32(attributes.get(RTA.OIF));
    const object = readU32(attributes.get(RTA.NH_ID));
    if (named !== undefined) return [named];
    return object === undefined ? [] : nextHopsOf(this.#netlink, object).map(({ ifindex }) => ifindex);
  }
}

/** struct rtnexthop: length, flags, hops, interface index; then its attributes. */
function interfacesOf(hops: Uint8Array): number[] {
  const view = viewOf(hops);
  const interfaces: number[] = [];
  for (let at = 0; at + 8 <= hops.length;) {
    const length = view.getUint16(at, true);
    if (length < 8) break;
    interfaces.push(view.getInt32(at + 4, true));
    at += (length + 3) & ~3;
  }
  return interfaces;
}
