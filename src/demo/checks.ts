// Claims that more than one scene makes of its runs. Each failure is a sentence. Pure.
import type { Evidence, Mode, NotificationKind, PortResult, RunResult } from './results.ts';
import type { Scene, WatchedPort } from './scene.ts';

const CNP_OPCODE = 0x81;
/** "Bounded": at most this part of what the queue holds. An unheeded overload fills it. */
const BOUNDED = 1 / 5;

export type Runs = Readonly<Record<Exclude<Mode, 'paced'>, RunResult>>;

/** The three runs by their mode; undefined unless each was made. */
export function byMode(runs: readonly RunResult[]): Runs | undefined {
  const found = (mode: Mode): RunResult | undefined => runs.find((run) => run.mode === mode);
  const [none, receiver, cnpd] = [found('none'), found('receiver'), found('cnpd')];
  return none && receiver && cnpd && { none, receiver, cnpd };
}

export const NOT_ALL_RUNS = 'not all three runs were made';

const hex = (value: number | null): string => (value === null ? 'none, or several' : `0x${value.toString(16)}`);

/** Every notification is of this kind, sound, and for the connection's Queue Pair. */
export function checkNotifications({ mode, notifications: seen }: RunResult, kind: NotificationKind): string[] {
  if (seen.count === 0) return [`${mode}: no notification was seen on the sender's wire`];
  const failures: string[] = [];
  if (seen.kind !== kind)
    failures.push(
      `${mode}: the notifications on the sender's wire are ${seen.kind ?? 'of several kinds'}, expected ${kind}`,
    );
  if (kind !== 'long-haul-icmpv6' && seen.opcode !== CNP_OPCODE)
    failures.push(
      `${mode}: the opcode of the notifications on the sender's wire is ${hex(seen.opcode)}, expected 0x81`,
    );
  if (seen.queuePair === null || seen.queuePair !== seen.expectedQueuePair) {
    failures.push(
      `${mode}: the notifications are for Queue Pair ${hex(seen.queuePair)}, ` +
        `the connection's is ${hex(seen.expectedQueuePair)}`,
    );
  }
  if (!seen.valid)
    failures.push(
      `${mode}: a notification on the sender's wire has a wrong ` +
        `${kind === 'long-haul-icmpv6' ? 'checksum' : 'ICRC'} or cannot be read`,
    );
  return failures;
}

function checkPort(mode: Mode, result: PortResult, limitBytes: number): string[] {
  const failures: string[] = [];
  const most = limitBytes * BOUNDED;
  if (result.peakQueueBytes > most)
    failures.push(`${mode}: the queue of ${result.port} reached ${result.peakQueueBytes} bytes, more than ${most}`);
  if (result.drops !== 0) failures.push(`${mode}: ${result.port} dropped ${result.drops} packets`);
  return failures;
}

/** The receiver sends nothing, so every notification is cnpd's. */
export const silentReceiver = ({ mode, receiverCnps }: RunResult): string[] =>
  receiverCnps === 0
    ? []
    : [`${mode}: the receiver sent ${receiverCnps} CNPs, although configured not to: not every notification is cnpd's`];

/** The watched ports in this run: queues bounded, nothing dropped. */
export const boundedQueues = (
  { mode, ports }: RunResult,
  { watched }: { readonly watched: readonly Pick<WatchedPort, 'limitBytes'>[] },
): string[] => watched.flatMap(({ limitBytes }, i) => checkPort(mode, ports[i]!, limitBytes));

/**
 * What holds in every scene: silence without congestion control, CNPs from the receiver, then cnpd alone: sooner, with
 * bounded queues and no loss.
 */
export function checkRuns(
  { none, receiver, cnpd }: Runs,
  kind: NotificationKind,
  { watched }: Pick<Scene, 'watched'>,
): string[] {
  const failures: string[] = [];
  if (none.notifications.count !== 0)
    failures.push(`none: ${none.notifications.count} notifications were seen, although no node should send any`);
  failures.push(...checkNotifications(receiver, 'cnp'), ...checkNotifications(cnpd, kind));
  failures.push(...silentReceiver(cnpd));
  failures.push(...boundedQueues(cnpd, { watched }));
  // An upper bound that is too long says nothing.
  const comparable = !cnpd.feedbackIsBound && cnpd.firstFeedbackMs !== null && receiver.firstFeedbackMs !== null;
  if (comparable && cnpd.firstFeedbackMs >= receiver.firstFeedbackMs) {
    failures.push(
      `cnpd's first feedback took ${cnpd.firstFeedbackMs} ms, ` +
        `no less than the receiver's ${receiver.firstFeedbackMs} ms`,
    );
  }
  return failures;
}

/** What a router showed, if it showed what it should: a row whose fields are as expected. */
export function evidence(
  sentences: readonly string[],
  row: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
  what: string,
): Evidence {
  const failures = Object.entries(expected)
    .filter(([field, value]) => row[field] !== value)
    .map(([field, value]) => `${what} has the ${field} ${String(row[field])}, expected ${String(value)}`);
  return { sentences, failures };
}
