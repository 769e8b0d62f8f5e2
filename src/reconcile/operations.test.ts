import { expect, test } from 'vitest';
import { samePlain } from './operations.ts';

const port = { id: 'eth1', ifindex: 4, kMax: null, levels: [1, 2, 3], address: { family: 6, value: 1n << 100n } };

test.each([
  ['a copy', structuredClone(port), true],
  ['a copy with something undefined', { ...port, tenant: undefined }, true],
  ['another order of keys', Object.fromEntries(Object.entries(port).reverse()), true],
  ['another number deep inside', { ...port, levels: [1, 2, 4] }, false],
  ['a longer list', { ...port, levels: [1, 2, 3, 4] }, false],
  ['a shorter list', { ...port, levels: [1, 2] }, false],
  ['another bigint', { ...port, address: { family: 6, value: (1n << 100n) + 1n } }, false],
  ['null instead of a number', { ...port, ifindex: null }, false],
  ['a number instead of null', { ...port, kMax: 0 }, false],
  ['an object instead of a list', { ...port, levels: { 0: 1, 1: 2, 2: 3 } }, false],
  ['something more', { ...port, tenant: 7 }, false],
  ['nothing', undefined, false],
])('%s', (_, other, isSame) => {
  expect([samePlain(port, other), samePlain(other, port)]).toEqual([isSame, isSame]);
});
