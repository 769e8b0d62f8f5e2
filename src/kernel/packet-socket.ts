// AF_PACKET sockets: whole Ethernet frames from and to one interface (packet(7)). The poller reads many frames at a
// time. A VLAN tag that the driver removed from the frame is not restored: the interfaces used here are veth ends
// without VLAN offload.
import { ERRNO, KernelError } from './errors.ts';
import {
  AF,
  SOCK,
  SOL,
  bindSocket,
  close,
  getOption,
  interfaceIndex,
  send,
  setIntOption,
  setOption,
  SO,
  socket,
  socketName,
} from './ffi/libc.ts';
import { type Netns, within } from './netns.ts';
import type { Poller } from './poller.ts';
import { ReceiveBatch } from './receive-batch.ts';
import { RECEIVE_SLOTS, Receiver } from './receiver.ts';

export const ETH_P_ALL = 0x0003;

const PACKET = { ADD_MEMBERSHIP: 1, STATISTICS: 6, IGNORE_OUTGOING: 23 } as const;
const MEMBERSHIP = { MULTICAST: 0, PROMISCUOUS: 1 } as const;
/** struct sockaddr_ll: family, protocol (network order), ifindex, hatype, pkttype, halen, addr[8]. */
const ADDRESS = { size: 20, protocol: 2, ifindex: 4, packetType: 10, length: 11, address: 12 } as const;
const PACKET_OUTGOING = 4;

interface PacketSocketOptions {
  readonly interface: string;
  readonly netns?: Netns | undefined;
  /** Ethertype, host order; 4 for 802.3 frames with an LLC header; default ETH_P_ALL. */
  readonly protocol?: number | undefined;
  /** Multicast MAC addresses to receive. */
  readonly multicast?: readonly Uint8Array[] | undefined;
  readonly promiscuous?: boolean | undefined;
  /** Deliver this host's own frames too (as `outgoing`), for captures. */
  readonly outgoing?: boolean | undefined;
  /** Longest frame in bytes; a longer one is reported as EMSGSIZE and not delivered. Default 9216. */
  readonly maxFrame?: number | undefined;
  /** Receive buffer in bytes; may exceed the system's limit. */
  readonly receiveBuffer?: number | undefined;
}

export interface PacketSocketDependencies {
  readonly poller: Poller;
  /** `frame` is a whole Ethernet frame without FCS, valid only during the call. */
  onFrame(frame: Uint8Array, outgoing: boolean): void;
  /** ENETDOWN: the interface went down (it may come back). ENODEV: it is gone; close the socket. */
  onError(error: KernelError): void;
}

export interface PacketSocket {
  /** The interface's address, 6 bytes. */
  readonly mac: Uint8Array;
  readonly ifindex: number;
  /** Sends a whole Ethernet frame. @throws KernelError ENETDOWN, ENOBUFS (queue full), EMSGSIZE (beyond the MTU) */
  send(frame: Uint8Array): void;
  /** Frames that the kernel dropped because the receive buffer was full, since the last call. */
  drops(): number;
  /** Idempotent. */
  close(): void;
}

function linkAddress(protocol: number, ifindex: number): Uint8Array {
  const bytes = new Uint8Array(ADDRESS.size);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, AF.PACKET, true);
  view.setUint16(ADDRESS.protocol, protocol, false);
  view.setInt32(ADDRESS.ifindex, ifindex, true);
  return bytes;
}

/** struct packet_mreq: ifindex, type, address length, address[8]. */
function membership(ifindex: number, type: number, address: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, ifindex, true);
  view.setUint16(4, type, true);
  view.setUint16(6, address.length, true);
  bytes.set(address, 8);
  return bytes;
}

function configure(fd: number, ifindex: number, opts: PacketSocketOptions): void {
  const on = (what: string): string => `${what}(${opts.interface})`;
  if (opts.outgoing !== true) setIntOption(on('PACKET_IGNORE_OUTGOING'), fd, SOL.PACKET, PACKET.IGNORE_OUTGOING, 1);
  if (opts.receiveBuffer !== undefined)
    setIntOption(on('SO_RCVBUFFORCE'), fd, SOL.SOCKET, SO.RCVBUFFORCE, opts.receiveBuffer);
  bindSocket(on('bind'), fd, linkAddress(opts.protocol ?? ETH_P_ALL, ifindex));
  for (const group of opts.multicast ?? []) {
    setOption(
      on('PACKET_ADD_MEMBERSHIP multicast'),
      fd,
      SOL.PACKET,
      PACKET.ADD_MEMBERSHIP,
      membership(ifindex, MEMBERSHIP.MULTICAST, group),
    );
  }
  if (opts.promiscuous === true) {
    setOption(
      on('PACKET_ADD_MEMBERSHIP promiscuous'),
      fd,
      SOL.PACKET,
      PACKET.ADD_MEMBERSHIP,
      membership(ifindex, MEMBERSHIP.PROMISCUOUS, new Uint8Array(0)),
    );
  }
}

/**
 * Opens a packet socket on an interface. It is bound before it receives, so it never delivers a frame of another
 * interface.
 * @throws KernelError ENODEV (no such interface), EPERM
 */
export function openPacketSocket(opts: PacketSocketOptions, dependencies: PacketSocketDependencies): PacketSocket {
  return within(opts.netns, () => {
    const ifindex = interfaceIndex(opts.interface);
    // Protocol 0: nothing is received until bind names the interface and the protocol.
    const fd = socket('socket(AF_PACKET)', AF.PACKET, SOCK.RAW, 0);
    try {
      configure(fd, ifindex, opts);
      const name = socketName(fd, ADDRESS.size);
      const mac = name.slice(ADDRESS.address, ADDRESS.address + name[ADDRESS.length]!);
      return new AfPacketSocket(
        { fd, ifindex, mac, interface: opts.interface, maxFrame: opts.maxFrame ?? 9216 },
        dependencies,
      );
    } catch (error) {
      close(fd);
      throw error;
    }
  });
}

class AfPacketSocket implements PacketSocket {
  readonly mac: Uint8Array;
  readonly ifindex: number;
  private readonly interface: string;
  private readonly receiver: Receiver;

  constructor(
    opts: { fd: number; ifindex: number; mac: Uint8Array; interface: string; maxFrame: number },
    dependencies: PacketSocketDependencies,
  ) {
    this.ifindex = opts.ifindex;
    this.mac = opts.mac;
    this.interface = opts.interface;
    const batch = new ReceiveBatch({ slots: RECEIVE_SLOTS, slotSize: opts.maxFrame, nameSize: ADDRESS.size });
    const deliver = (i: number): void =>
      dependencies.onFrame(batch.data(i), batch.nameByte(i, ADDRESS.packetType) === PACKET_OUTGOING);
    this.receiver = new Receiver(
      { fd: opts.fd, batch, operation: `receive(${opts.interface})`, unit: 'a frame' },
      { ...dependencies, deliver },
    );
  }

  send(frame: Uint8Array): void {
    if (this.receiver.closed) throw new Error(`packet socket on ${this.interface} was closed`);
    if (send(`send(${this.interface})`, this.receiver.fd, frame) === undefined)
      throw new KernelError(`send(${this.interface})`, ERRNO.ENOBUFS, 'the send buffer is full');
  }

  drops(): number {
    if (this.receiver.closed) return 0;
    // struct tpacket_stats: packets, drops; reading resets both.
    return getOption('PACKET_STATISTICS', this.receiver.fd, SOL.PACKET, PACKET.STATISTICS, 8).getUint32(4, true);
  }

  close(): void {
    this.receiver.close();
  }
}
