// How much a database may hold of what others say, and when an LSP or LSA of ours counts as contested.
import { describe, expect, test } from 'vitest';
import { CONTEST_WINDOW_MS, answerPause, isContested, newContest, outbidAgain } from './contest.ts';
import { type Headroom, hasHeadroomFor, newHeadroom } from './headroom.ts';

describe('room', () => {
  const room = (bytes: number): Headroom => ({ ...newHeadroom(10, 1000), bytes });

  test('begins empty, and with nothing refused', () => {
    expect(newHeadroom(10, 1000)).toEqual({ limit: 10, byteLimit: 1000, bytes: 0, refusedAt: -Infinity });
  });

  test('for what is new there must be a place and the bytes', () => {
    expect([hasHeadroomFor(room(900), 100, 9, undefined), hasHeadroomFor(room(900), 101, 9, undefined)]).toEqual([
      true,
      false,
    ]);
    expect(hasHeadroomFor(room(0), 1, 10, undefined)).toBe(false);
  });

  test('what takes the place of another needs no place, and the bytes that are more', () => {
    expect([hasHeadroomFor(room(1000), 300, 10, 300), hasHeadroomFor(room(1000), 301, 10, 300)]).toEqual([true, false]);
    expect([hasHeadroomFor(room(950), 350, 10, 300), hasHeadroomFor(room(950), 351, 10, 300)]).toEqual([true, false]);
  });

  test('a database that is too full already may shrink, and not grow', () => {
    expect([299, 300, 301].map((bytes) => hasHeadroomFor(room(1500), bytes, 10, 300))).toEqual([true, true, false]);
  });
});

describe('contest', () => {
  test('two outbids are those of a restart; the third within five minutes is one too many', () => {
    const contest = newContest();
    expect([0, 1000, 2000].map((now) => outbidAgain(contest, now))).toEqual([false, false, true]);
    expect([isContested(contest, 2000), isContested(newContest(), 0)]).toEqual([true, false]);
  });

  test('it is over when nothing came for five minutes', () => {
    const contest = newContest();
    for (const now of [1000, 2000, 3000]) outbidAgain(contest, now);
    expect([CONTEST_WINDOW_MS - 1, CONTEST_WINDOW_MS].map((ms) => isContested(contest, 3000 + ms))).toEqual([
      true,
      false,
    ]);
  });

  test('outbids that are five minutes apart do not add up, those that are less do', () => {
    const [slow, fast] = [newContest(), newContest()];
    const told = (pause: number, contest: typeof slow): boolean[] =>
      [0, 1, 2, 3].map((n) => outbidAgain(contest, 1000 + n * pause));
    expect(told(CONTEST_WINDOW_MS, slow)).toEqual([false, false, false, false]);
    expect(told(CONTEST_WINDOW_MS - 1, fast)).toEqual([false, false, true, true]);
  });

  test('from then on the pause before each answer is twice as long, up to the last', () => {
    const contest = newContest();
    const pauses = [0, 1, 2, 3, 4, 5].map((now) => {
      outbidAgain(contest, now);
      return answerPause(contest, now, 5000, 30_000);
    });
    expect(pauses).toEqual([0, 0, 5000, 10_000, 20_000, 30_000]);
    expect(answerPause(contest, 5 + CONTEST_WINDOW_MS, 5000, 30_000)).toBe(0);
  });
});
