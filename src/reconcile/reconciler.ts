// Makes actual equal desired for one kind of kernel object. The shape is the same for programs, map entries and routes:
// the caller says what should be; every object has a status; what failed is tried again with growing pauses; a full
// pass now and then puts back what somebody else took away and removes what nobody wants. It does not know what the
// objects are.
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import type { Count, Log } from '../model/log.ts';
import { type Steps, type Work, advance } from '../model/work.ts';
import { ApplyQueue, type Entry } from './apply-queue.ts';
import { type ObjectStatus, type Operations, type Wanted, sameJson } from './operations.ts';

export interface ReconcilerOptions<T> {
  /** First pause after a failure and the longest one; it doubles in between. Milliseconds. */
  readonly retryMs: readonly [number, number];
  /** Time between full passes, milliseconds. */
  readonly fullPassMs: number;
  /** Whether an object is as it was; absent: by its text. */
  readonly same?: (a: T, b: T) => boolean;
  /**
   * Objects that replace and change take within the call; the rest is work for later, nothing overtaking what was asked
   * for before. Absent: all of them, so that what comes after the call can rely on it.
   */
  readonly atOnce?: number;
}

export interface ReconcilerDependencies {
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
}

/** Objects in one step of the work: about 1 ms. */
const STEP = 250;
const BUDGET_MS = 2;

const DEFAULTS: ReconcilerOptions<unknown> = { retryMs: [100, 30_000], fullPassMs: 60_000 };

export class Reconciler<T extends { readonly id: string }> {
  readonly #operations: Operations<T>;
  readonly #options: ReconcilerOptions<T>;
  readonly #clock: Clock;
  readonly #work: Work;
  readonly #log: Log;
  readonly #count: Count;
  readonly #entries = new Map<string, Entry<T>>();
  /** What the next run does. */
  readonly #pending: ApplyQueue<T>;
  /** What replace, change and the retry have still to mark, in order; each pauses when `#objectsLeft` is used up. */
  #marking: Iterator<void>[] = [];
  #objectsLeft = 0;
  /** What was asked for is not complete: whatever is asked for next comes after it. */
  #isBehind = false;
  /** The full pass under way; it waits for `#marking`. */
  #pass: Generator<void> | undefined;
  /** Absent: no job is under way. */
  #cancelJob: (() => void) | undefined;
  readonly #wanted: Wanted = {
    has: (id) => this.#entries.get(id)?.object !== undefined,
    keys: () => [...this.#entries].flatMap(([id, entry]) => (entry.object === undefined ? [] : [id])),
  };
  readonly #retry: Deadline;
  #cancelFullPass: (() => void) | undefined;
  #closed = false;

