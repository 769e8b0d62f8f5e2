// The client side: what cnpctl and tests use to ask a running cnpd. Values arrive as JSON with YANG names.
import { create } from '@bufbuild/protobuf';
import {
  type ChannelCredentials,
  Client,
  credentials,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type {
  ChangedEntry,
  ChangeTerms,
  ConfigOutcome,
  ConfigPlan,
  Plane,
  PlaneChanges,
  ShownConfig,
} from '../model/config-change.ts';
import type { GroupChange } from '../model/group-change.ts';
import type { LevelChange } from '../model/log-levels.ts';
import type { RecordingStatus } from '../model/recording.ts';
import {
  ApplyRequestSchema,
  ConfigurationRequestSchema,
  type ConfigurationResponse,
  ConfirmRequestSchema,
  Control,
  LogLevelsRequestSchema,
  RecordRequestSchema,
  type RecordResponse,
  type LogLevelsResponse,
  type PlaneChanges as PlaneMessage,
  PlanRequestSchema,
  type PlanResponse,
  ReleaseRequestSchema,
  type ReleaseResponse,
  ReloadRequestSchema,
  type ReloadResponse,
  RestartGroupRequestSchema,
  RollbackRequestSchema,
} from './gen/cnpd/v1/control_pb.js';
import {
  type Encoding,
  GetRequestSchema,
  type GetResponse,
  gNMI,
  type Path,
  PathElemSchema,
  PathSchema,
  type SetRequest,
  SetRequestSchema,
} from './gen/gnmi/gnmi_pb.js';
import { unary } from './grpc.ts';
import { type RecordAction, recordRequest, recordingStatus } from './record-client.ts';
import { connectError } from './socket.ts';
import { noSuchSocket, unreachable, unreachableTcp } from './unreachable.ts';

/** gNMI over TCP. Text of PEM files. */
export interface TcpTarget {
  /** HOST:PORT */
  readonly target: string;
  /** Absent: without TLS. */
  readonly tls?: { readonly ca: string; readonly certificate: string; readonly key: string };
}

export interface ClientOptions {
  readonly socket: string;
  /** Where any cnpd answers, if the socket is one that not every cnpd has. */
  readonly mainSocket?: string | undefined;
  /** Instead of the socket. */
  readonly tcp?: TcpTarget | undefined;
  /** For each call, milliseconds. */
  readonly timeoutMs: number;
}

export class NorthboundError extends Error {
  /**
   * `unreachable`: cnpd does not answer (in time). `no-socket`: it runs, and does not have this socket. `refused`: it
   * answered with an error.
   */
  readonly code: 'unreachable' | 'no-socket' | 'refused';
  /** gRPC status name, e.g. `NOT_FOUND`. */
  readonly status: string;
  constructor(code: NorthboundError['code'], statusName: string, message: string) {
    super(message);
    this.name = 'NorthboundError';
    this.code = code;
    this.status = statusName;
  }
}

export interface NorthboundClient {
  /**
   * The JSON value at a path of plain names under the root, e.g. `['cnpd', 'senders']`; undefined when the answer has
   * none.
   * @throws NorthboundError
   */
  get(names: readonly string[]): Promise<unknown>;
  /** Get as it is. @throws NorthboundError */
  getRaw(request: { prefix?: Path; path: Path[]; encoding: Encoding }): Promise<GetResponse>;
  /** gNMI Set of members of groups: all of it or nothing. Needs the socket of Set. @throws NorthboundError */
  set(request: SetOfGroups): Promise<void>;
  /** At a group's root: its stream begins anew. Needs the socket of Set. @throws NorthboundError */
  restartGroup(proxyAddress: string): Promise<void>;
  /** Sets levels of the log; without changes it only asks. @throws NorthboundError */
  logLevels(changes: readonly LevelChange[]): Promise<(LevelChange & { readonly isSet: boolean })[]>;
  /** Begins or ends a recording; what it is then. @throws NorthboundError */
  record(action: RecordAction): Promise<RecordingStatus>;
  /** Absent: all, also what is paused for neighbors. Resolves to how much is let go. */
  release(flow?: { sender: string; receiver: string; receiverQpn: number }): Promise<number>;
  /** @throws NorthboundError */
  reload(): Promise<ConfigOutcome>;
  /** What would change; without a text: if the file were loaded. @throws NorthboundError */
  plan(file?: ConfigText): Promise<ConfigPlan>;
  /** Needs the socket of the configuration. @throws NorthboundError */
  apply(file: ConfigText, terms: Pick<ChangeTerms, 'confirmMs' | 'isTemporary'>): Promise<ConfigOutcome>;
  /** As apply. @throws NorthboundError */
  confirm(): Promise<void>;
  /** As apply. @throws NorthboundError */
  rollBack(): Promise<ConfigOutcome>;
  /** The configuration in force. @throws NorthboundError */
  configuration(): Promise<ShownConfig>;
  /**
   * Whether a process listens on the socket, even if it does not answer. @throws NorthboundError when that cannot be
   * determined
   */
  listening(): Promise<boolean>;
  close(): void;
}

export interface ConfigText {
  readonly text: string;
  /** For errors. */
  readonly name: string;
}

type Place = Pick<GroupChange, 'group' | 'member'>;

export interface SetOfGroups {
  readonly delete?: readonly Place[];
  readonly replace?: readonly (Place & { readonly value: object })[];
  readonly update?: readonly (Place & { readonly value: object })[];
}

export function groupPath({ group, member }: Place): Path {
  const path = pathOf(['cnpd', 'groups']);
  path.elem.push(create(PathElemSchema, { name: 'group', key: { 'proxy-address': group } }));
  if (member) path.elem.push(create(PathElemSchema, { name: 'member', key: { ...member } }));
  return path;
}

export const setRequest = ({ delete: gone = [], replace = [], update = [] }: SetOfGroups): SetRequest => {
  const withValue = ({ value, ...place }: Place & { readonly value: object }) => ({
    path: groupPath(place),
    val: { value: { case: 'jsonIetfVal' as const, value: Buffer.from(JSON.stringify(value)) } },
  });
  return create(SetRequestSchema, {
    delete: gone.map(groupPath),
    replace: replace.map(withValue),
    update: update.map(withValue),
  });
};

export const pathOf = (names: readonly string[]): Path =>
  create(PathSchema, { elem: names.map((name) => create(PathElemSchema, { name })) });

/** Rejects with the error that `explain` makes of it. */
const callUnary = <I, O>(
  client: Client,
  { path, requestSerialize, responseDeserialize }: MethodDefinition<I, O>,
  request: I,
  options: ClientOptions,
): Promise<O> =>
  new Promise((resolve, reject) => {
    const deadline = Date.now() + options.timeoutMs;
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, { deadline }, (error, answer) => {
      if (error) void explain(error, options).then(reject);
      else resolve(answer!);
    });
  });

