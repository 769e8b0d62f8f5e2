// libc as the adapters use it: each wrapper checks its result and throws a KernelError that names the operation. Calls
// with an ordinary EAGAIN (receiving, sending) return undefined for it instead. Constants are those of the Linux UAPI
// headers, the same on x86-64, arm64 and riscv64 unless stated otherwise.
import { ERRNO, KernelError } from '../errors.ts';
import {
  type Memory,
  type Native,
  PinnedBuffer,
  type Pointer,
  check,
  lastErrno,
  openLibrary,
  viewMemory,
} from '../ffi.ts';

const libc = openLibrary(['libc.so.6'], 'cnpd needs glibc on Linux.');
const bind = <F>(prototype: string): Native<F> => libc.bind<F>(prototype);

const c = {
  open: bind<(path: string, flags: number, mode: number) => number>(
    'int open(const char *path, int flags, unsigned int mode)',
  ),
  close: bind<(fd: number) => number>('int close(int fd)'),
  read: bind<(fd: number, data: Memory, size: number) => number>('long read(int fd, void *data, size_t size)'),
  write: bind<(fd: number, data: Memory, size: number) => number>('long write(int fd, const void *data, size_t size)'),
  ioctl: bind<(fd: number, request: number, argument: Memory) => number>(
    'int ioctl(int fd, unsigned long request, void *argument)',
  ),
  socket: bind<(family: number, type: number, protocol: number) => number>(
    'int socket(int family, int type, int protocol)',
  ),
  bind: bind<(fd: number, address: Memory, size: number) => number>(
    'int bind(int fd, const void *address, unsigned int size)',
  ),
  connect: bind<(fd: number, address: Memory, size: number) => number>(
    'int connect(int fd, const void *address, unsigned int size)',
  ),
  listen: bind<(fd: number, backlog: number) => number>('int listen(int fd, int backlog)'),
  getsockname: bind<(fd: number, address: Memory, size: Memory) => number>(
    'int getsockname(int fd, void *address, void *size)',
  ),
  setsockopt: bind<(fd: number, level: number, option: number, value: Memory, size: number) => number>(
    'int setsockopt(int fd, int level, int option, const void *value, unsigned int size)',
  ),
  getsockopt: bind<(fd: number, level: number, option: number, value: Memory, size: Memory) => number>(
    'int getsockopt(int fd, int level, int option, void *value, void *size)',
  ),
  send: bind<(fd: number, data: Memory, size: number, flags: number) => number>(
    'long send(int fd, const void *data, size_t size, int flags)',
  ),
  sendto: bind<(fd: number, data: Memory, size: number, flags: number, address: Memory, addressSize: number) => number>(
    'long sendto(int fd, const void *data, size_t size, int flags, const void *address, unsigned int addressSize)',
  ),
  recv: bind<(fd: number, data: Memory, size: number, flags: number) => number>(
    'long recv(int fd, void *data, size_t size, int flags)',
  ),
  recvmmsg: bind<(fd: number, messages: Memory, count: number, flags: number, timeout: Memory) => number>(
    'int recvmmsg(int fd, void *messages, unsigned int count, int flags, void *timeout)',
  ),
  flock: bind<(fd: number, operation: number) => number>('int flock(int fd, int operation)'),
  malloc_trim: bind<(keep: number) => number>('int malloc_trim(size_t keep)'),
  setns: bind<(fd: number, type: number) => number>('int setns(int fd, int type)'),
  unshare: bind<(flags: number) => number>('int unshare(int flags)'),
  mount: bind<(source: string, target: string, type: string, flags: number, data: string | null) => number>(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  ),
  umount2: bind<(target: string, flags: number) => number>('int umount2(const char *target, int flags)'),
  mmap: bind<
    (hint: Memory, size: number, protection: number, flags: number, fd: number, offset: number) => Pointer | null
  >('void *mmap(void *hint, size_t size, int protection, int flags, int fd, long offset)'),
  munmap: bind<(address: Memory, size: number) => number>('int munmap(void *address, size_t size)'),
  epoll_create1: bind<(flags: number) => number>('int epoll_create1(int flags)'),
  epoll_ctl: bind<(epoll: number, operation: number, fd: number, event: Memory) => number>(
    'int epoll_ctl(int epoll, int operation, int fd, void *event)',
  ),
  epoll_wait: bind<(epoll: number, events: Memory, count: number, timeoutMs: number) => number>(
    'int epoll_wait(int epoll, void *events, int count, int timeoutMs)',
  ),
  eventfd: bind<(initial: number, flags: number) => number>('int eventfd(unsigned int initial, int flags)'),
  if_nametoindex: bind<(name: string) => number>('unsigned int if_nametoindex(const char *name)'),
  getgrnam: bind<(name: string) => Pointer | null>('void *getgrnam(const char *name)'),
  clock_gettime: bind<(clock: number, time: Memory) => number>('int clock_gettime(int clock, void *time)'),
  getpagesize: bind<() => number>('int getpagesize()'),
  syscall3: bind<(number: number, a: number, b: Memory, c: number) => number>(
    'long syscall(long number, long a, void *b, long c)',
  ),
};

