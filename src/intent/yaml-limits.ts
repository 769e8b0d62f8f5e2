// The limits of cnpd.yaml as text. They are checked before the parser runs, because its time and memory grow with what
// they limit.
import type { Place } from './words.ts';

/** A declaration of 10,000 sender prefixes is about 0.7 MB. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Separators of entries and keys: 65,536 senders in the longest form have 200,000, with space for as many comments. */
export const MAX_SEPARATORS = 300_000;
const [NEWLINE, COMMA] = [10, 44];
/** cnpd.yaml is four levels deep. */
export const MAX_DEPTH = 32;
/** Spaces before a line: collections nest by indentation too. */
const MAX_INDENT = 256;

/** Whether the file is longer than any valid one. The check is one pass over its characters. */
export function hasTooManyEntries(text: string): boolean {
  let separators = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if ((c === NEWLINE || c === COMMA) && ++separators > MAX_SEPARATORS) return true;
  }
  return false;
}

/**
 * Where brackets, or the `- - -` that opens a line, nest too deep: the parser's time grows with the square of the
 * depth. A bound, not a parse: it ignores quotes.
 */
export function tooDeepAt(text: string): Place | undefined {
  let [line, lineStart, brackets, opening] = [1, 0, 0, 0];
  let atStart = true;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '\n') [line, lineStart, opening, atStart] = [line + 1, i + 1, 0, true];
    else if (c === '[' || c === '{') brackets++;
    else if (c === ']' || c === '}') brackets = Math.max(0, brackets - 1);
    if (atStart && '-?:'.includes(c)) opening++;
    else if (!' \t\r\n'.includes(c)) atStart = false;
    if (brackets > 4 * MAX_DEPTH || (atStart && (opening > MAX_DEPTH || i - lineStart > MAX_INDENT)))
      return { line, column: i - lineStart + 1 };
  }
  return undefined;
}
