// The northbound server: gNMI, and cnpd.v1.Control beside it, on unix sockets and over TCP. It reads state and owns
// none. What can be changed has sockets of its own, since whoever may read need not be allowed to change, and whoever
// may declare members of groups need not be allowed to change the configuration.
import type { Server as Listener, Socket } from 'node:net';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import { addControl, checkControlCaller } from './control.ts';
import type { NorthboundDependencies } from './dependencies.ts';
import { type CheckCaller, intake } from './intake.ts';
import { type Access, type CallKind, SOCKETS, type SocketRole, unixAccess } from './rights.ts';
import { addGnmi } from './services.ts';
import { giveSocketTo, listenUnix } from './socket.ts';
import { ConnectionSources } from './connection-sources.ts';
import { type TcpSettings, listenTcp, tcpAccess } from './tcp.ts';

interface NorthboundOptions {
  /** The one that reads. Those of the other roles are beside it. */
  readonly socket: string;
  /** Number of the group that may connect besides root. */
  readonly group?: number | undefined;
  /**
   * Whether this socket serves Set of members of groups, or the configuration. Then without `group` only root may
   * connect; default: it is for reading.
   */
  readonly role?: SocketRole;
  /** Bound on one encoded answer, bytes. Default 64 MiB. */
  readonly maxAnswerBytes?: number;
}

export interface Northbound {
  /** Who may connect besides root from now on; those who are connected stay. @throws SocketError GROUP */
  giveTo(group: number | undefined): void;
  /** Stops listening, ends every call and removes the socket. */
  close(): Promise<void>;
}

const MAX_REQUEST_BYTES = 256 * 1024;
/** 4,096 members, one update each, are 1 MB. */
const MAX_SET_BYTES = 2 * 1024 * 1024;
/** The longest cnpd.yaml, and what is around it. */
const MAX_CONFIG_BYTES = (8 * 1024 + 64) * 1024;
const MAX_BYTES = { read: MAX_REQUEST_BYTES, set: MAX_SET_BYTES, config: MAX_CONFIG_BYTES } as const;
const MAX_CONNECTIONS = 256;
/** A connection that is silent for so long is no client's. */
const SILENT_MS = 5000;
const GRPC_OPTIONS = {
  'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
  'grpc.max_send_message_length': -1,
  // A client that vanished without closing is found and let go; for one that never reads its answer see grpc.ts.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A silent client is disconnected: otherwise one member of the socket's group could take all connections.
  'grpc.max_connection_idle_ms': 30_000,
} as const;

/**
 * Of one connection. Of each call that waits, HTTP/2 holds up to 64 KiB; over TCP, where a stranger may make many of
 * them, it is as many as a client may have subscriptions, and a few.
 */
const CALLS = { unix: 32, tcp: 20 } as const;

