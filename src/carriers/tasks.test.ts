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

/** Records a run when the part is due. */
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

test('due tasks run part by part in the order of the table; the others wait', () => {
  const m = machine(1000, 1000, 1001, -Infinity);
  PARTS.runDue(m);
  expect(m.runs).toEqual(['first part 0', 'second part 0', 'first part 2', 'second part 2']);
});

test('each task is checked after the earlier ones have run, which may have changed when it is due', () => {
  const table = tasksOf(
    (m: Machine) => m.parts,
    [{ name: 'postpone', due: ({ dueAt }: Part) => dueAt, run: (_, part) => void (part.dueAt = 2000) }, task('late')],
  );
  const m = machine(1000, 1000);
  table.runDue(m);
  expect({ runs: m.runs, nextWake: table.nextWake(m) }).toEqual({ runs: [], nextWake: 2000 });
});

test('the next wake-up is when the first task is due; never when there are no tasks', () => {
  expect({ earliest: PARTS.nextWake(machine(0, 30, 20, Infinity)), single: PARTS.nextWake(machine(0)) }).toEqual({
    earliest: 20,
    single: Infinity,
  });
});

test('several tables run one after the other, and wake the machine for the task due first', () => {
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

test('waiting work is due at once, otherwise never', () => {
  expect([atOnceIf(true), atOnceIf(false)]).toEqual([-Infinity, Infinity]);
});

test.each<[string, Stopping | undefined, number]>([
  ['a running machine', undefined, Infinity],
  ['a stopping machine wakes at the deadline', { deadline: 7, done: false }, 7],
  ['a stopped machine', { deadline: 7, done: true }, Infinity],
])('the deadline of a stop: %s', (_, stopping, at) => {
  expect(stopDeadline.due({ stopping })).toBe(at);
});
