// Streams under a clock that only tests move, so that they need not wait for intervals.
import { fromBinary } from '@bufbuild/protobuf';
import { vi } from 'vitest';
import type { StateSource } from '../../model/state.ts';
import { FairWork } from '../../model/work.ts';
import { SubscribeResponseSchema } from '../gen/gnmi/gnmi_pb.js';
import { Allowance } from './allowance.ts';
import { Remembered } from './remembered.ts';
import { checkSubscriptions } from './request.ts';
import { SubscribeStream } from './stream.ts';
import { subscribeRequest } from './subscriber.fixture.ts';
import { Watches } from './watch.ts';

const now = (): bigint => BigInt(Math.round(performance.now() * 1e6));

/** Call `vi.useRealTimers` afterwards. */
export class ManualClock {
  readonly #source: StateSource;
  readonly #watches: Watches;
  readonly #shared = { remembered: new Remembered(), allowance: new Allowance() };
  readonly #messageMs: number;
  readonly counts = new Map<string, number>();
  readonly #begun: number;
  #turns = 0;
  readonly #work = new FairWork({
    now: () => 0,
    schedule: (turn) => {
      this.#turns++;
      setImmediate(() => (this.#turns--, turn()));
    },
  });

  /** @param messageMs processor time of a message */
  constructor(source: StateSource, messageMs = 0) {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    this.#begun = performance.now();
    this.#source = source;
    this.#messageMs = messageMs;
    this.#watches = new Watches({ source, work: this.#work, now });
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return performance.now() - this.#begun;
  }

  /** @returns when updates are sent, milliseconds; those of one message count once */
  subscribe(...args: Parameters<typeof subscribeRequest>): number[] {
    const { request } = subscribeRequest(...args);
    if (request.case !== 'subscribe') throw new Error('no list');
    const sent: number[] = [];
    const write = (message: Buffer): boolean => {
      vi.advanceTimersByTime(this.#messageMs);
      if (fromBinary(SubscribeResponseSchema, message).response.case === 'update') sent.push(this.now);
      return true;
    };
    const stream = new SubscribeStream(checkSubscriptions(request.value), {
      source: this.#source,
      watches: this.#watches,
      ...this.#shared,
      sink: { write, drained: () => Promise.resolve() },
      count: (name, by = 1) => void this.counts.set(name, (this.counts.get(name) ?? 0) + by),
      now,
      maxQueued: 1000,
    });
    this.#work.run(stream.run(), { budgetMs: 1 });
    return sent;
  }

  /** Lets all jobs do what they can, again after each step of the clock. */
  async advance(ms: number, stepMs = 50): Promise<void> {
    await this.#settle();
    for (const end = this.now + ms; this.now < end;) {
      vi.advanceTimersByTime(stepMs);
      await this.#settle();
    }
  }

  async #settle(): Promise<void> {
    do await new Promise((resolve) => void setImmediate(resolve));
    while (this.#turns > 0);
  }
}
