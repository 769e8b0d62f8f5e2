// Routes with a seg6local action in rtnetlink messages (include/uapi/linux/{lwtunnel,seg6_local}.h; RFC 8986). Pure.
// cnpd installs END.CON as End.DT6 and reads the routes of others: every local SID that decapsulates.
import { type IpAddress, addressBytes, addressFromBytes } from '../../model/address.ts';
import { hostPrefix } from '../../model/prefix.ts';
import { encodeRoute } from './address.ts';
import {
  type NetlinkMessage,
  attribute,
  concat,
  decodeAttributes,
  nested,
  readU32,
  struct,
  u32,
  viewOf,
} from './message.ts';

const AF_INET6 = 10;
const RTA = { DST: 1, OIF: 4, PRIORITY: 6, TABLE: 15, ENCAP_TYPE: 21, ENCAP: 22 } as const;
const LWTUNNEL_ENCAP_SEG6_LOCAL = 7;
const SEG6_LOCAL = { ACTION: 1, TABLE: 3, VRFTABLE: 9, COUNTERS: 10 } as const;
const ROUTE_HEADER = 12;
/** rtm_flags: return the entry of the table, not the route of a packet. */
const RTM_F_FIB_MATCH = 0x2000;

/** enum SEG6_LOCAL_ACTION_*: End, and the actions that decapsulate. */
const ACTIONS = { end: 1, 'end.dx6': 5, 'end.dx4': 6, 'end.dt6': 7, 'end.dt4': 8, 'end.dt46': 16 } as const;
type Seg6LocalAction = keyof typeof ACTIONS;
const ACTION_NAME: ReadonlyMap<number, Seg6LocalAction> = new Map(
  Object.entries(ACTIONS).map(([name, number]) => [number, name as Seg6LocalAction]),
);

/** A seg6local route that the kernel holds. */
export interface Seg6LocalRoute {
  /** Its destination; almost always 128 bits long. */
  readonly sid: IpAddress;
  readonly length: number;
  /** Undefined for actions that cnpd does not use. */
  readonly action: Seg6LocalAction | undefined;
  /** Table of the look-up (`table`); undefined when the action has none, or means a VRF (`vrftable`). */
  readonly table: number | undefined;
  /** The kernel counts the packets of this SID (`count`). */
  readonly counted: boolean;
  readonly ifindex: number | undefined;
  /** RTPROT_* of the installer. */
  readonly protocol: number;
  readonly metric: number;
  /** The table that contains the route. */
  readonly inTable: number;
}

export interface NewSeg6LocalRoute {
  readonly sid: IpAddress;
  readonly action: Seg6LocalAction;
  /** Of the look-up behind the SID. */
  readonly table: number;
  /**
   * The kernel requires a device, and removes the route with it. Not the loopback, on which it would reject the
   * packets.
   */
  readonly ifindex: number;
  readonly protocol: number;
}

/** A route to add, in the main table. */
export function encodeSeg6LocalRoute(route: NewSeg6LocalRoute): Uint8Array {
  return concat([
    encodeRoute({ destination: hostPrefix(route.sid), ifindex: route.ifindex, protocol: route.protocol }),
    attribute(
      RTA.ENCAP_TYPE,
      struct(2, (view) => view.setUint16(0, LWTUNNEL_ENCAP_SEG6_LOCAL, true)),
    ),
    nested(
      RTA.ENCAP,
      attribute(SEG6_LOCAL.ACTION, u32(ACTIONS[route.action])),
      attribute(SEG6_LOCAL.TABLE, u32(route.table)),
    ),
  ]);
}

/** Queries the IPv6 route that an address takes, as it is in its table (RTM_GETROUTE). */
export const routeEntryOf = (to: IpAddress): Uint8Array =>
  concat([
    struct(ROUTE_HEADER, (view) => {
      view.setUint8(0, AF_INET6);
      view.setUint8(1, 128);
      view.setUint32(8, RTM_F_FIB_MATCH, true);
    }),
    attribute(RTA.DST, addressBytes(to)),
  ]);

/** Queries the IPv6 routes of one protocol; 0: of all (RTM_GETROUTE, dump). */
export const routesOfProtocol = (protocol: number): Uint8Array =>
  struct(ROUTE_HEADER, (view) => {
    view.setUint8(0, AF_INET6);
    view.setUint8(5, protocol);
  });

/** Undefined for every other route. */
export function decodeSeg6LocalRoute({ body }: NetlinkMessage): Seg6LocalRoute | undefined {
  if (body.length < ROUTE_HEADER || body[0] !== AF_INET6) return undefined;
  const attributes = decodeAttributes(body, ROUTE_HEADER);
  const kind = attributes.get(RTA.ENCAP_TYPE);
  const encap = attributes.get(RTA.ENCAP);
  const destination = attributes.get(RTA.DST);
  if (
    !kind ||
    kind.length < 2 ||
    viewOf(kind).getUint16(0, true) !== LWTUNNEL_ENCAP_SEG6_LOCAL ||
    !encap ||
    destination?.length !== 16
  )
    return undefined;
  const local = decodeAttributes(encap);
  const action = readU32(local.get(SEG6_LOCAL.ACTION));
  return {
    sid: addressFromBytes(destination),
    length: body[1]!,
    action: action === undefined ? undefined : ACTION_NAME.get(action),
    table: readU32(local.get(SEG6_LOCAL.TABLE)),
    counted: local.has(SEG6_LOCAL.COUNTERS),
    ifindex: readU32(attributes.get(RTA.OIF)),
    protocol: body[5]!,
    metric: readU32(attributes.get(RTA.PRIORITY)) ?? 0,
    inTable: readU32(attributes.get(RTA.TABLE)) ?? body[4]!,
  };
}
