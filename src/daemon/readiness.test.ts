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
    problems: () => state.problems,
  });
  return { state, readiness };
}
const WAITS = ['isis: no neighbor is up yet on x'];

test('cnpd starts until its carrier has a neighbor; a neighbor that is lost is no start', () => {
  const { state, readiness } = example();
  expect(readiness.waitsFor()).toEqual(WAITS);
  state.isUp = true;
  expect(readiness.waitsFor()).toEqual([]);
  state.isUp = false;
  expect(readiness.waitsFor()).toEqual([]);
  expect(readiness.stages().at(-1)).toMatchObject({ name: 'isis', state: 'waiting' });
});

test('a problem that is named ends the start', () => {
  const { state, readiness } = example();
  state.problems = [{ code: 'isis.no-neighbor', feature: 'isis', problem: '', remedy: '' }];
  expect(readiness.waitsFor()).toEqual([]);
});

test('a carrier that is created anew starts again', () => {
  const { state, readiness } = example();
  state.isUp = true;
  expect(readiness.waitsFor()).toEqual([]);
  Object.assign(state, { isUp: false, run: 2 });
  expect(readiness.waitsFor()).toEqual(WAITS);
});

test('until everything was tried, the start is not over', () => {
  const { state, readiness } = example();
  Object.assign(state, { isUp: true, isTried: false });
  expect(readiness.waitsFor()).toHaveLength(1);
});
