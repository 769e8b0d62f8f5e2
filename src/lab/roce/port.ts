// The endpoint's place on the network: it sends whole IP packets, which the kernel routes, and sees RoCEv2 packets
// arrive with all their header bits on a packet socket. UDP port 4791 is bound and never read, so that the kernel does
// not answer the packets with "port unreachable". An endpoint that understands notifications of nodes on the way gets
// those from the same socket: the kernel discards Long-haul CNPs of ICMPv6 in silence, and Fast CNPs are kept from it.
import { type IpAddress, sameAddress } from '../../model/address.ts';
import { ROCE_UDP_PORT } from '../../model/roce.ts';
import { type KernelError, isKernelError } from '../../kernel/errors.ts';
import { AF, SO, SOCK, SOL, bindSocket, close, setIntOption, socket } from '../../kernel/ffi/libc.ts';
import { type PacketSocket, openPacketSocket } from '../../kernel/packet-socket.ts';
import type { Poller } from '../../kernel/poller.ts';
import { type RawSocket, openRawSocket } from '../../kernel/raw-socket.ts';
import { type Netns, within } from '../../kernel/netns.ts';
import { readAddress } from '../../packet/bytes.ts';
import { type RocePacket, parseRocePacket } from '../../packet/roce/packet.ts';
import { takeFastCnps } from './fast-cnp-host.ts';
import { type FeedbackCodes, claimedFormat } from './feedback.ts';
import { ipv6PacketOf, rocePacketOf } from './wire.ts';

const ETH_P = { 4: 0x0800, 6: 0x86dd } as const;
const SOCKET_BUFFER = 4 << 20;

const IPV6_DESTINATION = 24;

interface RocePortOptions {
  readonly interface: string;
  readonly address: IpAddress;
  /** Other addresses of the host whose packets are for this endpoint too. */
  readonly also?: readonly IpAddress[] | undefined;
  /** Namespace of the interface; default the process's own. */
  readonly netns?: Netns | undefined;
  /** Deliver notifications of nodes on the way; `fastCnp`: also keep Fast CNPs from the kernel. IPv6 only. */
  readonly notifications?: { readonly codes: FeedbackCodes; readonly fastCnp: boolean } | undefined;
}

export interface RocePort {
  /** @returns false when the packet was dropped: the buffer is full, or there is no route */
  send(packet: Uint8Array): boolean;
  /** Frames that came too fast for this process. */
  receiveDrops(): number;
  close(): void;
}

interface RocePortDependencies {
  readonly poller: Poller;
  /** A packet for this address, valid only during the call. */
  onPacket(packet: RocePacket): void;
  /** An IPv6 packet for this address that claims to be a notification, valid only during the call. */
  onNotification?(format: 'fast-cnp' | 'long-haul-icmpv6', packet: Uint8Array): void;
  /** A RoCEv2 packet that is malformed, or whose ICRC is wrong. */
  onBad(code: string): void;
  onError(error: KernelError): void;
}

const LOST = new Set(['ENOBUFS', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN']);

/** What to do with a frame: one look decides whether it is for the endpoint. */
function sorter(opts: RocePortOptions, dependencies: RocePortDependencies): (frame: Uint8Array) => void {
  const codes = opts.notifications?.codes;
  const own = new Set([opts.address, ...(opts.also ?? [])].map(({ value }) => value));
  const notification = (frame: Uint8Array): void => {
    const packet = codes && ipv6PacketOf(frame);
    const format = packet && claimedFormat(packet, codes);
    if (format && sameAddress(readAddress(packet, IPV6_DESTINATION, 6), opts.address))
      dependencies.onNotification?.(format, packet);
  };
  return (frame) => {
    const bytes = rocePacketOf(frame);
    if (!bytes) return notification(frame);
    const packet = parseRocePacket(bytes);
    if (!packet.ok) dependencies.onBad(packet.error.code);
    else if (!packet.value.icrcValid) dependencies.onBad('bad-icrc');
    else if (own.has(packet.value.destination.value)) dependencies.onPacket(packet.value);
  };
}

/** @throws KernelError ENODEV (no such interface), EADDRINUSE (another endpoint), EPERM; BpfLoadError */
export function openRocePort(opts: RocePortOptions, dependencies: RocePortDependencies): RocePort {
  const { family } = opts.address;
  const { netns } = opts;
  const opened: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(resource: T): T => {
    opened.unshift(resource);
    return resource;
  };
  const closeAll = (): void => opened.splice(0).forEach((resource) => resource.close());
  try {
    const reserved = within(netns, () => reservePort(family));
    keep({ close: () => close(reserved) });
    const raw = keep(openRawSocket({ family, netns, sendBuffer: SOCKET_BUFFER }));
    const wire = keep(
      openPacketSocket(
        { interface: opts.interface, netns, protocol: ETH_P[family], receiveBuffer: SOCKET_BUFFER },
        { poller: dependencies.poller, onError: dependencies.onError, onFrame: sorter(opts, dependencies) },
      ),
    );
    if (opts.notifications?.fastCnp && family === 6)
      keep(takeFastCnps({ interface: opts.interface, netns }, opts.notifications.codes.fastCnp));
    return port(raw, wire, closeAll);
  } catch (error) {
    closeAll();
    throw error;
  }
}

function port(raw: RawSocket, wire: PacketSocket, closeAll: () => void): RocePort {
  return {
    send: (packet) => {
      try {
        raw.send(packet);
        return true;
      } catch (error) {
        if (isKernelError(error) && LOST.has(error.code)) return false;
        throw error;
      }
    },
    receiveDrops: () => wire.drops(),
    close: closeAll,
  };
}

function reservePort(family: 4 | 6): number {
  const address = new Uint8Array(family === 4 ? 16 : 28);
  const view = new DataView(address.buffer);
  view.setUint16(0, family === 4 ? AF.INET : AF.INET6, true);
  view.setUint16(2, ROCE_UDP_PORT, false);
  const fd = socket('socket(UDP)', family === 4 ? AF.INET : AF.INET6, SOCK.DGRAM, 0);
  // As little as the kernel allows: its data is not read.
  setIntOption('SO_RCVBUF', fd, SOL.SOCKET, SO.RCVBUF, 0);
  bindSocket(`bind(UDP port ${ROCE_UDP_PORT}): another RoCE endpoint runs here`, fd, address);
  return fd;
}
