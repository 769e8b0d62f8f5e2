import { expect, test } from 'vitest';
import { HISTORY_LENGTH, History } from './history.ts';

test('the latest are listed newest first, up to a limit, each with its number', () => {
  const history = new History<number>();
  expect([...history.latest()]).toEqual([]);
  for (let i = 0; i < HISTORY_LENGTH + 10; i++) history.add(i);
  const latest = [...history.latest()];
  expect(latest.map(({ value }) => value)).toEqual(
    Array.from({ length: HISTORY_LENGTH }, (_, i) => HISTORY_LENGTH + 9 - i),
  );
  expect(latest.filter(({ sequence, value }) => sequence !== value + 1)).toEqual([]);
});
