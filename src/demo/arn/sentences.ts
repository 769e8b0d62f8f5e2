// The figures of the scene `arn` as sentences, for a reader of nothing else. Pure.
import type { ArnResult } from './results.ts';
import type { RunName } from './scene.ts';
import { dropsOf, keptOf, mbit, percent, repeatedOf } from './verdict.ts';

/** What becomes of both services in each run, in one breath. */
export function headline(runs: readonly ArnResult[]): string {
  const of = (name: RunName): ArnResult | undefined => runs.find((run) => run.name === name);
  const [none, priority, service] = [of('none'), of('priority'), of('service')];
  if (!none || !priority || !service) return 'The runs that are compared were not all made.';
  const a = (run: ArnResult): string => mbit(run.services.A.received.togetherBps);
  const b = (run: ArnResult): string => percent(keptOf(run.services.B));
  return (
    `The port to h2 is too narrow for service A. Without flow control it dropped ${dropsOf(none)} packets, h1 repeated ` +
    `${percent(repeatedOf(none.services.A))} of what it sent, and A got ${a(none)} through. With the priority paused ` +
    `${dropsOf(priority)} packets were dropped and A got ${a(priority)}, ` +
    `but service B, whose path is free, delivered ${b(priority)} of what its host sent. With A’s service paused ` +
    `${dropsOf(service)} packets were dropped, A got ${a(service)}, and B delivered ${b(service)}.`
  );
}
