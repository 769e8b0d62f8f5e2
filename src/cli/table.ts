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

/** A table has at most this many columns of text, unless the terminal has more or `--wide` is given. */
export const TABLE_WIDTH = 100;
const GAP = 2;
/** Of the second and further lines of a row. */
const INDENT = 4;

/**
 * Lines of a table; a table without rows is its `empty` sentence. Where a line would be wider than `width`, columns in
 * which no row has anything are left out, and headers are wrapped to their cells. If that is not enough, each row takes
 * several lines, the further ones indented, and so does the header. A cell that is longer than a line is wrapped at its
 * spaces. A word, such as an address, is never cut.
 */
export function formatTable<T>(
  all: readonly Column<T>[],
  rows: readonly T[],
  empty: string,
  width: number = TABLE_WIDTH,
): string[] {
  if (rows.length === 0) return [empty];
  const columns = isWider(all, rows, width) ? filledColumns(all, rows) : all;
  const cells = rows.map((row) => columns.map((column) => wrap(cellText(column.cell(row)), width - INDENT)));
  const ofCells = columns.map((_, i) => widest(cells.flatMap((row) => row[i]!)));
  const titles = columns.map(({ header }) => header.toUpperCase());
  const isTooWide = isWider(columns, rows, width);
  const header = titles.map((title, i) => (isTooWide ? wrap(title, ofCells[i]!) : [title]));
  const widths = header.map((lines, i) => Math.max(widest(lines), ofCells[i]!));
  const lines = fold(widths, width);
  const rightOf = columns.map((column) => column.align === 'right');
  return [header, ...cells].flatMap((row) =>
    lines.flatMap((indices, at) => blockOf(indices, { row, widths, rightOf }, at === 0 ? 0 : INDENT)),
  );
}

/** Whether a line would be, with headers as they are. */
function isWider<T>(columns: readonly Column<T>[], rows: readonly T[], width: number): boolean {
  const natural = columns.map(({ header, cell }) =>
    rows.reduce((most, row) => Math.max(most, cellText(cell(row)).length), header.length),
  );
  return natural.reduce((sum, one) => sum + GAP + one, -GAP) > width;
}

/** Without columns that are empty in every row; all of them, if all are. */
function filledColumns<T>(columns: readonly Column<T>[], rows: readonly T[]): readonly Column<T>[] {
  const filled = columns.filter(({ cell }) => rows.some((row) => cellText(cell(row)) !== EMPTY));
  return filled.length > 0 ? filled : columns;
}

const widest = (lines: readonly string[]): number => lines.reduce((most, line) => Math.max(most, line.length), 0);

/** Which columns stand on which line: as many as fit, in their order. */
function fold(widths: readonly number[], limit: number): number[][] {
  const lines: number[][] = [[]];
  let used = 0;
  for (const [i, width] of widths.entries()) {
    if (lines.at(-1)!.length > 0 && used + GAP + width > limit) {
      lines.push([i]);
      used = INDENT + width;
    } else {
      used += (lines.at(-1)!.length > 0 ? GAP : 0) + width;
      lines.at(-1)!.push(i);
    }
  }
  return lines;
}

interface LaidOut {
  readonly row: readonly (readonly string[])[];
  readonly widths: readonly number[];
  readonly rightOf: readonly boolean[];
}

/** The lines of some cells of a row, side by side: as many as the one with the most. */
function blockOf(indices: readonly number[], { row, widths, rightOf }: LaidOut, indent: number): string[] {
  const height = Math.max(...indices.map((i) => row[i]!.length));
  return Array.from({ length: height }, (_, line) => {
    const texts = indices.map((i) => {
      const text = row[i]![line] ?? '';
      return rightOf[i] ? text.padStart(widths[i]!) : text.padEnd(widths[i]!);
    });
    return `${' '.repeat(indent)}${texts.join(' '.repeat(GAP))}`.trimEnd();
  });
}

/** Lines of at most `width`, of whole words. */
export function wrap(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The same, with the second and further lines indented. */
export function folded(text: string, width: number): string[] {
  const [first = '', ...more] = wrap(text, width - INDENT);
  return [first, ...more.map((line) => `${' '.repeat(INDENT)}${line}`)];
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
