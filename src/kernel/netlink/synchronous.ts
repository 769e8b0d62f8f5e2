// Synchronous netlink requests: the kernel executes a request about a route or a tunnel source within send(2), so the
// answer can be read at once. A reconciler needs that. Requests that may take long go through client.ts.
import { ERRNO, KernelError } from '../errors.ts';
import { close, send } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';
import type { Netns } from '../netns.ts';
import type { NetlinkRequest } from './client.ts';
import { NLM_F, NLMSG, type NetlinkMessage, decodeAcknowledgement, decodeDone, encodeMessage } from './message.ts';
import { LONGEST_DATAGRAM, answeredMessages, openNetlink } from './socket.ts';

export class SynchronousNetlink {
  private readonly fd: number;
  private readonly buffer = new PinnedBuffer(LONGEST_DATAGRAM);
  private sequence = 0;
  private closed = false;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined; protocol?: number } = {}): SynchronousNetlink {
    return new SynchronousNetlink(openNetlink({ ...opts, groups: 0 }));
  }

  /**
   * The messages before the acknowledgment. `kind`: NLM_F.DUMP for a table.
   * @throws KernelError with the kernel's text
   */
  request(request: NetlinkRequest, kind: number = NLM_F.ACK): NetlinkMessage[] {
    this.sequence = (this.sequence % 0xffff_ffff) + 1;
    const flags = NLM_F.REQUEST | kind | (request.flags ?? 0);
    if (
      send(
        request.operation,
        this.fd,
        encodeMessage({ type: request.type, flags, sequence: this.sequence, body: request.body }),
      ) === undefined
    ) {
      throw new KernelError(request.operation, ERRNO.EAGAIN);
    }
    const answers: NetlinkMessage[] = [];
    for (;;) {
      for (const message of answeredMessages(request.operation, this.fd, this.buffer)) {
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

  /** Idempotent. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    close(this.fd);
  }
}
