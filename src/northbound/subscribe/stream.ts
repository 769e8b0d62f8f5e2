// The life of one Subscribe call (gNMI specification §3.5.1.5) as one job: what it sends first, and what then. It waits
// for the client where that is slow, so only the queue of changes grows meanwhile, and that is bounded.
import type { StateSource } from '../../model/state.ts';
import { type Steps, wait } from '../../model/work.ts';
import type { Count } from '../../model/log.ts';
import { Sections } from '../select.ts';
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
}

/** A sample with a heartbeat is due for either. */
const dueAt = ({ due, wholeDue }: Timed): number => Math.min(due, wholeDue);

/** A part that takes long to sample is sampled so seldom that it has at most a fifth of the time. */
const SHARE = 4;

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
    }));
    const heartbeats = parts
      .filter(({ kind, heartbeatMs }) => kind === 'on-change' && heartbeatMs !== undefined)
      .map((part) => ({ part, sampler: undefined, due: now + part.heartbeatMs!, wholeDue: Infinity }));
    return [...sampled, ...heartbeats];
  }

  *#goOn(changes: Changes, timed: readonly Timed[]): Steps {
    while (true) {
      if (changes.error) throw changes.error;
      if (!changes.queue.isEmpty && (yield* changes.sendQueued()) === 'anew') this.#sentAnew(timed);
      const due = timed.find((one) => dueAt(one) <= performance.now());
      if (due) yield* due.sampler ? this.#sample(due, due.sampler) : this.#heartbeat(due, changes);
      else if (changes.queue.isEmpty && !changes.error)
        yield* this.#sleep(Math.min(...timed.map(dueAt)) - performance.now());
      yield* this.#outlet.settle();
    }
  }

  /** The client was told to forget what is subscribed to, samples among it. */
  #sentAnew(timed: readonly Timed[]): void {
    this.#options.count('northbound.subscribe.overflow');
    for (const one of timed) {
      one.sampler?.forget();
      if (one.sampler) one.due = performance.now();
    }
  }

  *#sample(timed: Timed, sampler: Sampler): Steps {
    const begun = performance.now();
    const blockedBefore = this.#outlet.blockedMs;
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
    const now = performance.now();
    const cost = now - begun - (this.#outlet.blockedMs - blockedBefore);
    const due = timed.due + Math.max(0, samples) * intervalMs;
    timed.due = Math.max(due, now + cost * SHARE);
    if (timed.due > due && due > now) this.#options.count('northbound.subscribe.late');
  }

  *#heartbeat(timed: Timed, changes: Changes): Steps {
    timed.due = Math.max(timed.due + timed.part.heartbeatMs!, performance.now());
    yield* changes.sendAll(timed.part);
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
