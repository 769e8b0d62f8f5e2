// Whether an interface leads to other routers: whether a route through a gateway leaves by it. The kernel returns only
// that interface's routes, and reading ends at the first gateway. With a gateway this costs almost nothing; without one
// the kernel walks its tables once.
import { KernelError, ERRNO, isKernelError } from '../errors.ts';
import { MSG, close, receive, send } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';
import type { Netns } from '../netns.ts';
import { RTM_ROUTE, routeFilter } from './address.ts';
import {
  type Attributes,
  NLM_F,
  NLMSG,
  type NetlinkMessage,
  attribute,
  concat,
  decodeAttributes,
  decodeDone,
  decodeMessages,
  encodeMessage,
  readU32,
  u32,
  viewOf,
} from './message.ts';
import { nextHopsOf } from './next-hops.ts';
import { LONGEST_DATAGRAM, openNetlink } from './socket.ts';
import { SynchronousNetlink } from './synchronous.ts';

const RTA = { OIF: 4, GATEWAY: 5, MULTIPATH: 9, VIA: 18, NH_ID: 30 } as const;
const ROUTE_HEADER = 12;
/** struct rtnexthop: length, flags, hops, interface; then attributes. */
const NEXT_HOP_HEADER = 8;
const OPERATION = 'look for gateways';

const hasGateway = (attributes: Attributes): boolean => attributes.has(RTA.GATEWAY) || attributes.has(RTA.VIA);

/** Whether this route, of RTM_GETROUTE, leaves by the interface through a gateway. Pure. */
function leadsToGateway(message: NetlinkMessage, ifindex: number): boolean {
  if (message.type !== RTM_ROUTE.NEW || message.body.length < ROUTE_HEADER) return false;
  const attributes = decodeAttributes(message.body, ROUTE_HEADER);
  if (readU32(attributes.get(RTA.OIF)) === ifindex && hasGateway(attributes)) return true;
  const hops = attributes.get(RTA.MULTIPATH);
  if (!hops) return false;
  const view = viewOf(hops);
  for (let at = 0; at + NEXT_HOP_HEADER <= hops.length;) {
    const length = view.getUint16(at, true);
    if (length < NEXT_HOP_HEADER || at + length > hops.length) return false;
    if (
      view.getUint32(at + 4, true) === ifindex &&
      hasGateway(decodeAttributes(hops.subarray(0, at + length), at + NEXT_HOP_HEADER))
    )
      return true;
    at += (length + 3) & ~3;
  }
  return false;
}

/** The next hop object of a route that has only that. Pure. */
function nextHopObject({ type, body }: NetlinkMessage): number | undefined {
  if (type !== RTM_ROUTE.NEW || body.length < ROUTE_HEADER) return undefined;
  const attributes = decodeAttributes(body, ROUTE_HEADER);
  return attributes.has(RTA.OIF) || attributes.has(RTA.MULTIPATH) ? undefined : readU32(attributes.get(RTA.NH_ID));
}

/**
 * Whether a next hop object leads through a gateway by the interface; each is looked up once, on a socket of its own.
 */
class NextHopObjects {
  #netlink: SynchronousNetlink | undefined;
  readonly #seen = new Set<number>();
  readonly #open: () => SynchronousNetlink;

  constructor(open: () => SynchronousNetlink) {
    this.#open = open;
  }

  leadOn(id: number, ifindex: number): boolean {
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    this.#netlink ??= this.#open();
    try {
      return nextHopsOf(this.#netlink, id).some((hop) => hop.ifindex === ifindex && hop.gateway !== undefined);
    } catch (error) {
      if (isKernelError(error, 'ENOENT')) return false; // it was removed a moment ago
      throw error;
    }
  }

  close(): void {
    this.#netlink?.close();
  }
}

/** @throws KernelError */
export function isGatewayPort(ifindex: number, opts: { netns?: Netns } = {}): boolean {
  return leadsOn(ifindex, 6, opts) || leadsOn(ifindex, 4, opts);
}

function leadsOn(ifindex: number, family: 4 | 6, opts: { netns?: Netns }): boolean {
  // One socket per query: closing it discards the unread answers.
  const fd = openNetlink({ ...opts, groups: 0 });
  const objects = new NextHopObjects(() => SynchronousNetlink.open(opts));
  try {
    const body = concat([routeFilter(family), attribute(RTA.OIF, u32(ifindex))]);
    if (
      send(
        OPERATION,
        fd,
        encodeMessage({ type: RTM_ROUTE.GET, flags: NLM_F.REQUEST | NLM_F.DUMP, sequence: 1, body }),
      ) === undefined
    )
      throw new KernelError(OPERATION, ERRNO.EAGAIN);
    return readUntilGateway(fd, ifindex, objects);
  } catch (error) {
    // The interface is gone, or the kernel has no table of this family.
    if (isKernelError(error, 'ENODEV') || isKernelError(error, 'EOPNOTSUPP')) return false;
    throw error;
  } finally {
    objects.close();
    close(fd);
  }
}

function readUntilGateway(fd: number, ifindex: number, objects: NextHopObjects): boolean {
  const buffer = new PinnedBuffer(LONGEST_DATAGRAM);
  for (;;) {
    const length = receive(OPERATION, fd, buffer.address, LONGEST_DATAGRAM, MSG.DONTWAIT);
    if (length === undefined) throw new KernelError(OPERATION, ERRNO.EAGAIN, 'the kernel did not answer');
    const { messages } = decodeMessages(buffer.bytes.slice(0, length));
    for (const message of messages) {
      if (message.type === NLMSG.ERROR || message.type === NLMSG.DONE) {
        const { errno, detail } = decodeDone(message);
        if (errno !== 0) throw new KernelError(OPERATION, errno, detail);
        return false;
      }
      if (leadsToGateway(message, ifindex)) return true;
      const object = nextHopObject(message);
      if (object !== undefined && objects.leadOn(object, ifindex)) return true;
    }
  }
}
