// What a busy machine can change about the runs, as sentences: it is reported and not judged. Pure.
import { boundedQueues } from './checks.ts';
import { kilobytes, mbit } from './measures.ts';
import type { DemoReport, DemoRun } from './results.ts';
import { ofMode } from './spread.ts';

/** Processors busier than this make times longer, and senders slower. */
const BUSY = 0.9;

const percent = (part: number): string => `${(100 * part).toFixed(0)} %`;

function bounded(cnpd: readonly DemoRun[], ports: DemoReport['ports']): string[] {
  if (cnpd.length === 0) return [];
  const watched = ports.map(({ queueLimitBytes }) => ({ limitBytes: queueLimitBytes }));
  const beyond = cnpd.filter((run) => boundedQueues(run, { watched }).length > 0);
  const most = Math.max(...cnpd.map((run) => run.ports[0]!.peakQueueBytes));
  const limit = kilobytes(ports[0]!.queueLimitBytes);
  return beyond.length === 0
    ? [`With cnpd the queue never reached a fifth of its limit: ${kilobytes(most)} of ${limit} at most`]
    : [
        `With cnpd the queue reached a fifth of its limit in ${beyond.length} of ${cnpd.length} runs: ` +
          `${kilobytes(most)} of ${limit} at most`,
      ];
}

/** An overload that a starved sender did not make shows nothing. */
function overload(none: readonly DemoRun[]): string[] {
  const idle = none.filter(({ ports }) => ports[0]!.drops === 0).length;
  return idle === 0
    ? []
    : [
        `Without congestion control the queue did not overflow in ${idle} of ${none.length} runs: h1 got too little CPU`,
      ];
}

export function observations(runs: readonly DemoRun[], { ports }: Pick<DemoReport, 'ports'>): string[] {
  if (runs.length === 0) return [];
  const busy = runs.map(({ cpuBusy }) => cpuBusy);
  const [least, most] = [Math.min(...busy), Math.max(...busy)];
  const rates = ofMode(runs, 'none').map(({ series }) => Math.max(0, ...series.sentBps.map(([, bps]) => bps)));
  return [
    ...bounded(ofMode(runs, 'cnpd'), ports),
    ...overload(ofMode(runs, 'none')),
    ...(rates.length > 0 ? [`Without congestion control h1 sent at up to ${mbit(Math.max(...rates))}`] : []),
    `The processors were ${percent(least)} to ${percent(most)} busy` +
      (most > BUSY ? ': that makes times longer than on an idle machine' : ''),
  ];
}
