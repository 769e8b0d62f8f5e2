import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import type { TableUse } from '../model/telemetry-state.ts';
import { type Steps, eventLoopWork, finish } from '../model/work.ts';
import { TableCensus } from './table-census.ts';

function world() {
  const clock = manualClock();
  const work = eventLoopWork();
  let [entries, counted, error]: [number, number, Error | undefined] = [0, 0, undefined];
  function* count(): Steps<TableUse[]> {
    counted++;
    yield;
    if (error) throw error;
    return [{ name: 'queue_pairs', entries, limit: 10 }];
  }
  const census = new TableCensus({ work, clock, count });
  /** What a scrape gets. */
  const seen = async (): Promise<string> => {
    const { tables, ageMs } = await census.tables();
    return `${tables.map((table) => table.entries).join()} ${ageMs}`;
  };
  /** The count that a scrape has begun is over. */
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 4; i++) await finish(work, (function* (): Steps {})(), 0);
  };
  return {
    ...{ clock, seen, settled, counted: () => counted },
    set: (now: number) => void (entries = now),
    fail: (with_?: Error) => void (error = with_),
  };
}

test('the first scrape waits for the count; later ones get the latest with its age, and count once a minute', async () => {
  const { clock, seen, settled, set, counted } = world();
  set(3);
  expect(await Promise.all([seen(), seen()])).toEqual(['3 0', '3 0']);
  set(4);
  clock.advance(59_000);
  expect(await seen()).toBe('3 59000');
  await settled();
  expect(counted()).toBe(1);
  clock.advance(1000);
  expect(await seen()).toBe('3 60000');
  await settled();
  expect(await seen()).toBe('4 0');
  expect(counted()).toBe(2);
});

test('a count that fails is an error of the scrape, and the next one counts again', async () => {
  const { clock, seen, settled, set, fail } = world();
  set(5);
  await seen();
  fail(new Error('EPERM'));
  clock.advance(60_000);
  await seen();
  await settled();
  await expect(seen()).rejects.toThrow('EPERM');
  fail();
  expect(await seen()).toBe('5 0');
});
