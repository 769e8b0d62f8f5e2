// Many netlink requests in one send(2), executed by the kernel within it, one after another. Each has its own answer: a
// refused request does not stop those behind it.
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { close, send } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';
import type { Netns } from '../netns.ts';
import type { NetlinkRequest } from './client.ts';
import { NLM_F, NLMSG, type NetlinkMessage, concat, decodeAcknowledgement, encodeMessage } from './message.ts';
import { LONGEST_DATAGRAM, answeredMessages, openNetlink } from './socket.ts';

/** To create a class costs the kernel up to a millisecond when there are thousands: it looks at all others. */
const REQUESTS_A_SEND = 16;
const ALIGNMENT = 4;

/** The messages before the acknowledgment, or why the request was refused. */
export type Answer = readonly NetlinkMessage[] | KernelError;

export interface Pending {
  readonly request: NetlinkRequest;
  readonly messages: NetlinkMessage[];
  answer: Answer | undefined;
}

export class NetlinkBatch {
  private readonly fd: number;
  private readonly buffer = new PinnedBuffer(LONGEST_DATAGRAM);
  private sequence = 0;
  private closed = false;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): NetlinkBatch {
    return new NetlinkBatch(openNetlink({ ...opts, groups: 0 }));
  }

  /** At most this many requests go into one send; larger batches are cut. */
  static readonly most = REQUESTS_A_SEND;

  /**
   * The answer to each request, in order. No dumps.
   * @throws KernelError when nothing can be sent, or answers are lost; whether requests were executed is then unknown
   */
  requests(requests: readonly NetlinkRequest[]): Answer[] {
    const answers: Answer[] = [];
    for (let at = 0; at < requests.length; at += REQUESTS_A_SEND)
      answers.push(...this.exchange(requests.slice(at, at + REQUESTS_A_SEND)));
    return answers;
  }

  /** Idempotent. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    close(this.fd);
  }

  private exchange(requests: readonly NetlinkRequest[]): Answer[] {
    // By now the descriptor may be another's.
    if (this.closed) throw new KernelError(requests[0]!.operation, ERRNO.EBADF, 'the netlink socket was closed');
    const pending = new Map<number, Pending>();
    const parts = requests.map((request) => {
      this.sequence = (this.sequence % 0xffff_ffff) + 1;
      pending.set(this.sequence, { request, messages: [], answer: undefined });
      const flags = NLM_F.REQUEST | NLM_F.ACK | (request.flags ?? 0);
      return padded(encodeMessage({ type: request.type, flags, sequence: this.sequence, body: request.body }));
    });
    const first = requests[0]!.operation;
    if (send(first, this.fd, concat(parts)) === undefined) throw new KernelError(first, ERRNO.EAGAIN);
    for (let open = pending.size; open > 0;) {
      for (const message of answeredMessages(first, this.fd, this.buffer))
        if (settled(pending.get(message.sequence), message)) open--;
    }
    return [...pending.values()].map(({ answer }) => answer!);
  }
}

/** Whether the message is the last one of the answer to this request. Others are of a batch that failed half-way. */
export function settled(pending: Pending | undefined, message: NetlinkMessage): boolean {
  if (!pending || pending.answer) return false;
  if (message.type !== NLMSG.ERROR) {
    pending.messages.push(message);
    return false;
  }
  const { errno, detail } = decodeAcknowledgement(message);
  pending.answer = errno === 0 ? pending.messages : new KernelError(pending.request.operation, errno, detail);
  return true;
}

/** Each message of a datagram begins at a multiple of four bytes. */
const padded = (message: Uint8Array): Uint8Array =>
  message.length % ALIGNMENT === 0
    ? message
    : concat([message, new Uint8Array(ALIGNMENT - (message.length % ALIGNMENT))]);

/** The first refusal among the answers. */
export const refusalIn = (answers: readonly Answer[]): KernelError | undefined =>
  answers.find((answer): answer is KernelError => isKernelError(answer));
