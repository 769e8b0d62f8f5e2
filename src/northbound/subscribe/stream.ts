// The life of one Subscribe call (gNMI specification §3.5.1.5) as one job: what it sends first, and what then. It waits
// for the client where that is slow, so only the queue of changes grows meanwhile, and that is bounded.
import type { StateSource } from '../../model/state.ts';
import { type Steps, wait } from '../../model/work.ts';
import type { Count } from '../../model/log.ts';
import { Sections } from '../select.ts';
import { type Allowance, REST } from './allowance.ts';
import { Changes } from './changes.ts';
import { Outlet, type Sink } from './outlet.ts';
import type { Part, Subscribed } from './request.ts';
import type { Remembered } from './remembered.ts';
import { Sampler, sendNow } from './sampler.ts';
import type { Watches } from './watch.ts';

export interface StreamOptions {
  readonly source: StateSource;
  readonly watches: Watches;
  /** Of all streams. */
  readonly remembered: Remembered;
  /** Of all streams. */
  readonly allowance: Allowance;
  readonly sink: Sink;
  readonly count: Count;
  /** Nanoseconds since the Unix epoch. */
  readonly now: () => bigint;
  /** See Changes. */
  readonly maxQueued: number;
}

/** A part, and when it is due next: a sample, or a heartbeat. Milliseconds of performance.now(). */
interface Timed {
  readonly part: Part;
  readonly sampler: Sampler | undefined;
  due: number;
  /** Samples: when all is sent, whether it has changed or not. */
  wholeDue: number;
  /** It is due, but what it costs, or what others cost, delays it. */
  isLate: boolean;
}

/** A sample with a heartbeat is due for either. */
const dueAt = ({ due, wholeDue }: Timed): number => Math.min(due, wholeDue);

const earlier = (a: Timed, b: Timed): Timed => (dueAt(b) < dueAt(a) ? b : a);

export class SubscribeStream {
  readonly #subscribed: Subscribed;
  readonly #options: StreamOptions;
  readonly #outlet: Outlet;
  #wake: () => void = () => undefined;
  #isEnding = false;
  /** Polls that are not answered yet. */
  polls = 0;

  constructor(subscribed: Subscribed, options: StreamOptions) {
    this.#subscribed = subscribed;
    this.#options = options;
    this.#outlet = new Outlet(options.sink, subscribed.encoding, subscribed.prefix);
  }

  get isPoll(): boolean {
    return this.#subscribed.mode === 'POLL';
  }

  poll(): void {
    this.polls++;
    this.#wake();
  }

  /** There will be no more polls. */
  endAfterPolls(): void {
    this.#isEnding = true;
    this.#wake();
  }

  /** Ends by itself after ONCE, and when there are no more polls; otherwise only with an error, or from outside. */
  *run(): Steps {
    const { mode, updatesOnly } = this.#subscribed;
    if (mode === 'STREAM') return yield* this.#stream();
    if (!updatesOnly) yield* this.#sendNow();
    this.#outlet.sync();
    while (mode === 'POLL' && !(this.#isEnding && this.polls === 0)) {
      yield* this.#sleep();
      for (; this.polls > 0; this.polls--) {
        yield* this.#sendNow();
        this.#outlet.sync();
        yield* this.#outlet.settle();
      }
    }
  }

  *#sendNow(): Steps {
    this.#outlet.at(this.#options.now());
    yield* sendNow(this.#subscribed.parts, this.#options.source, this.#outlet);
    this.#outlet.flush();
    yield* this.#outlet.settle();
  }

  *#stream(): Steps {
    const { parts } = this.#subscribed;
    const changes = new Changes(
      parts.filter(({ kind }) => kind === 'on-change'),
      {
        ...this.#options,
        outlet: this.#outlet,
        onChange: () => this.#wake(),
        onMissed: (values) => this.#options.count('northbound.subscribe.missed', values),
      },
    );
    const samplers = parts
      .filter(({ kind }) => kind === 'sample')
      .map((part) => new Sampler(part, this.#outlet, this.#options.remembered));
    try {
      yield* changes.ready();
      yield* this.#begin(changes, samplers);
      yield* this.#goOn(changes, this.#timed(parts, samplers));
    } finally {
      changes.close();
      for (const sampler of samplers) sampler.forget();
    }
  }

  *#begin(changes: Changes, samplers: readonly Sampler[]): Steps {
    const { updatesOnly } = this.#subscribed;
    if (!updatesOnly) yield* changes.sendAll();
    const sections = new Sections(this.#options.source);
    this.#outlet.at(this.#options.now());
    for (const sampler of samplers)
      if (!updatesOnly || sampler.part.suppressRedundant)
        yield* sampler.send(sections, { isWhole: true, isSilent: updatesOnly });
    this.#outlet.sync();
    yield* this.#outlet.settle();
  }

  #timed(parts: readonly Part[], samplers: readonly Sampler[]): Timed[] {
    const now = performance.now();
    const sampled = samplers.map((sampler) => ({
      part: sampler.part,
      sampler,
      due: now + sampler.part.intervalMs,
      wholeDue: now + (sampler.part.heartbeatMs ?? Infinity),
      isLate: false,
    }));
    const heartbeats = parts
      .filter(({ kind, heartbeatMs }) => kind === 'on-change' && heartbeatMs !== undefined)
      .map((part) => ({
        ...{ part, sampler: undefined, isLate: false },
        ...{ due: now + part.heartbeatMs!, wholeDue: Infinity },
      }));
    return [...sampled, ...heartbeats];
  }

  *#goOn(changes: Changes, timed: readonly Timed[]): Steps {
    while (true) {
      if (changes.error) throw changes.error;
      if (!changes.queue.isEmpty && (yield* changes.sendQueued()) === 'anew') this.#sentAnew(timed);
      const next = timed.length > 0 ? timed.reduce(earlier) : undefined;
      const waitMs = next ? this.#waitMs(next) : Infinity;
      if (next && waitMs <= 0) yield* this.#options.allowance.counted(this.#sendTimed(next, changes));
      else if (changes.queue.isEmpty && !changes.error) yield* this.#sleep(waitMs);
      yield* this.#outlet.settle();
    }
  }

