// What the twelve runs of the scene `proxy` have to show, claim by claim: only what a busy machine cannot change. What
// it can change, such as times, is reported and not judged (observations.ts). Pure.
import type { Check } from '../check.ts';
import { boundedQueues, checkNotifications, silentReceiver } from '../checks.ts';
import type { Mode, RunResult } from '../results.ts';
import type { WatchedPort } from '../scene.ts';

/** Of the WAN, both ways: the delay lines add at least that. */
const ROUND_TRIP_MS = 20;
/** The port that congests. */
export const WATCHED: WatchedPort = { node: 'p1', interface: 'eth2', rateBps: 40e6, limitBytes: 2_000_000 };
const MODES: readonly Mode[] = ['none', 'receiver', 'paced', 'cnpd'];

/** The receiver hears of congestion after half a round trip, and the sender of that after the other half. */
function noSoonerThanTheWan({ mode, firstNotificationMs: first }: RunResult): string[] {
  return first !== null && first < ROUND_TRIP_MS
    ? [`${mode}: a CNP of the receiver came after ${first} ms, sooner than the WAN allows (${ROUND_TRIP_MS} ms)`]
    : [];
}

/** Load can spoil a run. It improves none: what the best run shows is cnpd's. */
function bestOf(cnpd: readonly RunResult[]): string[] {
  const failures = cnpd.map((run) => boundedQueues(run, { watched: [WATCHED] }));
  return failures.some((of) => of.length === 0) ? [] : failures.flat();
}

const everyRun =
  (runs: readonly RunResult[]) =>
  (claim: string, modes: readonly Mode[], judge: (run: RunResult) => string[]): Check => ({
    claim,
    failures: runs.filter(({ mode }) => modes.includes(mode)).flatMap(judge),
  });

export function proxyChecks(runs: readonly RunResult[]): readonly Check[] {
  const check = everyRun(runs);
  const missing = MODES.filter((mode) => !runs.some((run) => run.mode === mode));
  return [
    { claim: 'Every kind of run was made', failures: missing.map((mode) => `${mode}: the run was not made`) },
    check('Without congestion control nobody sends h1 a notification', ['none'], ({ notifications: { count } }) =>
      count === 0 ? [] : [`none: ${count} notifications were seen`],
    ),
    check(
      'The receiver’s CNPs on h1’s wire have opcode 0x81, the Queue Pair of the connection and a valid ICRC',
      ['receiver', 'paced'],
      (run) => checkNotifications(run, 'cnp'),
    ),
    check('None of them comes sooner than the round-trip time of the WAN', ['receiver', 'paced'], noSoonerThanTheWan),
    check(
      'cnpd’s CNPs on h1’s wire have opcode 0x81, the Queue Pair of the connection and a valid ICRC',
      ['cnpd'],
      (run) => checkNotifications(run, 'cnp'),
    ),
    check('In the cnpd runs the receiver sends no CNP: every one is cnpd’s', ['cnpd'], silentReceiver),
    {
      claim: 'In one cnpd run at least the queue stays below a fifth of its limit and nothing is dropped',
      failures: bestOf(runs.filter(({ mode }) => mode === 'cnpd')),
    },
  ];
}
