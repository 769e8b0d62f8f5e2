import { setImmediate as loopTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ManualWork } from './work.fixture.ts';
import { type Steps, advance, eventLoopWork, finish, nextTurn, wait } from './work.ts';

/** Writes a line a step. */
function* lines(log: string[], name: string, count: number): Steps {
  for (let i = 1; i <= count; i++) {
    log.push(`${name}${i}`);
    yield;
  }
}

const world = () => {
  const log: string[] = [];
  const work = new ManualWork();
  const run = (name: string, count: number, budgetMs = 1): (() => void) =>
    work.run(lines(log, name, count), { budgetMs, onDone: () => log.push(`${name}.`) });
  const turns = (count: number): string => {
    log.length = 0;
    for (let i = 0; i < count; i++) work.turn();
    return log.join(' ');
  };
  return { log, work, run, turns };
};

describe('order', () => {
  test('nothing runs within the call, then one job per turn, in order of their start', () => {
    const { run, turns } = world();
    run('a', 2);
    run('b', 2);
    expect(turns(0)).toBe('');
    expect([turns(1), turns(1), turns(1), turns(1)]).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  test('a later job comes after those that are already ready', () => {
    const { run, turns } = world();
    run('a', 3);
    expect(turns(1)).toBe('a1');
    run('b', 1);
    expect(turns(4)).toBe('a2 b1 a3 b.');
    expect(turns(2)).toBe('a.');
  });

  test('in the event loop of a process each job has a turn, with hellos between any two', async () => {
    const log: string[] = [];
    const work = eventLoopWork();
    for (const name of ['a', 'b']) work.run(lines(log, name, 2), { budgetMs: 0 });
    expect(log).toEqual([]);
    for (const expected of ['a1', 'b1', 'a2', 'b2']) {
      await loopTurn();
      expect(log.splice(0)).toEqual([expected]);
    }
  });
});

describe('the budget', () => {
  test('is used up but not exceeded; each job has its own', () => {
    const { run, turns } = world();
    run('a', 7, 3);
    run('b', 4, 2);
    expect([turns(1), turns(1), turns(1), turns(1)]).toEqual(['a1 a2 a3', 'b1 b2', 'a4 a5 a6', 'b3 b4']);
    expect([turns(1), turns(1)]).toEqual(['a7 a.', 'b.']);
  });

  test('of 0 allows one step per turn', () => {
    const { run, turns } = world();
    run('a', 2, 0);
    expect([turns(1), turns(1), turns(1), turns(1)]).toEqual(['a1', 'a2', 'a.', '']);
  });

  test('onPause is called after each turn but the last', () => {
    const { log, work, turns } = world();
    const note = (what: string) => (): void => void log.push(what);
    work.run(lines(log, 'a', 3), { budgetMs: 2, onPause: note('pause'), onDone: note('done') });
    expect(turns(4)).toBe('a1 a2 pause a3 done');
  });
});

describe('a job that is ended early', () => {
  test('runs no more and costs no turn, and its finally blocks run', () => {
    const { log, work, run, turns } = world();
    const cancel = work.run(
      (function* (): Steps {
        try {
          yield* lines(log, 'a', 9);
        } finally {
          log.push('finally');
        }
      })(),
      { budgetMs: 1, onDone: () => log.push('done') },
    );
    run('b', 1, 9);
    expect(turns(1)).toBe('a1');
    cancel();
    expect(log).toEqual(['a1', 'finally']);
    cancel();
    expect(turns(1)).toBe('b1 b.');
    expect(work.waits).toBe(false);
  });

  test('before its start never runs, and others can start', () => {
    const { run, turns } = world();
    run('a', 1)();
    expect(turns(1)).toBe('');
    run('b', 1, 9);
    expect(turns(1)).toBe('b1 b.');
  });

  test('by one of its own steps ends with that step', () => {
    const { log, work, turns } = world();
    const job = { cancel: (): void => {} };
    const steps = function* (): Steps {
      try {
        log.push('a1');
        job.cancel();
        yield;
        log.push('a2');
      } finally {
        log.push('finally');
      }
    };
    job.cancel = work.run(steps(), { budgetMs: 9 });
    expect(turns(3)).toBe('a1 finally');
  });
});

describe('an error of a step', () => {
  const failing = function* (): Steps {
    yield;
    throw new Error('no');
  };

  test('ends the job and reaches onError; the others have their turns', () => {
    const { log, work, run, turns } = world();
    work.run(failing(), { budgetMs: 9, onDone: () => log.push('done'), onError: (e) => log.push(String(e)) });
    run('b', 1, 9);
    expect(turns(3)).toBe('Error: no b1 b.');
  });

  test('is thrown in the turn if there is no onError, and the others have their turns', () => {
    const { work, run, turns } = world();
    work.run(failing(), { budgetMs: 9 });
    run('b', 1, 9);
    expect(() => work.turn()).toThrow('no');
    expect(turns(1)).toBe('b1 b.');
  });
});

describe('a promise', () => {
  const settled = (): Promise<void> => loopTurn();

  test('is awaited while others have their turns, and its value goes to the step', async () => {
    const { log, work, run, turns } = world();
    let answer = (_: string): void => {};
    const asked = new Promise<string>((resolve) => (answer = resolve));
    work.run(
      (function* (): Steps {
        log.push(yield* wait(asked));
      })(),
      { budgetMs: 9 },
    );
    run('b', 2);
    expect(turns(4)).toBe('b1 b2 b.');
    answer('answer');
    await settled();
    expect(turns(1)).toBe('answer');
  });

  test('that is rejected throws in the step that waits', async () => {
    const { log, work, turns } = world();
    work.run(
      (function* (): Steps {
        try {
          yield Promise.reject(new Error('no'));
        } catch (error) {
          log.push(String(error));
        }
      })(),
      { budgetMs: 9 },
    );
    turns(1);
    await settled();
    expect(turns(1)).toBe('Error: no');
  });

  test('that settles after the end of its job starts nothing', async () => {
    const { log, work } = world();
    const cancel = work.run(
      (function* (): Steps {
        yield Promise.resolve();
        log.push('after');
      })(),
      { budgetMs: 9 },
    );
    work.turn();
    cancel();
    await settled();
    expect({ waits: work.waits, log }).toEqual({ waits: false, log: [] });
  });
});

describe('as a promise', () => {
  test('a job resolves with its result or rejects with its error', async () => {
    const work = eventLoopWork();
    const sum = function* (): Steps<number> {
      yield;
      return 3;
    };
    expect(await finish(work, sum(), 1)).toBe(3);
    const failing = function* (): Steps {
      yield;
      throw new Error('no');
    };
    await expect(finish(work, failing(), 1)).rejects.toThrow('no');
  });

  test('nextTurn resolves after the jobs that were ready', async () => {
    const { log, work, run } = world();
    run('a', 1, 9);
    const later = nextTurn(work).then(() => log.push('next'));
    work.turn();
    await loopTurn();
    expect(log).toEqual(['a1', 'a.']);
    work.turn();
    await later;
    expect(log).toEqual(['a1', 'a.', 'next']);
  });
});

test('advance ends after its number of steps or with the work', () => {
  const work = function* (): Generator<void> {
    for (let i = 0; i < 5; i++) yield;
  };
  const five = work();
  expect([advance(five, 3), advance(five, 2), advance(five, 2)]).toEqual([false, false, true]);
});
