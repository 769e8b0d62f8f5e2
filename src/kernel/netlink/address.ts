// Interface addresses, routes and neighbors in rtnetlink messages (rtnetlink(7),
// include/uapi/linux/{if_addr,rtnetlink,neighbor}.h). Pure.
import { type IpAddress, addressBits, addressBytes, addressFromBytes } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { type NetlinkMessage, attribute, concat, decodeAttributes, readU32, struct, u32, viewOf } from './message.ts';

const AF = { INET: 2, INET6: 10 } as const;
export const RTM_ADDRESS = { NEW: 20, DEL: 21, GET: 22 } as const;
export const RTM_ROUTE = { NEW: 24, DEL: 25, GET: 26 } as const;
export const RTM_NEIGHBOR = { NEW: 28, DEL: 29 } as const;
const IFA = { ADDRESS: 1, LOCAL: 2, FLAGS: 8 } as const;
const IFA_F = { NODAD: 0x02, DADFAILED: 0x08, TENTATIVE: 0x40 } as const;
const RTA = { DST: 1, OIF: 4, GATEWAY: 5, PRIORITY: 6, PREFSRC: 7, TABLE: 15 } as const;
const NDA = { DST: 1, LLADDR: 2 } as const;
const NUD_PERMANENT = 0x80;
const RT_TABLE_MAIN = 254;
const RT_SCOPE_LINK = 253;
const RTN_UNICAST = 1;

const familyOf = (a: IpAddress): number => (a.family === 4 ? AF.INET : AF.INET6);
/** The address in an attribute, if it has the length of one. */
const readAddress = (value: Uint8Array | undefined): IpAddress | undefined =>
  value && (value.length === 4 || value.length === 16) ? addressFromBytes(value) : undefined;

export interface InterfaceAddress {
  readonly ifindex: number;
  readonly address: IpAddress;
  /** Prefix length. */
  readonly length: number;
  /** 0 global, 253 link, 254 host. */
  readonly scope: number;
  /** Duplicate address detection is still running: the address cannot be used as a source yet. */
  readonly tentative: boolean;
  readonly duplicate: boolean;
}

/** struct ifaddrmsg: family, prefix length, flags, scope, index. */
export function encodeAddress(
  ifindex: number,
  a: IpAddress,
  length: number,
  opts: { nodad?: boolean | undefined } = {},
): Uint8Array {
  const header = struct(8, (view) => {
    view.setUint8(0, familyOf(a));
    view.setUint8(1, length);
    view.setUint32(4, ifindex, true);
  });
  const bytes = addressBytes(a);
  const flags = opts.nodad === true && a.family === 6 ? [attribute(IFA.FLAGS, u32(IFA_F.NODAD))] : [];
  return concat([header, attribute(IFA.LOCAL, bytes), attribute(IFA.ADDRESS, bytes), ...flags]);
}

export const addressFilter = (): Uint8Array => new Uint8Array(8);

/** undefined when the message holds no address. */
export function decodeAddress(message: NetlinkMessage): InterfaceAddress | undefined {
  if (message.body.length < 8) return undefined;
  const view = viewOf(message.body);
  const attributes = decodeAttributes(message.body, 8);
  // On a point-to-point interface ADDRESS is the peer's and LOCAL the own.
  const address = readAddress(attributes.get(IFA.LOCAL)) ?? readAddress(attributes.get(IFA.ADDRESS));
  if (!address) return undefined;
  const flags = readU32(attributes.get(IFA.FLAGS)) ?? view.getUint8(2);
  return {
    ifindex: view.getUint32(4, true),
    address,
    length: view.getUint8(1),
    scope: view.getUint8(3),
    tentative: (flags & IFA_F.TENTATIVE) !== 0,
    duplicate: (flags & IFA_F.DADFAILED) !== 0,
  };
}

