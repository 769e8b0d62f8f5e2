// Work that is too long for one turn of the event loop is a generator that yields between small steps. All of it runs
// here, one job a turn and each within its time budget, so that hellos and notices never wait for the sum of all jobs.

/**
 * `yield` ends a step. A promise that is yielded is waited for, and the generator gets its value or its failure:
 * `yield* wait(promise)`.
 */
export type Steps<T = void> = Generator<Promise<unknown> | undefined, T, unknown>;

export interface JobOptions<T = void> {
  /** For the steps of one turn, milliseconds. One step is always taken. */
  readonly budgetMs: number;
  readonly onDone?: (result: T) => void;
  /** Gets what a step throws, which ends the job. Absent: it is thrown in the turn, as by the callback of a timer. */
  readonly onError?: (error: unknown) => void;
  /** After each turn that is not the last. */
  readonly onPause?: () => void;
}

export interface Work {
  /**
   * Begins in a turn of its own, after the jobs that are ready already. The returned function ends the job early;
   * idempotent.
   */
  run<T>(steps: Steps<T>, options: JobOptions<T>): () => void;
}

/** A job to its end. Rejects with what a step throws. */
export const finish = <T>(work: Work, steps: Steps<T>, budgetMs: number): Promise<T> =>
  new Promise((onDone, onError) => void work.run(steps, { budgetMs, onDone, onError }));

/** A turn of the event loop later, after the jobs that are ready already. */
export const nextTurn = (work: Work): Promise<void> => finish(work, (function* (): Steps {})(), 0);

/** Inside of steps: waits, while others have their turns. */
export function* wait<T>(promise: Promise<T>): Steps<T> {
  return (yield promise) as T;
}

/**
 * For a pure machine, which does the same whenever its events are replayed: takes a number of steps at once.
 * @returns whether the work is done
 */
export function advance(work: Iterator<void>, steps: number): boolean {
  for (let i = 0; i < steps; i++) if (work.next().done) return true;
  return false;
}

interface WorkModules {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls `turn` in the next turn of the event loop. */
  schedule(turn: () => void): void;
}

/** The work of a process, which has one of these. */
export const eventLoopWork = (): Work =>
  new FairWork({ now: () => performance.now(), schedule: (turn) => void setImmediate(turn) });

/** Jobs in a ring. Who has used up its budget comes after all others that are ready. */
export class FairWork implements Work {
  readonly #modules: WorkModules;
  readonly #ready = new Set<Job>();
  #scheduled = false;

  constructor(modules: WorkModules) {
    this.#modules = modules;
  }

  run<T>(steps: Steps<T>, options: JobOptions<T>): () => void {
    const job = new Job(steps, options as JobOptions<unknown>);
    this.#add(job);
    return () => {
      this.#ready.delete(job);
      job.cancel();
    };
  }

  #add(job: Job): void {
    if (job.over) return;
    this.#ready.add(job);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#ready.size === 0) return;
    this.#scheduled = true;
    this.#modules.schedule(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    const [job] = this.#ready;
    if (!job) return;
    this.#ready.delete(job);
    // First, so that the others keep their turns when this one throws.
    this.#schedule();
    const paused = job.takeSteps(this.#modules.now);
    if (paused === 'ready') this.#add(job);
    else void paused?.then(() => this.#add(job));
  }
}

type Step = IteratorResult<Promise<unknown> | undefined, unknown>;

/** One generator, and what it gets when it goes on. */
class Job {
  readonly #steps: Steps<unknown>;
  readonly #options: JobOptions<unknown>;
  #resume: () => Step;
  #running = false;
  over = false;

  constructor(steps: Steps<unknown>, options: JobOptions<unknown>) {
    this.#steps = steps;
    this.#options = options;
    this.#resume = () => steps.next();
  }

  cancel(): void {
    if (this.over) return;
    this.over = true;
    // A generator cannot be ended while it runs: takeSteps does it then.
    if (!this.#running) this.#steps.return(undefined);
  }

  /** @returns what it waits for; nothing when it is over */
  takeSteps(now: () => number): 'ready' | Promise<void> | undefined {
    let paused: 'ready' | Promise<void> | undefined;
    try {
      paused = this.#take(now() + this.#options.budgetMs, now);
    } catch (error) {
      this.over = true;
      if (!this.#options.onError) throw error;
      this.#options.onError(error);
      return undefined;
    }
    if (paused) this.#options.onPause?.();
    return paused;
  }

  #take(end: number, now: () => number): 'ready' | Promise<void> | undefined {
    do {
      this.#running = true;
      const step = this.#step();
      if (this.over) return void this.#steps.return(undefined);
      if (step.done) {
        this.over = true;
        return void this.#options.onDone?.(step.value);
      }
      this.#resume = () => this.#steps.next();
      if (step.value) return this.#waitFor(step.value);
    } while (now() < end);
    return 'ready';
  }

  #step(): Step {
    try {
      return this.#resume();
    } finally {
      this.#running = false;
    }
  }

  #waitFor(promise: Promise<unknown>): Promise<void> {
    return promise.then(
      (value) => void (this.#resume = () => this.#steps.next(value)),
      (error: unknown) => void (this.#resume = () => this.#steps.throw(error)),
    );
  }
}
