// The northbound server: gNMI (Capabilities, Get, Subscribe) and cnpd.v1.Control (Reload) on one unix socket. It reads
// state and owns none. gNMI Set has a socket of its own, since whoever may read need not be allowed to change. Answers
// are built a few at a time; the rest wait in a queue of bounded length.
import type { Socket } from 'node:net';
import { create } from '@bufbuild/protobuf';
import {
  type ConnectionInjector,
  Server as GrpcServer,
  ServerCredentials,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { parseAddress } from '../model/address.ts';
import type { ChangeResult } from '../model/group-change.ts';
import type { ChangeLevels } from '../model/log-levels.ts';
import type { Count, Log } from '../model/log.ts';
import type { ReleaseRequest } from '../model/source.ts';
import type { StateSource } from '../model/state.ts';
import type { Steps, Work } from '../model/work.ts';
import { limitConcurrency } from './concurrency.ts';
import {
  Control,
  type ReleaseRequest as ReleaseMessage,
  ReleaseResponseSchema,
  ReloadResponseSchema,
  type RestartGroupRequest,
  RestartGroupResponseSchema,
} from './gen/cnpd/v1/control_pb.js';
import { CapabilityResponseSchema, gNMI, type SetRequest, type SetResponse } from './gen/gnmi/gnmi_pb.js';
import { answerGet } from './get.ts';
import { type Cancelled, bidirectional, handle, unary } from './grpc.ts';
import { logLevelsHandler } from './log-levels.ts';
import { SUPPORTED_ENCODINGS } from './request.ts';
import { mayReadAll } from './rights.ts';
import { RpcError } from './rpc-error.ts';
import { MODULE } from './schema.ts';
import { type ApplyChanges, answerSet, refusal } from './set.ts';
import { setSocketOf } from '../model/paths.ts';
import { giveSocketTo, listenUnix } from './socket.ts';
import { Subscriptions } from './subscribe/service.ts';

interface NorthboundOptions {
  readonly socket: string;
  /** Number of the group that may connect besides root. */
  readonly group?: number | undefined;
  /** Whether this socket serves Set. Then without `group` only root may connect; default: no. */
  readonly maySet?: boolean;
  /** Bound on one encoded answer, bytes. Default 64 MiB: about 200,000 sender prefixes in JSON. */
  readonly maxAnswerBytes?: number;
}

/** The result of a reload, as in `status.intent.lastReload`. */
export interface ReloadOutcome {
  readonly ok: boolean;
  /**
   * One line per error: file, line, column, path, what was found, what is allowed. With `ok`: what of the new file is
   * not in force, and the remedy.
   */
  readonly errors: readonly string[];
  /** Sections of the file whose meaning has changed. */
  readonly changed: readonly string[];
}

export interface NorthboundDependencies {
  readonly source: StateSource;
  readonly actions: {
    reload(): Promise<ReloadOutcome>;
    readonly set: ApplyChanges;
    /** The argument as the client wrote it. */
    readonly restartGroup: (proxyAddress: string) => ChangeResult;
    readonly logLevels: ChangeLevels;
    /** Returns how much is let go: flows, and with `all` also what is paused for neighbors. */
    readonly release: (which: ReleaseRequest) => number;
  };
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
  /** Of all sockets; default: this one has its own. */
  readonly subscriptions?: Subscriptions;
}

export interface Northbound {
  /** Who may connect besides root from now on; those who are connected stay. @throws SocketError GROUP */
  giveTo(group: number | undefined): void;
  /** Stops listening, ends every call and removes the socket. */
  close(): Promise<void>;
}

const GNMI_VERSION = '0.10.0';
const MAX_REQUEST_BYTES = 256 * 1024;
/** 4,096 members, one update each, are 1 MB. */
const MAX_SET_BYTES = 2 * 1024 * 1024;
const MAX_CONNECTIONS = 256;
/** A connection that is silent for so long is no client's. */
const SILENT_MS = 5000;
const AT_ONCE = 2;
const WAITING = 512;
/** For answers in one turn of the event loop. */
const BUDGET_MS = 4;

const GRPC_OPTIONS = {
  'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
  'grpc.max_send_message_length': -1,
  'grpc.max_concurrent_streams': 32,
  // A client that vanished without closing is found and let go; for one that never reads its answer see grpc.ts.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A silent client is disconnected: otherwise one member of the socket's group could take all connections.
  'grpc.max_connection_idle_ms': 30_000,
} as const;

/** @throws SocketError when the socket cannot be had. */
export async function startNorthbound(
  options: NorthboundOptions,
  dependencies: NorthboundDependencies,
): Promise<Northbound> {
  const { log, count } = dependencies;
  const maySet = options.maySet ?? false;
  const grpc = new GrpcServer({
    ...GRPC_OPTIONS,
    ...(maySet && { 'grpc.max_receive_message_length': MAX_SET_BYTES }),
  });
  addServices(grpc, options, dependencies);
  const subscriptions = dependencies.subscriptions ?? new Subscriptions(dependencies);
  grpc.addService(
    { subscribe: bidirectional(gNMI.method.subscribe) },
    { subscribe: subscriptions.handler(mayReadAll) as UntypedHandleCall },
  );
  const injector: ConnectionInjector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = new Set<Socket>();
  const listener = await listenUnix(
    { path: options.socket, group: options.group, isOwnersOnly: maySet, maxConnections: MAX_CONNECTIONS },
    (connection) => {
      count('northbound.connection');
      connections.add(connection);
      const silent = setTimeout(() => {
        if (connection.bytesRead > 0) return;
        count('northbound.connection.silent');
        connection.destroy();
      }, SILENT_MS);
      connection.on('close', () => {
        clearTimeout(silent);
        connections.delete(connection);
      });
      connection.on('error', (error) => log.debug({ error }, 'a northbound connection broke'));
      injector.injectConnection(connection);
    },
  );
  listener.on('drop', () => count('northbound.connection.refused'));
  listener.on('error', (error) => log.error({ error }, 'the northbound socket failed'));
  log.info({ socket: options.socket }, 'northbound listens');
  return {
    giveTo: (group) => giveSocketTo(options.socket, group, maySet),
    close: async () => {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      injector.destroy();
      grpc.forceShutdown();
      // Also those that never became an HTTP/2 session.
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

function addServices(grpc: GrpcServer, options: NorthboundOptions, dependencies: NorthboundDependencies): void {
  const getOptions = {
    maxAnswerBytes: options.maxAnswerBytes ?? 64 * 1024 * 1024,
    now: () => BigInt(Date.now()) * 1_000_000n,
  };
  const inLine = limitConcurrency(AT_ONCE, WAITING);
  const capabilities = async () =>
    create(CapabilityResponseSchema, {
      supportedModels: [MODULE],
      supportedEncodings: [...SUPPORTED_ENCODINGS],
      gNMIVersion: GNMI_VERSION,
    });
  grpc.addService(
    { capabilities: unary(gNMI.method.capabilities), get: unary(gNMI.method.get), set: unary(gNMI.method.set) },
    {
      capabilities: handle(gNMI.method.capabilities, capabilities, dependencies),
      get: handle(
        gNMI.method.get,
        (request, { cancelled }) =>
          inLine(() => whileAsked(dependencies.work, answerGet(request, dependencies.source, getOptions), cancelled)),
        dependencies,
      ),
      set: handle(gNMI.method.set, setHandler(options, dependencies, getOptions.now), dependencies),
    },
  );
  // However many ask: those who wait share one reload.
  const reload = async () => {
    const { ok, errors, changed } = await dependencies.actions.reload();
    return create(ReloadResponseSchema, { ok, errors: [...errors], changed: [...changed] });
  };
  grpc.addService(
    {
      reload: unary(Control.method.reload),
      restartGroup: unary(Control.method.restartGroup),
      release: unary(Control.method.release),
      logLevels: unary(Control.method.logLevels),
    },
    {
      release: handle(Control.method.release, releaseHandler(options, dependencies), dependencies),
      reload: handle(Control.method.reload, reload, dependencies),
      logLevels: handle(Control.method.logLevels, logLevelsHandler(dependencies.actions.logLevels), dependencies),
      restartGroup: handle(Control.method.restartGroup, restartHandler(options, dependencies), dependencies),
    },
  );
}

function checkMaySet({ maySet, socket }: NorthboundOptions, call: string): void {
  if (maySet) return;
  throw new RpcError('PERMISSION_DENIED', `this socket is for reading: ${call} is served on ${setSocketOf(socket)}`);
}

function restartHandler(options: NorthboundOptions, { actions }: NorthboundDependencies) {
  return async ({ proxyAddress }: RestartGroupRequest) => {
    checkMaySet(options, 'RestartGroup');
    const done = actions.restartGroup(proxyAddress);
    if (!done.ok) throw refusal(done.error);
    return create(RestartGroupResponseSchema);
  };
}

function releaseHandler(options: NorthboundOptions, { actions }: NorthboundDependencies) {
  return async (request: ReleaseMessage) => {
    checkMaySet(options, 'Release');
    return create(ReleaseResponseSchema, { released: actions.release(flowsIn(request)) });
  };
}

/** @throws RpcError INVALID_ARGUMENT */
function flowsIn({ sender, receiver, receiverQpn }: ReleaseMessage): ReleaseRequest {
  if (sender === '' && receiver === '' && receiverQpn === 0) return 'all';
  const [from, to] = [parseAddress(sender), parseAddress(receiver)];
  if (!from || !to) throw new RpcError('INVALID_ARGUMENT', 'sender, receiver: allowed: addresses, or nothing for all');
  return { sender: from, receiver: to, receiverQpn };
}

function setHandler(options: NorthboundOptions, { actions }: NorthboundDependencies, now: () => bigint) {
  return async (request: SetRequest): Promise<SetResponse> => {
    checkMaySet(options, 'Set');
    return answerSet(request, { now, apply: (changes) => actions.set(changes) });
  };
}

/** Rejects with CANCELLED when the client no longer waits for the answer. */
function whileAsked<T>(work: Work, steps: Steps<T>, cancelled: Cancelled): Promise<T> {
  return new Promise((onDone, onError) => {
    const onPause = (): void => {
      if (!cancelled()) return;
      cancel();
      onError(new RpcError('CANCELLED', 'the client went away'));
    };
    const cancel = work.run(steps, { budgetMs: BUDGET_MS, onDone, onError, onPause });
  });
}
