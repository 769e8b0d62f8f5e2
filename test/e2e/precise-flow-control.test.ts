// containerlab/precise-flow-control as it is in the repository, in the mode of its files: one short run, observed as
// the demo observes it, on the wire and by other code than the dataplane's. The figures of time are the demo's.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { evaluateArn } from '../../src/demo/arn/evaluate.ts';
import type { ArnResult } from '../../src/demo/arn/results.ts';
import { ARN, NARROW_BPS, ROUTERS, RUNS, SERVICES } from '../../src/demo/arn/scene.ts';
import { waitForRouters } from '../../src/demo/arn/show.ts';
import { type ArnObservers, makeArnRun, openArnObservers } from '../../src/demo/arn/traffic.ts';
import { dropsOf, keptOf } from '../../src/demo/arn/verdict.ts';
import { daemonLogs } from '../../src/demo/routers.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { type Lab, labUp } from '../../src/lab/lab.ts';
import { until } from '../support/until.ts';
import { ownLabName } from './support/network.ts';

const never = new AbortController().signal;
const SERVICE_RUN = { ...RUNS.find(({ name }) => name === 'service')!, aloneMs: 0, togetherMs: 1500 };
/** Of what B's host sends. Were the whole priority paused, it would be half. */
const GOES_ON = 0.9;
/** `pause-above` of p: when more waits there, p has reason to ask pe1. */
const PAUSE_ABOVE = 100_000;
/** Whether the machine gave the hosts enough time to show what the routers do. Nothing here says that B went on. */
const isShown = ({ services: { A, B }, ports }: ArnResult): boolean =>
  A.hostDrops + B.hostDrops === 0 &&
  A.sent.togetherBps > 1.2 * NARROW_BPS &&
  B.sent.togetherBps > SERVICES.B.sendingRateBps / 2 &&
  ports[1]!.peakBytes > 1.5 * PAUSE_ABOVE;

const output = mkdtempSync(join(tmpdir(), 'cnpd-arn-'));
const errors: Error[] = [];
const onError = (error: Error): void => void errors.push(error);
const poller = Poller.open({ onError });
let lab: Lab | undefined;
let observers: ArnObservers | undefined;
let run: ArnResult;

beforeAll(async () => {
  lab = await labUp(ARN.file, { name: await ownLabName('t-scene-arn') });
  await waitForRouters(lab, never);
  observers = await openArnObservers(lab, { poller, onError });
  const parts = { lab, observers, output, signal: never };
  // On a busy machine h1 may not send fast enough for the class at p to fill.
  run = await until(
    'a run in which the hosts send enough',
    async () => evaluateArn(SERVICE_RUN, await makeArnRun(SERVICE_RUN, parts)),
    (tried) => (isShown(tried) ? tried : undefined),
    60_000,
  );
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail' && lab) console.log(await daemonLogs(lab, ROUTERS));
});
afterAll(async () => {
  observers?.close();
  poller.close();
  await lab?.down();
  rmSync(output, { recursive: true });
  expect(errors).toEqual([]);
});

test('FCN-4.1.2-a FCN-4.1.2-b: pe2 asks p, and p asks pe1, each by ARNs over one link that name the outer header of service A; no host is asked', () => {
  const [first, second, ...hosts] = run.wires;
  for (const wire of [first!, second!]) {
    expect(wire.asks, wire.wire).toBeGreaterThan(0);
    // Hop limit 255, CS6, port 1022 at both ends, and every one can be read.
    expect(wire).toMatchObject({ unsound: 0, traffic: [`service 2001:db8:ffff::1 to ${SERVICES.A.sid}`] });
  }
  expect(hosts.map(({ wire, asks, ends, unsound }) => [wire, asks + ends + unsound])).toEqual(
    ['h1', 'h2', 'h3', 'h4'].map((host) => [host, 0]),
  );
});

test('FCN-4.1-a FCN-4.1.2-e: p and pe1 halt service A, of which nothing is lost; service B goes on over the same ports', () => {
  const [pe2, p, pe1] = run.routers;
  expect(pe2).toMatchObject({ node: 'pe2', paused: 0 });
  expect(p!.paused).toBeGreaterThan(0);
  expect(pe1!.paused).toBeGreaterThan(0);
  expect(pe1).toMatchObject({ node: 'pe1', asked: 0 });
  expect(dropsOf(run)).toBe(0);
  for (const { retransmitted } of Object.values(run.services)) expect(retransmitted).toBe(0);
  expect(keptOf(run.services.B)).toBeGreaterThanOrEqual(GOES_ON);
});
