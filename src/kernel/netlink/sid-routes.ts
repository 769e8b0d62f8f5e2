// cnpd's own seg6local routes, asked for and changed without waiting: the kernel carries out a route request within send(2), so its answer is there to be
// read at once. A reconciler needs that; everything that may take long goes through client.ts. Routes carry cnpd's protocol number, and
// no other is touched.
import type { IpAddress } from '../../model/address.ts';
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { MSG, close, receive, send } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';
import type { Netns } from '../netns.ts';
import { RTM_ROUTE } from './address.ts';
import type { NetlinkRequest } from './client.ts';
import { NLM_F, NLMSG, type NetlinkMessage, decodeAcknowledgement, decodeDone, decodeMessages, encodeMessage } from './message.ts';
import { type NewSeg6LocalRoute, type Seg6LocalRoute, decodeSeg6LocalRoute, encodeSeg6LocalRoute, routeEntryOf, routesOfProtocol } from './seg6local.ts';
import { LONGEST_DATAGRAM, openNetlink } from './socket.ts';

/** rtm_protocol of cnpd's routes: neither the kernel's (below 16) nor any of those in iproute2's rt_protos and in FRR (186 to 198). */
export const RTPROT_CNPD = 111;

/** Answers to a look-up that finds no route, or a route of the locator that leads nowhere: unreachable, blackhole (EINVAL), prohibit. */
const NO_SUCH_ROUTE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES']);

export type SidRoute = Omit<NewSeg6LocalRoute, 'protocol'>;

export class SidRoutes {
  private readonly fd: number;
  private readonly buffer = new PinnedBuffer(LONGEST_DATAGRAM);
  private sequence = 0;
  private closed = false;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): SidRoutes {
    return new SidRoutes(openNetlink({ ...opts, groups: 0 }));
  }

  /** The seg6local route of exactly this SID, whoever's it is. @throws KernelError */
  find(sid: IpAddress): Seg6LocalRoute | undefined {
    try {
      const answers = this.request({ operation: 'look up SID', type: RTM_ROUTE.GET, body: routeEntryOf(sid) });
      return answers.map(decodeSeg6LocalRoute).find((route) => route !== undefined && route.length === 128 && route.sid.value === sid.value);
    } catch (error) {
      if (isKernelError(error) && NO_SUCH_ROUTE.has(error.code)) return undefined;
      throw error;
    }
  }

  /** cnpd's routes, of this run and of those before. @throws KernelError */
  own(): Seg6LocalRoute[] {
    const answers = this.request({ operation: "list cnpd's routes", type: RTM_ROUTE.GET, body: routesOfProtocol(RTPROT_CNPD) }, NLM_F.DUMP);
    return answers.map(decodeSeg6LocalRoute).filter((route) => route?.protocol === RTPROT_CNPD) as Seg6LocalRoute[];
  }

  /** @throws KernelError EEXIST (the SID has a route), ENODEV, EINVAL (the device is the loopback, or the kernel has no such action) */
  add(route: SidRoute): void {
    const body = encodeSeg6LocalRoute({ ...route, protocol: RTPROT_CNPD });
    this.request({ operation: 'add seg6local route', type: RTM_ROUTE.NEW, flags: NLM_F.CREATE | NLM_F.EXCL, body });
  }

  /** Removes a route of cnpd; false when there was none. @throws KernelError */
  remove(route: SidRoute): boolean {
    try {
      this.request({ operation: 'delete seg6local route', type: RTM_ROUTE.DEL, body: encodeSeg6LocalRoute({ ...route, protocol: RTPROT_CNPD }) });
      return true;
    } catch (error) {
      if (isKernelError(error, 'ESRCH')) return false;
      throw error;
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    close(this.fd);
  }

  private request(request: NetlinkRequest, kind: number = NLM_F.ACK): NetlinkMessage[] {
    this.sequence = (this.sequence % 0xffff_ffff) + 1;
    const flags = NLM_F.REQUEST | kind | (request.flags ?? 0);
    if (send(request.operation, this.fd, encodeMessage({ type: request.type, flags, sequence: this.sequence, body: request.body })) === undefined) {
      throw new KernelError(request.operation, ERRNO.EAGAIN);
    }
    const answers: NetlinkMessage[] = [];
    for (;;) {
      for (const message of this.receive(request.operation)) {
        if (message.sequence !== this.sequence) continue; // of a request that failed half-way
        if (message.type !== NLMSG.ERROR && message.type !== NLMSG.DONE) {
          answers.push(message);
          continue;
        }
        const { errno, detail } = message.type === NLMSG.DONE ? decodeDone(message) : decodeAcknowledgement(message);
        if (errno !== 0) throw new KernelError(request.operation, errno, detail);
        return answers;
      }
    }
  }

  private receive(operation: string): NetlinkMessage[] {
    const length = receive(operation, this.fd, this.buffer.address, LONGEST_DATAGRAM, MSG.DONTWAIT);
    if (length === undefined) throw new KernelError(operation, ERRNO.EAGAIN, 'the kernel did not answer');
    // The buffer is reused: answers keep a copy.
    const { messages, complete } = decodeMessages(this.buffer.bytes.slice(0, length));
    if (!complete) throw new KernelError(operation, ERRNO.EINVAL, 'the kernel sent a message whose length does not fit');
    return messages;
  }
}