type Call = <I, O>(method: MethodDefinition<I, O>, request: I) => Promise<O>;

const planesOf = (planes: readonly PlaneMessage[]): PlaneChanges[] =>
  planes.map(({ plane, added, changed, removed, entries }) => ({
    ...{ plane: plane as Plane, added, changed, removed },
    entries: entries.map(({ operation, entry, detail }) => ({
      ...{ operation: operation as ChangedEntry['operation'], entry, detail },
    })),
  }));

function outcomeOf(answer: unknown): ConfigOutcome {
  const { ok, errors, changed, planes, health, problems, confirmBy } = answer as ReloadResponse;
  const known = { planes: planesOf(planes), health, problems };
  return { ok, errors, changed, ...(ok && known), ...(confirmBy !== '' && { confirmBy }) };
}

/** cnpd.v1.Control: the configuration as a file. */
const configCalls = (call: Call) => ({
  plan: async (file?: ConfigText): Promise<ConfigPlan> => {
    const request = create(PlanRequestSchema, file);
    const { ok, errors, changed, planes } = (await call(unary(Control.method.plan), request)) as PlanResponse;
    return { ok, errors, changed, planes: planesOf(planes) };
  },
  apply: async ({ text, name }: ConfigText, { confirmMs = 0, isTemporary = false }: ChangeTerms) => {
    const request = create(ApplyRequestSchema, { text, name, confirmMs, temporary: isTemporary });
    return outcomeOf(await call(unary(Control.method.apply), request));
  },
  confirm: async () => {
    await call(unary(Control.method.confirm), create(ConfirmRequestSchema));
  },
  rollBack: async () => outcomeOf(await call(unary(Control.method.rollback), create(RollbackRequestSchema))),
  configuration: async (): Promise<ShownConfig> => {
    const request = create(ConfigurationRequestSchema);
    const answer = (await call(unary(Control.method.configuration), request)) as ConfigurationResponse;
    return { text: answer.text, tree: JSON.parse(answer.json) as unknown, defaults: answer.defaults };
  },
});

