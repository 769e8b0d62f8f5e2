// A server of the fixture's state and its subscribers, for tests. The state may be changed while it is served.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { fakeConfig } from '../config.fixture.ts';
import { until } from '../../../test/support/until.ts';
import { silentLog } from '../../model/log.ts';
import { fail, ok } from '../../model/result.ts';
import type { CnpdState, StateSource } from '../../model/state.ts';
import { eventLoopWork } from '../../model/work.ts';
import type { NorthboundDependencies } from '../dependencies.ts';
import type { SubscribeRequest } from '../gen/gnmi/gnmi_pb.js';
import { type Northbound, startNorthbound } from '../server.ts';
import { exampleState, sourceOf } from '../state.fixture.ts';
import { type SubscriptionsOptions, Subscriptions } from './service.ts';
import { Subscriber, subscribeRequest } from './subscriber.fixture.ts';

export class Served {
  readonly state: CnpdState = exampleState();
  /** Sections that were read, in order. */
  readonly asked: string[] = [];
  readonly counts = new Map<string, number>();
  readonly #dir = mkdtempSync(join(tmpdir(), 'cnpd-subscribe-'));
  readonly #subscribers: Subscriber[] = [];
  readonly #work = eventLoopWork();
  subscriptions!: Subscriptions;
  dependencies!: NorthboundDependencies;
  #northbound: Northbound | undefined;

  get socket(): string {
    return join(this.#dir, 'gnmi.sock');
  }

  /** The state as it is at the moment of each reading. */
  readonly source = new Proxy({} as StateSource, {
    get: (_, name) => sourceOf(this.state, this.asked)[name as keyof StateSource],
  });

  /** Also again, with other options. */
  async start(options: Partial<SubscriptionsOptions> = {}): Promise<void> {
    await this.#northbound?.close();
    const count = (name: string, by = 1) => void this.counts.set(name, (this.counts.get(name) ?? 0) + by);
    const base = { source: this.source, work: this.#work, log: silentLog, count };
    this.subscriptions = new Subscriptions({ ...base, ...options });
    const actions = {
      reload: async () => ({ ok: true, errors: [], changed: [] }),
      set: () => Promise.reject(new Error('Set')),
      config: fakeConfig(),
      restartGroup: () => fail({ code: 'conflict' as const, errors: [] }),
      release: () => 0,
      logLevels: () => ok([]),
    };
    this.dependencies = { ...base, actions, subscriptions: this.subscriptions };
    this.#northbound = await startNorthbound({ socket: this.socket }, this.dependencies);
  }

  /** A subscriber that sends this first, or nothing. */
  call(request?: SubscribeRequest): Subscriber {
    const subscriber = new Subscriber(this.socket, request);
    this.#subscribers.push(subscriber);
    return subscriber;
  }

  subscribe(...args: Parameters<typeof subscribeRequest>): Subscriber {
    return this.call(subscribeRequest(...args));
  }

  /** Once it has all that it gets at first. */
  subscribed(...args: Parameters<typeof subscribeRequest>): Promise<Subscriber> {
    return synced(this.subscribe(...args));
  }

  async stop(): Promise<void> {
    for (const subscriber of this.#subscribers.splice(0)) subscriber.close();
    await this.#northbound?.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

export async function synced(subscriber: Subscriber, times = 1): Promise<Subscriber> {
  await until('the client is told that it has all', () => subscriber.syncs >= times || subscriber.error);
  expect(subscriber.error).toBeUndefined();
  return subscriber;
}

export const over = (subscriber: Subscriber): Promise<true> => until('the call ends', () => subscriber.isOver);
