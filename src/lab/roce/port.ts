// The endpoint's place on the network: it sends whole IP packets, which the kernel routes, and sees RoCEv2 packets arrive with all their header bits on a packet
// socket. UDP port 4791 is bound and never read, so that the kernel does not answer the packets with "port unreachable".
import { type IpAddress, sameAddress } from '../../model/address.ts';
import { ROCE_UDP_PORT } from '../../model/roce.ts';
import { type KernelError, isKernelError } from '../../kernel/errors.ts';
import { AF, SO, SOCK, SOL, bindSocket, close, setIntOption, socket } from '../../kernel/ffi/libc.ts';
import { openPacketSocket } from '../../kernel/packet-socket.ts';
import type { Poller } from '../../kernel/poller.ts';
import { openRawSocket } from '../../kernel/raw-socket.ts';
import { type RocePacket, parseRocePacket } from '../../packet/roce/packet.ts';
import { rocePacketOf } from './wire.ts';

const ETH_P = { 4: 0x0800, 6: 0x86dd } as const;
const SOCKET_BUFFER = 4 << 20;

export interface RocePort {
  /** @returns false when the packet was dropped, for want of room or of a route */
  send(packet: Uint8Array): boolean;
  /** Frames that came too fast for this process. */
  receiveDrops(): number;
  close(): void;
}

export interface RocePortModules {
  readonly poller: Poller;
  /** A packet for this address, valid only during the call. */
  onPacket(packet: RocePacket): void;
  /** A RoCEv2 packet that is malformed, or whose ICRC is wrong. */
  onBad(code: string): void;
  onError(error: KernelError): void;
}

const LOST = new Set(['ENOBUFS', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN']);

export function openRocePort(opts: { readonly interface: string; readonly address: IpAddress }, modules: RocePortModules): RocePort {
  const { family } = opts.address;
  const reserved = reservePort(family);
  const raw = openRawSocket({ family, sendBuffer: SOCKET_BUFFER });
  const wire = openPacketSocket(
    { interface: opts.interface, protocol: ETH_P[family], receiveBuffer: SOCKET_BUFFER },
    {
      poller: modules.poller,
      onError: modules.onError,
      onFrame: (frame) => {
        const bytes = rocePacketOf(frame);
        const packet = bytes && parseRocePacket(bytes);
        if (!packet) return;
        if (!packet.ok) modules.onBad(packet.error.code);
        else if (!packet.value.icrcValid) modules.onBad('bad-icrc');
        else if (sameAddress(packet.value.destination, opts.address)) modules.onPacket(packet.value);
      },
    },
  );
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
    close: () => {
      wire.close();
      raw.close();
      close(reserved);
    },
  };
}

function reservePort(family: 4 | 6): number {
  const address = new Uint8Array(family === 4 ? 16 : 28);
  const view = new DataView(address.buffer);
  view.setUint16(0, family === 4 ? AF.INET : AF.INET6, true);
  view.setUint16(2, ROCE_UDP_PORT, false);
  const fd = socket('socket(UDP)', family === 4 ? AF.INET : AF.INET6, SOCK.DGRAM, 0);
  // As little as the kernel allows: nobody reads what it stores.
  setIntOption('SO_RCVBUF', fd, SOL.SOCKET, SO.RCVBUF, 0);
  bindSocket(`bind(UDP port ${ROCE_UDP_PORT}): another RoCE endpoint runs here`, fd, address);
  return fd;
}
