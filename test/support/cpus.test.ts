import { expect, test } from 'vitest';
import { allowedCpus } from './cpus.ts';

const status = (list: string): string =>
  `Name:\tnode\nCpus_allowed:\t3\nCpus_allowed_list:\t${list}\nMems_allowed:\t1\n`;

test.each([
  ['0-1', [0, 1]],
  ['3', [3]],
  ['2-4,8,10-11', [2, 3, 4, 8, 10, 11]],
])('the CPUs of %s', (list, cpus) => {
  expect(allowedCpus(status(list))).toEqual(cpus);
});

test('what is no list is an error', () => {
  expect(() => allowedCpus(status('all'))).toThrow('no list of CPUs: all');
  expect(() => allowedCpus('Name:\tnode\n')).toThrow('has no Cpus_allowed_list');
});
