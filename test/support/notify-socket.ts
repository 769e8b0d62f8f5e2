// A UNIX datagram socket as systemd listens on it, for programs that report their state there.
import { AF, SOCK, bindSocket, close, receive, socket } from '../../src/kernel/ffi/libc.ts';
import { unixAddress } from '../../src/kernel/unix-datagram.ts';

export interface NotifySocket {
  /** The next datagram; undefined when there is none now. */
  next(): string | undefined;
  close(): void;
}

/** @param path of a file, or an abstract name that begins with `@` */
export function listenForStates(path: string): NotifySocket {
  const fd = socket('socket(AF_UNIX)', AF.UNIX, SOCK.DGRAM, 0);
  bindSocket(`bind(${path})`, fd, unixAddress(path));
  return {
    next: () => {
      const bytes = new Uint8Array(4096);
      const length = receive(`receive(${path})`, fd, bytes, bytes.length, 0);
      return length === undefined ? undefined : new TextDecoder().decode(bytes.subarray(0, length));
    },
    close: () => close(fd),
  };
}
