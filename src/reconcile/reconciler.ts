// Makes the actual state equal the desired state for one kind of kernel object: programs, map entries or routes. The
// caller supplies the desired objects; every object has a status. Failures are retried with exponential back-off. A
// periodic full pass restores objects that another program changed or removed, and prunes those that are not desired.
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import { type Steps, type Work, advance } from '../model/work.ts';
import { ApplyQueue, type Entry, statusOf, unfinished } from './apply-queue.ts';
import type { ReconcilerDependencies, ReconcilerOptions } from './reconciler-options.ts';
import { type ObjectStatus, type Operations, type DesiredIds, samePlain } from './operations.ts';

/** Objects per step of work: about 1 ms. */
const STEP = 250;
/** Objects per step of a full pass. To verify one may take several system calls. */
const PASS_STEP = 25;
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
  readonly #pending: ApplyQueue<T>;
  /**
   * Generators of replace, change and retry that still have objects to mark, in order. Each pauses when `#objectsLeft`
   * reaches 0.
   */
  #marking: Iterator<void>[] = [];
  #objectsLeft = 0;
  /** An earlier request is incomplete; later requests queue behind it. */
  #isBehind = false;
  /** Called when that is over. */
  readonly #waiting: (() => void)[] = [];
  #pass: Generator<void> | undefined;
  #cancelJob: (() => void) | undefined;
  readonly #desired: DesiredIds = {
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
   * Sets all desired objects. All others are deleted first, since an old and a new object may share a key. Unchanged
   * objects are not touched.
   */
  replace(objects: readonly T[]): void {
    // The new list is complete, so pending requests are obsolete. Retries are too, since failed objects are tried
    // again.
    this.#marking = [];
    this.#begin(this.#replacing(objects));
  }

  /**
   * Applies a difference, upserts before deletes, each in the order given. Cost is proportional to the difference. The
   * lists must not change until it is applied.
   */
  change(upserts: readonly T[], deletes: readonly string[]): void {
    this.#begin(this.#changing(upserts, deletes));
  }

  /**
   * Deletes these within the call, whatever is incomplete. It may bring them back: replace() has to say what is desired
   * now.
   */
  deleteNow(ids: readonly string[]): void {
    for (const id of ids) this.#markDeleted(id);
    this.#run();
  }

  /** Resolves when all requests are applied or refused; undefined: they are. */
  get applying(): Promise<void> | undefined {
    return this.#isBehind ? new Promise((done) => void this.#waiting.push(done)) : undefined;
  }

  *#replacing(objects: readonly T[]): Generator<void> {
    const desired = new Set<string>();
    for (const { id } of objects) if (desired.add(id).size % 16 === 0 && this.#stepIsOver()) yield;
    for (const id of this.#entries.keys()) {
      if (!desired.has(id)) this.#markDeleted(id);
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

  #stepIsOver(): boolean {
    return --this.#objectsLeft <= 0;
  }

  #begin(marking: Iterator<void>): void {
    this.#marking.push(marking);
    const atOnce = this.#closed ? Infinity : (this.#options.atOnce ?? Infinity);
    if (!this.#isBehind || atOnce === Infinity) this.#mark(atOnce);
    if (this.#isBehind) this.#goOn();
    this.#scheduleFullPass();
  }

  /** @param objects Infinity: all is applied within the call */
  #mark(objects: number): void {
    const isWhole = objects === Infinity;
    // What was put off comes first, so that no more objects than these are applied in one go.
    this.#objectsLeft = this.#pending.waits && !isWhole ? 0 : objects;
    while (this.#objectsLeft > 0 && this.#marking.length > 0) if (this.#marking[0]!.next().done) this.#marking.shift();
    do this.#run();
    while (isWhole && this.#pending.waits);
    this.#isBehind = this.#marking.length > 0 || this.#pending.waits;
    if (!this.#isBehind) for (const done of this.#waiting.splice(0)) done();
  }

  #goOn(): void {
    this.#cancelJob ??= this.#work.run(this.#job(), {
      budgetMs: BUDGET_MS,
      onDone: () => (this.#cancelJob = undefined),
    });
  }

  *#job(): Steps {
    while (this.#isBehind || this.#pass) {
      if (this.#isBehind) this.#mark(this.#options.perStep ?? Math.min(STEP, this.#options.atOnce ?? STEP));
      else this.#advancePass();
      yield;
    }
  }

  #markDeleted(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#set(id, entry, undefined);
  }

  #markChanged(object: T): void {
    const same = this.#options.same ?? samePlain;
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

  /**
   * Prunes, then verifies or re-applies every object. The first step runs within the call; a running pass starts again.
   */
  fullPass(): void {
    if (this.#closed) return;
    this.#startPass();
    if (!this.#isBehind) this.#advancePass();
    if (this.#pass || this.#isBehind) this.#goOn();
  }

  #startPass(): void {
    this.#pass?.return(undefined);
    this.#pass = this.#passing();
  }

  #advancePass(): void {
    if (this.#pass && advance(this.#pass, PASS_STEP)) this.#pass = undefined;
    this.#mark(0);
  }

  *#passing(): Generator<void> {
    let pruned = 0;
    try {
      for (const removed of this.#operations.prune(this.#desired)) {
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
      // Refused objects are left to their next retry.
      if (entry.object !== undefined && !this.#pending.refused.has(entry) && this.#differs(entry, entry.object))
        restored++;
      yield;
    }
    if (restored > 0)
      this.#log.warn(
        { kind: this.#operations.kind, restored },
        'restored objects that another program changed or removed',
      );
  }

  /** Queues the object again if verification fails, or if there is none. @returns whether a difference was seen */
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
    return [...this.#entries.values()].map(statusOf);
  }

  /** Those that are not done, of what may be thousands. */
  unfinished(): ObjectStatus[] {
    return unfinished(this.#entries.values());
  }

  isDone(id: string): boolean {
    return this.#entries.get(id)?.state === 'done';
  }

  /** Objects that the kernel has, or is about to be given: none that it has always refused. */
  get size(): number {
    return this.#entries.size - [...this.#pending.refused].filter(({ isThere }) => !isThere).length;
  }

  /**
   * Applies all pending requests and stops retrying. Objects stay in the kernel: notification must survive the agent.
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
    const text = messageOf(error);
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
      // The timers of all reconcilers come at the same time: each pass begins in a turn of its own.
      this.#startPass();
      this.#goOn();
      this.#scheduleFullPass();
    });
  }
}
