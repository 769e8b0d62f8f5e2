// Plain text tables: columns aligned, numbers to the right, two spaces between, no trailing space.

export interface Column<T> {
  /** With the unit where there is one: `queue (B)`. */
  readonly header: string;
  readonly cell: (row: T) => string | number | boolean | undefined;
  readonly align?: 'left' | 'right';
}

const EMPTY = '-';

/** Control characters would let a name that came from the network (an IS-IS hostname) move the cursor. */
const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0);
export const printable = (text: string): string =>
  [...text].map((c) => (isControl(c.codePointAt(0)!) ? '\u{fffd}' : c)).join('');

function cellText(value: string | number | boolean | undefined | null): string {
  if (value === undefined || value === null || value === '') return EMPTY;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return printable(String(value));
}

/** Lines of a table; a table without rows is its `empty` sentence. */
export function formatTable<T>(columns: readonly Column<T>[], rows: readonly T[], empty: string): string[] {
  if (rows.length === 0) return [empty];
  const cells = rows.map((row) => columns.map((column) => cellText(column.cell(row))));
  const widths = columns.map((column, i) =>
    cells.reduce((width, row) => Math.max(width, row[i]!.length), column.header.length),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => (columns[i]!.align === 'right' ? text.padStart(widths[i]!) : text.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd();
  return [line(columns.map((column) => column.header.toUpperCase())), ...cells.map(line)];
}

/** `name  value` lines. */
export function formatPairs(pairs: readonly (readonly [string, string | number | boolean | undefined])[]): string[] {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`);
}

/** Time since (or until) an RFC 3339 time: `42s`, `3m12s`, `5h07m`, `12d03h`. */
export function formatAge(time: string | undefined, nowMs: number): string | undefined {
  const at = time === undefined ? NaN : Date.parse(time);
  if (Number.isNaN(at)) return time;
  const seconds = Math.max(0, Math.round(Math.abs(nowMs - at) / 1000));
  const two = (n: number): string => String(n).padStart(2, '0');
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${two(Math.floor((seconds % 3600) / 60))}m`;
  return `${Math.floor(seconds / 86_400)}d${two(Math.floor((seconds % 86_400) / 3600))}h`;
}

/** Qpns and sequence numbers as their field writes them. */
export const hex = (value: number | undefined, digits: number): string | undefined =>
  value === undefined ? undefined : `0x${value.toString(16).padStart(digits, '0')}`;
