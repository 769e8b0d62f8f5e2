import { expect, test } from 'vitest';
import { until } from './until.ts';

test('what is looked for is returned, also when it is 0, empty or null', async () => {
  for (const answer of [0, '', null, 7]) expect(await until('an answer', () => answer)).toBe(answer);
  const answers = [undefined, false, 'there'] as const;
  let looks = 0;
  expect(await until('the third', () => Promise.resolve(answers[looks++]))).toBe('there');
  expect(looks).toBe(3);
});

test('what is chosen of the state is returned', async () => {
  const rows = [{ id: 1 }, { id: 2 }];
  expect(
    await until(
      'the second',
      () => rows,
      (all) => all.find(({ id }) => id === 2),
    ),
  ).toEqual({ id: 2 });
});

test('a wait in vain reports what for, how long and what was seen last', async () => {
  let n = 0;
  const never = until(
    'a hundred',
    () => ({ count: ++n > 0 ? 'few' : 'none' }),
    ({ count }) => count === 'many',
    20,
  );
  await expect(never).rejects.toThrow("not within 20 ms: a hundred; seen last: { count: 'few' }");
  await expect(until('anything', () => undefined, 0)).rejects.toThrow(
    'not within 0 ms: anything; seen last: undefined',
  );
});

test('what goes wrong while looking is not waited for', async () => {
  const broken = (): never => {
    throw new Error('no such map');
  };
  await expect(until('an entry', broken)).rejects.toThrow('no such map');
});
