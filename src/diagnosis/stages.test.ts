import { expect, test } from 'vitest';
import type { CarrierSummary } from '../model/telemetry-state.ts';
import { type StageInputs, stagesOf } from './stages.ts';

const isis = (isUp: boolean, running = true): CarrierSummary => ({
  carrier: 'isis',
  running,
  adjacencies: running ? [{ interface: 'cnpd-isis', isUp }] : [],
});
const stages = (more: Partial<StageInputs>) =>
  stagesOf({ isKernelOpen: true, isPlanned: true, carriers: [], problems: [], ...more }).map(
    ({ name, state, reason }) => [name, state, reason].join(': '),
  );

test('each stage waits with its reason, and is done', () => {
  expect(stages({ isKernelOpen: false, isPlanned: false })).toEqual([
    'kernel: waiting: programs and maps are not opened yet',
    'plan: waiting: the file is not applied to the kernel yet',
  ]);
  expect(stages({ carriers: [isis(true)] })).toEqual(['kernel: done: ', 'plan: done: ', 'isis: done: ']);
});

test('a carrier waits for its start, and then for its neighbors on all links', () => {
  expect(stages({ carriers: [isis(false, false)] })[2]).toBe('isis: waiting: it is not started yet');
  expect(stages({ carriers: [isis(false)] })[2]).toBe('isis: waiting: no neighbor is up yet on cnpd-isis');
  const adjacencies = [
    { interface: 'a', isUp: true },
    { interface: 'b', isUp: false },
  ];
  expect(stages({ carriers: [{ carrier: 'ospfv2', running: true, adjacencies }] })[2]).toBe(
    'ospfv2: waiting: no neighbor is up yet on b',
  );
  const session = [{ interface: '', isUp: false }];
  expect(stages({ carriers: [{ carrier: 'bgp', running: true, adjacencies: session }] })[2]).toBe(
    'bgp: waiting: gobgpd is not ready yet',
  );
});

test('a problem of the carrier ends the wait, one of another feature does not', () => {
  const problem = { code: 'isis.no-neighbor', feature: 'isis', problem: 'no', remedy: 'yes' } as const;
  expect(stages({ carriers: [isis(false)], problems: [problem, problem] })[2]).toBe('isis: problem: isis.no-neighbor');
  expect(stages({ carriers: [isis(false)], problems: [{ ...problem, feature: 'bgp' }] })[2]).toMatch(/^isis: waiting/);
});
