// What is wrong with cnpd.yaml, as values and as text: file, line, column, path, what was found, what is allowed. Keys of
// authentication are never repeated, neither as the thing found nor in the quoted line.

export type Path = readonly (string | number)[];

export interface IntentError {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** e.g. `ports[0].k-min`; empty for the file as a whole. */
  readonly path: string;
  readonly found: string;
  readonly allowed: string;
  /** One sentence that says it all but the place. */
  readonly message: string;
}

/** `ports[0].k-min` */
export const formatPath = (path: Path): string =>
  path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? printable(step, 64) : `${text}.${printable(step, 64)}`), '');

/** Text from the file, fit for a terminal: control characters escaped, cut at `limit` characters. */
export function printable(text: string, limit: number): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  // eslint-disable-next-line no-control-regex -- naming control characters is the point
  return cut.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What stands at a place, in words. */
export function describeFound(found: unknown): string {
  if (found === undefined || found === null) return 'nothing';
  if (Array.isArray(found)) return 'a list';
  if (typeof found === 'object') return 'a mapping';
  return `"${printable(String(found), 60)}"`;
}

/** The known word nearest to an unknown one (Damerau-Levenshtein), if near enough to be what was meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  const ranked = known.map((k) => ({ k, distance: editDistance(word.toLowerCase().replaceAll('_', '-'), k) })).sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(1, Math.floor(best.k.length / 3)) ? best.k : undefined;
}

/** Insertions, deletions, substitutions and exchanges of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)));
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = best;
    }
  }
  return rows[a.length]![b.length]!;
}

const LINE_WIDTH = 160;

/** The errors as a person reads them: place and message, then the offending line with a caret below it. */
export function formatIntentErrors(errors: readonly IntentError[], text: string): string {
  const lines = text.split(/\r\n|\r|\n/);
  return errors.map((error) => formatError(error, lines[error.line - 1])).join('\n');
}

function formatError(error: IntentError, source: string | undefined): string {
  const head = `${error.file}:${error.line}:${error.column}: ${error.path === '' ? '' : `${error.path}: `}${error.message}\n`;
  if (source === undefined) return head;
  // Every unit of the line becomes one column, so that the caret stands where the error is; a long line is shown around it.
  const start = Math.max(0, error.column - 1 - LINE_WIDTH / 2);
  const hidden = error.path.endsWith('hmac-md5') ? source.slice(0, error.column - 1) + '*'.repeat(8) : source;
  // eslint-disable-next-line no-control-regex -- a control character would move the terminal's cursor
  const shown = hideKeys(hidden).slice(start, start + LINE_WIDTH).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
  const number = String(error.line).padStart(5);
  return `${head}${number} | ${shown}\n${' '.repeat(number.length)} | ${' '.repeat(error.column - 1 - start)}^\n`;
}

const hideKeys = (line: string): string => line.replace(/(hmac-md5["']?\s*:\s*)(.*)$/, (_, key: string, rest: string) => key + '*'.repeat(Math.min(rest.length, 8)));
