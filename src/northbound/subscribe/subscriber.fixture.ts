// A subscriber over the real transport, for tests: it keeps all that it gets, and the picture that this adds up to.
import { create } from '@bufbuild/protobuf';
import { Client, type ClientDuplexStream, credentials, type ServiceError } from '@grpc/grpc-js';
import {
  Encoding,
  gNMI,
  type Notification,
  type Path,
  PathElemSchema,
  PathSchema,
  type SubscribeRequest,
  SubscribeRequestSchema,
  type SubscribeResponse,
  type Subscription,
  SubscriptionList_Mode,
  SubscriptionMode,
  type TypedValue,
} from '../gen/gnmi/gnmi_pb.js';
import { bidirectional } from '../grpc.ts';
import { formatPath } from '../paths.ts';

type Elem = string | [string, Record<string, string>];

export const pathTo = (...elems: readonly Elem[]): Path =>
  create(PathSchema, {
    elem: elems.map((elem) =>
      create(PathElemSchema, typeof elem === 'string' ? { name: elem } : { name: elem[0], key: elem[1] }),
    ),
  });

const SECOND = 1_000_000_000n;
export const ms = (milliseconds: number): bigint => (BigInt(milliseconds) * SECOND) / 1000n;

type Options = Omit<Partial<Subscription>, '$typeName' | '$unknown' | 'path'>;

export const sampled = (sampleMs: number, ...elems: readonly Elem[]) => ({
  path: pathTo(...elems),
  mode: SubscriptionMode.SAMPLE,
  sampleInterval: ms(sampleMs),
});
export const onChange = (...elems: readonly Elem[]) => ({ path: pathTo(...elems), mode: SubscriptionMode.ON_CHANGE });
export const targetDefined = (...elems: readonly Elem[]) => ({ path: pathTo(...elems) });

interface Wanted {
  readonly mode?: SubscriptionList_Mode;
  readonly encoding?: Encoding;
  readonly prefix?: Path;
  readonly updatesOnly?: boolean;
}

export const subscribeRequest = (
  subscription: readonly (Options & { readonly path: Path })[],
  { mode = SubscriptionList_Mode.STREAM, encoding = Encoding.PROTO, ...rest }: Wanted = {},
): SubscribeRequest =>
  create(SubscribeRequestSchema, {
    request: { case: 'subscribe', value: { subscription: [...subscription], mode, encoding, ...rest } },
  });

export const pollRequest = (): SubscribeRequest =>
  create(SubscribeRequestSchema, { request: { case: 'poll', value: {} } });

export function plain(value: TypedValue | undefined): unknown {
  const v = value?.value;
  if (v?.case === 'jsonVal' || v?.case === 'jsonIetfVal') return JSON.parse(Buffer.from(v.value).toString());
  return v?.case === 'leaflistVal' ? v.value.element.map(plain) : v?.value;
}

export class Subscriber {
  readonly #client: Client;
  readonly call: ClientDuplexStream<SubscribeRequest, SubscribeResponse>;
  readonly notifications: Notification[] = [];
  /** Path text to value, as a client would keep it. */
  readonly picture = new Map<string, unknown>();
  /** Updates and deletes in order, as text. */
  readonly log: string[] = [];
  /** By path: how many values it was told that it missed. */
  readonly duplicates = new Map<string, number>();
  syncs = 0;
  error: ServiceError | undefined;
  isOver = false;

  constructor(target: string, request?: SubscribeRequest, channel = credentials.createInsecure()) {
    this.#client = new Client(target.startsWith('/') ? `unix:${target}` : target, channel, {
      'grpc.max_receive_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
    });
    const { path, requestSerialize, responseDeserialize } = bidirectional(gNMI.method.subscribe);
    this.call = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize as (bytes: Buffer) => SubscribeResponse,
    );
    this.call.on('data', (response: SubscribeResponse) => this.#take(response));
    this.call.on('error', (error: ServiceError) => (this.error = error));
    this.call.on('status', () => (this.isOver = true));
    if (request) this.call.write(request);
  }

  #take({ response }: SubscribeResponse): void {
    if (response.case === 'syncResponse') {
      this.syncs++;
      this.log.push('sync');
    } else if (response.case === 'update') this.#notify(response.value);
  }

  #notify(notification: Notification): void {
    this.notifications.push(notification);
    for (const { elem } of notification.delete) {
      const gone = formatPath(elem);
      this.log.push(`delete ${gone}`);
      // A list without keys is all of its entries.
      for (const path of this.picture.keys())
        if (path === gone || path.startsWith(`${gone}/`) || path.startsWith(`${gone}[`)) this.picture.delete(path);
    }
    for (const { path, val, duplicates } of notification.update) {
      const text = formatPath(path!.elem);
      this.picture.set(text, plain(val));
      this.log.push(`${text} ${String(plain(val))}`);
      this.duplicates.set(text, (this.duplicates.get(text) ?? 0) + duplicates);
    }
  }

  close(): void {
    this.call.cancel();
    this.#client.close();
  }
}
