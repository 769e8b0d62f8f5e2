// Makes actual equal desired for one kind of kernel object. The shape is the same for programs, map entries and routes: the caller says what
// should be; every object has a status; what failed is tried again with growing pauses; a full pass now and then puts back what somebody else
// took away and removes what nobody wants. It does not know what the objects are.
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';

/** What to do for one kind. Each throws when the kernel refuses; the error's text is kept as the object's status. */
export interface Operations<T> {
  /** Dotted-counter friendly name of the kind, e.g. `sender-proxy`. */
  readonly kind: string;
  /** Creates the object or makes it as given; idempotent. */
  update(object: T): void;
  /** As update, for many in the order given; when it throws, some may have been made. Absent: they are updated one by one. */
  updateMany?(objects: readonly T[]): void;
  /** Removes the object with this id; no error when it is not there. */
  delete(id: string): void;
  /** Removes what exists of this kind but is not wanted, returning how many. Also how objects of an earlier run are cleaned up. */
  prune(wanted: ReadonlyMap<string, T>): number;
  /** Whether the object is in the kernel as given. Absent: the full pass simply updates again. */
  verify?(object: T): boolean;
}

export interface ObjectStatus {
  readonly id: string;
  readonly state: 'pending' | 'done' | 'failed';
  readonly attempts: number;
  readonly error?: string;
}

export interface ReconcilerOptions {
  /** First pause after a failure and the longest one; it doubles in between. Milliseconds. */
  readonly retryMs: readonly [number, number];
  /** Time between full passes, milliseconds. */
  readonly fullPassMs: number;
  readonly same?: (a: unknown, b: unknown) => boolean;
}

interface Entry<T> {
  object: T | undefined;
  state: 'pending' | 'done' | 'failed';
  attempts: number;
  error: string | undefined;
}

/** Objects checked in one turn of the event loop: about 2 ms. */
const VERIFY_SLICE = 500;

const DEFAULTS: ReconcilerOptions = { retryMs: [100, 30_000], fullPassMs: 60_000 };

/** Values of desired state are plain data, so their text tells whether they changed. */
const sameJson = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v)) ===
  JSON.stringify(b, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v));

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
    const wanted = new Set(objects.map((o) => o.id));
    this.#markDeleted([...this.#entries.keys()].filter((id) => !wanted.has(id)));
    this.#markChanged(objects);
    this.#run();
    this.#scheduleFullPass();
  }

  /** Applies a difference, upserts before deletes, each in the order given: cost is proportional to what changed. */
  change(upserts: Iterable<T>, deletes: Iterable<string>): void {
    this.#markChanged(upserts);
    this.#markDeleted(deletes);
    this.#run();
    this.#scheduleFullPass();
  }

  #markDeleted(ids: Iterable<string>): void {
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry) this.#mark(id, entry, undefined);
    }
  }

  #markChanged(objects: Iterable<T>): void {
    const same = this.#options.same ?? sameJson;
    for (const object of objects) {
      const entry = this.#entries.get(object.id);
      if (entry?.object !== undefined && entry.state !== 'failed' && same(entry.object, object)) continue;
      this.#mark(object.id, entry, object);
    }
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

  /** Prunes, then checks or re-applies every object. */
  fullPass(): void {
    const wanted = new Map<string, T>();
    for (const [id, entry] of this.#entries) if (entry.object !== undefined) wanted.set(id, entry.object);
    try {
      const pruned = this.#operations.prune(wanted);
      if (pruned > 0) {
        this.#count(`reconcile.${this.#operations.kind}.pruned`, pruned);
        this.#log.info({ kind: this.#operations.kind, pruned }, 'removed what nobody wants any more');
      }
    } catch (error) {
      this.#failed('prune', error);
    }
    this.#verify([...wanted], 0);
  }

  /** A slice a turn, so that a large table does not hold up the event loop. */
  #verify(objects: readonly (readonly [string, T])[], from: number): void {
    if (this.#closed) return;
    for (const [id, object] of objects.slice(from, from + VERIFY_SLICE)) {
      // Changed or deleted since the pass began, or refused: its own update, or the next try, takes care of it.
      if (this.#entries.get(id)?.object !== object || this.#refused.has(id)) continue;
      let intact = false;
      try {
        intact = this.#operations.verify?.(object) ?? false;
      } catch (error) {
        this.#failed(id, error);
      }
      if (intact) continue;
      if (this.#operations.verify) this.#count(`reconcile.${this.#operations.kind}.out-of-sync`);
      this.#pending.add(id);
    }
    this.#run();
    if (from + VERIFY_SLICE < objects.length) this.#clock.after(1, () => this.#verify(objects, from + VERIFY_SLICE));
  }

  status(): ObjectStatus[] {
    return [...this.#entries].map(([id, e]) => ({ id, state: e.state, attempts: e.attempts, ...(e.error === undefined ? {} : { error: e.error }) }));
  }

  /** Stops retrying. What is in the kernel stays there: notification must survive the agent. */
  close(): void {
    this.#closed = true;
    this.#cancelRetry?.();
    this.#cancelFullPass?.();
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
      for (const id of this.#refused) this.#pending.add(id);
      this.#refused.clear();
      this.#run();
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
