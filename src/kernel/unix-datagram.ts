// Datagrams to a UNIX socket (unix(7)), which Node.js cannot send. Receiving is not needed here.
import { ERRNO, KernelError } from './errors.ts';
import { AF, SOCK, close, sendTo, socket } from './ffi/libc.ts';

/** sun_path of struct sockaddr_un, after the two bytes of the family. */
const PATH = { offset: 2, size: 108 } as const;

/**
 * struct sockaddr_un of a path, or of an abstract name if it begins with `@`.
 * @throws RangeError when it does not fit
 */
export function unixAddress(path: string): Uint8Array {
  const abstract = path.startsWith('@');
  const name = new TextEncoder().encode(abstract ? path.slice(1) : path);
  // A path ends with a NUL. An abstract name begins with one, and its length is that of the address.
  if (name.length + 1 > PATH.size)
    throw new RangeError(`${JSON.stringify(path)} is longer than the ${PATH.size - 1} bytes of a UNIX address`);
  const bytes = new Uint8Array(PATH.offset + name.length + 1);
  new DataView(bytes.buffer).setUint16(0, AF.UNIX, true);
  bytes.set(name, PATH.offset + (abstract ? 1 : 0));
  return bytes;
}

/**
 * Sends one datagram and does not wait.
 * @throws KernelError ENOENT, ECONNREFUSED (nobody listens), ENOBUFS (the receiver's queue is full) …
 */
export function sendUnixDatagram(path: string, text: string): void {
  const operation = `send(${path})`;
  const fd = socket('socket(AF_UNIX)', AF.UNIX, SOCK.DGRAM, 0);
  try {
    if (sendTo(operation, fd, new TextEncoder().encode(text), unixAddress(path)) === undefined)
      throw new KernelError(operation, ERRNO.ENOBUFS, "the receiver's queue is full");
  } finally {
    close(fd);
  }
}
