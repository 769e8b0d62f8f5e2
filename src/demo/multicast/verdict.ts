// What the runs of the scene `multicast` have to show. Each failure is a sentence. Pure.
import type { MulticastResult, ReceiverResult } from './results.ts';
import { RECEIVERS, type RunName } from './scene.ts';

const N = RECEIVERS.length;
/** Of the saving that is possible on the source's link. */
const SAVED = 0.9;
/** ACKs that a busy machine groups otherwise, and frames of routing protocols. */
const SLACK = 1.25;
const NOISE_FRAMES = 100;

function checkReceiver(run: MulticastResult, { receiver, ...seen }: ReceiverResult): string[] {
  const failures: string[] = [];
  const fail = (text: string): void => void failures.push(`${run.name}: ${receiver} ${text}`);
  if (!seen.complete) fail(`got ${seen.bytes} bytes and is not complete`);
  else if (seen.hash !== run.hash) fail('did not get the bytes of the source, in their order');
  if (seen.bad !== 0) fail(`got ${seen.bad} packets with a wrong ICRC, or that cannot be read`);
  if (seen.refused !== 0) fail(`refused ${seen.refused} packets of another peer or for another Queue Pair`);
  return failures;
}

/** What holds in every run. */
function checkRun(run: MulticastResult): string[] {
  const failures = run.receivers.flatMap((receiver) => checkReceiver(run, receiver));
  if (run.receivers.length !== N) failures.push(`${run.name}: ${run.receivers.length} receivers reported, not ${N}`);
  if (run.completionMs === null) failures.push(`${run.name}: the source did not complete its transfer`);
  if (run.foreign !== 0)
    failures.push(`${run.name}: the source got ${run.foreign} answers of no connection of its own`);
  return [...failures, ...run.violations.map((text) => `${run.name}: ${text}`)];
}

function checkSaving(unicast: MulticastResult, group: MulticastResult): string[] {
  const failures: string[] = [];
  const ratio = unicast.sourceBytes / group.sourceBytes;
  if (!(ratio >= SAVED * N))
    failures.push(
      `the group saved a factor of ${ratio.toFixed(2)} on the source's link, expected ${(SAVED * N).toFixed(1)}`,
    );
  if (group.acks === 0) failures.push('group: the source got no ACK');
  if (group.acks * N > unicast.acks * SLACK)
    failures.push(`group: the source got ${group.acks} ACKs, expected about 1/${N} of ${unicast.acks}`);
  for (const { from, to, down } of group.links)
    if (down > group.packets * SLACK + NOISE_FRAMES)
      failures.push(`group: ${from} – ${to} carried ${down} packets, expected ${group.packets}: one copy of each`);
  return failures;
}

function checkLoss(run: MulticastResult, where: string): string[] {
  const failures: string[] = [];
  const victim = run.receivers.find(({ receiver }) => receiver === where);
  if (!victim?.lost) failures.push(`${run.name}: nothing was lost in front of ${where}`);
  if (!victim?.naks) failures.push(`${run.name}: ${where} sent no NAK`);
  if (run.retransmitted === 0) failures.push(`${run.name}: the source repeated nothing`);
  return failures;
}

/** @param victim the receiver in front of which the last run loses packets */
export function multicastVerdict(runs: readonly MulticastResult[], victim: string): string[] {
  const of = (name: RunName): MulticastResult | undefined => runs.find((run) => run.name === name);
  const [unicast, group, loss] = [of('unicast'), of('group'), of('group-loss')];
  if (!unicast || !group || !loss) return ['not all three runs were made', ...runs.flatMap(checkRun)];
  return [...runs.flatMap(checkRun), ...checkSaving(unicast, group), ...checkLoss(loss, victim)];
}
