// What a run of the bench found: rows, the table that is printed and the file that is written. A row is a figure beside
// a reference that was measured in the same run; a figure that falls short is a row that says so, never an error.
import type { Summary } from './statistics.ts';

export interface Row {
  readonly figure: string;
  readonly what: string;
  /** Of both values. */
  readonly unit: string;
  readonly measured: number;
  readonly spread?: Summary;
  readonly reference: string;
  readonly referenceValue: number;
  readonly referenceSpread?: Summary;
  /** How the two are compared. */
  readonly ratio: number;
  readonly target: string;
  /** Null: the figure has no target. */
  readonly met: boolean | null;
  readonly note?: string;
}

export interface Failure {
  readonly figure: string;
  readonly error: string;
}

export interface Report {
  readonly version: 1;
  readonly machine: {
    readonly kernel: string;
    readonly node: string;
    readonly cpus: number;
    readonly model: string;
    readonly loadBefore: number;
  };
  readonly seconds: number;
  readonly rows: readonly Row[];
  /** What could not be measured. */
  readonly failures: readonly Failure[];
}

export function number(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '—';
  const magnitude = Math.abs(value);
  return magnitude >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : magnitude >= 100
      ? value.toFixed(0)
      : magnitude >= 10
        ? value.toFixed(1)
        : magnitude >= 0.1 || magnitude === 0
          ? value.toFixed(2)
          : value.toPrecision(2);
}

const spreadOf = (spread: Summary | undefined): string =>
  spread && spread.runs > 1 ? ` [${number(spread.min)} … ${number(spread.max)}]` : '';
const met = (row: Row): string => (row.met === null ? '' : row.met ? 'yes' : 'NO');

const COLUMNS: readonly { readonly title: string; readonly text: (row: Row) => string }[] = [
  { title: 'what', text: (r) => r.what },
  { title: 'measured [min … max]', text: (r) => `${number(r.measured)} ${r.unit}${spreadOf(r.spread)}` },
  {
    title: 'reference in the same run',
    text: (r) => `${r.reference}: ${number(r.referenceValue)} ${r.unit}${spreadOf(r.referenceSpread)}`,
  },
  { title: 'ratio', text: (r) => number(r.ratio) },
  { title: 'target', text: (r) => r.target },
  { title: 'met?', text: met },
];

export function table(rows: readonly Row[]): string {
  const cells = [COLUMNS.map((c) => c.title), ...rows.map((row) => COLUMNS.map((c) => c.text(row)))];
  const widths = COLUMNS.map((_, i) => Math.max(...cells.map((line) => line[i]!.length)));
  const lines = cells.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((w) => '─'.repeat(w)).join('  '));
  const notes = rows.filter((row) => row.note !== undefined).map((row) => `  ${row.what}: ${row.note}`);
  return [...lines, ...(notes.length > 0 ? ['', 'notes', ...notes] : [])].join('\n');
}
