import { expect, test } from 'vitest';
import { type Stopping, type Task, atOnceIf, inOrder, stopDeadline, tasksOf, wakesAt } from './tasks.ts';

interface Part {
  readonly name: string;
  dueAt: number;
}

interface Machine {
  readonly now: number;
  readonly parts: readonly Part[];
  readonly runs: string[];
}

/** Runs once when the part is due. */
const task = (name: string): Task<Machine, Part> => ({
  name,
  due: ({ dueAt }) => dueAt,
  run: ({ runs }, part) => void runs.push(`${name} ${part.name}`),
});

const machine = (now: number, ...dueAt: readonly number[]): Machine => ({
  now,
  parts: dueAt.map((at, i) => ({ name: `part ${i}`, dueAt: at })),
  runs: [],
});

const PARTS = tasksOf((m: Machine) => m.parts, [task('first'), task('second')]);

test('what is due runs, part by part and in the order of the table; what is not, waits', () => {
  const m = machine(1000, 1000, 1001, -Infinity);
  PARTS.runDue(m);
  expect(m.runs).toEqual(['first part 0', 'second part 0', 'first part 2', 'second part 2']);
});

test('a task that an earlier one has made due, or has taken the work of, is asked after that', () => {
  const table = tasksOf(
    (m: Machine) => m.parts,
    [{ name: 'postpone', due: ({ dueAt }: Part) => dueAt, run: (_, part) => void (part.dueAt = 2000) }, task('late')],
  );
  const m = machine(1000, 1000);
  table.runDue(m);
  expect([m.runs, table.nextWake(m)]).toEqual([[], 2000]);
});

test('the next wake-up is that of the task that is due first; never, where there are none', () => {
  expect([PARTS.nextWake(machine(0, 30, 20, Infinity)), PARTS.nextWake(machine(0))]).toEqual([20, Infinity]);
});

test('several tables run one after the other, and wake the machine for whichever is due first', () => {
  const table = inOrder(
    PARTS,
    tasksOf((m: Machine) => m.parts.slice(1), [task('third')]),
  );
  const m = machine(5, 5, 4);
  table.runDue(m);
  expect(m.runs).toEqual(['first part 0', 'second part 0', 'first part 1', 'second part 1', 'third part 1']);
  expect(
    inOrder(
      tasksOf((m: Machine) => m.parts, [wakesAt('wake', () => 3)]),
      PARTS,
    ).nextWake(m),
  ).toBe(3);
});

test('work that waits is due at once, else never', () => {
  expect([atOnceIf(true), atOnceIf(false)]).toEqual([-Infinity, Infinity]);
});

test.each<[string, Stopping | undefined, number]>([
  ['a machine that does not stop', undefined, Infinity],
  ['one that stops wakes at the deadline', { deadline: 7, done: false }, 7],
  ['one that has stopped', { deadline: 7, done: true }, Infinity],
])('the deadline of a stop: %s', (_, stopping, at) => {
  expect(stopDeadline.due({ stopping })).toBe(at);
});
