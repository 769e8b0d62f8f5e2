// Makes actual equal desired for one kind of kernel object. The shape is the same for programs, map entries and routes: the caller says what
// should be; every object has a status; what failed is tried again with growing pauses; a full pass now and then puts back what somebody else
// took away and removes what nobody wants. It does not know what the objects are.
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';
import { type ObjectStatus, type Operations, type Wanted, sameJson } from './operations.ts';

export interface ReconcilerOptions {
  /** First pause after a failure and the longest one; it doubles in between. Milliseconds. */
  readonly retryMs: readonly [number, number];
  /** Time between full passes, milliseconds. */
  readonly fullPassMs: number;
  readonly same?: (a: unknown, b: unknown) => boolean;
  /**
   * Objects that replace and change take in one turn of the event loop; the first of them at once, the rest in turns to come, nothing overtaking what was
   * asked for before. Absent: all at once, so that what comes after the call can rely on it.
   */
  readonly perTurn?: number;
}

interface Entry<T> {
  object: T | undefined;
  state: 'pending' | 'done' | 'failed';
  attempts: number;
  error: string | undefined;
}

/** Steps of a full pass in one turn of the event loop: about 2 ms. */
const PASS_SLICE = 500;

const DEFAULTS: ReconcilerOptions = { retryMs: [100, 30_000], fullPassMs: 60_000 };

export class Reconciler<T extends { readonly id: string }> {
  readonly #operations: Operations<T>;
  readonly #options: ReconcilerOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #count: Count;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #pending = new Set<string>();
  /** Refused by the kernel; tried again when the pause is over, not whenever something else changes. */
  readonly #refused = new Set<string>();
  /** What replace, change and the retry have still to mark, in order; a step is an object. */
  #work: Iterator<void>[] = [];
  #cancelTurn: (() => void) | undefined;
  /** The full pass under way; it waits for `#work`. */
  #pass: Generator<void> | undefined;
  #cancelPass: (() => void) | undefined;
  readonly #wanted: Wanted = {
    has: (id) => this.#entries.get(id)?.object !== undefined,
    keys: () => [...this.#entries].flatMap(([id, entry]) => (entry.object === undefined ? [] : [id])),
  };
  #retryAt = Infinity;
  #cancelRetry: (() => void) | undefined;
  #cancelFullPass: (() => void) | undefined;
  #closed = false;

  constructor(operations: Operations<T>, modules: { clock: Clock; log: Log; count: Count }, options: Partial<ReconcilerOptions> = {}) {
    this.#operations = operations;
    this.#options = { ...DEFAULTS, ...options };
    this.#clock = modules.clock;
    this.#log = modules.log;
    this.#count = modules.count;
  }

  /** Sets everything that should exist; the rest is deleted, first, since two objects may use one key in turn. Unchanged objects are not touched. */
  replace(objects: readonly T[]): void {
    // It says everything: what was still to be done is overtaken, retries too, for it tries again what failed.
    this.#work = [];
    this.#begin(this.#replacing(objects));
  }

  /** Applies a difference, upserts before deletes, each in the order given: cost is proportional to what changed. */
  change(upserts: Iterable<T>, deletes: Iterable<string>): void {
    this.#begin(this.#changing([...upserts], [...deletes]));
  }

