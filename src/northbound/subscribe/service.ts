// Subscribe as a gRPC service: which requests a stream takes and when, how many streams there are, and how they end.
import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js';
import type { Count, Log } from '../../model/log.ts';
import type { StateSource } from '../../model/state.ts';
import type { Work } from '../../model/work.ts';
import { gNMI, type SubscribeRequest, type SubscriptionList } from '../gen/gnmi/gnmi_pb.js';
import { certificateOf, cutOff, decoding, statusOf } from '../grpc.ts';
import { checkExtensions } from '../request.ts';
import { type Access, expiryOf } from '../rights.ts';
import { RpcError } from '../rpc-error.ts';
import { Admission, type AdmissionOptions, clientOf } from './admission.ts';
import { Allowance } from './allowance.ts';
import { checkSubscriptions } from './request.ts';
import { Remembered } from './remembered.ts';
import { type StreamOptions, SubscribeStream } from './stream.ts';
import { Watches } from './watch.ts';

export interface SubscriptionsOptions extends AdmissionOptions {
  readonly source: StateSource;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
  /** Of one stream: changed leaves, and places that are gone, that its client has not taken. Default 20,000. */
  readonly maxQueued?: number;
  /** Leaves that samples of all streams remember for suppress_redundant. */
  readonly maxRemembered?: number;
  /** A client that takes nothing for so long is cut off. Default ten minutes. */
  readonly stuckMs?: number;
}

/** For one stream, in one turn of the event loop. */
const BUDGET_MS = 4;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const EXPIRED = new RpcError('UNAUTHENTICATED', 'the certificate has expired');
const MAX_POLLS = 16;

/** What all streams have in common. */
type Shared = Pick<StreamOptions, 'watches' | 'remembered' | 'allowance'>;

type Call = ServerDuplexStream<Buffer, Buffer>;

/** All streams of all sockets. */
export class Subscriptions {
  readonly options: SubscriptionsOptions;
  readonly #shared: Shared;
  readonly #admission: Admission;

  constructor(options: SubscriptionsOptions) {
    this.options = options;
    this.#admission = new Admission(options);
    this.#shared = {
      watches: new Watches({ ...options, now }),
      remembered: new Remembered(options.maxRemembered),
      allowance: new Allowance(),
    };
  }

  /** Units of the state that are compared again and again. */
  get watched(): number {
    return this.#shared.watches.size;
  }

  handler(access: Access): handleBidiStreamingCall<Buffer, Buffer> {
    return (call) => {
      const { count } = this.options;
      count(`northbound.call.${gNMI.method.subscribe.name.toLowerCase()}`);
      const live = new LiveCall(call, access, { ...this.options, ...this.#shared });
      try {
        live.start(this.#admission.enter(clientOf(call)));
      } catch (error) {
        live.fail(error);
      }
    };
  }
}

const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

class LiveCall {
  readonly #call: Call;
  readonly #access: Access;
  readonly #options: SubscriptionsOptions & Shared;
  #stream: SubscribeStream | undefined;
  #cancel: (() => void) | undefined;
  #onOver: () => void = () => undefined;
  #isOver = false;
  /** The requests that have come so far. */
  #decoded: Promise<void> = Promise.resolve();
  #expiry: NodeJS.Timeout | undefined;

  constructor(call: Call, access: Access, options: SubscriptionsOptions & Shared) {
    this.#call = call;
    this.#access = access;
    this.#options = options;
  }

  start(onOver: () => void): void {
    this.#onOver = onOver;
    this.#endAtExpiry();
    this.#call.on('data', (encoded: Buffer) => this.#decode(encoded));
    this.#call.on('end', () => void this.#decoded.then(() => this.#attempt(() => this.#halfClosed())));
    for (const event of ['cancelled', 'close'] as const) this.#call.on(event, () => this.#over());
  }

  #endAtExpiry(): void {
    const left = expiryOf(certificateOf(this.#call)) - Date.now();
    if (left === Infinity) return;
    // A longer time-out would be over at once.
    this.#expiry = setTimeout(
      () => (left <= LONGEST_TIMEOUT_MS ? this.fail(EXPIRED) : this.#endAtExpiry()),
      Math.min(left, LONGEST_TIMEOUT_MS),
    );
    this.#expiry.unref();
  }

  /** One after another, as they came. */
  #decode(encoded: Buffer): void {
    const decoded = decoding.decode(gNMI.method.subscribe.input, encoded, { isOver: () => this.#isOver });
    this.#decoded = this.#decoded
      .then(() => decoded)
      .then(
        (request) => this.#attempt(() => this.#take(request)),
        (error: unknown) => this.fail(error),
      );
  }

  #attempt(step: () => void): void {
    if (this.#isOver) return;
    try {
      step();
    } catch (error) {
      this.fail(error);
    }
  }

  #take({ request, extension }: SubscribeRequest): void {
    checkExtensions(extension);
    if (request.case === 'subscribe') this.#subscribe(request.value);
    else if (request.case !== 'poll')
      throw new RpcError('INVALID_ARGUMENT', 'the request has neither a SubscriptionList nor a Poll');
    else if (!this.#stream) throw new RpcError('INVALID_ARGUMENT', 'the first request must have a SubscriptionList');
    else this.#poll(this.#stream);
  }

  #poll(stream: SubscribeStream): void {
    if (!stream.isPoll) throw new RpcError('INVALID_ARGUMENT', 'Poll belongs to subscriptions with mode POLL');
    if (stream.polls >= MAX_POLLS)
      throw new RpcError('RESOURCE_EXHAUSTED', `${MAX_POLLS} polls wait already for their answers`);
    stream.poll();
  }

  #subscribe(list: SubscriptionList): void {
    if (this.#stream)
      throw new RpcError('INVALID_ARGUMENT', 'the call has a SubscriptionList already: use another call');
    const subscribed = checkSubscriptions(list);
    for (const { path } of subscribed.parts) this.#access.checkRead(path, certificateOf(this.#call));
    const { work, maxQueued = 20_000 } = this.#options;
    const sink = { write: (message: Buffer) => this.#call.write(message), drained: () => this.#drained() };
    this.#stream = new SubscribeStream(subscribed, { ...this.#options, sink, now, maxQueued });
    this.#cancel = work.run(this.#stream.run(), {
      budgetMs: BUDGET_MS,
      onDone: () => this.#end(),
      onError: (error) => this.fail(error),
    });
  }

  /** A client that will send no Poll any more has got all that it asked for. */
  #halfClosed(): void {
    if (!this.#stream) throw new RpcError('INVALID_ARGUMENT', 'the call has no SubscriptionList');
    if (this.#stream.isPoll) this.#stream.endAfterPolls();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const stuck = setTimeout(
        () => {
          this.#options.count('northbound.subscribe.stuck');
          cutOff(this.#call);
        },
        this.#options.stuckMs ?? 10 * 60_000,
      );
      const done = (): void => {
        clearTimeout(stuck);
        this.#call.off('drain', done).off('close', done);
        resolve();
      };
      this.#call.on('drain', done).on('close', done);
    });
  }

  #end(): void {
    this.#call.end();
    this.#over();
  }

  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#call.emit('error', statusOf(error, gNMI.method.subscribe.name, this.#options));
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#expiry);
    this.#cancel?.();
    this.#onOver();
  }
}
