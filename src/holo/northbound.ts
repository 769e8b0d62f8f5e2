// Holo's gRPC northbound: its version, its configuration, and changes of it. Of its state only that of interfaces is
// read: GetState on a database with a signaling-only metric stops Holo's IS-IS (docs/reference/interop.md).
import { create, fromBinary, toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import { Client, type ServiceError, credentials, status } from '@grpc/grpc-js';
import {
  CapabilitiesRequestSchema,
  CapabilitiesResponseSchema,
  CommitRequestSchema,
  CommitResponseSchema,
  GetRequestSchema,
  GetResponseSchema,
  ValidateRequestSchema,
  ValidateResponseSchema,
} from './gen/holo/northbound_pb.js';
import { type Tree, isTree } from './tree.ts';

/** Holo answers from memory; a transaction waits for all its components. */
const ANSWER_MS = 10_000;
/** The configuration of a router with thousands of interfaces has a few megabytes. */
const LONGEST_ANSWER = 64 << 20;

export class HoloError extends Error {
  override readonly name = 'HoloError';
  /** `unreachable`: nothing that speaks gRPC is there; `other-program`: it is no Holo; `refused`: Holo says no. */
  readonly code: 'unreachable' | 'other-program' | 'refused';
  constructor(code: HoloError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A step of a path of YANG: a name, and the keys of a list. */
export type Step = string | readonly [name: string, keys: Readonly<Record<string, string>>];

export interface HoloNorthbound {
  /** e.g. `0.9.0` */
  version(): Promise<string>;
  /** All of the running configuration. @param withDefaults also what nobody has set */
  config(withDefaults: boolean): Promise<Tree>;
  /** The state of one interface of a protocol. The path has to end there. */
  interfaceState(path: readonly Step[]): Promise<Tree>;
  /** Whether this would be accepted as the whole configuration. */
  validate(config: Tree): Promise<void>;
  /** Merges this, which must be valid by itself, into the running configuration: all of it or nothing. */
  commit(config: Tree): Promise<void>;
  close(): void;
}

/** @param target `HOST:PORT`. Connects at the first call. All calls reject with HoloError. */
export function connectHolo(target: string): HoloNorthbound {
  const client = new Client(target, credentials.createInsecure(), {
    'grpc.max_receive_message_length': LONGEST_ANSWER,
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_http_proxy': 0,
  });
  const call = async <Q extends DescMessage, A extends DescMessage>(
    method: string,
    request: { readonly schema: Q; readonly message: MessageShape<Q> },
    answer: A,
  ): Promise<MessageShape<A>> => {
    const bytes = await unary(client, `/holo.Northbound/${method}`, toBinary(request.schema, request.message));
    try {
      return fromBinary(answer, bytes);
    } catch (cause) {
      throw new HoloError('other-program', `what answers at ${target} is no Holo`, { cause });
    }
  };
  const get = async (method: 'GetConfig' | 'GetState', withDefaults: boolean, path: readonly Step[]): Promise<Tree> => {
    const elem = path.map((step) => (typeof step === 'string' ? { name: step } : { name: step[0], key: step[1] }));
    const message = create(GetRequestSchema, { withDefaults, ...(elem.length > 0 && { path: { elem } }) });
    const { data } = await call(method, { schema: GetRequestSchema, message }, GetResponseSchema);
    return parse(data?.data.value ?? '', target);
  };
  return {
    async version() {
      const message = create(CapabilitiesRequestSchema);
      const request = { schema: CapabilitiesRequestSchema, message };
      return (await call('Capabilities', request, CapabilitiesResponseSchema)).version;
    },
    config: (withDefaults) => get('GetConfig', withDefaults, []),
    interfaceState: (path) => get('GetState', false, path),
    async validate(config) {
      const message = create(ValidateRequestSchema, { config: dataOf(config) });
      await call('Validate', { schema: ValidateRequestSchema, message }, ValidateResponseSchema);
    },
    async commit(config) {
      const message = create(CommitRequestSchema, { config: dataOf(config), comment: 'cnpd' });
      await call('Commit', { schema: CommitRequestSchema, message }, CommitResponseSchema);
    },
    close: () => client.close(),
  };
}

const dataOf = (tree: Tree) => ({ data: { case: 'dataString' as const, value: JSON.stringify(tree) } });

/** Without data the answer is empty. */
function parse(text: string, target: string): Tree {
  const tree = text.trim() === '' ? {} : jsonOf(text, target);
  if (isTree(tree)) return tree;
  throw new HoloError('other-program', `Holo at ${target} does not answer with an object of JSON`);
}

function jsonOf(text: string, target: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HoloError('other-program', `Holo at ${target} does not answer in JSON`, { cause });
  }
}

const same = (bytes: Buffer): Buffer => bytes;

function unary(client: Client, path: string, request: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + ANSWER_MS;
    client.makeUnaryRequest(path, Buffer.from, same, request, { deadline }, (error, answer) =>
      error ? reject(reasonOf(error)) : resolve(answer!),
    );
  });
}

function reasonOf(error: ServiceError): HoloError {
  const { code, details } = error;
  if (code === status.UNIMPLEMENTED)
    return new HoloError('other-program', `what answers is no Holo: ${details}`, { cause: error });
  if (code === status.INVALID_ARGUMENT || code === status.RESOURCE_EXHAUSTED || code === status.NOT_FOUND)
    return new HoloError('refused', details, { cause: error });
  const reason = code === status.DEADLINE_EXCEEDED ? `no answer within ${ANSWER_MS / 1000} s` : details;
  return new HoloError('unreachable', reason, { cause: error });
}
