// The kernel's table of IPv6 neighbors: which routers are at an interface.
import { type IpAddress, addressFromBytes, isLinkLocal } from '../../model/address.ts';
import type { Netns } from '../netns.ts';
import { AF } from '../ffi/libc.ts';
import { NLM_F, attribute, concat, decodeAttributes, u32, viewOf } from './message.ts';
import { SynchronousNetlink } from './synchronous.ts';

const RTM_GETNEIGH = 30;
const NDA = { DST: 1, LLADDR: 2, IFINDEX: 8 } as const;
/** struct ndmsg: family, padding (3), ifindex (4), state (2), flags, type. */
const HEADER = 12;
const IFINDEX = 4;
const FLAGS = 10;
/** The neighbor has said that it is a router (RFC 4861 §4.4). */
const NTF_ROUTER = 0x80;

export interface NeighborRouter {
  readonly address: IpAddress;
  readonly mac: Uint8Array;
}

export class Neighbors {
  readonly #netlink: SynchronousNetlink;

  private constructor(netlink: SynchronousNetlink) {
    this.#netlink = netlink;
  }

  /** @throws KernelError */
  static open(netns?: Netns): Neighbors {
    return new Neighbors(SynchronousNetlink.open({ netns }));
  }

  /** IPv6 addresses of routers, the link-local ones first. The kernel lists its whole table. @throws KernelError */
  routersAt(ifindex: number): readonly NeighborRouter[] {
    const header = new Uint8Array(HEADER);
    header[0] = AF.INET6;
    const body = concat([header, attribute(NDA.IFINDEX, u32(ifindex))]);
    const answers = this.#netlink.request({ operation: 'list neighbors', type: RTM_GETNEIGH, body }, NLM_F.DUMP);
    const found = answers.flatMap((message) => {
      if (message.body.length < HEADER || viewOf(message.body).getInt32(IFINDEX, true) !== ifindex) return [];
      if ((message.body[FLAGS]! & NTF_ROUTER) === 0) return [];
      const attributes = decodeAttributes(message.body, HEADER);
      const [address, mac] = [attributes.get(NDA.DST), attributes.get(NDA.LLADDR)];
      return address && mac ? [{ address: addressFromBytes(address), mac }] : [];
    });
    return found.sort((a, b) => Number(isLinkLocal(b.address)) - Number(isLinkLocal(a.address)));
  }

  close(): void {
    this.#netlink.close();
  }
}
