// Errors in cnpd.yaml, as values and as text: file, line, column, path, what was found, what is allowed. Authentication
// keys are never repeated, neither as the thing found nor in the quoted line.

import { HIDDEN } from '../model/masks.ts';
import { hiddenFrom } from './secrets.ts';
import type { Path } from './words.ts';

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
  /** The line is hidden from here on: it may contain an authentication key. */
  readonly hides?: true;
}

/** `ports[0].k-min` */
export const formatPath = (path: Path): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number'
        ? `${text}[${step}]`
        : text === ''
          ? printable(step, 64)
          : `${text}.${printable(step, 64)}`,
    '',
  );

/** Text from the file, fit for a terminal: control characters escaped, cut at `limit` characters. */
export function printable(text: string, limit: number): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(
    // oxlint-disable-next-line no-control-regex -- naming control characters is the point
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A value that was found, in words. */
export function describeFound(found: unknown): string {
  if (found === undefined || found === null) return 'nothing';
  if (Array.isArray(found)) return 'a list';
  if (typeof found === 'object') return 'a mapping';
  return `"${printable(String(found as string | number | boolean | bigint), 60)}"`;
}

const LINE_WIDTH = 160;

/** The errors as a person reads them: place and message, then the offending line with a caret below it. */
export function formatIntentErrors(errors: readonly IntentError[], text: string): string {
  const lines = text.split(/\r\n|\r|\n/);
  // An error without a path is one of the file as a whole: it is no YAML.
  const hidden = hiddenFrom(
    lines.slice(0, Math.max(0, ...errors.map((error) => error.line))),
    errors.every((error) => error.path !== ''),
  );
  for (const { hides, line, column } of errors)
    if (hides && hidden[line - 1] !== undefined) hidden[line - 1] = Math.min(hidden[line - 1]!, column - 1);
  return errors.map((error) => formatError(error, lines[error.line - 1], hidden[error.line - 1]!)).join('\n');
}

/** @param hidden column from 0 from which on the line holds keys */
function formatError(error: IntentError, source: string | undefined, hidden: number): string {
  const head =
    `${error.file}:${error.line}:${error.column}: ` + `${error.path === '' ? '' : `${error.path}: `}${error.message}\n`;
  if (source === undefined) return head;
  // Every unit of the line becomes one column, so that the caret marks the error, or where hiding begins; a long line
  // is shown around it.
  const caret = Math.min(error.column - 1, hidden);
  const start = Math.max(0, caret - LINE_WIDTH / 2);
  const whole = source.slice(hidden).trim() === '' ? source : source.slice(0, hidden) + HIDDEN;
  // oxlint-disable-next-line no-control-regex -- a control character would move the terminal's cursor
  const shown = whole.slice(start, start + LINE_WIDTH).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
  const number = String(error.line).padStart(5);
  return `${head}${number} | ${shown}\n${' '.repeat(number.length)} | ${' '.repeat(caret - start)}^\n`;
}
