// A netlink socket, by default of NETLINK_ROUTE, and one on the poller that sends and receives datagrams. One error is
// no failure: ENOBUFS means that the kernel dropped something for lack of buffer space. It is reported as a loss, after
// the queued datagrams have been read.
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { AF, MSG, SO, SOCK, SOL, bindSocket, close, receive, send, setIntOption, socket } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';
import { type Netns, within } from '../netns.ts';
import type { Poller, Registration } from '../poller.ts';
import { type NetlinkMessage, decodeMessages, struct } from './message.ts';

/** Protocol families of netlink. */
export const NETLINK = { ROUTE: 0, GENERIC: 16 } as const;
const OPTION = { CAP_ACK: 10, EXT_ACK: 11, STRICT_CHK: 12 } as const;
/** The kernel fills at most 32 KiB of a dump into one datagram. */
export const LONGEST_DATAGRAM = 65_536;
/** The rest is reported again. Four of a dump have some hundred messages, whose decoding takes a millisecond or two. */
const DATAGRAMS_A_WAKE_UP = 4;

interface NetlinkSocketOptions {
  readonly netns?: Netns | undefined;
  /** NETLINK.*; ROUTE when absent. */
  readonly protocol?: number | undefined;
  /** Multicast groups, as a mask of RTMGRP_* bits; 0 for requests. */
  readonly groups: number;
  /** Bytes; may exceed the system's limit. */
  readonly receiveBuffer?: number | undefined;
}

interface NetlinkSocketDependencies {
  readonly poller: Poller;
  /** One datagram, valid only during the call. */
  onDatagram(bytes: Uint8Array): void;
  /** Datagrams were dropped. Called after all queued ones have been delivered. */
  onLoss(): void;
  onError(error: KernelError): void;
}

/** A bound socket with extended, capped acknowledgments and strict dumps. @throws KernelError */
export function openNetlink(opts: NetlinkSocketOptions): number {
  const fd = within(opts.netns, () =>
    socket('socket(AF_NETLINK)', AF.NETLINK, SOCK.RAW, opts.protocol ?? NETLINK.ROUTE),
  );
  try {
    for (const [name, option] of Object.entries(OPTION)) setIntOption(`NETLINK_${name}`, fd, SOL.NETLINK, option, 1);
    if (opts.receiveBuffer !== undefined)
      setIntOption('SO_RCVBUFFORCE', fd, SOL.SOCKET, SO.RCVBUFFORCE, opts.receiveBuffer);
    // struct sockaddr_nl: family, padding, port (0: the kernel chooses), groups.
    bindSocket(
      'bind(AF_NETLINK)',
      fd,
      struct(12, (view) => {
        view.setUint16(0, AF.NETLINK, true);
        view.setUint32(8, opts.groups, true);
      }),
    );
    return fd;
  } catch (error) {
    close(fd);
    throw error;
  }
}

/**
 * The messages of one datagram that the kernel has answered with already. The buffer is reused: they are a copy.
 * @param buffer of LONGEST_DATAGRAM
 * @throws KernelError
 */
export function answeredMessages(operation: string, fd: number, buffer: PinnedBuffer): NetlinkMessage[] {
  const length = receive(operation, fd, buffer.address, LONGEST_DATAGRAM, MSG.DONTWAIT);
  if (length === undefined) throw new KernelError(operation, ERRNO.EAGAIN, 'the kernel did not answer');
  const { messages, complete } = decodeMessages(buffer.bytes.slice(0, length));
  if (!complete) throw new KernelError(operation, ERRNO.EINVAL, 'the kernel sent a message whose length does not fit');
  return messages;
}

export class NetlinkSocket {
  private readonly fd: number;
  private readonly dependencies: NetlinkSocketDependencies;
  private readonly buffer = new PinnedBuffer(LONGEST_DATAGRAM);
  private registration: Registration | undefined;
  private lost = false;
  private closed = false;

  private constructor(fd: number, dependencies: NetlinkSocketDependencies) {
    this.fd = fd;
    this.dependencies = dependencies;
  }

  /** @throws KernelError */
  static open(opts: NetlinkSocketOptions, dependencies: NetlinkSocketDependencies): NetlinkSocket {
    const fd = openNetlink(opts);
    try {
      const netlink = new NetlinkSocket(fd, dependencies);
      netlink.registration = dependencies.poller.add(fd, () => netlink.receive());
      return netlink;
    } catch (error) {
      close(fd);
      throw error;
    }
  }

  /** @throws KernelError */
  send(bytes: Uint8Array): void {
    if (send('send(AF_NETLINK)', this.fd, bytes) === undefined) throw new KernelError('send(AF_NETLINK)', ERRNO.EAGAIN);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.registration?.remove();
    close(this.fd);
  }

  private receive(): void {
    for (let i = 0; i < DATAGRAMS_A_WAKE_UP && !this.closed; i++) {
      const length = this.next();
      if (length === 'lost') continue;
      if (length === undefined) {
        this.drained();
        return;
      }
      try {
        this.dependencies.onDatagram(this.buffer.bytes.subarray(0, length));
      } catch (error) {
        this.dependencies.poller.report(error);
      }
    }
  }

  private drained(): void {
    if (!this.lost) return;
    this.lost = false;
    this.dependencies.onLoss();
  }

  /** Reading the socket's pending error clears it (that is what returns ENOBUFS here). */
  private next(): number | 'lost' | undefined {
    try {
      return receive('receive(AF_NETLINK)', this.fd, this.buffer.address, LONGEST_DATAGRAM, 0);
    } catch (error) {
      if (!isKernelError(error)) throw error;
      if (error.code === 'ENOBUFS') {
        this.lost = true;
        return 'lost';
      }
      this.dependencies.onError(error);
      return undefined;
    }
  }
}
