// Looks for problems again and again, and logs each one that appears or clears as one line. Metrics and health have
// what it saw last, so that no scrape has to look for problems itself, which computes a plan.
import type { Clock } from '../model/clock.ts';
import type { Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';

const LOOK_EVERY_MS = 1000;
/** A look that takes long has this share of the time. */
const SHARE = 0.002;
/** Lines of one look; further ones are one line with their number. */
const MOST_LINES = 64;

export interface ProblemWatchDependencies {
  readonly problems: () => readonly Problem[];
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each look. */
  readonly onLook?: (problems: readonly Problem[]) => void;
  readonly onError: (error: unknown) => void;
}

/** Numbers and times in a sentence change while the problem is the same one. */
const keyOf = ({ code, feature, problem }: Problem): string =>
  `${code} ${feature} ${problem.replaceAll(/\b\d[\d.,:TZ-]*\b/g, '#')}`;

/** What is in `these` and not in `others`; of equal keys, as many as there are more. */
function without(these: readonly Problem[], others: readonly Problem[]): Problem[] {
  const left = new Map<string, number>();
  for (const other of others) left.set(keyOf(other), (left.get(keyOf(other)) ?? 0) + 1);
  return these.filter((one) => {
    const count = left.get(keyOf(one)) ?? 0;
    left.set(keyOf(one), count - 1);
    return count <= 0;
  });
}

export class ProblemWatch {
  readonly #dependencies: ProblemWatchDependencies;
  #known: readonly Problem[] = [];
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(dependencies: ProblemWatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** As of the last look. */
  get known(): readonly Problem[] {
    return this.#known;
  }

  /** Looks now, and then again and again. */
  look(): void {
    if (this.#isStopped) return;
    this.#cancel?.();
    const { clock, onError } = this.#dependencies;
    const began = clock.now();
    try {
      this.#look();
    } catch (error) {
      onError(error);
    }
    const took = clock.now() - began;
    this.#cancel = clock.after(Math.max(LOOK_EVERY_MS, took / SHARE), () => this.look());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #look(): void {
    const { problems, onLook, log } = this.#dependencies;
    const before = this.#known;
    this.#known = [...problems()];
    let room = MOST_LINES;
    const tell = (found: readonly Problem[], line: (problem: Problem) => void): void => {
      for (const problem of found.slice(0, room)) line(problem);
      room -= Math.min(room, found.length);
    };
    const [appeared, cleared] = [without(this.#known, before), without(before, this.#known)];
    tell(appeared, (problem) =>
      log.warn({ event: 'problem.appeared', ...problem }, `${problem.feature}: ${problem.problem}`),
    );
    tell(cleared, (problem) =>
      log.info({ event: 'problem.cleared', ...problem }, `${problem.feature}: no problem any more`),
    );
    const silent = appeared.length + cleared.length - MOST_LINES;
    if (silent > 0) log.warn({ event: 'problem.more', count: silent }, 'more problems have appeared or cleared');
    onLook?.(this.#known);
  }
}
