// UDP sockets and raw ICMPv6 sockets on the poller (udp(7), raw(7), RFC 3542). Each datagram comes with its source, its
// remaining TTL or hop limit, and the time at which the kernel received it. Delays in the event loop do not change that
// time.
import type { IpAddress } from '../model/address.ts';
import { ERRNO, KernelError } from './errors.ts';
import {
  SOCK,
  SOL,
  bindSocket,
  close,
  getOption,
  sendTo,
  setIntOption,
  setOption,
  socket,
  socketName,
} from './ffi/libc.ts';
import { type Netns, within } from './netns.ts';
import type { Poller } from './poller.ts';
import { type FilterInstruction, attachFilter } from './socket-filter.ts';
import { ReceiveBatch } from './receive-batch.ts';
import { RECEIVE_SLOTS, Receiver } from './receiver.ts';
import {
  type SocketAddress,
  decodeSocketAddress,
  domainOf,
  encodeSocketAddress,
  socketAddressSize,
} from './socket-address.ts';

const IPPROTO = { IP: 0, UDP: 17, IPV6: 41, ICMPV6: 58 } as const;
const SO_TIMESTAMPNS = 35;
const SO_MEMINFO = 55;
/** Nine words, the last of which counts drops: enum in linux/sock_diag.h. */
const MEMINFO = { size: 36, drops: 32 } as const;
const ICMP6_FILTER = 1;
interface IpOptions {
  readonly level: number;
  readonly hopLimit: number;
  readonly trafficClass: number;
  readonly receiveHopLimit: number;
  /** Type of the control message with the received TTL or hop limit. */
  readonly receivedHopLimit: number;
  readonly freebind: number;
  readonly receivePacketInfo: number;
  /** Type of the control message with the interface's index, and the offset of that index. */
  readonly packetInfo: number;
  readonly packetInfoIfindex: number;
}
const OPTIONS: Readonly<Record<4 | 6, IpOptions>> = {
  4: {
    level: IPPROTO.IP,
    hopLimit: 2,
    trafficClass: 1,
    receiveHopLimit: 12,
    receivedHopLimit: 2,
    freebind: 15,
    receivePacketInfo: 8,
    packetInfo: 8,
    packetInfoIfindex: 0,
  },
  6: {
    level: IPPROTO.IPV6,
    hopLimit: 16,
    trafficClass: 67,
    receiveHopLimit: 51,
    receivedHopLimit: 52,
    freebind: 78,
    receivePacketInfo: 49,
    packetInfo: 50,
    packetInfoIfindex: 16,
  },
};
const IPV6_V6ONLY = 26;
/** The address of a socket without a bind address. */
const anyAddress = (family: 4 | 6): IpAddress => ({ family, value: 0n });
/** struct cmsghdr: length (8), level (4), type (4), data, padded to 8. */
const CONTROL = { header: 16, level: 8, type: 12, size: 128 } as const;

export interface Datagram {
  /** Valid only during the call. UDP: the payload. ICMPv6: the message from its type on. */
  readonly data: Uint8Array;
  readonly from: SocketAddress;
  /** The remaining TTL or hop limit; undefined when the kernel did not report it. */
  readonly hopLimit: number | undefined;
  /** Wall clock, nanoseconds since 1970; undefined when the kernel did not report it. */
  readonly receivedNs: bigint | undefined;
  /** The ingress interface; undefined when the kernel did not report it. */
  readonly ifindex: number | undefined;
}

interface DatagramSocketDependencies {
  readonly poller: Poller;
  onDatagram(datagram: Datagram): void;
  /**
   * EMSGSIZE: a datagram was longer than expected and is not delivered. Other errors concern datagrams sent earlier
   * (ECONNREFUSED …).
   */
  onError(error: KernelError): void;
}

export interface DatagramSocket {
  /** The port that the socket is bound to. */
  readonly port: number;
  /** @throws KernelError ENETUNREACH, EPERM, ENOBUFS (the send buffer is full: nothing is sent) … */
  send(data: Uint8Array, to: SocketAddress): void;
  /** From the next datagram on. @throws KernelError EINVAL (no such program) */
  setFilter(program: readonly FilterInstruction[]): void;
  /** Datagrams that the filter has refused, or that found the buffer full. Wraps at 2³². @throws KernelError */
  drops(): number;
  /** Idempotent. */
  close(): void;
}

interface UdpSocketOptions {
  readonly family: 4 | 6;
  readonly netns?: Netns | undefined;
  /** The socket's own address. Default: any of the family, any port. */
  readonly bind?: SocketAddress | undefined;
  /** The address need not exist (yet). */
  readonly freebind?: boolean | undefined;
  /** TTL or hop limit of sent datagrams. Default: the system's. */
  readonly hopLimit?: number | undefined;
  /** Traffic class of sent datagrams. */
  readonly trafficClass?: number | undefined;
  /** Longest datagram, bytes; default 1500. */
  readonly maxDatagram?: number | undefined;
  /** Only what this program lets pass is received. */
  readonly filter?: readonly FilterInstruction[] | undefined;
}

