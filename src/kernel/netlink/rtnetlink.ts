// Interfaces, addresses, routes, neighbors and qdiscs of one network namespace, read and changed over rtnetlink. Errors
// are KernelErrors with the kernel's own text. Changes are sent in the order of the calls and complete in any order;
// await one before another that needs it.
import type { IpAddress } from '../../model/address.ts';
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import type { Poller } from '../poller.ts';
import {
  type InterfaceAddress,
  type NewRoute,
  RTM_ADDRESS,
  RTM_NEIGHBOR,
  RTM_ROUTE,
  type Route,
  addressFilter,
  decodeAddress,
  decodeRoute,
  encodeAddress,
  encodeNeighbor,
  encodeRoute,
  routeFilter,
  routeTo,
} from './address.ts';
import { NetlinkClient } from './client.ts';
import {
  type Link,
  type LinkChange,
  RTM_LINK,
  type VethEnd,
  decodeLink,
  encodeLinkChange,
  encodeVeth,
  linkByName,
  linkFilter,
} from './link.ts';
import { NLM_F, type NetlinkMessage } from './message.ts';
import { type Seg6LocalRoute, decodeSeg6LocalRoute, routesOfProtocol } from './seg6local.ts';
import {
  type HtbClass,
  type NewTbf,
  type Qdisc,
  RTM_CLASS,
  RTM_QDISC,
  TC_H,
  decodeHtbClass,
  decodeQdisc,
  encodeTbf,
  tcHeader,
} from './traffic-control.ts';

const CREATE = NLM_F.CREATE | NLM_F.EXCL;

interface VethOptions {
  readonly name: string;
  readonly mtu?: number | undefined;
  readonly mac?: Uint8Array | undefined;
  /** Default: the kernel chooses one. */
  readonly ifindex?: number | undefined;
  readonly peer: {
    readonly name: string;
    readonly mtu?: number | undefined;
    readonly netns?: Netns | undefined;
    readonly mac?: Uint8Array | undefined;
  };
}

type LinkSettings = Omit<LinkChange, 'netnsFd'> & { readonly netns?: Netns | undefined };

function decodeAll<T>(messages: readonly NetlinkMessage[], decode: (message: NetlinkMessage) => T | undefined): T[] {
  return messages.map(decode).filter((item) => item !== undefined);
}

export class Rtnetlink {
  private readonly client: NetlinkClient;

  private constructor(client: NetlinkClient) {
    this.client = client;
  }

  /** @throws KernelError */
  static open(
    opts: { netns?: Netns | undefined; receiveBuffer?: number | undefined },
    dependencies: { poller: Poller },
  ): Rtnetlink {
    return new Rtnetlink(NetlinkClient.open(opts, dependencies));
  }

  /** The most requests that were in flight together. */
  get peakInFlight(): number {
    return this.client.peak;
  }

  /** Dumps that were repeated because the table changed meanwhile. */
  get repeatedDumps(): number {
    return this.client.repeatedDumps;
  }

  links(): Promise<Link[]> {
    return this.client.dump({ operation: 'list interfaces', type: RTM_LINK.GET, body: linkFilter() }, decodeLink);
  }

  async link(name: string): Promise<Link | undefined> {
    try {
      const answers = await this.client.request({
        operation: `interface ${name}`,
        type: RTM_LINK.GET,
        body: linkFilter(name),
      });
      return decodeAll(answers, decodeLink)[0];
    } catch (error) {
      if (isKernelError(error, 'ENODEV')) return undefined;
      throw error;
    }
  }

  /** @throws KernelError EEXIST, EBUSY (another interface has this index), ENODEV … */
  async createVeth(opts: VethOptions): Promise<void> {
    const near: VethEnd = { name: opts.name, mtu: opts.mtu, mac: opts.mac, ifindex: opts.ifindex };
    const peer: VethEnd = {
      name: opts.peer.name,
      mtu: opts.peer.mtu,
      mac: opts.peer.mac,
      netnsFd: opts.peer.netns?.fd,
    };
    await this.client.request({
      operation: `create veth ${opts.name}`,
      type: RTM_LINK.NEW,
      flags: CREATE,
      body: encodeVeth(near, peer),
    });
  }

  /** @throws KernelError ENODEV */
  async deleteLink(name: string): Promise<void> {
    await this.client.request({ operation: `delete interface ${name}`, type: RTM_LINK.DEL, body: linkByName(name) });
  }

  /** Changes an interface. The kernel refuses to rename and set up at once: rename first. @throws KernelError */
  async setLink(name: string, settings: LinkSettings): Promise<void> {
    const { netns, ...change } = settings;
    const body = encodeLinkChange(await this.index(name), { ...change, netnsFd: netns?.fd });
    await this.client.request({ operation: `set interface ${name}`, type: RTM_LINK.NEW, body });
  }

