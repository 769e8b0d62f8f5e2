// Raw IP sockets that send whole packets, header included (raw(7), IPPROTO_RAW). The agent sends Resumes with them, and
// the lab's RoCE endpoint all its packets, so that they control every header field. The kernel routes by the packet's
// own destination address. It fills in the checksum of an IPv4 header (and its identification if zero), and nothing in
// an IPv6 header. Sending only: receive with a packet socket.
import { ERRNO, KernelError } from './errors.ts';
import { AF, SO, SOCK, SOL, close, sendTo, setIntOption, setOption, socket } from './ffi/libc.ts';
import { type Netns, within } from './netns.ts';

const IPPROTO = { IP: 0, IPV6: 41, RAW: 255 } as const;
const IP_HDRINCL = 3;
const IPV6_HDRINCL = 36;

interface FamilyLayout {
  readonly domain: number;
  readonly level: number;
  readonly headerIncluded: number;
  /** Length of the shortest packet, and offset of its destination address. */
  readonly minimum: number;
  readonly destination: number;
  readonly addressLength: number;
  /** Size of the socket address, and offset of the address in it. */
  readonly name: number;
  readonly nameAddress: number;
}

const FAMILIES: Readonly<Record<4 | 6, FamilyLayout>> = {
  4: {
    domain: AF.INET,
    level: IPPROTO.IP,
    headerIncluded: IP_HDRINCL,
    minimum: 20,
    destination: 16,
    addressLength: 4,
    name: 16,
    nameAddress: 4,
  },
  6: {
    domain: AF.INET6,
    level: IPPROTO.IPV6,
    headerIncluded: IPV6_HDRINCL,
    minimum: 40,
    destination: 24,
    addressLength: 16,
    name: 28,
    nameAddress: 8,
  },
};

interface RawSocketOptions {
  readonly family: 4 | 6;
  readonly netns?: Netns | undefined;
  /** Send through this interface, whatever the routes are. */
  readonly interface?: string | undefined;
  /** Send buffer in bytes; may exceed the system's limit. */
  readonly sendBuffer?: number | undefined;
}

export interface RawSocket {
  /**
   * Sends one IP packet, header included.
   * @throws KernelError ENETUNREACH (no route), EMSGSIZE (beyond the MTU), ENOBUFS (queue full: the packet is dropped)
   */
  send(packet: Uint8Array): void;
  close(): void;
}

/** @throws KernelError EPERM, ENODEV */
export function openRawSocket(opts: RawSocketOptions): RawSocket {
  const layout = FAMILIES[opts.family];
  const fd = within(opts.netns, () => socket(`socket(raw IPv${opts.family})`, layout.domain, SOCK.RAW, IPPROTO.RAW));
  try {
    setIntOption('IP_HDRINCL', fd, layout.level, layout.headerIncluded, 1);
    if (opts.interface !== undefined)
      setOption(
        `SO_BINDTODEVICE(${opts.interface})`,
        fd,
        SOL.SOCKET,
        SO.BINDTODEVICE,
        new TextEncoder().encode(`${opts.interface}\0`),
      );
    if (opts.sendBuffer !== undefined) setIntOption('SO_SNDBUFFORCE', fd, SOL.SOCKET, SO.SNDBUFFORCE, opts.sendBuffer);
  } catch (error) {
    close(fd);
    throw error;
  }
  return rawSocket(fd, opts.family, layout);
}

function rawSocket(fd: number, family: number, layout: FamilyLayout): RawSocket {
  const operation = `send(raw IPv${family})`;
  const name = new Uint8Array(layout.name);
  new DataView(name.buffer).setUint16(0, layout.domain, true);
  let closed = false;
  return {
    send(packet) {
      if (closed) throw new Error('this raw socket was closed');
      if (packet.length < layout.minimum || packet[0]! >>> 4 !== family)
        throw new KernelError(operation, ERRNO.EINVAL, `not a whole IPv${family} packet`);
      name.set(packet.subarray(layout.destination, layout.destination + layout.addressLength), layout.nameAddress);
      if (sendTo(operation, fd, packet, name) === undefined)
        throw new KernelError(operation, ERRNO.ENOBUFS, 'the send buffer is full');
    },
    close() {
      if (closed) return;
      closed = true;
      close(fd);
    },
  };
}