/** Default of `maxAnswerBytes`: about 200,000 sender prefixes in JSON. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const grpcServer = (
  over: keyof typeof CALLS,
  maxRequestBytes: number,
  access: Access,
  { log, count }: NorthboundDependencies,
): GrpcServer =>
  new GrpcServer({
    ...GRPC_OPTIONS,
    'grpc.max_concurrent_streams': CALLS[over],
    'grpc.max_receive_message_length': maxRequestBytes,
    interceptors: [intake({ check: checkCaller(access), log, count })],
  });

const CALL_KINDS: Readonly<Record<string, CallKind>> = {
  '/gnmi.gNMI/Capabilities': 'any',
  '/gnmi.gNMI/Get': 'read',
  '/gnmi.gNMI/Subscribe': 'read',
  '/gnmi.gNMI/Set': 'set',
};

const checkCaller =
  (access: Access): CheckCaller =>
  (method, certificate) => {
    const kind = CALL_KINDS[method];
    if (kind !== undefined) access.checkCaller(kind, certificate);
    else checkControlCaller(method.slice(method.lastIndexOf('/') + 1), access, certificate);
  };

/** @throws SocketError when the socket cannot be had. */
export async function startNorthbound(
  options: NorthboundOptions,
  dependencies: NorthboundDependencies,
): Promise<Northbound> {
  const { group, role = 'read', maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const socket = SOCKETS[role](options.socket);
  const access = unixAccess(role, options.socket);
  const grpc = grpcServer('unix', MAX_BYTES[role], access, dependencies);
  addGnmi(grpc, { access, maxAnswerBytes }, dependencies);
  addControl(grpc, access, dependencies);
  const connections = new Connections(grpc, dependencies);
  const listener = await listenUnix(
    { path: socket, group, isOwnersOnly: role !== 'read', maxConnections: MAX_CONNECTIONS },
    (connection) => connections.add(connection),
  );
  connections.comeFrom(listener);
  dependencies.log.info({ socket }, 'northbound listens');
  return {
    giveTo: (other) => giveSocketTo(socket, other, role !== 'read'),
    close: () => connections.close(listener),
  };
}

/** gNMI over TCP. @throws TcpError */
export async function startTcpNorthbound(
  settings: TcpSettings,
  dependencies: NorthboundDependencies,
  handshakeMs = SILENT_MS,
): Promise<Pick<Northbound, 'close'>> {
  const access = tcpAccess(settings);
  const mayWrite = settings.rights.some(({ write }) => write.length > 0);
  const grpc = grpcServer('tcp', mayWrite ? MAX_SET_BYTES : MAX_REQUEST_BYTES, access, dependencies);
  addGnmi(grpc, { access, maxAnswerBytes: MAX_ANSWER_BYTES }, dependencies);
  addControl(grpc, access, dependencies);
  const connections = new Connections(grpc, dependencies);
  const limits = { maxConnections: MAX_CONNECTIONS, handshakeMs };
  const onConnection = (connection: Socket): void => connections.add(connection);
  const listener = await listenTcp(settings, { ...dependencies, ...limits }, onConnection).catch((error: unknown) => {
    connections.end();
    throw error;
  });
  connections.comeFrom(listener);
  const { address, port, pem } = settings;
  dependencies.log.info({ address, port, tls: pem !== undefined }, 'northbound listens');
  return { close: () => connections.close(listener) };
}

/** The connections of one listener, which are handed to a gRPC server. */
class Connections {
  readonly #grpc: GrpcServer;
  readonly #injector: ReturnType<GrpcServer['createConnectionInjector']>;
  readonly #dependencies: NorthboundDependencies;
  readonly #open = new Set<Socket>();

  constructor(grpc: GrpcServer, dependencies: NorthboundDependencies) {
    this.#grpc = grpc;
    this.#injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
    this.#dependencies = dependencies;
  }

  comeFrom(listener: Listener): void {
    const { count, log } = this.#dependencies;
    // Also those that are still in the handshake of TLS.
    const sources = new ConnectionSources();
    listener.on('connection', (connection: Socket) => {
      this.#note(connection);
      if (sources.enter(connection)) return;
      count('northbound.connection.refused');
      connection.destroy();
    });
    listener.on('drop', () => count('northbound.connection.refused'));
    listener.on('error', (error) => log.error({ error }, 'the northbound socket failed'));
  }

  add(connection: Socket): void {
    const { count, log } = this.#dependencies;
    count('northbound.connection');
    this.#note(connection);
    const silent = setTimeout(() => {
      if (connection.bytesRead > 0) return;
      count('northbound.connection.silent');
      connection.destroy();
    }, SILENT_MS);
    connection.on('close', () => clearTimeout(silent));
    connection.on('error', (error) => log.debug({ error }, 'a northbound connection broke'));
    this.#injector.injectConnection(connection);
  }

  #note(connection: Socket): void {
    this.#open.add(connection);
    connection.on('close', () => this.#open.delete(connection));
  }

  async close(listener: Listener): Promise<void> {
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
    this.end();
    await closed;
  }

  /** Otherwise the library keeps the server in its tables. */
  end(): void {
    this.#injector.destroy();
    this.#grpc.forceShutdown();
    // Also those that never became an HTTP/2 session.
    for (const connection of this.#open) connection.destroy();
  }
}
