// The tables of a report: a column for each kind of run, which fits a narrow window, and a row for each figure.
import { ROUNDED, firstFeedback, goodput, settled } from './measures.ts';
import type { DemoRun, Mode, PortResult } from './results.ts';
import { type Measure, type Spread, modesOf, ofMode, spreadOf } from './spread.ts';

const NOTHING = '–';

/** One line in the head of a narrow column. */
export const HEADS: Readonly<Record<Mode, string>> = {
  none: 'no control',
  receiver: 'receiver, 50 µs',
  paced: 'receiver, 20 ms',
  cnpd: 'cnpd',
};

export interface Cell {
  readonly value: string;
  /** From where to where the repetitions reach; empty: there is one, or all are equal. */
  readonly range: string;
}

interface Line {
  readonly head: string;
  /** Of the runs of one kind. */
  readonly cell: (runs: readonly DemoRun[]) => Cell;
}

const EMPTY: Cell = { value: NOTHING, range: '' };

function cellOf(spread: Spread | undefined, text: (value: number) => string, prefix = ''): Cell {
  if (!spread) return EMPTY;
  const [value, least, most] = [spread.median, spread.least, spread.most].map(text);
  return { value: `${prefix}${value}`, range: least === most ? '' : `${least}–${most}` };
}

const line =
  (measure: Measure, text: (value: number) => string): Line['cell'] =>
  (runs) =>
    cellOf(spreadOf(runs, measure), text);

/** One line a watched port, when there are several. */
const perPort = (
  head: string,
  ports: readonly string[],
  value: (port: PortResult) => number,
  text: (value: number) => string,
): Line[] =>
  ports.map((port, i) => ({
    head: ports.length > 1 ? `${port}: ${head}` : head,
    cell: line((run) => value(run.ports[i]!), text),
  }));

const count = (value: number): string => value.toFixed(0);
/** The unit is in the head of the line: a narrow column has room for a range of numbers. */
const { ms, kilobytes, mbit } = ROUNDED;

const feedback: Line = {
  head: 'first feedback, ms',
  cell: (runs) => cellOf(spreadOf(runs, firstFeedback), ms, runs.some((run) => run.feedbackIsBound) ? '≤ ' : ''),
};

export function linesOf(runs: readonly DemoRun[]): readonly Line[] {
  const ports = runs[0]?.ports.map(({ port }) => port) ?? [];
  return [
    feedback,
    ...perPort('peak queue, kB', ports, (p) => p.peakQueueBytes, kilobytes),
    { head: 'settled after, ms', cell: line(settled, ms) },
    ...perPort('peak after 1 s, kB', ports, (p) => p.settledPeakQueueBytes, kilobytes),
    ...perPort('drops', ports, (p) => p.drops, count),
    { head: 'retransmitted', cell: line((run) => run.retransmitted, count) },
    { head: 'goodput, Mbit/s', cell: line(goodput, mbit) },
    { head: 'notifications', cell: line((run) => run.notifications.count, count) },
    { head: 'CE seen', cell: line((run) => run.ceAtReceiver, count) },
  ];
}

/** Columns that line up: the first to the left, all others to the right. @param rows the heads first */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const padded = (cell: string, i: number): string => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!));
  return `${rows.map((row) => row.map(padded).join('   ')).join('\n')}\n`;
}

/** The range below its value, as in the report, and only where there is one. */
export function table(runs: readonly DemoRun[]): string {
  const modes = modesOf(runs);
  const rows = linesOf(runs).flatMap(({ head, cell }) => {
    const cells = modes.map((mode) => cell(ofMode(runs, mode)));
    const ranges = cells.map(({ range }) => range && `(${range})`);
    return [[head, ...cells.map(({ value }) => value)], ...(ranges.some(Boolean) ? [['', ...ranges]] : [])];
  });
  return textTable([['', ...modes.map((mode) => HEADS[mode])], ...rows]);
}
