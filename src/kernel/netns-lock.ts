// At most one cnpd per network namespace. The lock is a packet fanout group of one member (packet(7), PACKET_FANOUT).
// The kernel keeps these groups per network namespace, so another mount namespace (a container, a private /run) or
// another run directory does not permit a second cnpd. The group needs CAP_NET_RAW, so an unprivileged user cannot
// prevent cnpd from starting. It disappears with the process, however that ends, and leaves no trace on a disk or in
// `ip link`. No packet reaches the socket: its EtherType is one of those for local experiments (IEEE 802, 88b5), and
// its filter drops even those.
import { isKernelError } from './errors.ts';
import {
  AF,
  SOCK,
  SOL,
  bindSocket,
  close,
  connectSocket,
  getOption,
  listenSocket,
  setOption,
  socket,
} from './ffi/libc.ts';
import { attachFilter } from './socket-filter.ts';

const PACKET_FANOUT = 18;
/** Group number; no other program is known to use it. */
const LOCK_GROUP = 0xc9d1;
const ETH_P_EXPERIMENTAL = 0x88b5;
const SO_PEERCRED = 17;
/** EtherType as /proc/net/packet shows it, to identify the socket. */
export const LOCK_ETHERTYPE = ETH_P_EXPERIMENTAL;

/** Two agents in one network namespace would mark and notify twice, and delete each other's interface. */
export class NamespaceBusy extends Error {
  override readonly name = 'NamespaceBusy';
  readonly code = 'EADDRINUSE';

  constructor(pid?: number) {
    super(
      `another cnpd${pid === undefined ? '' : ` (process ${pid})`} runs in this network namespace: ` +
        'stop it first; a second run directory does not change that',
    );
  }
}

/**
 * Takes the network namespace of the calling thread until the returned function is called or the process ends.
 * @throws NamespaceBusy, KernelError EPERM (without CAP_NET_RAW), EINVAL (something else has a fanout group of this
 * number)
 */
export function lockNetns(group = LOCK_GROUP, oldName = 'cnpd'): () => void {
  const held = [takeGroup(group)];
  const release = (): void => held.splice(0).forEach(close);
  try {
    for (const name of oldNames(oldName)) held.push(...claimOldName(name));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

function takeGroup(group: number): number {
  const operation = 'lock the network namespace';
  const fd = socket(operation, AF.PACKET, SOCK.DGRAM, 0);
  try {
    takeNothing(operation, fd);
    // struct sockaddr_ll: family, protocol in network order; the rest is 0: every interface.
    const address = new Uint8Array(20);
    const view = new DataView(address.buffer);
    view.setUint16(0, AF.PACKET, true);
    view.setUint16(2, ETH_P_EXPERIMENTAL, false);
    bindSocket(operation, fd, address);
    // struct fanout_args (Linux 5.11): id, type and flags, most members.
    const args = new Uint8Array(8);
    new DataView(args.buffer).setUint16(0, group, true);
    new DataView(args.buffer).setUint32(4, 1, true);
    setOption(operation, fd, SOL.PACKET, PACKET_FANOUT, args);
    return fd;
  } catch (error) {
    close(fd);
    throw isKernelError(error, 'ENOSPC') ? new NamespaceBusy() : error;
  }
}

/** A program of one instruction, `return 0`: the kernel drops all packets for the socket, from the first one on. */
const takeNothing = (operation: string, fd: number): void => attachFilter(operation, fd, [[0x06, 0, 0, 0]]);

/**
 * cnpd up to 0.3.0 holds its namespace by an abstract unix socket. Some versions of Node.js pad its name with zeros to
 * the full length.
 */
const oldNames = (name: string): Uint8Array[] => {
  const exact = new TextEncoder().encode(`\0${name}`);
  const padded = new Uint8Array(108);
  padded.set(exact);
  return [exact, padded];
};

/**
 * Holds the name, so that an old cnpd does not start beside this one. Any user may hold it: only a holder that is root
 * is another cnpd.
 * @returns the descriptor, or none
 */
function claimOldName(name: Uint8Array): number[] {
  const operation = 'claim the name of older versions';
  // struct sockaddr_un
  const address = new Uint8Array(2 + name.length);
  new DataView(address.buffer).setUint16(0, AF.UNIX, true);
  address.set(name, 2);
  const fd = socket(operation, AF.UNIX, SOCK.STREAM, 0);
  try {
    bindSocket(operation, fd, address);
    listenSocket(operation, fd, 1);
    return [fd];
  } catch (error) {
    close(fd);
    if (!isKernelError(error, 'EADDRINUSE')) throw error;
  }
  const holder = holderOf(operation, address);
  if (holder?.uid === 0) throw new NamespaceBusy(holder.pid);
  return [];
}

/** The process that listens at a unix socket; undefined when none does, or when it accepts no more connections. */
function holderOf(operation: string, address: Uint8Array): { pid: number; uid: number } | undefined {
  const fd = socket(operation, AF.UNIX, SOCK.STREAM, 0);
  try {
    connectSocket(operation, fd, address);
    // struct ucred: pid, uid, gid of the listener when it began to listen.
    const credentials = getOption(operation, fd, SOL.SOCKET, SO_PEERCRED, 12);
    return { pid: credentials.getInt32(0, true), uid: credentials.getUint32(4, true) };
  } catch (error) {
    if (isKernelError(error, 'ECONNREFUSED') || isKernelError(error, 'EAGAIN')) return undefined;
    throw error;
  } finally {
    close(fd);
  }
}
