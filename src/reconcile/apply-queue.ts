// Does what is queued for one kind of kernel object, in order: updates and deletes. What the kernel refuses is kept for
// its next try.
import type { Operations } from './operations.ts';

/** An object of the kind, and what has become of it. */
export interface Entry<T> {
  readonly id: string;
  /** Absent: it is to be deleted. */
  object: T | undefined;
  state: 'pending' | 'done' | 'failed';
  attempts: number;
  error: string | undefined;
  /** Among those that the next run looks at. */
  queued: boolean;
}

export interface ApplyQueueEvents<T> {
  readonly onDeleted: (entry: Entry<T>) => void;
  /** @returns the error's text */
  readonly onRefused: (entry: Entry<T>, error: unknown) => string;
}

export class ApplyQueue<T extends { readonly id: string }> {
  readonly #operations: Operations<T>;
  readonly #events: ApplyQueueEvents<T>;
  /** In order: each once, and none is left by a run. */
  #queue: Entry<T>[] = [];
  /** Refused by the kernel; tried again when the pause is over, not whenever something else changes. */
  readonly refused = new Set<Entry<T>>();

  constructor(operations: Operations<T>, events: ApplyQueueEvents<T>) {
    this.#operations = operations;
    this.#events = events;
  }

  add(entry: Entry<T>): void {
    if (!entry.queued) this.#queue.push(entry);
    entry.queued = true;
  }

  /**
   * Updates that follow each other go together where the kernel takes many at once.
   * @returns how often one of them has failed in a row, the most of all
   */
  run(): number {
    const queue = this.#queue;
    this.#queue = [];
    for (const entry of queue) entry.queued = false;
    let attempts = 0;
    for (let i = 0; i < queue.length;) {
      const end = this.#endOfUpdates(queue, i);
      if (end - i > 1 && this.#updateTogether(queue, i, end)) i = end;
      else
        do attempts = Math.max(attempts, this.#settle(queue[i++]!));
        while (i < end);
    }
    return attempts;
  }

  /**
   * Where the updates that begin at `start` end; there itself when what is there is none, or the kernel takes them one
   * by one.
   */
  #endOfUpdates(queue: readonly Entry<T>[], start: number): number {
    let end = start;
    if (this.#operations.updateMany) while (end < queue.length && queue[end]!.object !== undefined) end++;
    return end;
  }

  /** False when the kernel did not take them all: each is then tried by itself, and has its own error. */
  #updateTogether(queue: readonly Entry<T>[], start: number, end: number): boolean {
    const objects = new Array<T>(end - start);
    for (let i = start; i < end; i++) objects[i - start] = queue[i]!.object!;
    try {
      this.#operations.updateMany!(objects);
    } catch {
      return false;
    }
    for (let i = start; i < end; i++) done(queue[i]!);
    return true;
  }

  /** Does what is to be done for one object. Returns how often it has failed in a row. */
  #settle(entry: Entry<T>): number {
    try {
      if (entry.object === undefined) {
        this.#operations.delete(entry.id);
        this.#events.onDeleted(entry);
      } else {
        this.#operations.update(entry.object);
        done(entry);
      }
      return 0;
    } catch (error) {
      entry.state = 'failed';
      entry.attempts++;
      entry.error = this.#events.onRefused(entry, error);
      this.refused.add(entry);
      return entry.attempts;
    }
  }
}

function done(entry: Entry<unknown>): void {
  entry.state = 'done';
  entry.attempts = 0;
  entry.error = undefined;
}
