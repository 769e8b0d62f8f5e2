// The unix sockets of the northbound: mode 0660 from the moment they exist, or 0600 where only the owner may connect. A
// socket that a dead process left is replaced. One on which a process answers is refused, and so is a path that holds
// anything but a socket.
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';

class SocketError extends Error {
  readonly code: 'IN_USE' | 'NOT_A_SOCKET' | 'LISTEN' | 'GROUP';
  constructor(code: SocketError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SocketError';
    this.code = code;
  }
}

/** sockaddr_un.sun_path, without the closing zero. */
const MAX_PATH = 107;

interface ListenOptions {
  readonly path: string;
  /** Number of the group that may connect; default: that of the process. */
  readonly group?: number | undefined;
  /** Without a group only the owner may connect, not the group of the process. */
  readonly isOwnersOnly?: boolean;
  readonly maxConnections: number;
}

/** @throws SocketError */
export async function listenUnix(
  { path, group, isOwnersOnly = false, maxConnections }: ListenOptions,
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  if (Buffer.byteLength(path) > MAX_PATH)
    throw new SocketError('LISTEN', `${path}: a unix socket's path has at most ${MAX_PATH} bytes`);
  await clearStale(path);
  const server = createServer(onConnection);
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new SocketError(cause.code === 'EADDRINUSE' ? 'IN_USE' : 'LISTEN', `${path}: ${cause.message}`, { cause }),
      ),
    );
    // bind(2) happens inside listen() for a path, so the mask is back before anything else runs.
    const mask = process.umask(isOwnersOnly ? 0o177 : 0o117);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(mask);
    }
  });
  server.removeAllListeners('error');
  try {
    if (group !== undefined) giveSocketTo(path, group, isOwnersOnly);
  } catch (error) {
    server.close();
    throw error;
  }
  return server;
}

/**
 * Without CAP_CHOWN a process may give what it owns to the groups that it is in (chown(2)).
 * @param group default: that of the process.
 * @param isOwnersOnly without `group` only the owner may connect
 * @throws SocketError GROUP
 */
export function giveSocketTo(path: string, group?: number, isOwnersOnly = false): void {
  try {
    // No group has the socket while it changes hands.
    if (isOwnersOnly) chmodSync(path, 0o600);
    lchownSync(path, process.geteuid!(), group ?? process.getegid!());
    if (isOwnersOnly && group !== undefined) chmodSync(path, 0o660);
  } catch (cause) {
    throw new SocketError(
      'GROUP',
      `${path} cannot be given to group ${group} (${(cause as Error).message}): run cnpd with CAP_CHOWN, ` +
        'or in that group',
      { cause },
    );
  }
}

async function clearStale(path: string): Promise<void> {
  try {
    makeParent(path);
    if (!lstatSync(path).isSocket())
      throw new SocketError('NOT_A_SOCKET', `${path} exists and is not a socket: move it away or choose another path`);
  } catch (cause) {
    if (cause instanceof SocketError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(dirname(path))) return;
    throw new SocketError('LISTEN', `${path}: ${(cause as Error).message}`, { cause });
  }
  const refused = await connectError(path);
  if (refused === undefined)
    throw new SocketError('IN_USE', `${path}: another process answers there: stop it or choose another path`);
  if (refused === 'ENOENT') return;
  if (refused !== 'ECONNREFUSED')
    throw new SocketError('IN_USE', `${path}: cannot tell whether it is in use (${refused})`);
  unlinkSync(path);
}

/** Removes the socket that a dead process left, if that is what the path has. */
export async function removeStale(path: string): Promise<void> {
  const isSocket = lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
  if (isSocket && (await connectError(path)) === 'ECONNREFUSED') unlinkSync(path);
}

/** One level only: that is /run/cnpd, and node's recursive mkdir never returns for some paths under /proc. */
function makeParent(path: string): void {
  try {
    mkdirSync(dirname(path));
    // Whatever the umask: who may connect has to reach the socket.
    chmodSync(dirname(path), 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The error code of connecting to a unix socket; undefined when a process accepts. */
export function connectError(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(undefined);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}