  #waitMs(timed: Timed): number {
    const { restMs } = this.#options.allowance;
    const dueMs = dueAt(timed) - performance.now();
    if (dueMs <= 0 && restMs > 0) timed.isLate = true;
    return Math.max(dueMs, restMs);
  }

  /** A part that takes long is sent so seldom that it has at most a fifth of the time; see also Allowance. */
  *#sendTimed(timed: Timed, changes: Changes): Steps {
    if (timed.isLate) this.#options.count('northbound.subscribe.late');
    const begun = performance.now();
    const blockedBefore = this.#outlet.blockedMs;
    const due = yield* timed.sampler ? this.#sample(timed, timed.sampler) : this.#heartbeat(timed, changes);
    const now = performance.now();
    const cost = now - begun - (this.#outlet.blockedMs - blockedBefore);
    const rested = now + cost * REST;
    timed.due = Math.max(due, rested);
    timed.wholeDue = Math.max(timed.wholeDue, rested);
    timed.isLate = rested > due && due > now;
  }

  /** The client was told to forget what is subscribed to, samples among it. */
  #sentAnew(timed: readonly Timed[]): void {
    this.#options.count('northbound.subscribe.overflow');
    for (const one of timed) {
      one.sampler?.forget();
      if (one.sampler) one.due = performance.now();
    }
  }

  /** @returns when the next is due */
  *#sample(timed: Timed, sampler: Sampler): Steps<number> {
    const begun = performance.now();
    const { intervalMs, heartbeatMs } = timed.part;
    const samples = Math.floor((begun - timed.due) / intervalMs) + 1;
    const missed = Math.max(0, samples - 1);
    if (missed > 0) this.#options.count('northbound.subscribe.missed', missed);
    const isWhole = begun >= timed.wholeDue;
    if (isWhole) timed.wholeDue = begun + heartbeatMs!;
    this.#outlet.at(this.#options.now());
    const sections = new Sections(this.#options.source);
    yield* sampler.send(sections, { isWhole: isWhole || !timed.part.suppressRedundant, missed });
    this.#outlet.flush();
    return timed.due + Math.max(0, samples) * intervalMs;
  }

  /** @returns when the next is due */
  *#heartbeat(timed: Timed, changes: Changes): Steps<number> {
    yield* changes.sendAll(timed.part);
    return timed.due + timed.part.heartbeatMs!;
  }

  /** Until there is something to do, or so many milliseconds have passed. */
  *#sleep(ms = Infinity): Steps {
    if (this.polls > 0 || this.#isEnding) return;
    let timer: NodeJS.Timeout | undefined;
    try {
      yield* wait(
        new Promise<void>((resolve) => {
          this.#wake = resolve;
          if (ms !== Infinity) timer = setTimeout(resolve, Math.max(0, ms));
        }),
      );
    } finally {
      clearTimeout(timer);
      this.#wake = () => undefined;
    }
  }
}
