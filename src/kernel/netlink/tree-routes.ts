// The routes into trees of groups (decision "Groups"), read and changed synchronously (synchronous.ts): all to single
// IPv6 addresses, with cnpd's protocol number. No other route is changed.
//
// A route that encapsulates sends Packet Too Big to the source of the outer header, which is this router. So a packet
// takes two: the first one, in the main table, has the MTU that is left for the source and leads through a veth. Behind
// it a rule selects cnpd's own table, whose route encapsulates.
import { type IpAddress, addressBytes, addressFromBytes, formatAddress } from '../../model/address.ts';
import { isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import { RTM_ROUTE } from './address.ts';
import {
  NLM_F,
  type NetlinkMessage,
  attribute,
  concat,
  decodeAttributes,
  nested,
  readText,
  readU32,
  struct,
  text,
  u32,
} from './message.ts';
import { decodeSeg6Encap, encodeSeg6Encap } from './seg6-encap.ts';
import { routesOfProtocol } from './seg6local.ts';
import { RTPROT_CNPD } from './sid-routes.ts';
import { SynchronousNetlink } from './synchronous.ts';

export const MAIN_TABLE = 254;
/** cnpd's own table: above 255, so that no distribution has a name for it. */
export const TREE_TABLE = 479_111;
/** Ahead of the main table (32766) and of VRFs (1000). */
const RULE_PRIORITY = 111;

const AF_INET6 = 10;
const RTA = { DST: 1, OIF: 4, PRIORITY: 6, METRICS: 8, TABLE: 15, ENCAP_TYPE: 21 } as const;
const RTAX = { LOCK: 1, MTU: 2 } as const;
const RTN = { UNICAST: 1, BLACKHOLE: 6 } as const;
const RTM_RULE = { NEW: 32, DEL: 33, GET: 34 } as const;
const FRA = { IIFNAME: 3, PRIORITY: 6, TABLE: 15, PROTOCOL: 21 } as const;
const FR_ACT_TO_TBL = 1;
const HEADER = 12;
/** Of a route without one. */
const DEFAULT_METRIC = 1024;

/** A route to one address. */
export interface TreeRoute {
  readonly destination: IpAddress;
  readonly table: number;
  /** Undefined: packets are dropped without an answer. */
  readonly ifindex: number | undefined;
  /** Octets of a packet that may pass, whatever the MTU of the device; undefined: that MTU. */
  readonly mtu: number | undefined;
  /** Undefined: the kernel's default, 1024. */
  readonly metric?: number | undefined;
  /** Header with which packets are encapsulated; undefined: they are not. */
  readonly srh: Uint8Array | undefined;
}

/** A route of the main table that drops packets to this address. */
export const blackhole = (destination: IpAddress, metric?: number): TreeRoute => ({
  ...{ destination, table: MAIN_TABLE, metric },
  ...{ ifindex: undefined, mtu: undefined, srh: undefined },
});

/** Whether the route is a blackhole() of this metric. */
export const isBlackhole = ({ table, ifindex, metric }: TreeRoute, ofMetric?: number): boolean =>
  table === MAIN_TABLE && ifindex === undefined && metric === ofMetric;

/** A route that the kernel holds. */
interface FoundTreeRoute extends TreeRoute {
  readonly protocol: number;
}

/** struct rtmsg, then attributes. */
export const encodeTreeRoute = ({ destination, table, ifindex, mtu, metric, srh }: TreeRoute): Uint8Array =>
  concat([
    struct(HEADER, (view) => {
      view.setUint8(0, AF_INET6);
      view.setUint8(1, 128);
      view.setUint8(4, table < 256 ? table : 0);
      view.setUint8(5, RTPROT_CNPD);
      view.setUint8(7, ifindex === undefined ? RTN.BLACKHOLE : RTN.UNICAST);
    }),
    attribute(RTA.DST, addressBytes(destination)),
    attribute(RTA.TABLE, u32(table)),
    ...(ifindex === undefined ? [] : [attribute(RTA.OIF, u32(ifindex))]),
    ...(metric === undefined ? [] : [attribute(RTA.PRIORITY, u32(metric))]),
    // Locked: only such an MTU also holds for packets that are forwarded.
    ...(mtu === undefined
      ? []
      : [nested(RTA.METRICS, attribute(RTAX.LOCK, u32(1 << RTAX.MTU)), attribute(RTAX.MTU, u32(mtu)))]),
    ...(srh ? [encodeSeg6Encap(srh)] : []),
  ]);

/** Undefined for a route to more than one address, and for one with another encapsulation. */
export function decodeTreeRoute(message: NetlinkMessage): FoundTreeRoute | undefined {
  const { body } = message;
  if (body.length < HEADER || body[0] !== AF_INET6 || body[1] !== 128) return undefined;
  const attributes = decodeAttributes(body, HEADER);
  const destination = attributes.get(RTA.DST);
  const srh = decodeSeg6Encap(message);
  if (destination?.length !== 16 || (attributes.has(RTA.ENCAP_TYPE) && !srh)) return undefined;
  const metrics = attributes.get(RTA.METRICS);
  const metric = readU32(attributes.get(RTA.PRIORITY)) ?? DEFAULT_METRIC;
  return {
    destination: addressFromBytes(destination),
    table: readU32(attributes.get(RTA.TABLE)) ?? body[4]!,
    protocol: body[5]!,
    ifindex: body[7] === RTN.UNICAST ? readU32(attributes.get(RTA.OIF)) : undefined,
    mtu: metrics && readU32(decodeAttributes(metrics).get(RTAX.MTU)),
    metric: metric === DEFAULT_METRIC ? undefined : metric,
    srh,
  };
}

const ruleBody = (iif: string): Uint8Array =>
  concat([
    struct(HEADER, (view) => {
      view.setUint8(0, AF_INET6);
      view.setUint8(7, FR_ACT_TO_TBL);
    }),
    attribute(FRA.IIFNAME, text(iif)),
    attribute(FRA.PRIORITY, u32(RULE_PRIORITY)),
    attribute(FRA.TABLE, u32(TREE_TABLE)),
    attribute(FRA.PROTOCOL, Uint8Array.of(RTPROT_CNPD)),
  ]);

export class TreeRoutes {
  readonly #netlink: SynchronousNetlink;

  private constructor(netlink: SynchronousNetlink) {
    this.#netlink = netlink;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): TreeRoutes {
    return new TreeRoutes(SynchronousNetlink.open(opts));
  }

  /** cnpd's routes of these kinds, of this run and of earlier ones. @throws KernelError */
  own(): TreeRoute[] {
    return this.#netlink
      .request({ operation: 'list routes', type: RTM_ROUTE.GET, body: routesOfProtocol(RTPROT_CNPD) }, NLM_F.DUMP)
      .map(decodeTreeRoute)
      .filter((route) => route?.protocol === RTPROT_CNPD) as TreeRoute[];
  }

  /** @throws KernelError EEXIST (the table has a route to this address), and as replace */
  add(route: TreeRoute): void {
    this.#new(route, NLM_F.EXCL);
  }

  /**
   * Adds the route, or replaces the one to this address in this table; no packet sees the table without it.
   * @throws KernelError EINVAL (the kernel refuses the header, or has no SRv6), ENODEV
   */
  replace(route: TreeRoute): void {
    this.#new(route, NLM_F.REPLACE);
  }

  #new(route: TreeRoute, flag: number): void {
    const operation = `add route to ${formatAddress(route.destination)}`;
    this.#netlink.request({ operation, type: RTM_ROUTE.NEW, flags: NLM_F.CREATE | flag, body: encodeTreeRoute(route) });
  }

  /** Removes a route of cnpd; returns false when there was none. @throws KernelError */
  remove(route: TreeRoute): boolean {
    return this.#removed('delete route of a group', RTM_ROUTE.DEL, encodeTreeRoute({ ...route, srh: undefined }));
  }

  /** Whether packets that arrive at this interface use cnpd's own table. @throws KernelError */
  hasRule(iif: string): boolean {
    return this.#rules().includes(iif);
  }

  /** @throws KernelError EEXIST */
  addRule(iif: string): void {
    const flags = NLM_F.CREATE | NLM_F.EXCL;
    this.#netlink.request({ operation: 'add rule', type: RTM_RULE.NEW, flags, body: ruleBody(iif) });
  }

  /** Returns false when there was none. @throws KernelError */
  removeRule(iif: string): boolean {
    return this.#removed('delete rule', RTM_RULE.DEL, ruleBody(iif));
  }

  #removed(operation: string, type: number, body: Uint8Array): boolean {
    try {
      this.#netlink.request({ operation, type, body });
      return true;
    } catch (error) {
      if (isKernelError(error) && ['ESRCH', 'ENOENT'].includes(error.code)) return false;
      throw error;
    }
  }

  #rules(): string[] {
    const header = struct(HEADER, (view) => view.setUint8(0, AF_INET6));
    return this.#netlink
      .request({ operation: 'list rules', type: RTM_RULE.GET, body: header }, NLM_F.DUMP)
      .map(({ body }) => decodeAttributes(body, HEADER))
      .filter((rule) => rule.get(FRA.PROTOCOL)?.[0] === RTPROT_CNPD && readU32(rule.get(FRA.TABLE)) === TREE_TABLE)
      .flatMap((rule) => readText(rule.get(FRA.IIFNAME)) ?? []);
  }

  /** Idempotent. */
  close(): void {
    this.#netlink.close();
  }
}
