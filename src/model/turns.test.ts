import { setImmediate as loopTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { nextTurn } from './turns.ts';

describe('turns of the event loop', () => {
  test('one slice a turn, in the order in which they asked', async () => {
    const log: string[] = [];
    nextTurn(() => log.push('a'));
    nextTurn(() => log.push('b'));
    expect(log).toEqual([]);
    await loopTurn();
    expect(log).toEqual(['a']);
    await loopTurn();
    expect(log).toEqual(['a', 'b']);
  });

  test('who asks again comes after those that wait already', async () => {
    const log: string[] = [];
    const again = (left: number): void => {
      log.push(`a${left}`);
      if (left > 1) nextTurn(() => again(left - 1));
    };
    nextTurn(() => again(3));
    nextTurn(() => log.push('b'));
    for (let i = 0; i < 4; i++) await loopTurn();
    expect(log).toEqual(['a3', 'b', 'a2', 'a1']);
  });

  test('what was taken back does not run and costs no turn; the same function may wait twice', async () => {
    const log: string[] = [];
    const slice = (): void => void log.push('slice');
    const cancel = nextTurn(() => log.push('cancelled'));
    nextTurn(slice);
    nextTurn(slice);
    cancel();
    cancel();
    await loopTurn();
    expect(log).toEqual(['slice']);
    await loopTurn();
    expect(log).toEqual(['slice', 'slice']);
  });

  test('all taken back, then asked anew', async () => {
    const log: string[] = [];
    nextTurn(() => log.push('cancelled'))();
    await loopTurn();
    nextTurn(() => log.push('slice'));
    await loopTurn();
    expect(log).toEqual(['slice']);
  });
});
