// The client side of Subscribe STREAM: what a viewer uses to follow a running cnpd over its unix socket.
import { create } from '@bufbuild/protobuf';
import { Client, type ClientDuplexStream, credentials, type ServiceError, status } from '@grpc/grpc-js';
import {
  Encoding,
  gNMI,
  type Notification,
  type Path,
  type SubscribeRequest,
  SubscribeRequestSchema,
  type SubscribeResponse,
  SubscriptionList_Mode,
  SubscriptionMode,
  type TypedValue,
} from './gen/gnmi/gnmi_pb.js';
import { pathOf } from './client.ts';
import { bidirectional } from './grpc.ts';

export interface Followed {
  /** Plain names under the root, e.g. `['cnpd', 'ports']`. */
  readonly names: readonly string[];
  /** How often what has changed is sent; absent: on change. */
  readonly sampleMs?: number;
}

/** An element of a path: its name, and its keys if it is an entry of a list. */
export interface Elem {
  readonly name: string;
  readonly keys: Readonly<Record<string, string>>;
}

export interface StreamHandlers {
  /** What is gone, then what is new or has changed. A value is that of one leaf. */
  onChange(deleted: readonly (readonly Elem[])[], updated: readonly (readonly [readonly Elem[], unknown])[]): void;
  /** All that there was at first has come. */
  onSync(): void;
  /** Once, unless the stream was closed from here. */
  onEnd(reason: string): void;
}

export interface Stream {
  close(): void;
}

const NS_PER_MS = 1_000_000n;

const elems = (path: Path | undefined): Elem[] => (path?.elem ?? []).map(({ name, key }) => ({ name, keys: key }));

function valueOf(typed: TypedValue | undefined): unknown {
  const value = typed?.value;
  return value?.case === 'jsonVal' ? (JSON.parse(Buffer.from(value.value).toString()) as unknown) : undefined;
}

const request = (followed: readonly Followed[]): SubscribeRequest =>
  create(SubscribeRequestSchema, {
    request: {
      case: 'subscribe',
      value: {
        mode: SubscriptionList_Mode.STREAM,
        encoding: Encoding.JSON,
        subscription: followed.map(({ names, sampleMs }) => ({
          path: pathOf(names),
          ...(sampleMs === undefined
            ? { mode: SubscriptionMode.ON_CHANGE }
            : {
                mode: SubscriptionMode.SAMPLE,
                sampleInterval: BigInt(sampleMs) * NS_PER_MS,
                suppressRedundant: true,
              }),
        })),
      },
    },
  });

/** Subscribes at the socket. Errors come through `onEnd`: there is no retry. */
export function openStream(socket: string, followed: readonly Followed[], handlers: StreamHandlers): Stream {
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
  });
  const { path, requestSerialize, responseDeserialize } = bidirectional(gNMI.method.subscribe);
  const call: ClientDuplexStream<SubscribeRequest, SubscribeResponse> = client.makeBidiStreamRequest(
    path,
    requestSerialize,
    responseDeserialize as (bytes: Buffer) => SubscribeResponse,
  );
  let open = true;
  const end = (reason: string): void => {
    if (!open) return;
    open = false;
    client.close();
    handlers.onEnd(reason);
  };
  const update = ({ prefix, update: updated, delete: deleted }: Notification): void => {
    const before = elems(prefix);
    handlers.onChange(
      deleted.map((gone) => [...before, ...elems(gone)]),
      updated.map(({ path: at, val }) => [[...before, ...elems(at)], valueOf(val)] as const),
    );
  };
  call.on('data', ({ response }: SubscribeResponse) => {
    if (!open) return;
    if (response.case === 'update') update(response.value);
    else if (response.case === 'syncResponse') handlers.onSync();
  });
  call.on('error', (error: ServiceError) => end(`${status[error.code] ?? error.code}: ${error.details}`));
  call.on('end', () => end('cnpd has ended the stream'));
  call.write(request(followed));
  return {
    close: () => {
      open = false;
      call.cancel();
      client.close();
    },
  };
}
