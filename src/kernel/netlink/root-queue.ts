// The fill level of a port's root qdisc, read within the call.
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { linkName } from './link-name.ts';
import type { SynchronousNetlink } from './synchronous.ts';
import { NLM_F } from './message.ts';
import { RTM_QDISC, TC_H, decodeQdisc, tcHeader } from './traffic-control.ts';

/** The kernel answers as it announces a change: to listeners, and to who asks only with this flag. */
const NLM_F_ECHO = 0x8;

/**
 * Bytes in the queue, those of its classes included.
 * @throws KernelError ENODEV; ENOENT for a port without a queue of its own
 */
export function readRootQueue(netlink: Pick<SynchronousNetlink, 'request'>, ifindex: number): number {
  const refused = (errno: number, detail?: string): KernelError =>
    new KernelError(`read the queue of ${linkName(netlink, ifindex)}`, errno, detail);
  const body = tcHeader({ ifindex, parent: TC_H.ROOT });
  const request = { operation: 'read a queue', type: RTM_QDISC.GET, flags: NLM_F_ECHO, body };
  try {
    const qdisc = netlink.request(request, NLM_F.ACK).map(decodeQdisc)[0];
    if (!qdisc) throw refused(ERRNO.ENOENT, 'the kernel answered without a qdisc');
    return qdisc.stats.backlogBytes;
  } catch (error) {
    throw isKernelError(error) ? refused(error.errno, error.detail) : error;
  }
}
