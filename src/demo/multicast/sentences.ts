// The figures of the scene `multicast` as sentences, for a reader of nothing else. Pure.
import type { MulticastResult } from './results.ts';
import type { RunName } from './scene.ts';

const of = (runs: readonly MulticastResult[], name: RunName): MulticastResult | undefined =>
  runs.find((run) => run.name === name);
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const seconds = (ms: number | null): string => (ms === null ? 'never' : `${(ms / 1000).toFixed(1)} s`);
const whole = (n: number): string => n.toLocaleString('en-US');

/** What the group saves, in one breath. */
export function headline(runs: readonly MulticastResult[], bytes: number): string {
  const [unicast, group] = [of(runs, 'unicast'), of(runs, 'group')];
  if (!unicast || !group) return 'The runs that are compared were not all made.';
  const n = group.receivers.length;
  const times = ({ sent, packets }: MulticastResult): string => {
    const count = (sent / packets).toFixed(1).replace('.0', '');
    return count === '1' ? 'once' : `${count} times`;
  };
  const share = group.acks === 0 ? '' : ` (1/${(unicast.acks / group.acks).toFixed(1)})`;
  return (
    `${n} receivers, ${megabytes(bytes)} for each. Sent to their group, the data crossed the source’s link ` +
    `${times(group)} instead of ${times(unicast)}: ${megabytes(group.sourceBytes)} in place of ` +
    `${megabytes(unicast.sourceBytes)}, headers included. The source got ${whole(group.acks)} ACKs in place of ` +
    `${whole(unicast.acks)}${share}, and all had everything after ${seconds(group.completionMs)} in place of ` +
    `${seconds(unicast.completionMs)}.`
  );
}

/** What was lost in the last run, and what became of it. Empty: there was no such run. */
export function recovery(runs: readonly MulticastResult[]): string {
  const run = of(runs, 'group-loss');
  const victim = run?.receivers.find(({ lost }) => lost > 0);
  if (!run || !victim) return '';
  const others = run.receivers.filter(({ receiver }) => receiver !== victim.receiver);
  const most = Math.max(...others.map(({ duplicates }) => duplicates));
  const equal = run.receivers.filter(({ complete, hash }) => complete && hash === run.hash).length;
  return (
    `In front of ${victim.receiver}, ${whole(victim.lost)} packets were lost on purpose. ${victim.receiver} sent ` +
    `${whole(victim.naks)} NAKs, the source got ${whole(run.naks)}, and its timer expired ${whole(run.timeouts)} times. ` +
    `It repeated ${whole(run.retransmitted)} packets: a NAK makes it go back and send everything from there ` +
    `on again, to all receivers, because the connection is one. The others got up to ${whole(most)} packets a second ` +
    `time and dropped them. ${equal} of ${run.receivers.length} receivers have equal copies, after ` +
    `${seconds(run.completionMs)}.${comparison(run, of(runs, 'unicast'))}`
  );
}

/** Of a group with loss and connections without. */
const comparison = (run: MulticastResult, unicast: MulticastResult | undefined): string =>
  unicast === undefined
    ? ''
    : ` Of separate connections only one would have repeated, so loss costs a group more. Its ` +
      `${megabytes(run.sourceBytes)} on the source’s link compare with ${megabytes(unicast.sourceBytes)} of the ` +
      'connections, which had no loss.';