  *#replacing(objects: readonly T[]): Generator<void> {
    const wanted = new Set<string>();
    for (const { id } of objects) if (wanted.add(id).size % 16 === 0) yield;
    for (const id of this.#entries.keys()) {
      if (!wanted.has(id)) this.#markDeleted(id);
      yield;
    }
    yield* this.#changing(objects, []);
  }

  *#changing(upserts: readonly T[], deletes: readonly string[]): Generator<void> {
    for (const object of upserts) yield this.#markChanged(object);
    for (const id of deletes) yield this.#markDeleted(id);
  }

  *#retrying(): Generator<void> {
    for (const id of [...this.#refused]) {
      if (this.#refused.delete(id)) this.#pending.add(id);
      yield;
    }
  }

  #begin(work: Iterator<void>): void {
    this.#work.push(work);
    if (!this.#cancelTurn) this.#turn();
    this.#scheduleFullPass();
  }

  #turn(): void {
    this.#cancelTurn = undefined;
    let left = this.#closed ? Infinity : (this.#options.perTurn ?? Infinity);
    for (; left > 0 && this.#work.length > 0; left--) if (this.#work[0]!.next().done) this.#work.shift();
    this.#run();
    if (this.#work.length > 0) this.#cancelTurn = this.#clock.after(1, () => this.#turn());
  }

  #markDeleted(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#mark(id, entry, undefined);
  }

  #markChanged(object: T): void {
    const same = this.#options.same ?? sameJson;
    const entry = this.#entries.get(object.id);
    if (entry?.object !== undefined && entry.state !== 'failed' && same(entry.object, object)) return;
    this.#mark(object.id, entry, object);
  }

  #mark(id: string, entry: Entry<T> | undefined, object: T | undefined): void {
    const marked = entry ?? { object, state: 'pending', attempts: 0, error: undefined };
    marked.object = object;
    marked.state = 'pending';
    marked.attempts = 0;
    marked.error = undefined;
    if (!entry) this.#entries.set(id, marked);
    this.#refused.delete(id);
    this.#pending.add(id);
  }

  /** Prunes, then checks or re-applies every object; a slice a turn, so that a large table does not hold up the event loop. A pass under way starts again. */
  fullPass(): void {
    if (this.#closed) return;
    this.#cancelPass?.();
    this.#pass?.return(undefined);
    this.#pass = this.#passing();
    this.#advancePass();
  }

  #advancePass(): void {
    if (this.#work.length === 0) {
      for (let i = 0; i < PASS_SLICE && this.#pass; i++) if (this.#pass.next().done) this.#pass = undefined;
      this.#run();
    }
    this.#cancelPass = this.#pass && this.#clock.after(1, () => this.#advancePass());
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
        this.#log.info({ kind: this.#operations.kind, pruned }, 'removed what nobody wants any more');
      }
    }
    for (const [id, entry] of this.#entries) {
      // What was refused is left to its next try.
      if (entry.object !== undefined && !this.#refused.has(id)) this.#verify(id, entry.object);
      yield;
    }
  }

  #verify(id: string, object: T): void {
    try {
      if (this.#operations.verify?.(object)) return;
    } catch (error) {
      this.#failed(id, error);
    }
    if (this.#operations.verify) this.#count(`reconcile.${this.#operations.kind}.out-of-sync`);
    this.#pending.add(id);
  }

  status(): ObjectStatus[] {
    return [...this.#entries].map(([id, e]) => ({ id, state: e.state, attempts: e.attempts, ...(e.error === undefined ? {} : { error: e.error }) }));
  }

  /** Does what was asked for, and stops retrying. What is in the kernel stays there: notification must survive the agent. */
  close(): void {
    this.#closed = true;
    for (const cancel of [this.#cancelRetry, this.#cancelFullPass, this.#cancelPass, this.#cancelTurn]) cancel?.();
    this.#turn();
  }

  #run(): void {
    let attempts = 0;
    for (const group of this.#groups()) {
      if (group.length > 1 && this.#updateTogether(group)) continue;
      for (const id of group) attempts = Math.max(attempts, this.#settle(id));
    }
    if (attempts > 0) this.#scheduleRetry(attempts);
  }

  /** What is pending, in order; updates that follow each other are one group where the kernel takes many at once. */
  #groups(): string[][] {
    const groups: string[][] = [];
    let updates: string[] | undefined;
    for (const id of this.#pending) {
      const isUpdate = this.#operations.updateMany !== undefined && this.#entries.get(id)?.object !== undefined;
      if (isUpdate && updates) updates.push(id);
      else groups.push([id]);
      updates = isUpdate ? groups.at(-1) : undefined;
    }
    return groups;
  }

  /** False when the kernel did not take them all: each is then tried by itself, and has its own error. */
  #updateTogether(ids: readonly string[]): boolean {
    try {
      this.#operations.updateMany!(ids.map((id) => this.#entries.get(id)!.object!));
    } catch {
      return false;
    }
    for (const id of ids) this.#done(id);
    return true;
  }

  /** Does what is pending for one object. Returns how often it has failed in a row. */
  #settle(id: string): number {
    const entry = this.#entries.get(id);
    if (!entry) {
      this.#pending.delete(id);
      return 0;
    }
    try {
      if (entry.object === undefined) {
        this.#operations.delete(id);
        this.#entries.delete(id);
        this.#pending.delete(id);
      } else {
        this.#operations.update(entry.object);
        this.#done(id);
      }
      return 0;
    } catch (error) {
      entry.state = 'failed';
      entry.attempts++;
      entry.error = this.#failed(id, error);
      this.#pending.delete(id);
      this.#refused.add(id);
      return entry.attempts;
    }
  }

  #done(id: string): void {
    const entry = this.#entries.get(id)!;
    entry.state = 'done';
    entry.attempts = 0;
    entry.error = undefined;
    this.#pending.delete(id);
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
    const pause = Math.min(longest, first * 2 ** Math.max(0, attempts - 1));
    const at = this.#clock.now() + pause;
    if (at >= this.#retryAt) return;
    this.#cancelRetry?.();
    this.#retryAt = at;
    this.#cancelRetry = this.#clock.after(pause, () => {
      this.#retryAt = Infinity;
      this.#begin(this.#retrying());
    });
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