  addresses(): Promise<InterfaceAddress[]> {
    return this.client.dump(
      { operation: 'list addresses', type: RTM_ADDRESS.GET, body: addressFilter() },
      decodeAddress,
    );
  }

  /**
   * `nodad`: an IPv6 address is usable at once, without duplicate address detection. `again`: it may be there already;
   * the kernel announces it once more.
   * @throws KernelError EEXIST
   */
  async addAddress(
    ifname: string,
    address: IpAddress,
    length: number,
    opts: { nodad?: boolean; again?: boolean } = {},
  ): Promise<void> {
    const { again, ...rest } = opts;
    const body = encodeAddress(await this.index(ifname), address, length, rest);
    const flags = again ? NLM_F.CREATE | NLM_F.REPLACE : CREATE;
    await this.client.request({ operation: `add address to ${ifname}`, type: RTM_ADDRESS.NEW, flags, body });
  }

  /** How the kernel would reach an address. @throws KernelError ENETUNREACH */
  async routeTo(to: IpAddress): Promise<Route> {
    const answers = await this.client.request({ operation: 'look up route', type: RTM_ROUTE.GET, body: routeTo(to) });
    const route = decodeAll(answers, decodeRoute)[0];
    if (!route) throw new KernelError('look up route', ERRNO.ENOENT, 'the kernel answered without a route');
    return route;
  }

  routes(family: 4 | 6): Promise<Route[]> {
    return this.client.dump(
      { operation: `list IPv${family} routes`, type: RTM_ROUTE.GET, body: routeFilter(family) },
      decodeRoute,
    );
  }

  /**
   * Every IPv6 route with a seg6local action, whoever installed it. Reads the whole table: once in a while is often
   * enough.
   */
  seg6LocalRoutes(): Promise<Seg6LocalRoute[]> {
    return this.client.dump(
      { operation: 'list seg6local routes', type: RTM_ROUTE.GET, body: routesOfProtocol(0) },
      decodeSeg6LocalRoute,
    );
  }

  /** @throws KernelError EEXIST, ENETUNREACH (gateway not reachable) */
  async addRoute(route: NewRoute): Promise<void> {
    await this.client.request({ operation: 'add route', type: RTM_ROUTE.NEW, flags: CREATE, body: encodeRoute(route) });
  }

  /** Adds or replaces a permanent neighbor. */
  async setNeighbor(ifname: string, address: IpAddress, mac: Uint8Array): Promise<void> {
    const body = encodeNeighbor(await this.index(ifname), address, mac);
    await this.client.request({
      operation: `set neighbor on ${ifname}`,
      type: RTM_NEIGHBOR.NEW,
      flags: NLM_F.CREATE | NLM_F.REPLACE,
      body,
    });
  }

  /** All qdiscs, or those of one interface. */
  qdiscs(ifindex?: number): Promise<Qdisc[]> {
    return this.client.dump(
      { operation: 'list qdiscs', type: RTM_QDISC.GET, body: tcHeader({ ifindex: 0 }) },
      (message) => {
        const qdisc = decodeQdisc(message);
        return ifindex === undefined || qdisc?.ifindex === ifindex ? qdisc : undefined;
      },
    );
  }

  htbClasses(ifindex: number): Promise<HtbClass[]> {
    return this.client.dump(
      { operation: 'list classes', type: RTM_CLASS.GET, body: tcHeader({ ifindex }) },
      decodeHtbClass,
    );
  }

  /**
   * Makes a token bucket the root qdisc.
   * @throws KernelError ENOENT (the kernel has no TBF), EINVAL (burst smaller than a frame)
   */
  async setTbf(tbf: NewTbf): Promise<void> {
    await this.client.request({
      operation: 'set TBF',
      type: RTM_QDISC.NEW,
      flags: NLM_F.CREATE | NLM_F.REPLACE,
      body: encodeTbf(tbf),
    });
  }

  /** Removes the root qdisc; the default one takes its place. @throws KernelError ENOENT */
  async deleteRootQdisc(ifindex: number): Promise<void> {
    await this.client.request({
      operation: 'delete root qdisc',
      type: RTM_QDISC.DEL,
      body: tcHeader({ ifindex, parent: TC_H.ROOT }),
    });
  }

  /** Rejects what is pending. Idempotent. */
  close(): void {
    this.client.close();
  }

  private async index(name: string): Promise<number> {
    const link = await this.link(name);
    if (!link) throw new KernelError(`interface ${name}`, ERRNO.ENODEV);
    return link.ifindex;
  }
}
