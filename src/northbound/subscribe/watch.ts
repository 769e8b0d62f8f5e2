// Finds out what has changed. The state is made when it is asked for, so a unit that somebody watches is read again and
// again and compared with what it was: once, however many subscribe. The rows of the latest reading are kept; they are
// also what a new subscriber gets first. How often a unit is read: pace.ts.
import type { StateSource } from '../../model/state.ts';
import type { Steps, Work } from '../../model/work.ts';
import { messageOf } from '../../model/error-text.ts';
import { RpcError } from '../rpc-error.ts';
import { Sections } from '../select.ts';
import { Costs } from './costs.ts';
import { type KeptPlace, KeptPlaces } from './kept-places.ts';
import { Pace } from './pace.ts';
import { type LeafValue, type Place, type Row, walkPlaces } from './places.ts';
import type { Unit } from './units.ts';

/** What has become of a place. */
export interface Change {
  readonly place: Place;
  /** With its present values; undefined: the place is gone. */
  readonly row: Row | undefined;
  /** Which leaves are not as they were, by place in the row. Empty for a place that is gone. */
  readonly leaves: readonly number[];
}

export interface Watcher {
  /**
   * Some of what one look has found; more may follow.
   * @param at nanoseconds since the Unix epoch
   * @returns whether it takes the rest of this look
   */
  changed(changes: readonly Change[], at: bigint): boolean;
  /** The unit cannot be read any more; nobody watches it now. */
  failed(error: Error): void;
}

export interface WatchOptions {
  readonly source: StateSource;
  readonly work: Work;
  /** Nanoseconds since the Unix epoch. */
  readonly now: () => bigint;
  /** Leaves of all units together; default 2,000,000: some 300 MB. */
  readonly maxLeaves?: number;
}

/** For one look, in one turn of the event loop. */
const BUDGET_MS = 4;
/** Changes that a watcher is told in one step. */
const AT_ONCE = 256;

export interface Watch {
  /** Resolves when the unit was read once. Rejects with what `failed` would get. */
  readonly ready: Promise<void>;
  readonly rows: ReadonlySet<KeptPlace>;
  close(): void;
}

/** All units that somebody watches. */
export class Watches {
  readonly #units = new Map<string, UnitWatch>();
  readonly #options: WatchOptions;
  readonly #pace = new Pace();
  readonly #costs = new Costs();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Units that are read again and again. */
  get size(): number {
    return this.#units.size;
  }

  watch(unit: Unit, watcher: Watcher): Watch {
    let watched = this.#units.get(unit.name);
    if (!watched) {
      watched = new UnitWatch(unit, this.#options, {
        ...{ pace: this.#pace, costs: this.#costs },
        leaves: () => [...this.#units.values()].reduce((sum, { leaves }) => sum + leaves, 0),
        over: () => void this.#units.delete(unit.name),
      });
      this.#units.set(unit.name, watched);
      watched.start();
    }
    return watched.join(watcher);
  }
}

interface Shared {
  readonly pace: Pace;
  readonly costs: Costs;
  /** Of all units, before this look. */
  leaves(): number;
  over(): void;
}

class UnitWatch {
  readonly #unit: Unit;
  readonly #options: WatchOptions;
  readonly #shared: Shared;
  readonly #watchers = new Set<Watcher>();
  readonly #kept = new KeptPlaces();
  readonly #ready: Promise<void>;
  #onReady!: () => void;
  #onNever!: (error: Error) => void;
  #look = 0;
  #timer: NodeJS.Timeout | undefined;
  #cancel: (() => void) | undefined;
  #isOver = false;
  leaves = 0;

