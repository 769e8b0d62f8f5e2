import { expect, test } from 'vitest';
import type { KernelFeature } from '../kernel/probe.ts';
import type { Problem } from '../model/problem.ts';
import { checkKernel } from './kernel.ts';

const feature = (name: string, ok: boolean, required = true): KernelFeature => ({
  name,
  ok,
  required,
  neededFor: 'the dataplane',
  detail: ok ? 'there' : 'EPERM',
  remedy: ok ? '' : `fix ${name}`,
});
const PROBLEM: Problem = {
  code: 'interface.missing',
  feature: 'ports',
  problem: 'eth7 is missing',
  remedy: 'create it',
};

test('without privileges all checks fail: one line, and nothing is planned', () => {
  const planned = (): Problem[] => {
    throw new Error('planned');
  };
  expect(checkKernel([feature('capabilities', false), feature('btf', false)], planned)).toEqual([
    {
      id: 'kernel.capabilities',
      claim: 'EPERM',
      state: 'missing',
      problem: 'EPERM (needed for the dataplane)',
      remedy: 'fix capabilities',
    },
  ]);
});

test('required features and planning problems are reported; features that are not required show only in the plan', () => {
  const features = [feature('capabilities', true), feature('btf', false), feature('tcx', false, false)];
  expect(checkKernel(features, () => [PROBLEM])).toEqual([
    { id: 'kernel.capabilities', claim: 'there', state: 'ok' },
    expect.objectContaining({ id: 'kernel.btf', state: 'missing', remedy: 'fix btf' }),
    { id: 'ports', claim: 'ports works', state: 'missing', problem: 'eth7 is missing', remedy: 'create it' },
  ]);
  expect(checkKernel(features, undefined)).toHaveLength(2);
});
