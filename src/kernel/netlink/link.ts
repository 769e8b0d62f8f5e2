// Network interfaces in rtnetlink messages (rtnetlink(7), include/uapi/linux/if_link.h). Pure.
import {
  type Attributes,
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
  viewOf,
} from './message.ts';

export const RTM_LINK = { NEW: 16, DEL: 17, GET: 18 } as const;
const IFLA = {
  ADDRESS: 1,
  IFNAME: 3,
  MTU: 4,
  LINK: 5,
  QDISC: 6,
  MASTER: 10,
  TXQLEN: 13,
  OPERSTATE: 16,
  LINKINFO: 18,
  NET_NS_FD: 28,
  EXT_MASK: 29,
  LINK_NETNSID: 37,
} as const;
const LINKINFO = { KIND: 1, DATA: 2 } as const;
const VETH_INFO_PEER = 1;
/** RTEXT_FILTER_SKIP_STATS: without the counters a dump is a third of the size. */
const SKIP_STATS = 8;
const IFF = { UP: 0x1, RUNNING: 0x40, LOWER_UP: 0x10000 } as const;
const OPER_STATE = ['unknown', 'notpresent', 'down', 'lowerlayerdown', 'testing', 'dormant', 'up'] as const;

export interface Link {
  readonly ifindex: number;
  readonly name: string;
  /** 6 bytes for Ethernet; empty when the interface has none. */
  readonly mac: Uint8Array;
  readonly mtu: number;
  /** Administratively up (IFF_UP). */
  readonly up: boolean;
  /** Carrier: up and connected (IFF_RUNNING). */
  readonly running: boolean;
  readonly operState: (typeof OPER_STATE)[number];
  /** `veth`, `tun`, `bridge`, …; undefined for a physical interface and the loopback. */
  readonly kind: string | undefined;
  /** For a veth: its peer's index, in the peer's namespace. */
  readonly peerIfindex: number | undefined;
  /** Of a VLAN or another interface on top of one: that one's index, if it is in the same namespace. */
  readonly lower: number | undefined;
  readonly master: number | undefined;
  /** Kind of the root qdisc. */
  readonly qdisc: string | undefined;
}

/** struct ifinfomsg: family, type, index, flags, change mask. */
function linkHeader(opts: { ifindex?: number; flags?: number; change?: number } = {}): Uint8Array {
  return struct(16, (view) => {
    view.setInt32(4, opts.ifindex ?? 0, true);
    view.setUint32(8, opts.flags ?? 0, true);
    view.setUint32(12, opts.change ?? 0, true);
  });
}

export const linkByIndex = (ifindex: number): Uint8Array => linkHeader({ ifindex });
export const linkByName = (name: string): Uint8Array => concat([linkHeader(), attribute(IFLA.IFNAME, text(name))]);
export const linkFilter = (name?: string): Uint8Array =>
  concat([
    linkHeader(),
    attribute(IFLA.EXT_MASK, u32(SKIP_STATS)),
    ...(name === undefined ? [] : [attribute(IFLA.IFNAME, text(name))]),
  ]);

export interface VethEnd {
  readonly name: string;
  readonly mtu?: number | undefined;
  /** Descriptor of the namespace in which it is created. */
  readonly netnsFd?: number | undefined;
  readonly mac?: Uint8Array | undefined;
  /** Default: the kernel chooses one. */
  readonly ifindex?: number | undefined;
}

const headerOf = ({ ifindex }: VethEnd): Uint8Array => linkHeader(ifindex === undefined ? {} : { ifindex });

const endAttributes = (end: VethEnd): Uint8Array[] => [
  attribute(IFLA.IFNAME, text(end.name)),
  ...(end.mtu === undefined ? [] : [attribute(IFLA.MTU, u32(end.mtu))]),
  ...(end.mac === undefined ? [] : [attribute(IFLA.ADDRESS, end.mac)]),
  ...(end.netnsFd === undefined ? [] : [attribute(IFLA.NET_NS_FD, u32(end.netnsFd))]),
];

export function encodeVeth(near: VethEnd, peer: VethEnd): Uint8Array {
  const peerInfo = attribute(VETH_INFO_PEER, concat([headerOf(peer), ...endAttributes(peer)]));
  return concat([
    headerOf(near),
    ...endAttributes(near),
    nested(IFLA.LINKINFO, attribute(LINKINFO.KIND, text('veth')), nested(LINKINFO.DATA, peerInfo)),
  ]);
}

/** A virtual interface of any kind; `data` are the kind's own attributes. */
export const encodeLinkOfKind = (name: string, kind: string, ...data: readonly Uint8Array[]): Uint8Array =>
  concat([
    linkHeader(),
    attribute(IFLA.IFNAME, text(name)),
    nested(IFLA.LINKINFO, attribute(LINKINFO.KIND, text(kind)), nested(LINKINFO.DATA, ...data)),
  ]);

export interface LinkChange {
  readonly up?: boolean | undefined;
  readonly mtu?: number | undefined;
  /** New name; the kernel requires that the interface is down. */
  readonly name?: string | undefined;
  readonly netnsFd?: number | undefined;
  readonly mac?: Uint8Array | undefined;
  readonly txQueueLength?: number | undefined;
}

export function encodeLinkChange(ifindex: number, change: LinkChange): Uint8Array {
  const parts = [
    linkHeader({ ifindex, ...(change.up === undefined ? {} : { flags: change.up ? IFF.UP : 0, change: IFF.UP }) }),
  ];
  if (change.name !== undefined) parts.push(attribute(IFLA.IFNAME, text(change.name)));
  if (change.mtu !== undefined) parts.push(attribute(IFLA.MTU, u32(change.mtu)));
  if (change.mac !== undefined) parts.push(attribute(IFLA.ADDRESS, change.mac));
  if (change.txQueueLength !== undefined) parts.push(attribute(IFLA.TXQLEN, u32(change.txQueueLength)));
  if (change.netnsFd !== undefined) parts.push(attribute(IFLA.NET_NS_FD, u32(change.netnsFd)));
  return concat(parts);
}

/** undefined when the message is too short. */
export function decodeLink(message: NetlinkMessage): Link | undefined {
  if (message.body.length < 16) return undefined;
  const view = viewOf(message.body);
  const flags = view.getUint32(8, true);
  const attributes = decodeAttributes(message.body, 16);
  const kind = kindOf(attributes);
  return {
    ifindex: view.getInt32(4, true),
    name: readText(attributes.get(IFLA.IFNAME)) ?? '',
    mac: attributes.get(IFLA.ADDRESS)?.slice() ?? new Uint8Array(0),
    mtu: readU32(attributes.get(IFLA.MTU)) ?? 0,
    up: (flags & IFF.UP) !== 0,
    running: (flags & IFF.RUNNING) !== 0,
    operState: OPER_STATE[attributes.get(IFLA.OPERSTATE)?.[0] ?? 0] ?? 'unknown',
    kind,
    peerIfindex: kind === 'veth' ? readU32(attributes.get(IFLA.LINK)) : undefined,
    lower: kind === 'veth' || attributes.has(IFLA.LINK_NETNSID) ? undefined : readU32(attributes.get(IFLA.LINK)),
    master: readU32(attributes.get(IFLA.MASTER)),
    qdisc: readText(attributes.get(IFLA.QDISC)),
  };
}

function kindOf(attributes: Attributes): string | undefined {
  const info = attributes.get(IFLA.LINKINFO);
  return info && readText(decodeAttributes(info).get(LINKINFO.KIND));
}