  constructor(unit: Unit, options: WatchOptions, shared: Shared) {
    this.#unit = unit;
    this.#options = options;
    this.#shared = shared;
    this.#ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      this.#onNever = reject;
    });
    // Whoever joins awaits it; nobody may be left.
    this.#ready.catch(() => undefined);
  }

  join(watcher: Watcher): Watch {
    this.#watchers.add(watcher);
    return {
      ready: this.#ready,
      rows: this.#kept.rows,
      close: () => {
        this.#watchers.delete(watcher);
        if (this.#watchers.size === 0) this.#end();
      },
    };
  }

  start(): void {
    this.#look++;
    this.#shared.costs.begin(this);
    this.#cancel = this.#options.work.run(this.#steps(), {
      budgetMs: BUDGET_MS,
      onDone: (hasChanged) => this.#done(hasChanged),
      onError: (error) => this.#fail(error instanceof Error ? error : new Error(messageOf(error))),
    });
  }

  #done(hasChanged: boolean): void {
    this.#kept.forgetTexts();
    // What this look has found would be kept until the next otherwise.
    this.#cancel = undefined;
    const costMs = this.#shared.costs.end(this);
    this.#onReady();
    const waitMs = this.#shared.pace.next(this.#unit.name, costMs, hasChanged);
    if (!this.#isOver) this.#timer = setTimeout(() => this.start(), waitMs);
  }

  #fail(error: Error): void {
    this.#onNever(error);
    const watchers = [...this.#watchers];
    this.#end();
    for (const watcher of watchers) watcher.failed(error);
  }

  /** Once: by then another may be watched under its name. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#cancel?.();
    this.#shared.costs.end(this);
    this.#shared.pace.forget(this.#unit.name);
    this.#shared.over();
  }

  /** @returns whether anything has changed */
  *#steps(): Steps<boolean> {
    const sections = new Sections(this.#options.source);
    const room = (this.#options.maxLeaves ?? 2_000_000) - this.#shared.leaves() + this.leaves;
    // After the first look, whoever subscribes gets all rows.
    const changes = this.#look > 1 ? new Array<Change>() : undefined;
    let leaves = 0;
    const visit = (place: Place, row: Row): void => {
      leaves += row.length;
      if (leaves > room)
        throw new RpcError(
          'RESOURCE_EXHAUSTED',
          `${this.#unit.name}: too many leaves to be watched for changes: use SAMPLE, or ONCE`,
        );
      this.#compare(place as KeptPlace, row, changes);
    };
    const placeIn = this.#kept.placeIn.bind(this.#kept);
    yield* walkPlaces(this.#unit.path, sections, { visit, placeIn, pause: () => undefined });
    this.leaves = leaves;
    if (!changes) return true;
    yield* this.#findGone(changes);
    yield* this.#tell(changes);
    return changes.length > 0;
  }

  /** Who joins meanwhile has the new rows. */
  *#tell(changes: readonly Change[]): Steps {
    const at = this.#options.now();
    for (const watcher of [...this.#watchers])
      for (let i = 0; i < changes.length && this.#watchers.has(watcher); i += AT_ONCE) {
        if (!watcher.changed(changes.slice(i, i + AT_ONCE), at)) break;
        yield;
      }
  }

  #compare(place: KeptPlace, row: Row, changes: Change[] | undefined): void {
    const isNew = place.look === 0;
    place.look = this.#look;
    const leaves = isNew ? undefined : differences(place.row, row);
    if (leaves?.length === 0) return;
    this.#kept.keep(place, row);
    changes?.push({ place, row, leaves: leaves ?? present(row) });
  }

  *#findGone(changes: Change[]): Steps {
    let i = 0;
    for (const place of this.#kept.rows) {
      if (place.look !== this.#look) {
        this.#kept.remove(place);
        changes.push({ place, row: undefined, leaves: [] });
      }
      if (i++ % 256 === 255) yield;
    }
  }
}

const present = (row: Row): number[] => [...row.keys()].filter((i) => row[i] !== undefined);

const NONE: readonly number[] = [];

function differences(before: Row, after: Row): readonly number[] {
  let found: number[] | undefined;
  for (let i = 0; i < after.length; i++) if (!same(before[i], after[i])) (found ??= []).push(i);
  return found ?? NONE;
}

export const same = (a: LeafValue, b: LeafValue): boolean =>
  a === b ||
  (typeof a === 'object' && typeof b === 'object' && a.length === b.length && a.every((item, i) => item === b[i]));