const addressOf = ({ socket, tcp }: ClientOptions): string => (tcp ? `dns:${tcp.target}` : `unix:${socket}`);

/** @throws Error when a file is no certificate or key */
function credentialsOf({ tcp }: ClientOptions): ChannelCredentials {
  if (!tcp?.tls) return credentials.createInsecure();
  const { ca, key, certificate } = tcp.tls;
  return credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(certificate));
}

/** Connects when the first call is made. */
export function connectNorthbound(options: ClientOptions): NorthboundClient {
  const client = new Client(addressOf(options), credentialsOf(options), {
    'grpc.max_receive_message_length': -1,
    'grpc.enable_retries': 0,
  });
  const call: Call = (method, request) => callUnary(client, method, request, options);
  const get = unary(gNMI.method.get);
  const getRaw: NorthboundClient['getRaw'] = async (request) =>
    (await call(get, create(GetRequestSchema, request))) as GetResponse;
  return {
    getRaw,
    get: async (names) => {
      const answer = await getRaw({ path: [pathOf(names)], encoding: 0 });
      const value = answer.notification[0]?.update[0]?.val?.value;
      return value?.case === 'jsonVal' ? (JSON.parse(Buffer.from(value.value).toString()) as unknown) : undefined;
    },
    set: async (request) => {
      await call(unary(gNMI.method.set), setRequest(request));
    },
    restartGroup: async (proxyAddress) => {
      await call(unary(Control.method.restartGroup), create(RestartGroupRequestSchema, { proxyAddress }));
    },
    release: async (flow) => {
      const answer = await call(unary(Control.method.release), create(ReleaseRequestSchema, flow));
      return (answer as ReleaseResponse).released;
    },
    record: async (action) => {
      const answer = await call(unary(Control.method.record), create(RecordRequestSchema, recordRequest(action)));
      return recordingStatus(answer as RecordResponse);
    },
    logLevels: async (changes) => {
      const request = create(LogLevelsRequestSchema, { changes: [...changes] });
      const { levels } = (await call(unary(Control.method.logLevels), request)) as LogLevelsResponse;
      return levels.map(({ component, level, set }) => ({ component, level, isSet: set }));
    },
    reload: async () => outcomeOf(await call(unary(Control.method.reload), create(ReloadRequestSchema))),
    ...configCalls(call),
    listening: async () => {
      if (options.tcp) throw new Error('only asked of a socket');
      const errno = await connectError(options.socket);
      if (errno !== undefined && errno !== 'ENOENT' && errno !== 'ECONNREFUSED')
        throw new NorthboundError('unreachable', 'UNAVAILABLE', unreachable(options.socket, errno));
      return errno === undefined;
    },
    close: () => client.close(),
  };
}

async function explain(
  error: ServiceError,
  { socket, mainSocket, tcp, timeoutMs }: ClientOptions,
): Promise<NorthboundError> {
  const name = status[error.code] ?? String(error.code);
  if (error.code === status.DEADLINE_EXCEEDED)
    return new NorthboundError('unreachable', name, `${tcp?.target ?? socket}: no answer within ${timeoutMs / 1000} s`);
  if (error.code !== status.UNAVAILABLE) return new NorthboundError('refused', name, error.details);
  if (tcp) return new NorthboundError('unreachable', name, unreachableTcp(tcp.target, error.details));
  const errno = await connectError(socket);
  if (errno === 'ENOENT' && mainSocket !== undefined) {
    const ofMain = await connectError(mainSocket);
    return ofMain === undefined
      ? new NorthboundError('no-socket', name, noSuchSocket(socket, mainSocket))
      : new NorthboundError('unreachable', name, unreachable(mainSocket, ofMain));
  }
  return new NorthboundError(
    'unreachable',
    name,
    errno === undefined ? `${socket}: not a gRPC server (${error.details})` : unreachable(socket, errno),
  );
}
