// What the runs of the scene `multicast` have to show, claim by claim. Each failure is a sentence. Nothing here depends
// on how long something took: the machine may be busy. Pure.
import type { Check } from '../check.ts';
import type { MulticastResult, ReceiverResult } from './results.ts';
import { RECEIVERS, type RunName } from './scene.ts';

const N = RECEIVERS.length;
/** Of the saving that is possible on the source's link. */
const SAVED = 0.9;
/** ACKs that a busy machine groups otherwise. */
const SLACK = 1.25;
/** Of routing protocols, on each link. */
const NOISE_FRAMES = 100;
const NOISE_FRAMES_PER_SECOND = 5;

const deliveryFailure = (run: MulticastResult, { receiver, ...seen }: ReceiverResult): string[] => {
  if (!seen.complete) return [`${run.name}: ${receiver} got ${seen.bytes} bytes and is not complete`];
  if (seen.hash !== run.hash) return [`${run.name}: ${receiver} did not get the bytes of the source, in their order`];
  return [];
};

function packetFailures(run: MulticastResult, { receiver, bad, refused }: ReceiverResult): string[] {
  const failures: string[] = [];
  if (bad !== 0) failures.push(`${run.name}: ${receiver} got ${bad} packets with a wrong ICRC, or that cannot be read`);
  if (refused !== 0)
    failures.push(`${run.name}: ${receiver} refused ${refused} packets of another peer or for another Queue Pair`);
  return failures;
}

function sourceFailures(run: MulticastResult): string[] {
  const failures: string[] = [];
  if (run.receivers.length !== N) failures.push(`${run.name}: ${run.receivers.length} receivers reported, not ${N}`);
  if (run.completionMs === null) failures.push(`${run.name}: the source did not complete its transfer`);
  if (run.foreign !== 0)
    failures.push(`${run.name}: the source got ${run.foreign} answers of no connection of its own`);
  return failures;
}

/** What holds in every run. */
function commonChecks(runs: readonly MulticastResult[]): Check[] {
  const ofReceivers = (check: typeof packetFailures): string[] =>
    runs.flatMap((run) => run.receivers.flatMap((receiver) => check(run, receiver)));
  return [
    {
      claim: 'In every run each receiver got every byte of the source, in order and once: the SHA-256 are equal.',
      failures: ofReceivers(deliveryFailure),
    },
    {
      claim: 'Every packet that reached a receiver had a valid ICRC, its peer’s address and its own Queue Pair.',
      failures: ofReceivers(packetFailures),
    },
    {
      claim: 'The source completed every transfer, and got answers of its own connections only.',
      failures: runs.flatMap(sourceFailures),
    },
    {
      claim: 'At no time had the source got a confirmation of more packets than each receiver had confirmed by then.',
      failures: runs.flatMap((run) => run.violations.map((text) => `${run.name}: ${text}`)),
    },
  ];
}

/** Bytes of the packets that were sent for the first time; a busy machine may cause repetitions. */
const firstBytes = ({ sourceBytes, sent, retransmitted }: MulticastResult): number =>
  sent === 0 ? sourceBytes : (sourceBytes * (sent - retransmitted)) / sent;

function linkFailures(group: MulticastResult): string[] {
  const noise = NOISE_FRAMES + (NOISE_FRAMES_PER_SECOND * (group.completionMs ?? 0)) / 1000;
  return group.links
    .filter(({ down }) => down > group.sent + noise)
    .map(
      ({ from, to, down }) =>
        `${group.name}: ${from} – ${to} carried ${down} packets, expected ${group.sent}: one copy of each`,
    );
}

function savingChecks(unicast: MulticastResult, group: MulticastResult): Check[] {
  const ratio = firstBytes(unicast) / firstBytes(group);
  const [limit, few] = [SAVED * N, group.acks * N <= unicast.acks * SLACK];
  const acks = group.acks === 0 ? ['group: the source got no ACK'] : [];
  if (!few) acks.push(`group: the source got ${group.acks} ACKs, expected about 1/${N} of ${unicast.acks}`);
  return [
    {
      claim: `The group saves the source’s link a factor of ${limit.toFixed(1)} at least, of ${N} that are possible.`,
      failures:
        ratio >= limit
          ? []
          : [`the group saved a factor of ${ratio.toFixed(2)} on the source’s link, expected ${limit.toFixed(1)}`],
    },
    { claim: `Answers come back as one: the source of the group got about 1/${N} of the ACKs.`, failures: acks },
  ];
}

function lossFailures(run: MulticastResult, where: string): string[] {
  const failures: string[] = [];
  const victim = run.receivers.find(({ receiver }) => receiver === where);
  if (!victim?.lost) failures.push(`${run.name}: nothing was lost in front of ${where}`);
  if (!victim?.naks) failures.push(`${run.name}: ${where} sent no NAK`);
  if (run.retransmitted === 0) failures.push(`${run.name}: the source repeated nothing`);
  return failures;
}

/** A NAK goes up once: sent again with each answer of another branch, it would keep the source going back. */
function nakFailures(run: MulticastResult): string[] {
  const sent = run.receivers.reduce((sum, { naks }) => sum + naks, 0);
  return run.naks > sent ? [`${run.name}: the source got ${run.naks} NAKs, and the receivers sent ${sent}`] : [];
}

/** @param victim the receiver in front of which the last run loses packets */
export function multicastChecks(runs: readonly MulticastResult[], victim: string): Check[] {
  const of = (name: RunName): MulticastResult | undefined => runs.find((run) => run.name === name);
  const [unicast, group, loss] = [of('unicast'), of('group'), of('group-loss')];
  const common = commonChecks(runs);
  if (!unicast || !group || !loss)
    return [{ claim: 'All runs were made.', failures: ['not all three runs were made'] }, ...common];
  return [
    ...common,
    ...savingChecks(unicast, group),
    {
      claim: 'No link of the tree carried more than one copy of a packet that the source sent to the group.',
      failures: [group, loss].flatMap(linkFailures),
    },
    {
      claim: `With loss in front of ${victim}, ${victim} asked for what was missing, and the source repeated it.`,
      failures: lossFailures(loss, victim),
    },
    {
      claim: 'The source got no more NAKs than the receivers of its group sent.',
      failures: [group, loss].flatMap(nakFailures),
    },
  ];
}

export const multicastVerdict = (runs: readonly MulticastResult[], victim: string): string[] =>
  multicastChecks(runs, victim).flatMap(({ failures }) => failures);
