import { expect, test } from 'vitest';
import type { Problem } from '../model/problem.ts';
import { Readiness } from './readiness.ts';

function example() {
  const state = { isUp: false, run: 1, isTried: true, problems: [] as Problem[] };
  const readiness = new Readiness({
    isKernelOpen: () => true,
    isPlanned: () => true,
    isTried: () => state.isTried,
    carriers: () => [{ carrier: 'isis', running: true, adjacencies: [{ interface: 'x', isUp: state.isUp }] }],
    runOf: () => state.run,
  });
  const waitsFor = (): string[] => readiness.waitsFor(state.problems);
  return { state, readiness, waitsFor };
}
const WAITS = ['isis: no neighbor is up yet on x'];

test('cnpd starts until its carrier has a neighbor; a neighbor that is lost is no start', () => {
  const { state, readiness, waitsFor } = example();
  expect(waitsFor()).toEqual(WAITS);
  state.isUp = true;
  expect(waitsFor()).toEqual([]);
  state.isUp = false;
  expect(waitsFor()).toEqual([]);
  expect(readiness.stages(state.problems).at(-1)).toMatchObject({ name: 'isis', state: 'waiting' });
});

test('a problem that is named ends the start', () => {
  const { state, waitsFor } = example();
  state.problems = [{ code: 'isis.no-neighbor', feature: 'isis', problem: '', remedy: '' }];
  expect(waitsFor()).toEqual([]);
});

test('a carrier that is created anew starts again', () => {
  const { state, waitsFor } = example();
  state.isUp = true;
  expect(waitsFor()).toEqual([]);
  Object.assign(state, { isUp: false, run: 2 });
  expect(waitsFor()).toEqual(WAITS);
});

test('until everything was tried, the start is not over', () => {
  const { state, waitsFor } = example();
  Object.assign(state, { isUp: true, isTried: false });
  expect(waitsFor()).toHaveLength(1);
});
