// Network namespaces. A namespace is a descriptor. To enter it is setns(2) of the calling thread for one synchronous
// function. That is enough for a socket, which belongs for life to the namespace in which it was opened. Child
// processes spawned inside run() start in the namespace too, since Node forks from the calling thread. Mount namespaces
// are not handled here (setns(2) refuses them in a process with threads).
import { CLONE, O, close, open, setns, unshare } from './ffi/libc.ts';

const OWN = '/proc/thread-self/ns/net';

export class Netns {
  /** Open until close(). */
  readonly fd: number;
  private closed = false;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** The namespace of the calling thread. */
  static current(): Netns {
    return new Netns(open(OWN, O.RDONLY));
  }

  /** A namespace by path: `/run/netns/NAME`, `/proc/PID/ns/net`. @throws KernelError ENOENT */
  static open(path: string): Netns {
    return new Netns(open(path, O.RDONLY));
  }

  /**
   * Creates a namespace without a name. It disappears once it is closed and no longer used (by a socket, a process, or
   * an interface moved there).
   */
  static create(): Netns {
    const home = open(OWN, O.RDONLY);
    try {
      unshare(CLONE.NEWNET);
      try {
        return new Netns(open(OWN, O.RDONLY));
      } finally {
        setns(home, CLONE.NEWNET);
      }
    } finally {
      close(home);
    }
  }

  /** Path of this namespace for other processes, e.g. for `nsenter --net=…`; valid while it is open here. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.fd}`;
  }

  /**
   * Runs `fn` with the thread in this namespace and returns to the former one, also when `fn` throws. Calls nest.
   * @throws TypeError when `fn` returns a promise: the part after an await would run outside
   */
  run<T>(fn: () => T): T {
    if (this.closed) throw new Error('this network namespace was closed');
    const home = open(OWN, O.RDONLY);
    try {
      setns(this.fd, CLONE.NEWNET);
      try {
        const result = fn();
        if (result instanceof Promise)
          throw new TypeError(
            'Netns.run takes a synchronous function: its continuation would run in another namespace',
          );
        return result;
      } finally {
        setns(home, CLONE.NEWNET);
      }
    } finally {
      close(home);
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    close(this.fd);
  }
}

/** Runs `fn` in `netns`, or in the thread's namespace when that is undefined. */
export const within = <T>(netns: Netns | undefined, fn: () => T): T => (netns ? netns.run(fn) : fn());
