// Requests and their answers on one netlink socket: sequence numbers, and at most 64 requests in flight (more can
// overflow the kernel's buffer of answers). Dumps run one at a time (the kernel allows no more a socket) and are
// repeated when the table changed meanwhile. This file does not interpret messages. Those of a dump are decoded as they
// come, over as many turns of the event loop as it takes: a table may have thousands of entries.
import { ERRNO, KernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import type { Poller } from '../poller.ts';
import {
  type Acknowledgement,
  NLM_F,
  NLMSG,
  type NetlinkMessage,
  decodeAcknowledgement,
  decodeDone,
  decodeMessages,
  encodeMessage,
} from './message.ts';
import { NetlinkSocket } from './socket.ts';
import { messageOf } from '../../model/error-text.ts';

const WINDOW = 64;
/** A table that changes during this many reads is reported as an error. */
const DUMP_ATTEMPTS = 20;

export interface NetlinkRequest {
  /** For errors: `create veth eth0`. */
  readonly operation: string;
  readonly type: number;
  /** Beyond REQUEST and ACK or DUMP, which are added. */
  readonly flags?: number | undefined;
  readonly body: Uint8Array;
}

/** Undefined: the message is of no interest. */
type Decode<T> = (message: NetlinkMessage) => T | undefined;

interface Pending {
  readonly request: NetlinkRequest;
  readonly dump: boolean;
  readonly decode: Decode<unknown>;
  readonly resolve: (answers: unknown[]) => void;
  readonly reject: (error: unknown) => void;
  answers: unknown[];
  /** What `decode` has thrown. Told when the kernel has finished: until then it takes no other dump. */
  error?: unknown;
  interrupted: boolean;
  attempts: number;
}

interface NetlinkClientOptions {
  readonly netns?: Netns | undefined;
  readonly receiveBuffer?: number | undefined;
}

export class NetlinkClient {
  private readonly inFlight = new Map<number, Pending>();
  private readonly waiting: Pending[] = [];
  private socket: NetlinkSocket | undefined;
  private sequence = 0;
  private dumping = false;
  /** The most requests that were ever in flight together. */
  peak = 0;
  /** Dumps that were repeated because the table changed meanwhile. */
  repeatedDumps = 0;

  static open(opts: NetlinkClientOptions, dependencies: { poller: Poller }): NetlinkClient {
    const client = new NetlinkClient();
    client.socket = NetlinkSocket.open(
      { netns: opts.netns, groups: 0, receiveBuffer: opts.receiveBuffer },
      {
        poller: dependencies.poller,
        onDatagram: (bytes) => client.receive(bytes),
        onLoss: () =>
          client.failAll('answers were lost for want of buffer space; whether the request was carried out is unknown'),
        onError: (error) => client.failAll(error.message, error.errno),
      },
    );
    return client;
  }

  /**
   * Resolves with the messages that came before the acknowledgment. Rejects with a KernelError that contains the
   * kernel's text.
   */
  request(request: NetlinkRequest): Promise<NetlinkMessage[]> {
    return this.enqueue(request, false, (message) => message);
  }

  /** Resolves with a consistent table. Rejects with EINTR when the table changed during every attempt. */
  dump<T>(request: NetlinkRequest, decode: Decode<T>): Promise<T[]> {
    return this.enqueue(request, true, decode);
  }

  /** Rejects what is pending. Idempotent. */
  close(): void {
    const socket = this.socket;
    if (!socket) return;
    this.socket = undefined;
    socket.close();
    const pending = [...this.inFlight.values(), ...this.waiting.splice(0)];
    this.inFlight.clear();
    for (const { request, reject } of pending)
      reject(new KernelError(request.operation, ERRNO.EBADF, 'the netlink socket was closed'));
  }

  private enqueue<T>(request: NetlinkRequest, dump: boolean, decode: Decode<T>): Promise<T[]> {
    return new Promise((done, reject) => {
      if (!this.socket) {
        reject(new KernelError(request.operation, ERRNO.EBADF, 'the netlink socket was closed'));
        return;
      }
      const resolve = done as (answers: unknown[]) => void;
      this.waiting.push({ request, dump, decode, resolve, reject, answers: [], interrupted: false, attempts: 0 });
      this.fill();
    });
  }

  /** Sends what the window allows, in order, except that dumps wait for each other. */
  private fill(): void {
    for (let i = 0; i < this.waiting.length && this.inFlight.size < WINDOW;) {
      if (this.waiting[i]!.dump && this.dumping) i++;
      else this.send(this.waiting.splice(i, 1)[0]!);
    }
  }

  private send(pending: Pending): void {
    this.sequence = (this.sequence % 0xffff_ffff) + 1;
    const { request, dump } = pending;
    const flags = NLM_F.REQUEST | (dump ? NLM_F.DUMP : NLM_F.ACK) | (request.flags ?? 0);
    try {
      this.socket!.send(encodeMessage({ type: request.type, flags, sequence: this.sequence, body: request.body }));
    } catch (error) {
      const errno = error instanceof KernelError ? error.errno : ERRNO.EINVAL;
      pending.reject(new KernelError(request.operation, errno, messageOf(error)));
      return;
    }
    this.inFlight.set(this.sequence, pending);
    this.peak = Math.max(this.peak, this.inFlight.size);
    if (dump) this.dumping = true;
  }

  private receive(bytes: Uint8Array): void {
    // The buffer is reused: answers keep a copy.
    const { messages, complete } = decodeMessages(bytes.slice());
    for (const message of messages) this.answer(message);
    if (!complete) this.failAll('the kernel sent a message whose length does not fit');
    this.fill();
  }

  private answer(message: NetlinkMessage): void {
    const pending = this.inFlight.get(message.sequence);
    // A late answer to a request that was abandoned.
    if (!pending) return;
    if ((message.flags & NLM_F.DUMP_INTR) !== 0) pending.interrupted = true;
    if (message.type === NLMSG.ERROR) this.finish(message.sequence, pending, decodeAcknowledgement(message));
    else if (message.type === NLMSG.DONE) this.finish(message.sequence, pending, decodeDone(message));
    else if (message.type !== NLMSG.NOOP) take(pending, message);
  }

  private finish(sequence: number, pending: Pending, result: Acknowledgement): void {
    this.inFlight.delete(sequence);
    if (pending.dump) this.dumping = false;
    if ('error' in pending) pending.reject(pending.error);
    else if (result.errno !== 0) {
      pending.reject(new KernelError(pending.request.operation, result.errno, result.detail));
    } else if (!pending.interrupted) {
      pending.resolve(pending.answers);
    } else if (++pending.attempts >= DUMP_ATTEMPTS) {
      pending.reject(
        new KernelError(
          pending.request.operation,
          ERRNO.EINTR,
          `the table changed during each of ${DUMP_ATTEMPTS} readings`,
        ),
      );
    } else {
      this.repeatedDumps++;
      this.waiting.unshift(Object.assign(pending, { answers: [], interrupted: false }));
    }
  }

  private failAll(detail: string, errno: number = ERRNO.ENOBUFS): void {
    const pending = [...this.inFlight.values()];
    this.inFlight.clear();
    this.dumping = false;
    for (const { request, reject } of pending) reject(new KernelError(request.operation, errno, detail));
    this.fill();
  }
}

function take(pending: Pending, message: NetlinkMessage): void {
  try {
    const decoded = pending.decode(message);
    if (decoded !== undefined) pending.answers.push(decoded);
  } catch (error) {
    pending.error = error;
  }
}
