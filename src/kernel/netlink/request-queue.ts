// Netlink requests that come in numbers: those of one moment are sent in one send(2), which the kernel executes within
// the call, one after another. A few are sent at once. More of them, which may take the kernel milliseconds, are sent
// on a worker thread, so that the event loop goes on meanwhile. Each request has its own answer: a refused one does not
// stop those behind it. All are executed in the order in which they came.
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { close, send, sendOnThread } from '../ffi/libc.ts';
import { PinnedBuffer } from '../ffi.ts';
import type { Netns } from '../netns.ts';
import { ReceiveBatch } from '../receive-batch.ts';
import type { NetlinkRequest } from './client.ts';
import { NLM_F, NLMSG, type NetlinkMessage, decodeAcknowledgement, decodeMessages, encodeMessage } from './message.ts';
import { openNetlink } from './socket.ts';

/** More may overflow the kernel's buffer of answers. */
const REQUESTS_A_SEND = 32;
/** A thread has to wait for a processor: what takes the kernel less than that is sent at once. */
const MOST_AT_ONCE = 8;
const SEND_BUFFER = 65_536;
const ALIGNMENT = 4;
const LAST_SEQUENCE = 0xffff_ffff;
/** No answer about a class or a queue is longer. */
const LONGEST_ANSWER = 4096;

/** The messages before the acknowledgment, or why the request was refused. */
export type Answer = readonly NetlinkMessage[] | KernelError;

interface Pending {
  readonly request: NetlinkRequest;
  readonly messages: NetlinkMessage[];
  answer: Answer | undefined;
}

interface Group {
  readonly requests: readonly Pending[];
  /** Requests without an answer. */
  open: number;
  readonly resolve: (answers: Answer[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Queued extends Pending {
  readonly group: Group;
}

export class NetlinkQueue {
  readonly #fd: number;
  readonly #buffer = new PinnedBuffer(SEND_BUFFER);
  readonly #answers = new ReceiveBatch({ slots: REQUESTS_A_SEND, slotSize: LONGEST_ANSWER, nameSize: 0 });
  #waiting: Queued[] = [];
  #sequence = 0;
  #isWorking = false;
  #closed = false;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): NetlinkQueue {
    return new NetlinkQueue(openNetlink({ ...opts, groups: 0 }));
  }

  /**
   * The answer to each request, in order. No dumps. Rejects with a KernelError when nothing can be sent, or answers are
   * lost; whether requests were executed is then unknown.
   */
  requests(requests: readonly NetlinkRequest[]): Promise<Answer[]> {
    if (requests.length === 0) return Promise.resolve([]);
    if (this.#closed) return Promise.reject(closedBefore(requests[0]!));
    return new Promise((resolve, reject) => {
      const pending: Queued[] = [];
      const group: Group = { requests: pending, open: requests.length, resolve, reject };
      for (const request of requests) pending.push({ request, messages: [], answer: undefined, group });
      this.#waiting.push(...pending);
      if (this.#isWorking) return;
      this.#isWorking = true;
      // Others of this moment join it.
      queueMicrotask(() => void this.#work());
    });
  }

  /** Requests that wait are rejected. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // A thread may be sending.
    if (!this.#isWorking) close(this.#fd);
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const part = this.#waiting.slice(0, REQUESTS_A_SEND);
      this.#waiting = this.#waiting.slice(REQUESTS_A_SEND);
      try {
        if (this.#closed) throw closedBefore(part[0]!.request);
        await this.#exchange(part);
      } catch (error) {
        for (const { group } of part) group.reject(error);
      }
    }
    this.#isWorking = false;
    if (this.#closed) close(this.#fd);
  }

  /** Without a promise where no thread is needed: the answers are there within this turn of the event loop. */
  #exchange(part: readonly Queued[]): Promise<void> | void {
    if (this.#sequence > LAST_SEQUENCE - part.length) this.#sequence = 0;
    const first = this.#sequence + 1;
    const size = this.#encode(part);
    const { operation } = part[0]!.request;
    if (part.length <= MOST_AT_ONCE) {
      if (send(operation, this.#fd, this.#buffer.bytes.subarray(0, size)) === undefined)
        throw new KernelError(operation, ERRNO.EAGAIN);
      return this.#receive(part, first);
    }
    return sendOnThread(operation, this.#fd, this.#buffer.address, size).then(() => this.#receive(part, first));
  }

  #encode(part: readonly Queued[]): number {
    let size = 0;
    for (const { request } of part) {
      const flags = NLM_F.REQUEST | NLM_F.ACK | (request.flags ?? 0);
      const message = encodeMessage({ type: request.type, flags, sequence: ++this.#sequence, body: request.body });
      this.#buffer.bytes.set(message, size);
      size = (size + message.length + ALIGNMENT - 1) & -ALIGNMENT;
    }
    return size;
  }

  #receive(part: readonly Queued[], first: number): void {
    const { operation } = part[0]!.request;
    for (let open = part.length; open > 0;) {
      const count = this.#answers.receive(operation, this.#fd);
      if (count === 0) throw new KernelError(operation, ERRNO.EAGAIN, 'the kernel did not answer');
      for (let i = 0; i < count; i++) {
        // The memory is used again: answers keep a copy.
        const { messages, complete } = decodeMessages(this.#answers.data(i).slice());
        if (!complete || this.#answers.truncated(i))
          throw new KernelError(operation, ERRNO.EINVAL, 'the kernel sent a message whose length does not fit');
        for (const message of messages) if (settled(part[message.sequence - first], message)) open--;
      }
    }
    for (const { group } of part) if (--group.open === 0) group.resolve(group.requests.map(({ answer }) => answer!));
  }
}

const closedBefore = ({ operation }: NetlinkRequest): KernelError =>
  new KernelError(operation, ERRNO.EBADF, 'the netlink socket was closed');

/** Whether the message is the last one of the answer to this request. Others are of a batch that failed half-way. */
function settled(pending: Pending | undefined, message: NetlinkMessage): boolean {
  if (!pending || pending.answer) return false;
  if (message.type !== NLMSG.ERROR) {
    pending.messages.push(message);
    return false;
  }
  const { errno, detail } = decodeAcknowledgement(message);
  pending.answer = errno === 0 ? pending.messages : new KernelError(pending.request.operation, errno, detail);
  return true;
}

/** The first refusal among the answers. */
export const refusalIn = (answers: readonly Answer[]): KernelError | undefined =>
  answers.find((answer): answer is KernelError => isKernelError(answer));