/** @throws KernelError EADDRINUSE, EADDRNOTAVAIL, EACCES */
export function openUdpSocket(opts: UdpSocketOptions, dependencies: DatagramSocketDependencies): DatagramSocket {
  const { family } = opts;
  const options = OPTIONS[family];
  const fd = within(opts.netns, () => socket(`socket(UDP, IPv${family})`, domainOf(family), SOCK.DGRAM, IPPROTO.UDP));
  return guarded(fd, () => {
    if (family === 6) setIntOption('IPV6_V6ONLY', fd, IPPROTO.IPV6, IPV6_V6ONLY, 1);
    if (opts.freebind === true) setIntOption('IP_FREEBIND', fd, options.level, options.freebind, 1);
    if (opts.hopLimit !== undefined) setIntOption('IP_TTL', fd, options.level, options.hopLimit, opts.hopLimit);
    if (opts.trafficClass !== undefined)
      setIntOption('IP_TOS', fd, options.level, options.trafficClass, opts.trafficClass);
    if (opts.filter) attachFilter('SO_ATTACH_FILTER', fd, opts.filter);
    bindSocket(
      `bind(UDP, port ${opts.bind?.port ?? 0})`,
      fd,
      encodeSocketAddress(opts.bind ?? { address: anyAddress(family), port: 0 }),
    );
    return new KernelDatagramSocket({ fd, family, name: 'UDP', maxDatagram: opts.maxDatagram ?? 1500 }, dependencies);
  });
}

/**
 * Receives ICMPv6 messages of the given types for this host; the kernel has checked their checksums.
 * @throws KernelError EPERM
 */
export function openIcmpv6Socket(
  opts: { readonly netns?: Netns | undefined; readonly types: readonly number[] },
  dependencies: DatagramSocketDependencies,
): DatagramSocket {
  const fd = within(opts.netns, () => socket('socket(ICMPv6)', domainOf(6), SOCK.RAW, IPPROTO.ICMPV6));
  return guarded(fd, () => {
    // struct icmp6_filter: a bit for each type, set to block.
    const blocked = new Uint32Array(8).fill(0xffff_ffff);
    for (const type of opts.types) blocked[type >>> 5]! &= ~(1 << (type & 31));
    setOption('ICMP6_FILTER', fd, IPPROTO.ICMPV6, ICMP6_FILTER, new Uint8Array(blocked.buffer));
    return new KernelDatagramSocket({ fd, family: 6, name: 'ICMPv6', maxDatagram: 1500 }, dependencies);
  });
}

function guarded(fd: number, open: () => DatagramSocket): DatagramSocket {
  try {
    return open();
  } catch (error) {
    close(fd);
    throw error;
  }
}

class KernelDatagramSocket implements DatagramSocket {
  readonly port: number;
  private readonly family: 4 | 6;
  private readonly name: string;
  private readonly receiver: Receiver;

  constructor(
    opts: { fd: number; family: 4 | 6; name: string; maxDatagram: number },
    dependencies: DatagramSocketDependencies,
  ) {
    const { fd, family, name } = opts;
    [this.family, this.name] = [family, name];
    const options = OPTIONS[family];
    setIntOption('SO_TIMESTAMPNS', fd, SOL.SOCKET, SO_TIMESTAMPNS, 1);
    setIntOption('IP_RECVTTL', fd, options.level, options.receiveHopLimit, 1);
    setIntOption('IP_PKTINFO', fd, options.level, options.receivePacketInfo, 1);
    const nameSize = socketAddressSize(family);
    this.port = decodeSocketAddress(socketName(fd, nameSize), family).port;
    const batch = new ReceiveBatch({
      slots: RECEIVE_SLOTS,
      slotSize: opts.maxDatagram,
      nameSize,
      controlSize: CONTROL.size,
    });
    const deliver = (i: number): void =>
      dependencies.onDatagram({
        data: batch.data(i),
        from: decodeSocketAddress(batch.name(i), family),
        ...readControl(batch.control(i), options),
      });
    this.receiver = new Receiver(
      { fd, batch, operation: `receive(${name})`, unit: 'a datagram' },
      { ...dependencies, deliver },
    );
  }

  send(data: Uint8Array, to: SocketAddress): void {
    if (this.receiver.closed) throw new Error(`this ${this.name} socket was closed`);
    const operation = `send(${this.name}, IPv${this.family})`;
    if (sendTo(operation, this.receiver.fd, data, encodeSocketAddress(to)) === undefined)
      throw new KernelError(operation, ERRNO.ENOBUFS, 'the send buffer is full');
  }

  setFilter(program: readonly FilterInstruction[]): void {
    attachFilter('SO_ATTACH_FILTER', this.receiver.fd, program);
  }

  drops(): number {
    return getOption('SO_MEMINFO', this.receiver.fd, SOL.SOCKET, SO_MEMINFO, MEMINFO.size).getUint32(
      MEMINFO.drops,
      true,
    );
  }

  close(): void {
    this.receiver.close();
  }
}

function readControl(bytes: Uint8Array, options: IpOptions): Pick<Datagram, 'hopLimit' | 'receivedNs' | 'ifindex'> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let hopLimit: number | undefined;
  let receivedNs: bigint | undefined;
  let ifindex: number | undefined;
  for (let at = 0; at + CONTROL.header <= bytes.length;) {
    const length = Number(view.getBigUint64(at, true));
    if (length < CONTROL.header || at + length > bytes.length) break;
    const level = view.getInt32(at + CONTROL.level, true);
    const type = view.getInt32(at + CONTROL.type, true);
    const data = at + CONTROL.header;
    // struct timespec: seconds, nanoseconds.
    if (level === SOL.SOCKET && type === SO_TIMESTAMPNS)
      receivedNs = view.getBigInt64(data, true) * 1_000_000_000n + view.getBigInt64(data + 8, true);
    if (level === options.level && type === options.receivedHopLimit) hopLimit = view.getInt32(data, true);
    if (level === options.level && type === options.packetInfo)
      ifindex = view.getUint32(data + options.packetInfoIfindex, true);
    at += (length + 7) & ~7;
  }
  return { hopLimit, receivedNs, ifindex };
}
