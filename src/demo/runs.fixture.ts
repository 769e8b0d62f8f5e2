// Results of runs for the tests of verdicts and reports: what each mode's run looks like when all is well.
import type { DemoRun, Mode, NotificationKind, NotificationSummary, PortResult, RunResult } from './results.ts';
import { type Scene, portName } from './scene.ts';

const QUEUE_PAIR = 7;

export const summary = (kind: NotificationKind, change: Partial<NotificationSummary> = {}): NotificationSummary => ({
  count: 5,
  kind,
  opcode: kind === 'long-haul-icmpv6' ? null : 0x81,
  queuePair: QUEUE_PAIR,
  expectedQueuePair: QUEUE_PAIR,
  valid: true,
  nodes: [],
  ...change,
});

const SILENCE: NotificationSummary = {
  count: 0,
  kind: null,
  opcode: null,
  queuePair: null,
  expectedQueuePair: QUEUE_PAIR,
  valid: false,
  nodes: [],
};
const FEEDBACK_MS: Readonly<Record<Mode, number | null>> = { none: null, receiver: 33, paced: 33, cnpd: 1 };

const SPEAKING_RECEIVER: readonly Mode[] = ['receiver', 'paced'];

export const portResult = (port: string, change: Partial<PortResult> = {}): PortResult => ({
  port,
  peakQueueBytes: 1000,
  settledPeakQueueBytes: 0,
  drops: 0,
  kMin: 50_000,
  kMax: 100_000,
  rttMs: 10,
  counted: { ceMarked: 9, triggers: 5, notifications: 5, deferred: 0 },
  ...change,
});

/** @param kind of what cnpd sends in this scene */
export const goodRun = (
  scene: Pick<Scene, 'watched'>,
  mode: Mode,
  kind: NotificationKind,
  change: Partial<RunResult> = {},
): RunResult => ({
  mode,
  title: mode,
  durationMs: 20_000,
  ports: scene.watched.map((port) => portResult(portName(port))),
  firstFeedbackMs: FEEDBACK_MS[mode],
  feedbackIsBound: false,
  firstNotificationMs: FEEDBACK_MS[mode],
  settledMs: FEEDBACK_MS[mode],
  congestedMs: 1000,
  goodputBps: 1,
  retransmitted: 0,
  receiverCnps: SPEAKING_RECEIVER.includes(mode) ? 5 : 0,
  ceAtReceiver: mode === 'none' ? 0 : 9,
  notifications: mode === 'none' ? SILENCE : summary(SPEAKING_RECEIVER.includes(mode) ? 'cnp' : kind),
  tunneled: null,
  series: {
    queueBytes: Object.fromEntries(scene.watched.map((port) => [portName(port), []])),
    rateBps: [],
    sentBps: [],
    notifications: [],
  },
  ...change,
});

/** Three runs of which the last is changed. */
export const runsWith = (
  scene: Pick<Scene, 'watched'>,
  kind: NotificationKind,
  cnpd: Partial<RunResult>,
): RunResult[] => [goodRun(scene, 'none', kind), goodRun(scene, 'receiver', kind), goodRun(scene, 'cnpd', kind, cnpd)];

/** As a demo makes them: every run so often. */
export const repeated = (runs: readonly RunResult[], repetitions = 1): DemoRun[] =>
  Array.from({ length: repetitions }, (_, i) =>
    runs.map((run): DemoRun => ({ ...run, repetition: i + 1, cpuBusy: 0.5 })),
  ).flat();
