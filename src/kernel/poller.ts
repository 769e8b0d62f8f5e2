// One epoll thread for all descriptors. epoll_wait(2) runs on a libuv worker through koffi. When it returns, the main
// thread calls the handlers of ready descriptors and waits again. The wait is pending only while something is
// registered, so an idle process ends by itself. An event descriptor wakes the thread when the last registration is
// removed and when the process exits otherwise. libuv joins its workers at exit, and a worker inside an endless
// epoll_wait would keep a failed process from ending.
import {
  EPOLL,
  EPOLL_EVENT,
  close,
  epollControl,
  epollCreate,
  epollPoll,
  epollWait,
  eventFd,
  read,
  write,
} from './ffi/libc.ts';
import { ERRNO, KernelError } from './errors.ts';
import { PinnedBuffer } from './ffi.ts';

export interface Registration {
  /** Stops the calls. Call it before closing the descriptor. Idempotent. */
  remove(): void;
}

interface PollerDependencies {
  /** An exception of a callback, or an error of epoll itself. The other descriptors are still served. */
  onError(error: unknown): void;
}

const BATCH = 64;
/**
 * Rounds served without returning to the worker thread while there is more to read. Saves a thread switch a round
 * under load …
 */
const ROUNDS = 8;
/** … but for no longer than this, milliseconds: timers and other work wait meanwhile. */
const ROUNDS_MS = 2;
const WAKE_ID = 0;

interface Entry {
  readonly fd: number;
  readonly onReadable: () => void;
}

export class Poller {
  private readonly dependencies: PollerDependencies;
  private readonly epoll: number;
  private readonly wakeUp: number;
  private readonly events = new PinnedBuffer(BATCH * EPOLL_EVENT.size);
  private readonly entries = new Map<number, Entry>();
  private readonly onExit = (): void => this.wake();
  private nextId = WAKE_ID + 1;
  private waiting = false;
  private closed = false;

  private constructor(epoll: number, wakeUp: number, dependencies: PollerDependencies) {
    this.epoll = epoll;
    this.wakeUp = wakeUp;
    this.dependencies = dependencies;
  }

  static open(dependencies: PollerDependencies): Poller {
    const epoll = epollCreate();
    const wakeUp = eventFd();
    const poller = new Poller(epoll, wakeUp, dependencies);
    epollControl('epoll_ctl(add, eventfd)', epoll, EPOLL.ADD, wakeUp, poller.event(WAKE_ID));
    process.on('exit', poller.onExit);
    return poller;
  }

  /** How many descriptors are registered. */
  get size(): number {
    return this.entries.size;
  }

  /**
   * Calls `onReadable` whenever `fd` has something to read, or an error or hang-up that a read will report
   * (level-triggered: unread data are reported again).
   * @throws KernelError EEXIST when `fd` is registered already, EPERM when it cannot be polled
   */
  add(fd: number, onReadable: () => void): Registration {
    if (this.closed) throw new Error('this poller was closed');
    const id = this.nextId++;
    epollControl(`epoll_ctl(add, fd ${fd})`, this.epoll, EPOLL.ADD, fd, this.event(id));
    this.entries.set(id, { fd, onReadable });
    this.wait();
    return { remove: () => this.remove(id) };
  }

  /**
   * Passes an exception to onError: for owners that call out many times in one wake-up and continue after a failure.
   */
  report(error: unknown): void {
    this.dependencies.onError(error);
  }

  /**
   * Removes every registration (the descriptors stay open; they belong to their owners) and ends the thread.
   * Idempotent.
   */
  close(): void {
    if (this.closed) return;
    for (const id of [...this.entries.keys()]) this.remove(id);
    this.closed = true;
    if (!this.waiting) this.release();
    else this.wake();
  }

  private remove(id: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.entries.delete(id);
    try {
      epollControl(`epoll_ctl(del, fd ${entry.fd})`, this.epoll, EPOLL.DEL, entry.fd, null);
    } catch (error) {
      // Closed before it was removed: the kernel has dropped it already. Reported nevertheless, since the number may
      // have been reused by now.
      this.dependencies.onError(error);
    }
    if (this.entries.size === 0 && this.waiting) this.wake();
  }

  private event(id: number): Uint8Array {
    const event = new Uint8Array(EPOLL_EVENT.size);
    const view = new DataView(event.buffer);
    view.setUint32(0, EPOLL.IN, true);
    view.setUint32(EPOLL_EVENT.data, id, true);
    return event;
  }

  private wake(): void {
    write('write(eventfd)', this.wakeUp, new Uint8Array(new BigUint64Array([1n]).buffer));
  }

  private wait(): void {
    if (this.waiting || this.closed || this.entries.size === 0) return;
    this.waiting = true;
    epollWait(this.epoll, this.events.address, BATCH, (result) => {
      try {
        const end = performance.now() + ROUNDS_MS;
        this.dispatch(result);
        for (let round = 1; round < ROUNDS && result > 0 && this.entries.size > 0; round++) {
          if (performance.now() > end) break;
          result = epollPoll(this.epoll, this.events.address, BATCH);
          this.dispatch(result);
        }
      } finally {
        // Also when onError itself throws: that becomes an uncaught exception, but the descriptors are still served if
        // the process survives it.
        this.waiting = false;
        if (this.closed) this.release();
        else this.wait();
      }
    });
  }

  private dispatch(result: number): void {
    if (result < 0) {
      if (result !== -ERRNO.EINTR) this.dependencies.onError(new KernelError('epoll_wait', -result));
      return;
    }
    for (let i = 0; i < result; i++) {
      const id = this.events.view.getUint32(i * EPOLL_EVENT.size + EPOLL_EVENT.data, true);
      if (id === WAKE_ID) read('read(eventfd)', this.wakeUp, new Uint8Array(8), 8);
      // An earlier callback of this round may have removed it.
      else this.serve(this.entries.get(id));
    }
  }

  private serve(entry: Entry | undefined): void {
    if (!entry) return;
    try {
      entry.onReadable();
    } catch (error) {
      this.dependencies.onError(error);
    }
  }

  private release(): void {
    process.off('exit', this.onExit);
    close(this.epoll);
    close(this.wakeUp);
  }
}
