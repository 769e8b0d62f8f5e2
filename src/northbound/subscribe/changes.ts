// The parts of one stream that are sent on change: the units that they need are watched, and what changes waits in a
// queue until the client takes it.
import { type Steps, wait } from '../../model/work.ts';
import type { Outlet } from './outlet.ts';
import { type Place, type Row, leavesOf, selected } from './places.ts';
import { type PendingPlace, Queue, type Selected, isSelected } from './queue.ts';
import { type Part, distinctSelections } from './request.ts';
import { unitsOf } from './units.ts';
import type { Change, Watch, Watches } from './watch.ts';

interface ChangesOptions {
  readonly watches: Watches;
  readonly outlet: Outlet;
  /** Nanoseconds since the Unix epoch. */
  readonly now: () => bigint;
  /** Bound of the queue: leaves, and places that are gone. */
  readonly maxQueued: number;
  /** There is something to send, or `error` is set. */
  readonly onChange: () => void;
  /** Values will not be sent: newer ones came first, or the queue was full. */
  readonly onMissed: (values: number) => void;
}

interface WatchedUnit {
  readonly watch: Watch;
  readonly parts: readonly Part[];
}

export class Changes {
  readonly #options: ChangesOptions;
  readonly #parts: readonly Part[];
  readonly #units: readonly WatchedUnit[];
  readonly queue: Queue;
  /** Why nothing more comes. */
  error: Error | undefined;

  constructor(parts: readonly Part[], options: ChangesOptions) {
    this.#options = options;
    this.#parts = parts;
    this.queue = new Queue(options.maxQueued);
    const units = new Map(parts.flatMap(({ path }) => unitsOf(path)).map((unit) => [unit.name, unit]));
    this.#units = [...units.values()].map((unit) => {
      const among = parts.filter(({ path }) => unitsOf(path).includes(unit));
      const selections = distinctSelections(among);
      const watch = options.watches.watch(unit, {
        changed: (changes, at) => this.#changed(changes, at, selections),
        failed: (error) => {
          this.error = error;
          options.onChange();
        },
      });
      return { watch, parts: among };
    });
  }

  /** Waits until everything was read once. */
  *ready(): Steps {
    for (const { watch } of this.#units) yield* wait(watch.ready);
  }

  #changed(changes: readonly Change[], at: bigint, parts: readonly Part[]): boolean {
    for (const change of changes) {
      // All will be sent anew, this too.
      if (this.queue.hasOverflowed) break;
      const among = selectedBy(parts, change.place);
      if (among.length > 0) this.queue.add(change, at, among);
    }
    const missed = this.queue.takeMissed();
    if (missed > 0) this.#options.onMissed(missed);
    if (!this.queue.isEmpty) this.#options.onChange();
    return !this.queue.hasOverflowed;
  }

  /** All present values of the part, or of all parts. */
  *sendAll(only?: Part): Steps {
    const { outlet, now } = this.#options;
    outlet.at(now());
    for (const { watch, parts } of this.#units) {
      const among = only ? parts.filter((part) => part === only) : parts;
      if (among.length === 0) continue;
      let i = 0;
      for (const place of watch.rows) {
        this.#sendRow(place, place.row, selectedBy(among, place));
        if (outlet.isBlocked || i++ % 32 === 31) yield* outlet.settle();
      }
    }
    outlet.flush();
  }

  #sendRow(place: Place, row: Row, among: readonly Selected[]): void {
    if (among.length === 0) return;
    for (const [i, leaf] of leavesOf(place.node).entries())
      if (among.some((part) => isSelected(part, place, i))) this.#options.outlet.update(place, leaf, row[i]);
  }

  /** What waits now. What the queue has forgotten is told as gone, and sent anew. */
  *sendQueued(): Steps<'sent' | 'anew'> {
    const { outlet, now } = this.#options;
    if (this.queue.takeOverflow()) {
      outlet.at(now());
      for (const { written } of this.#parts) outlet.deletePath(written);
      outlet.flush();
      yield* this.sendAll();
      return 'anew';
    }
    let at: bigint | undefined;
    for (let rest = this.queue.size; rest > 0; rest--) {
      const next = this.queue.take();
      if (!next) break;
      if (next.at !== at) outlet.at((at = next.at));
      this.#sendPending(next);
      if (outlet.isBlocked || rest % 32 === 0) yield* outlet.settle();
    }
    outlet.flush();
    return 'sent';
  }

  #sendPending({ place, gone, leaves }: PendingPlace): void {
    const { outlet } = this.#options;
    const nodes = leavesOf(place.node);
    for (const name of gone) outlet.delete(place, name === null ? undefined : nodes.find((node) => node.name === name));
    for (const [i, { value, duplicates }] of leaves) {
      if (value === undefined) outlet.delete(place, nodes[i]);
      else outlet.update(place, nodes[i]!, value, duplicates);
    }
  }

  close(): void {
    for (const { watch } of this.#units) watch.close();
  }
}

function selectedBy(parts: readonly Part[], place: Place): Selected[] {
  const among: Selected[] = [];
  for (const { path, leaves } of parts) {
    const only = selected(path, place);
    if (only !== undefined) among.push({ only, leaves });
  }
  return among;
}
