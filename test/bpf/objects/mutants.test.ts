// The list of faults that mutation testing builds into the programs is true of the source as it is: otherwise no one
// would notice before the next run of it, which takes long. That the tests still have their names, that run says.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BPF_MUTANTS } from '../../mutation/bpf-mutants.ts';

test('the source has every fault’s place exactly once, and the files of its tests are there', () => {
  const wrong = BPF_MUTANTS.filter(
    ({ file, search, fails }) =>
      readFileSync(file, 'utf8').split(search).length !== 2 || !fails.every(([test]) => existsSync(test)),
  );
  expect(BPF_MUTANTS.length).toBeGreaterThan(0);
  expect(wrong.map(({ file, fault }) => `${file}: ${fault}`)).toEqual([]);
});
