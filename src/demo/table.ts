// The short table that the demo ends with. The report has the same columns, and more.
import type { PortResult, RunResult } from './results.ts';

export interface Column {
  readonly head: string;
  readonly cell: (run: RunResult) => string;
}

const NOTHING = '–';
const feedback = ({ firstFeedbackMs: value, feedbackIsBound }: RunResult): string =>
  value === null ? NOTHING : `${feedbackIsBound ? '≤ ' : ''}${value.toFixed(1)} ms`;
/** One value a watched port. */
const each = ({ ports }: RunResult, value: (port: PortResult) => string): string => ports.map(value).join(' / ');
const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);

export const COLUMNS: readonly Column[] = [
  { head: 'run', cell: (r) => r.mode },
  { head: 'first feedback', cell: feedback },
  { head: 'peak queue, kB', cell: (r) => each(r, (p) => kilobytes(p.peakQueueBytes)) },
  { head: 'after 1 s, kB', cell: (r) => each(r, (p) => kilobytes(p.settledPeakQueueBytes)) },
  { head: 'drops', cell: (r) => each(r, (p) => String(p.drops)) },
  { head: 'retransmitted', cell: (r) => String(r.retransmitted) },
  { head: 'goodput', cell: (r) => `${(r.goodputBps / 1e6).toFixed(1)} Mbit/s` },
  { head: 'notifications', cell: (r) => `${r.notifications.count} ${r.notifications.kind ?? ''}`.trim() },
  { head: 'CE seen', cell: (r) => String(r.ceAtReceiver) },
];

/** Columns that line up: the first to the left, all others to the right. @param rows the heads first */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const padded = (cell: string, i: number): string => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!));
  return `${rows.map((row) => row.map(padded).join('   ')).join('\n')}\n`;
}

export const table = (runs: readonly RunResult[]): string =>
  textTable([COLUMNS.map((c) => c.head), ...runs.map((run) => COLUMNS.map((c) => c.cell(run)))]);
