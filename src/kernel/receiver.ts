// The common part of packet sockets and datagram sockets. They read in batches when the poller reports data, deliver
// one datagram after another, and survive exceptions of their user.
import { ERRNO, KernelError, isKernelError } from './errors.ts';
import { close } from './ffi/libc.ts';
import type { Poller, Registration } from './poller.ts';
import type { ReceiveBatch } from './receive-batch.ts';

/** Calls of recvmmsg a wake-up: a busy socket must not starve the others; the rest is reported again. */
const ROUNDS = 4;
/** For a ReceiveBatch: most datagrams of one call. */
export const RECEIVE_SLOTS = 16;

interface ReceiverDependencies {
  readonly poller: Poller;
  readonly onError: (error: KernelError) => void;
  /**
   * Its exceptions go to the poller's error handler; the datagrams behind are delivered nevertheless.
   * @param i slot of the batch
   */
  readonly deliver: (i: number) => void;
}

export class Receiver {
  readonly fd: number;
  private readonly batch: ReceiveBatch;
  private readonly what: { readonly operation: string; readonly unit: string };
  private readonly dependencies: ReceiverDependencies;
  private readonly registration: Registration;
  private over = false;

  /**
   * Takes over the descriptor.
   * @param opts.unit `a frame`, `a datagram`: for the error about one that is longer than a slot
   */
  constructor(
    opts: { fd: number; batch: ReceiveBatch; operation: string; unit: string },
    dependencies: ReceiverDependencies,
  ) {
    this.fd = opts.fd;
    this.batch = opts.batch;
    this.what = opts;
    this.dependencies = dependencies;
    this.registration = dependencies.poller.add(opts.fd, () => this.receive());
  }

  get closed(): boolean {
    return this.over;
  }

  /** Idempotent. */
  close(): void {
    if (this.over) return;
    this.over = true;
    this.registration.remove();
    close(this.fd);
  }

  private receive(): void {
    for (let round = 0; round < ROUNDS && !this.over; round++) {
      const count = this.next();
      for (let i = 0; i < count && !this.over; i++) this.deliver(i);
      if (count < this.batch.slots) return;
    }
  }

  private next(): number {
    try {
      return this.batch.receive(this.what.operation, this.fd);
    } catch (error) {
      if (!isKernelError(error)) throw error;
      this.dependencies.onError(error);
      return 0;
    }
  }

  private deliver(i: number): void {
    try {
      if (!this.batch.truncated(i)) return this.dependencies.deliver(i);
      this.dependencies.onError(
        new KernelError(
          this.what.operation,
          ERRNO.EMSGSIZE,
          `${this.what.unit} is longer than ${this.batch.data(i).length} bytes`,
        ),
      );
    } catch (error) {
      this.dependencies.poller.report(error);
    }
  }
}
