// Applies the queued updates and deletes of one kind of kernel object, in order. Entries that the kernel refuses are
// kept for the next retry.
import { LATER, type Later, type ObjectStatus, type Operations } from './operations.ts';

/** A queued object and the outcome of its last attempt. */
export interface Entry<T> {
  readonly id: string;
  /** Undefined: the object is to be deleted. */
  object: T | undefined;
  state: 'pending' | 'done' | 'failed';
  attempts: number;
  error: string | undefined;
  /** In the queue of the next run. */
  queued: boolean;
  /** The kernel has taken it, perhaps in another form, and has not deleted it since. */
  isThere?: true;
}

export interface ApplyQueueEvents<T> {
  readonly onDeleted: (entry: Entry<T>) => void;
  /** @returns the error's text */
  readonly onRefused: (entry: Entry<T>, error: unknown) => string;
}

export class ApplyQueue<T extends { readonly id: string }> {
  readonly #operations: Operations<T>;
  readonly #events: ApplyQueueEvents<T>;
  /** In order of arrival, each entry once. */
  #queue: Entry<T>[] = [];
  /** Refused by the kernel. Retried after the back-off, not with every other change. */
  readonly refused = new Set<Entry<T>>();

  constructor(operations: Operations<T>, events: ApplyQueueEvents<T>) {
    this.#operations = operations;
    this.#events = events;
  }

  add(entry: Entry<T>): void {
    if (!entry.queued) this.#queue.push(entry);
    entry.queued = true;
  }

  /** Something is left for a later run. */
  get waits(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * Applies the queue, or its beginning when the kind of object puts one off. Consecutive updates go in one batch where
   * the kernel supports batches.
   * @returns the highest number of consecutive failures of any entry
   */
  run(): number {
    const queue = this.#queue;
    let [i, alone, attempts] = [0, 0, 0];
    while (i < queue.length) {
      const end = i < alone ? i + 1 : this.#endOfUpdates(queue, i);
      const failures = end - i > 1 ? this.#updateTogether(queue, i, end) : this.#settle(queue[i]!);
      if (failures === LATER) break;
      if (failures === undefined) alone = end;
      else [i, attempts] = [end, Math.max(attempts, failures)];
    }
    this.#queue = queue.slice(i);
    for (const entry of queue.slice(0, i)) entry.queued = false;
    return attempts;
  }

  /** The end of the run of updates that begins at `start`. Only this entry, if the kernel takes no batches. */
  #endOfUpdates(queue: readonly Entry<T>[], start: number): number {
    let end = start;
    if (this.#operations.updateMany) while (end < queue.length && queue[end]!.object !== undefined) end++;
    return Math.max(end, start + 1);
  }

  /** Undefined if the kernel refused the batch: each entry is then tried alone, and gets its own error. */
  #updateTogether(queue: readonly Entry<T>[], start: number, end: number): 0 | Later | undefined {
    const objects = new Array<T>(end - start);
    for (let i = start; i < end; i++) objects[i - start] = queue[i]!.object!;
    try {
      if (this.#operations.updateMany!(objects) === LATER) return LATER;
    } catch {
      return undefined;
    }
    for (let i = start; i < end; i++) done(queue[i]!);
    return 0;
  }

  /** Updates or deletes one object. Returns its number of consecutive failures. */
  #settle(entry: Entry<T>): number | Later {
    try {
      if (entry.object === undefined) {
        if (this.#operations.delete(entry.id) === LATER) return LATER;
        this.#events.onDeleted(entry);
      } else {
        if (this.#operations.update(entry.object) === LATER) return LATER;
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
  entry.isThere = true;
  entry.state = 'done';
  entry.attempts = 0;
  entry.error = undefined;
}

export const statusOf = ({ id, state, attempts, error }: Entry<unknown>): ObjectStatus => ({
  id,
  state,
  attempts,
  ...(error !== undefined && { error }),
});

export function unfinished(entries: Iterable<Entry<unknown>>): ObjectStatus[] {
  const found: ObjectStatus[] = [];
  for (const entry of entries) if (entry.state !== 'done') found.push(statusOf(entry));
  return found;
}