export interface Route {
  readonly destination: Prefix;
  readonly ifindex: number | undefined;
  readonly gateway: IpAddress | undefined;
  /** Source address that the kernel prefers. */
  readonly source: IpAddress | undefined;
  readonly table: number;
  /** The installer: RTPROT_* or a daemon's own number. */
  readonly protocol: number;
  readonly metric: number;
}

export interface NewRoute {
  readonly destination: Prefix;
  readonly ifindex?: number | undefined;
  readonly gateway?: IpAddress | undefined;
  readonly table?: number | undefined;
  /** Required: a route of cnpd carries cnpd's number, so that pruning removes no other. */
  readonly protocol: number;
  readonly metric?: number | undefined;
}

interface RouteHeader {
  family: number;
  length: number;
  table?: number;
  protocol?: number;
  scope?: number;
  type?: number;
}

/** struct rtmsg: family, destination and source length, tos, table, protocol, scope, type, flags. */
const routeHeader = (h: RouteHeader): Uint8Array =>
  struct(12, (view) => {
    [h.family, h.length, 0, 0, h.table ?? 0, h.protocol ?? 0, h.scope ?? 0, h.type ?? 0].forEach((value, i) =>
      view.setUint8(i, value),
    );
  });

export function encodeRoute(route: NewRoute): Uint8Array {
  const { destination, gateway } = route;
  const table = route.table ?? RT_TABLE_MAIN;
  const scope = destination.address.family === 4 && !gateway ? RT_SCOPE_LINK : 0;
  const header = routeHeader({
    family: familyOf(destination.address),
    length: destination.length,
    table: table < 256 ? table : 0,
    protocol: route.protocol,
    scope,
    type: RTN_UNICAST,
  });
  return concat([
    header,
    ...(destination.length > 0 ? [attribute(RTA.DST, addressBytes(destination.address))] : []),
    attribute(RTA.TABLE, u32(table)),
    ...(gateway ? [attribute(RTA.GATEWAY, addressBytes(gateway))] : []),
    ...(route.ifindex === undefined ? [] : [attribute(RTA.OIF, u32(route.ifindex))]),
    ...(route.metric === undefined ? [] : [attribute(RTA.PRIORITY, u32(route.metric))]),
  ]);
}

/** Queries how the kernel would reach one address. */
export const routeTo = (to: IpAddress): Uint8Array =>
  concat([routeHeader({ family: familyOf(to), length: addressBits(to.family) }), attribute(RTA.DST, addressBytes(to))]);

/** Queries the routes of one family. */
export const routeFilter = (family: 4 | 6): Uint8Array =>
  routeHeader({ family: family === 4 ? AF.INET : AF.INET6, length: 0 });

/** undefined for families other than IPv4 and IPv6. */
export function decodeRoute(message: NetlinkMessage): Route | undefined {
  const { body } = message;
  if (body.length < 12 || (body[0] !== AF.INET && body[0] !== AF.INET6)) return undefined;
  const attributes = decodeAttributes(body, 12);
  const family = body[0] === AF.INET ? 4 : 6;
  return {
    destination: { address: readAddress(attributes.get(RTA.DST)) ?? { family, value: 0n }, length: body[1]! },
    ifindex: readU32(attributes.get(RTA.OIF)),
    gateway: readAddress(attributes.get(RTA.GATEWAY)),
    source: readAddress(attributes.get(RTA.PREFSRC)),
    table: readU32(attributes.get(RTA.TABLE)) ?? body[4]!,
    protocol: body[5]!,
    metric: readU32(attributes.get(RTA.PRIORITY)) ?? 0,
  };
}

/** A permanent neighbor. struct ndmsg: family, index, state, flags, type. */
export function encodeNeighbor(ifindex: number, a: IpAddress, mac: Uint8Array): Uint8Array {
  const header = struct(12, (view) => {
    view.setUint8(0, familyOf(a));
    view.setInt32(4, ifindex, true);
    view.setUint16(8, NUD_PERMANENT, true);
  });
  return concat([header, attribute(NDA.DST, addressBytes(a)), attribute(NDA.LLADDR, mac)]);
}
