// What a machine does by itself: tables of tasks. Each task returns when it is due and does its work then. Every run is
// bounded, so that one turn of the event loop stays short however much work there is. Remaining work makes the task due
// again at once.

/** A task for each part of a machine (its levels or areas), or for the machine as a whole. */
export interface Task<S, P = S> {
  readonly name: string;
  /** When the task must run: −Infinity for at once, Infinity for never. */
  readonly due: (part: P) => number;
  readonly run: (machine: S, part: P) => void;
}

export interface TaskTable<S> {
  /** Runs the due tasks: part by part, in the order of the table. */
  readonly runDue: (machine: S) => void;
  /** When the next `timer` event is needed: −Infinity for at once, Infinity for never. */
  readonly nextWake: (machine: S) => number;
}

export const tasksOf = <S extends { readonly now: number }, P>(
  partsOf: (machine: S) => Iterable<P>,
  tasks: readonly Task<S, P>[],
): TaskTable<S> => ({
  runDue: (machine) => {
    for (const part of partsOf(machine))
      for (const task of tasks) if (task.due(part) <= machine.now) task.run(machine, part);
  },
  nextWake: (machine) => {
    let next = Infinity;
    for (const part of partsOf(machine)) for (const task of tasks) next = Math.min(next, task.due(part));
    return next;
  },
});

/** Tasks of the machine as a whole. */
export const wholeTasks = <S extends { readonly now: number }>(tasks: readonly Task<S>[]): TaskTable<S> =>
  tasksOf((machine) => [machine], tasks);

/** Several tables as one, in this order. */
export const inOrder = <S>(...tables: readonly TaskTable<S>[]): TaskTable<S> => ({
  runDue: (machine) => {
    for (const table of tables) table.runDue(machine);
  },
  nextWake: (machine) => Math.min(...tables.map((table) => table.nextWake(machine))),
});

/** Only wakes the machine; the work is done after every event. */
export const wakesAt = <S, P>(name: string, due: (part: P) => number): Task<S, P> => ({ name, due, run: () => {} });

/** A clean stop: how long the machine waits until others have forgotten what it advertised. */
export interface Stopping {
  deadline: number;
  done: boolean;
}

export const stopDeadline: Task<unknown, { readonly stopping: Stopping | undefined }> = wakesAt(
  'stop',
  ({ stopping }) => (stopping && !stopping.done ? stopping.deadline : Infinity),
);

export const atOnceIf = (isWaiting: boolean): number => (isWaiting ? -Infinity : Infinity);
