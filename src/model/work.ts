// The scheduler of work that is too long for one turn of the event loop. A job is a generator that yields between small
// steps. One job runs per turn, within its time budget, so that hellos and notices never wait for the sum of all jobs.

/**
 * `yield` ends a step. A yielded promise is awaited, and the generator gets its value or its error: `yield*
 * wait(promise)`.
 */
export type Steps<T = void> = Generator<Promise<unknown> | undefined, T, unknown>;

export interface JobOptions<T = void> {
  /** Time for the steps of one turn, milliseconds. At least one step runs. */
  readonly budgetMs: number;
  readonly onDone?: (result: T) => void;
  /**
   * Gets the error of a step, which ends the job. Absent: the error is thrown in the turn, as by a timer's callback.
   */
  readonly onError?: (error: unknown) => void;
  /** Called after each turn but the last. */
  readonly onPause?: () => void;
}

export interface Work {
  /**
   * Starts a job in a later turn, after the jobs that are already ready. The returned function ends the job early;
   * idempotent.
   */
  run<T>(steps: Steps<T>, options: JobOptions<T>): () => void;
}

/** Runs a job to its end. Rejects with the error of a step. */
export const finish = <T>(work: Work, steps: Steps<T>, budgetMs: number): Promise<T> =>
  new Promise((onDone, onError) => void work.run(steps, { budgetMs, onDone, onError }));

/** Resolves in a later turn of the event loop, after the jobs that are already ready. */
export const nextTurn = (work: Work): Promise<void> => finish(work, (function* (): Steps {})(), 0);

/** Awaits a promise inside steps, while other jobs have their turns. */
export function* wait<T>(promise: Promise<T>): Steps<T> {
  return (yield promise) as T;
}

/**
 * Takes a fixed number of steps at once, for a pure machine whose replays must be identical.
 * @returns whether the work is done
 */
export function advance(work: Iterator<void>, steps: number): boolean {
  for (let i = 0; i < steps; i++) if (work.next().done) return true;
  return false;
}

interface WorkDependencies {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls `turn` in the next turn of the event loop. */
  schedule(turn: () => void): void;
}

/** The scheduler of a process. A process has only one. */
export const eventLoopWork = (): Work =>
  new FairWork({ now: () => performance.now(), schedule: (turn) => void setImmediate(turn) });

/** Round-robin scheduler. A job that has used up its budget queues behind all others that are ready. */
export class FairWork implements Work {
  readonly #dependencies: WorkDependencies;
  readonly #ready = new Set<Job>();
  #scheduled = false;

  constructor(dependencies: WorkDependencies) {
    this.#dependencies = dependencies;
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
    this.#dependencies.schedule(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    const [job] = this.#ready;
    if (!job) return;
    this.#ready.delete(job);
    // Schedule first, so that the others keep their turns if this one throws.
    this.#schedule();
    const paused = job.takeSteps(this.#dependencies.now);
    if (paused === 'ready') this.#add(job);
    else void paused?.then(() => this.#add(job));
  }
}

type Step = IteratorResult<Promise<unknown> | undefined, unknown>;

/** One generator and its next input. */
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
    // A running generator cannot be ended; takeSteps ends it afterwards.
    if (!this.#running) this.#steps.return(undefined);
  }

  /** @returns what the job waits for; undefined: it is over */
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
