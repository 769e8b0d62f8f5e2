// What the runs of the scenes are compared by. Pure.
import type { DemoRun, Mode } from './results.ts';
import { type Measure, type Spread, ofMode, spreadOf } from './spread.ts';

interface Compared {
  readonly name: string;
  readonly measure: Measure;
  readonly better: 'less' | 'more';
  readonly text: (value: number) => string;
}

/** Figures without their unit. */
export const ROUNDED = {
  ms: (value: number): string => value.toFixed(value < 100 ? 1 : 0),
  kilobytes: (bytes: number): string => (bytes / 1000).toFixed(0),
  mbit: (bps: number): string => (bps / 1e6).toFixed(1),
} as const;
const ms = (value: number): string => `${ROUNDED.ms(value)} ms`;
export const kilobytes = (bytes: number): string => `${ROUNDED.kilobytes(bytes)} kB`;
export const mbit = (bps: number): string => `${ROUNDED.mbit(bps)} Mbit/s`;

export const firstFeedback: Measure = (run) => run.firstFeedbackMs;
/** Of the first watched port, in which all the traffic waits. */
const peakQueue: Measure = (run) => run.ports[0]!.peakQueueBytes;
export const settled: Measure = (run) => run.settledMs;
export const goodput: Measure = (run) => run.goodputBps;

/** Those in which cnpd claims to be better come first. */
const COMPARED: readonly Compared[] = [
  { name: 'first feedback', measure: firstFeedback, better: 'less', text: ms },
  { name: 'peak queue', measure: peakQueue, better: 'less', text: kilobytes },
  { name: 'settling', measure: settled, better: 'less', text: ms },
  {
    name: 'queue after the first second',
    measure: (r) => r.ports[0]!.settledPeakQueueBytes,
    better: 'less',
    text: kilobytes,
  },
  { name: 'goodput', measure: goodput, better: 'more', text: mbit },
  { name: 'notifications', measure: (r) => r.notifications.count, better: 'less', text: (n) => n.toFixed(0) },
];

/** `better` or `worse`: no repetition of one reaches one of the other. */
export type Outcome = 'better' | 'worse' | 'within the spread';

export function compare(cnpd: Spread, other: Spread, better: Compared['better']): Outcome {
  const [left, right] = better === 'less' ? [cnpd, other] : [other, cnpd];
  if (left.most < right.least) return 'better';
  return left.least > right.most ? 'worse' : 'within the spread';
}

const NAMES: Readonly<Record<Mode, string>> = {
  none: 'no congestion control',
  receiver: 'the receiver at 50 µs',
  paced: 'the receiver at cnpd’s interval',
  cnpd: 'cnpd',
};

/** A median that is an upper bound in one of its runs is one. */
const atMost = (runs: readonly DemoRun[], { median }: Spread): string =>
  `${runs.some(({ feedbackIsBound }) => feedbackIsBound) ? 'at most ' : ''}${ms(median)}`;

const between = ({ least, most }: Spread): string => (least === most ? '' : ` (${least.toFixed(1)} to ${ms(most)})`);

/**
 * What cnpd does for the sender, against a receiver that sends CNPs as often as network cards do. Undefined when a run
 * has no feedback to compare.
 */
export function headline(runs: readonly DemoRun[]): string | undefined {
  const [cnpd, other] = [ofMode(runs, 'cnpd'), ofMode(runs, 'receiver')];
  const [mine, theirs] = [spreadOf(cnpd, firstFeedback), spreadOf(other, firstFeedback)];
  if (!mine || !theirs) return undefined;
  const less = (measure: Measure, text: (value: number) => string, sentence: string): string[] => {
    const [left, right] = [spreadOf(cnpd, measure), spreadOf(other, measure)];
    if (!left || !right || left.median >= right.median) return [];
    const doubt = compare(left, right, 'less') === 'better' ? '' : ', though repetitions overlap';
    return [`${sentence} ${text(left.median)} instead of ${text(right.median)}${doubt}.`];
  };
  return [
    'With cnpd the first notification reaches the sender, in the median, ' +
      `${atMost(cnpd, mine)} after the queue has grown too deep${between(mine)}. ` +
      `That of the receiver takes ${atMost(other, theirs)}${between(theirs)}.`,
    ...less(peakQueue, kilobytes, 'The queue peaks at'),
    ...less(settled, ms, 'It has settled after'),
  ].join(' ');
}

/** Where no repetition of cnpd's is better than all of the other's. */
export function notBetter(runs: readonly DemoRun[]): string[] {
  const cnpd = ofMode(runs, 'cnpd');
  return (['receiver', 'paced'] as const).flatMap((mode) =>
    COMPARED.flatMap(({ name, measure, better, text }) => {
      const [left, right] = [spreadOf(cnpd, measure), spreadOf(ofMode(runs, mode), measure)];
      if (!left || !right) return [];
      const outcome = compare(left, right, better);
      const range = ({ least, most }: Spread): string =>
        text(least) === text(most) ? text(least) : `${text(least)} to ${text(most)}`;
      return outcome === 'better'
        ? []
        : [`${name}, against ${NAMES[mode]}: ${outcome} (cnpd ${range(left)}, there ${range(right)})`];
    }),
  );
}
