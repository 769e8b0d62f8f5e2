// The limits of a database, and when an LSP or LSA of ours counts as contested.
import { describe, expect, test } from 'vitest';
import { CONTEST_WINDOW_MS, answerPause, isContested, newContest, outbidAgain } from './contest.ts';
import { type Headroom, hasHeadroomFor, newHeadroom } from './headroom.ts';

describe('headroom', () => {
  const filled = (bytes: number): Headroom => ({ ...newHeadroom(10, 1000), bytes });

  test('a new database is empty and has refused nothing', () => {
    expect(newHeadroom(10, 1000)).toEqual({ limit: 10, byteLimit: 1000, bytes: 0, refusedAt: -Infinity });
  });

  test('a new LSP or LSA needs a free place and its bytes', () => {
    expect({
      upToLimit: hasHeadroomFor(filled(900), 100, 9, undefined),
      beyondLimit: hasHeadroomFor(filled(900), 101, 9, undefined),
    }).toEqual({ upToLimit: true, beyondLimit: false });
    expect(hasHeadroomFor(filled(0), 1, 10, undefined)).toBe(false);
  });

  test('a replacement needs no free place, only the additional bytes', () => {
    expect({
      upToLimit: hasHeadroomFor(filled(1000), 300, 10, 300),
      beyondLimit: hasHeadroomFor(filled(1000), 301, 10, 300),
    }).toEqual({ upToLimit: true, beyondLimit: false });
    expect({
      upToLimit: hasHeadroomFor(filled(950), 350, 10, 300),
      beyondLimit: hasHeadroomFor(filled(950), 351, 10, 300),
    }).toEqual({ upToLimit: true, beyondLimit: false });
  });

  test('a database beyond its limit may shrink but not grow', () => {
    expect([299, 300, 301].map((bytes) => hasHeadroomFor(filled(1500), bytes, 10, 300))).toEqual([true, true, false]);
  });
});

describe('contest', () => {
  test('two outbids are normal after a restart; a third within five minutes is a contest', () => {
    const contest = newContest();
    expect([0, 1000, 2000].map((now) => outbidAgain(contest, now))).toEqual([false, false, true]);
    expect({ contest: isContested(contest, 2000), isContested: isContested(newContest(), 0) }).toEqual({
      contest: true,
      isContested: false,
    });
  });

  test('a contest ends after five minutes without an outbid', () => {
    const contest = newContest();
    for (const now of [1000, 2000, 3000]) outbidAgain(contest, now);
    expect([CONTEST_WINDOW_MS - 1, CONTEST_WINDOW_MS].map((ms) => isContested(contest, 3000 + ms))).toEqual([
      true,
      false,
    ]);
  });

  test('outbids five minutes apart do not add up; closer ones do', () => {
    const [slow, fast] = [newContest(), newContest()];
    const contestedAfter = (pause: number, contest: typeof slow): boolean[] =>
      [0, 1, 2, 3].map((n) => outbidAgain(contest, 1000 + n * pause));
    expect(contestedAfter(CONTEST_WINDOW_MS, slow)).toEqual([false, false, false, false]);
    expect(contestedAfter(CONTEST_WINDOW_MS - 1, fast)).toEqual([false, false, true, true]);
  });

  test('while contested, each pause before an answer is twice as long, up to the limit', () => {
    const contest = newContest();
    const pauses = [0, 1, 2, 3, 4, 5].map((now) => {
      outbidAgain(contest, now);
      return answerPause(contest, now, 5000, 30_000);
    });
    expect(pauses).toEqual([0, 0, 5000, 10_000, 20_000, 30_000]);
    expect(answerPause(contest, 5 + CONTEST_WINDOW_MS, 5000, 30_000)).toBe(0);
  });
});
