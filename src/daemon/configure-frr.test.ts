import { expect, test } from 'vitest';
import { isForTheOperator } from './configure-frr.ts';

test.each([
  [
    'an interface that cnpd creates in a moment',
    { state: 'missing', problem: 'there is no interface cnpd-isis' },
    false,
  ],
  ['what cannot be told without it', { state: 'unknown' }, false],
  ['an area that is another one', { state: 'missing', problem: 'level 1 is in area 49.0002' }, true],
] as const)('--configure-frr leaves to the operator: %s', (_what, check, told) =>
  expect(isForTheOperator(check)).toBe(told),
);
