// Changes of interfaces, addresses and qdiscs that the kernel announces, on a socket of their own, so that
// announcements never displace answers. When the kernel had to drop some (ENOBUFS), onResync is called and the owner
// reads the tables again. Open the monitor before the first reading.
import type { KernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import type { Poller } from '../poller.ts';
import { type InterfaceAddress, RTM_ADDRESS, decodeAddress } from './address.ts';
import { type Link, RTM_LINK, decodeLink } from './link.ts';
import { type NetlinkMessage, decodeMessages } from './message.ts';
import { NetlinkSocket } from './socket.ts';
import { type Qdisc, RTM_QDISC, decodeQdisc } from './traffic-control.ts';

/** RTMGRP_LINK, RTMGRP_TC, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR. */
const GROUPS = 0x1 | 0x8 | 0x10 | 0x100;

export type KernelChange =
  | { readonly kind: 'link'; readonly removed: boolean; readonly link: Link }
  | { readonly kind: 'address'; readonly removed: boolean; readonly address: InterfaceAddress }
  | { readonly kind: 'qdisc'; readonly removed: boolean; readonly qdisc: Qdisc };

interface MonitorDependencies {
  readonly poller: Poller;
  onChange(change: KernelChange): void;
  /** Announcements were lost; the earlier ones have been delivered. */
  onResync(): void;
  onError(error: KernelError): void;
}

type Decode = (message: NetlinkMessage) => KernelChange | undefined;

const link =
  (removed: boolean): Decode =>
  (message) => {
    const decoded = decodeLink(message);
    return decoded && { kind: 'link', removed, link: decoded };
  };
const address =
  (removed: boolean): Decode =>
  (message) => {
    const decoded = decodeAddress(message);
    return decoded && { kind: 'address', removed, address: decoded };
  };
const qdisc =
  (removed: boolean): Decode =>
  (message) => {
    const decoded = decodeQdisc(message);
    return decoded && { kind: 'qdisc', removed, qdisc: decoded };
  };

const DECODERS: ReadonlyMap<number, Decode> = new Map([
  [RTM_LINK.NEW, link(false)],
  [RTM_LINK.DEL, link(true)],
  [RTM_ADDRESS.NEW, address(false)],
  [RTM_ADDRESS.DEL, address(true)],
  [RTM_QDISC.NEW, qdisc(false)],
  [RTM_QDISC.DEL, qdisc(true)],
]);

/** The change that a message announces; undefined for messages of no interest here. Pure. */
export const decodeChange = (message: NetlinkMessage): KernelChange | undefined =>
  DECODERS.get(message.type)?.(message);

/** An exception of the owner does not stop the following changes. */
function announce(message: NetlinkMessage, dependencies: MonitorDependencies): void {
  const change = decodeChange(message);
  if (!change) return;
  try {
    dependencies.onChange(change);
  } catch (error) {
    dependencies.poller.report(error);
  }
}

/** @throws KernelError */
export function openMonitor(
  opts: { netns?: Netns | undefined; receiveBuffer?: number | undefined },
  dependencies: MonitorDependencies,
): { close(): void } {
  return NetlinkSocket.open(
    { netns: opts.netns, groups: GROUPS, receiveBuffer: opts.receiveBuffer },
    {
      poller: dependencies.poller,
      onDatagram: (bytes) => {
        const { messages, complete } = decodeMessages(bytes);
        for (const message of messages) announce(message, dependencies);
        // An unreadable message may have hidden others.
        if (!complete) dependencies.onResync();
      },
      onLoss: () => dependencies.onResync(),
      onError: (error) => dependencies.onError(error),
    },
  );
}
