// The short table that the demo ends with.
import type { RunResult } from './results.ts';

interface Column {
  readonly head: string;
  readonly cell: (run: RunResult) => string;
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;

const COLUMNS: readonly Column[] = [
  { head: 'run', cell: (r) => r.mode },
  { head: 'first feedback', cell: (r) => (r.firstFeedbackMs === null ? '–' : `${r.firstFeedbackMs.toFixed(1)} ms`) },
  { head: 'peak queue', cell: (r) => kilobytes(r.peakQueueBytes) },
  { head: 'peak after 1 s', cell: (r) => kilobytes(r.settledPeakQueueBytes) },
  { head: 'drops', cell: (r) => String(r.drops) },
  { head: 'retransmitted', cell: (r) => String(r.retransmitted) },
  { head: 'goodput', cell: (r) => `${(r.goodputBps / 1e6).toFixed(1)} Mbit/s` },
  { head: 'CNPs', cell: (r) => String(r.cnp.count) },
];

export function table(runs: readonly RunResult[]): string {
  const rows = [COLUMNS.map((c) => c.head), ...runs.map((run) => COLUMNS.map((c) => c.cell(run)))];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return `${rows.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('   ')).join('\n')}\n`;
}