export const O = { RDONLY: 0, RDWR: 2, NONBLOCK: 0o4000, CLOEXEC: 0o2000000 } as const;
export const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16, PACKET: 17 } as const;
export const SOCK = { STREAM: 1, DGRAM: 2, RAW: 3, NONBLOCK: 0o4000, CLOEXEC: 0o2000000 } as const;
export const SOL = { SOCKET: 1, PACKET: 263, NETLINK: 270 } as const;
export const SO = { ERROR: 4, SNDBUF: 7, RCVBUF: 8, BINDTODEVICE: 25, SNDBUFFORCE: 32, RCVBUFFORCE: 33 } as const;
export const MSG = { TRUNC: 0x20, DONTWAIT: 0x40 } as const;
export const CLONE = { NEWNS: 0x00020000, NEWNET: 0x40000000 } as const;
export const PROT = { READ: 1, WRITE: 2 } as const;
const MAP_SHARED = 1;
export const EPOLL = { ADD: 1, DEL: 2, IN: 1, CLOEXEC: 0o2000000 } as const;
const EFD = { NONBLOCK: 0o4000, CLOEXEC: 0o2000000 } as const;
/**
 * struct epoll_event is packed on x86-64 only (12 bytes), 16 elsewhere; the data word follows the events word or its
 * padding.
 */
export const EPOLL_EVENT = process.arch === 'x64' ? { size: 12, data: 4 } : { size: 16, data: 8 };

/** Opens a path; CLOEXEC is always set. */
export const open = (path: string, flags: number): number => check(`open(${path})`, c.open(path, flags | O.CLOEXEC, 0));
export const close = (fd: number): void => void check(`close(${fd})`, c.close(fd));
export const ioctl = (operation: string, fd: number, request: number, argument: Memory): number =>
  check(operation, c.ioctl(fd, request, argument));
/** CLOEXEC and NONBLOCK are always set: sockets are read when the poller reports data. */
export const socket = (operation: string, family: number, type: number, protocol: number): number =>
  check(operation, c.socket(family, type | SOCK.CLOEXEC | SOCK.NONBLOCK, protocol));
export const bindSocket = (operation: string, fd: number, address: Uint8Array): void =>
  void check(operation, c.bind(fd, address, address.length));
export const connectSocket = (operation: string, fd: number, address: Uint8Array): void =>
  void check(operation, c.connect(fd, address, address.length));
export const listenSocket = (operation: string, fd: number, backlog: number): void =>
  void check(operation, c.listen(fd, backlog));
export const setOption = (operation: string, fd: number, level: number, option: number, value: Uint8Array): void =>
  void check(operation, c.setsockopt(fd, level, option, value, value.length));

/** Sets a socket option that is an `int`. */
export const setIntOption = (operation: string, fd: number, level: number, option: number, value: number): void =>
  setOption(operation, fd, level, option, new Uint8Array(new Int32Array([value]).buffer));

export function getOption(operation: string, fd: number, level: number, option: number, size: number): DataView {
  const value = new Uint8Array(size);
  check(operation, c.getsockopt(fd, level, option, value, new Uint32Array([size])));
  return new DataView(value.buffer);
}

/** The socket's own address, at most `size` bytes. */
export function socketName(fd: number, size: number): Uint8Array {
  const address = new Uint8Array(size);
  const length = new Uint32Array([size]);
  check('getsockname', c.getsockname(fd, address, length));
  return address.subarray(0, length[0]);
}

const unlessAgain = (operation: string, result: number): number | undefined => {
  if (result >= 0) return result;
  const errno = lastErrno();
  if (errno === ERRNO.EAGAIN || errno === ERRNO.EINTR) return undefined;
  throw new KernelError(operation, errno);
};

/** Bytes read, 0 at end of file, undefined when there is nothing now. */
export const read = (operation: string, fd: number, data: Memory, size: number): number | undefined =>
  unlessAgain(operation, c.read(fd, data, size));
/** Bytes written; undefined when the descriptor accepts no data now. */
export const write = (operation: string, fd: number, data: Uint8Array): number | undefined =>
  unlessAgain(operation, c.write(fd, data, data.length));
/** Length of the datagram (with MSG_TRUNC its true length), undefined when there is none now. */
export const receive = (operation: string, fd: number, data: Memory, size: number, flags: number): number | undefined =>
  unlessAgain(operation, c.recv(fd, data, size, flags));
/**
 * Number of datagrams received; undefined when there is none now. `messages` is the address of an array of struct
 * mmsghdr.
 */
