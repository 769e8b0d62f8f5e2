// The fill level of a port's root qdisc, read within the call.
import { ERRNO, KernelError } from '../errors.ts';
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
  const operation = `read queue of interface ${ifindex}`;
  const body = tcHeader({ ifindex, parent: TC_H.ROOT });
  const answers = netlink.request({ operation, type: RTM_QDISC.GET, flags: NLM_F_ECHO, body }, NLM_F.ACK);
  const qdisc = answers.map(decodeQdisc).find((found) => found !== undefined);
  if (!qdisc) throw new KernelError(operation, ERRNO.ENOENT, 'the kernel answered without a qdisc');
  return qdisc.stats.backlogBytes;
}
