import { expect, test } from 'vitest';
import { isForTheOperator } from './router-suite.ts';

test.each([
  ['an interface that cnpd creates in a moment', { state: 'missing', code: 'interface-missing' }, false],
  ['a check that depends on it', { state: 'unknown' }, false],
  ['an area that is another one', { state: 'missing', code: 'area-differs' }, true],
] as const)('--configure leaves to the operator: %s', (_what, check, forOperator) =>
  expect(isForTheOperator(check)).toBe(forOperator),
);