export const receiveMany = (operation: string, fd: number, messages: Pointer, count: number): number | undefined =>
  unlessAgain(operation, c.recvmmsg(fd, messages, count, MSG.DONTWAIT, null));
export const send = (operation: string, fd: number, data: Uint8Array): number | undefined =>
  unlessAgain(operation, c.send(fd, data, data.length, MSG.DONTWAIT));
/** Sends on a worker thread. `data` must stay alive until then. Rejects with a KernelError. */
export const sendOnThread = (operation: string, fd: number, data: Pointer, size: number): Promise<void> =>
  new Promise((resolve, reject) =>
    c.send.async(fd, data, size, MSG.DONTWAIT, (error, result) => {
      if (error) reject(error);
      else if (result < 0) reject(new KernelError(operation, lastErrno()));
      else resolve();
    }),
  );
export const sendTo = (operation: string, fd: number, data: Uint8Array, address: Uint8Array): number | undefined =>
  unlessAgain(operation, c.sendto(fd, data, data.length, MSG.DONTWAIT, address, address.length));

export const setns = (fd: number, type: number): void => void check('setns', c.setns(fd, type));
export const unshare = (flags: number): void => void check('unshare', c.unshare(flags));
export const mount = (source: string, target: string, type: string, flags: number, data: string | null): void =>
  void check(`mount(${type} on ${target})`, c.mount(source, target, type, flags, data));
export const unmount = (target: string): void => void check(`umount(${target})`, c.umount2(target, 0));

const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

export function mapShared(operation: string, fd: number, size: number, protection: number, offset: number): Pointer {
  const address = c.mmap(null, size, protection, MAP_SHARED, fd, offset);
  if (address === null || BigInt.asUintN(64, address) === MAP_FAILED) throw new KernelError(operation, lastErrno());
  return address;
}
export const pageSize = (): number => c.getpagesize();
export const unmap = (address: Pointer, size: number): void => void check('munmap', c.munmap(address, size));

export const epollCreate = (): number => check('epoll_create1', c.epoll_create1(EPOLL.CLOEXEC));
export const epollControl = (
  operation: string,
  epoll: number,
  op: number,
  fd: number,
  event: Uint8Array | null,
): void => void check(operation, c.epoll_ctl(epoll, op, fd, event));
/**
 * Waits on a worker thread; the callback gets the number of events, or a negative errno. `events` must stay alive
 * until then.
 */
export function epollWait(epoll: number, events: Pointer, count: number, done: (result: number) => void): void {
  c.epoll_wait.async(epoll, events, count, -1, (error, result) => {
    if (error) throw error;
    done(result < 0 ? -lastErrno() : result);
  });
}
/** Does not wait. Returns the number of events, or a negative errno. */
export function epollPoll(epoll: number, events: Pointer, count: number): number {
  const result = c.epoll_wait(epoll, events, count, 0);
  return result < 0 ? -lastErrno() : result;
}

/** Gives memory that was freed back to the kernel, on a worker thread. */
export function trimMemory(done: () => void): void {
  c.malloc_trim.async(0, (error) => {
    if (error) throw error;
    done();
  });
}

export const eventFd = (): number => check('eventfd', c.eventfd(0, EFD.CLOEXEC | EFD.NONBLOCK));

const CLOCK_REALTIME = 0;
const timespec = new PinnedBuffer(16);

/**
 * The wall clock, on which the kernel's receive timestamps are too: nanoseconds since 1970. It may be set at any time.
 */
export function realtimeNs(): bigint {
  check('clock_gettime', c.clock_gettime(CLOCK_REALTIME, timespec.address));
  return timespec.view.getBigInt64(0, true) * 1_000_000_000n + timespec.view.getBigInt64(8, true);
}

/** The number of a group by its name; undefined when there is none. struct group: name, password (pointers), number. */
export function groupNumber(name: string): number | undefined {
  const group = c.getgrnam(name);
  return group === null ? undefined : new DataView(viewMemory(group, 20)).getUint32(16, true);
}

/**
 * The index of an interface in the thread's current network namespace.
 * @throws KernelError ENODEV when there is none of that name.
 */
export function interfaceIndex(name: string): number {
  const index = c.if_nametoindex(name);
  if (index === 0) throw new KernelError(`interface ${name}`, lastErrno());
  return index;
}

/** A system call of three arguments by number; the result or a negative errno. */
export function syscall3(number: number, a: number, b: Memory, size: number): number {
  const result = c.syscall3(number, a, b, size);
  return result < 0 ? -lastErrno() : result;
}

const [LOCK_EX, LOCK_NB] = [2, 4];

/** Takes the lock of an open file or directory until it is closed. @returns false: another process has it */
export function tryLock(fd: number): boolean {
  if (c.flock(fd, LOCK_EX | LOCK_NB) === 0) return true;
  const errno = lastErrno();
  if (errno === ERRNO.EAGAIN || errno === ERRNO.EINTR) return false;
  throw new KernelError('flock', errno);
}