  constructor(
    operations: Operations<T>,
    dependencies: ReconcilerDependencies,
    options: Partial<ReconcilerOptions<T>> = {},
  ) {
    this.#operations = operations;
    this.#pending = new ApplyQueue(operations, {
      onDeleted: ({ id }) => this.#entries.delete(id),
      onRefused: ({ id }, error) => this.#failed(id, error),
    });
    this.#options = { ...DEFAULTS, ...options };
    this.#clock = dependencies.clock;
    this.#work = dependencies.work;
    this.#retry = new Deadline(dependencies.clock, () => this.#begin(this.#retrying()));
    this.#log = dependencies.log;
    this.#count = dependencies.count;
  }

  /**
   * Sets everything that should exist; the rest is deleted, first, since two objects may use one key in turn. Unchanged
   * objects are not touched.
   */
  replace(objects: readonly T[]): void {
    // It says everything: what was still to be done is overtaken, retries too, for it tries again what failed.
    this.#marking = [];
    this.#begin(this.#replacing(objects));
  }

  /**
   * Applies a difference, upserts before deletes, each in the order given: cost is proportional to what changed. The
   * lists are kept until it is done.
   */
  change(upserts: readonly T[], deletes: readonly string[]): void {
    this.#begin(this.#changing(upserts, deletes));
  }

  *#replacing(objects: readonly T[]): Generator<void> {
    const wanted = new Set<string>();
    for (const { id } of objects) if (wanted.add(id).size % 16 === 0 && this.#stepIsOver()) yield;
    for (const id of this.#entries.keys()) {
      if (!wanted.has(id)) this.#markDeleted(id);
      if (this.#stepIsOver()) yield;
    }
    yield* this.#changing(objects, []);
  }

  *#changing(upserts: readonly T[], deletes: readonly string[]): Generator<void> {
    for (let i = 0; i < upserts.length; i++) {
      this.#markChanged(upserts[i]!);
      if (this.#stepIsOver()) yield;
    }
    for (const id of deletes) {
      this.#markDeleted(id);
      if (this.#stepIsOver()) yield;
    }
  }

  *#retrying(): Generator<void> {
    for (const entry of [...this.#pending.refused]) {
      if (this.#pending.refused.delete(entry)) this.#pending.add(entry);
      if (this.#stepIsOver()) yield;
    }
  }

  /** After each object. */
  #stepIsOver(): boolean {
    return --this.#objectsLeft <= 0;
  }

  #begin(marking: Iterator<void>): void {
    this.#marking.push(marking);
    if (!this.#isBehind) this.#mark(this.#closed ? Infinity : this.#atOnce);
    if (this.#isBehind) this.#goOn();
    this.#scheduleFullPass();
  }

  get #atOnce(): number {
    return this.#options.atOnce ?? Infinity;
  }

  #mark(objects: number): void {
    this.#objectsLeft = objects;
    while (this.#objectsLeft > 0 && this.#marking.length > 0) if (this.#marking[0]!.next().done) this.#marking.shift();
    this.#isBehind = this.#marking.length > 0;
    this.#run();
  }

  #goOn(): void {
    this.#cancelJob ??= this.#work.run(this.#job(), {
      budgetMs: BUDGET_MS,
      onDone: () => (this.#cancelJob = undefined),
    });
  }

  *#job(): Steps {
    while (this.#isBehind || this.#pass) {
      if (this.#isBehind) this.#mark(Math.min(STEP, this.#atOnce));
      else this.#advancePass();
      yield;
    }
  }

  #markDeleted(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#set(id, entry, undefined);
  }

  #markChanged(object: T): void {
    const same = this.#options.same ?? sameJson;
    const entry = this.#entries.get(object.id);
    if (entry?.object !== undefined && entry.state !== 'failed' && same(entry.object, object)) return;
    this.#set(object.id, entry, object);
  }

  #set(id: string, entry: Entry<T> | undefined, object: T | undefined): void {
    const marked = entry ?? { id, object, state: 'pending', attempts: 0, error: undefined, queued: false };
    marked.object = object;
    marked.state = 'pending';
    marked.attempts = 0;
    marked.error = undefined;
    this.#entries.set(id, marked);
    this.#pending.refused.delete(marked);
    this.#pending.add(marked);
  }

  /** Prunes, then checks or re-applies every object, its first step within the call. A pass under way starts again. */
  fullPass(): void {
    if (this.#closed) return;
    this.#pass?.return(undefined);
    this.#pass = this.#passing();
    if (!this.#isBehind) this.#advancePass();
    if (this.#pass) this.#goOn();
  }

  #advancePass(): void {
    if (this.#pass && advance(this.#pass, STEP)) this.#pass = undefined;
    this.#run();
  }

  *#passing(): Generator<void> {
    let pruned = 0;
    try {
      for (const removed of this.#operations.prune(this.#wanted)) {
        if (removed) pruned++;
        yield;
      }
    } catch (error) {
      this.#failed('prune', error);
    } finally {
      if (pruned > 0) {
        this.#count(`reconcile.${this.#operations.kind}.pruned`, pruned);
        this.#log.info({ kind: this.#operations.kind, pruned }, 'removed objects that are no longer desired');
      }
    }
    let restored = 0;
    for (const entry of this.#entries.values()) {
      // What was refused is left to its next try.
      if (entry.object !== undefined && !this.#pending.refused.has(entry) && this.#differs(entry, entry.object))
        restored++;
      yield;
    }
    if (restored > 0)
      this.#log.warn(
        { kind: this.#operations.kind, restored },
        'these were changed or removed by somebody else: restored',
      );
  }

  /** What does not verify is made again. @returns whether it was seen to differ */
  #differs(entry: Entry<T>, object: T): boolean {
    let differs = this.#operations.verify !== undefined;
    try {
      if (this.#operations.verify?.(object)) return false;
    } catch (error) {
      this.#failed(entry.id, error);
      differs = false;
    }
    if (this.#operations.verify) this.#count(`reconcile.${this.#operations.kind}.out-of-sync`);
    this.#pending.add(entry);
    return differs;
  }

  status(): ObjectStatus[] {
    return [...this.#entries].map(([id, e]) => ({
      id,
      state: e.state,
      attempts: e.attempts,
      ...(e.error === undefined ? {} : { error: e.error }),
    }));
  }

  /**
   * Does what was asked for, and stops retrying. What is in the kernel stays there: notification must survive the
   * agent.
   */
  close(): void {
    this.#closed = true;
    this.#retry.cancel();
    this.#cancelFullPass?.();
    this.#cancelJob?.();
    this.#mark(Infinity);
  }

  #run(): void {
    const attempts = this.#pending.run();
    if (attempts > 0) this.#scheduleRetry(attempts);
  }

  #failed(id: string, error: unknown): string {
    const text = error instanceof Error ? error.message : String(error);
    this.#count(`reconcile.${this.#operations.kind}.failed`);
    this.#log.warn({ kind: this.#operations.kind, id, error: text }, 'the kernel refused; will try again');
    return text;
  }

  #scheduleRetry(attempts: number): void {
    if (this.#closed) return;
    const [first, longest] = this.#options.retryMs;
    this.#retry.by(this.#clock.now() + Math.min(longest, first * 2 ** Math.max(0, attempts - 1)));
  }

  #scheduleFullPass(): void {
    if (this.#closed || this.#cancelFullPass) return;
    this.#cancelFullPass = this.#clock.after(this.#options.fullPassMs, () => {
      this.#cancelFullPass = undefined;
      this.fullPass();
      this.#scheduleFullPass();
    });
  }
}
