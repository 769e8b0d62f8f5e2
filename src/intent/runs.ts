// The long lists of cnpd.yaml, read without the YAML library. 65,536 sender prefixes are a hundred times the rest of
// the file, and a node with positions for every word of them costs seconds and hundreds of megabytes. A run of list
// entries that are plain mappings of plain words, in the forms `- { prefix: X, format: Y }` and `- prefix: X` with more
// keys below it, is replaced by one entry that holds a marker. The library reads the rest, and so decides what is a
// list at all. A marker that does not come back as a whole list entry was in a string, or before a continued line; then
// the library reads everything. Unusual forms are left to it too.
import type { Place } from './words.ts';

/** A shorter run is not worth it. */
const LEAST = 16;
const MARKER = 'cnpd-run-of-entries-';

const KEY = '[a-z][a-z0-9-]*';
/** Without anything that could be an indicator: no colon at the end, no space, no quote. */
const WORD = '[A-Za-z0-9](?:[A-Za-z0-9:./_-]*[A-Za-z0-9./_-])?';
const END = ' *(?: #.*)?$';
const FLOW = new RegExp(`^( *)- \\{ *(${KEY}: +${WORD}(?: *, *${KEY}: +${WORD})*) *\\}${END}`);
const FIRST = new RegExp(`^( *)- (${KEY}: +${WORD})${END}`);
const NEXT = new RegExp(`^( *)(${KEY}: +${WORD})${END}`);
const PAIR = new RegExp(`(${KEY}): +(${WORD})`, 'g');

type Entry = Record<string, string>;

export class Run {
  readonly entries: Entry[] = [];
  /** Lines of the file, from 0, where each entry begins. */
  private readonly starts: number[] = [];
  private readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    this.lines = lines;
  }

  add(entry: Entry, start: number): void {
    this.entries.push(entry);
    this.starts.push(start);
  }

  /** Forgets all entries but the first. */
  keepFirst(): void {
    this.entries.length = this.starts.length = 1;
  }

  /** The position of an entry, or of a key in it. */
  place(index: number, key: string | undefined, of: 'key' | 'value'): Place {
    const start = this.starts[index]!;
    for (
      let line = start;
      key !== undefined && line < (this.starts[index + 1] ?? start + 64) && line < this.lines.length;
      line++
    ) {
      for (const match of this.lines[line]!.matchAll(PAIR)) {
        if (match[1] === key)
          return { line: line + 1, column: match.index + 1 + (of === 'key' ? 0 : match[0].length - match[2]!.length) };
      }
    }
    return { line: start + 1, column: this.lines[start]!.indexOf('-') + 3 };
  }
}

export interface Shortened {
  readonly text: string;
  /** By marker. */
  readonly runs: ReadonlyMap<string, Run>;
  /** The line of the file, from 1, that a line of the text is, from 1. */
  lineOf(line: number): number;
}

/** undefined: there is nothing to shorten. */
export function shorten(text: string): Shortened | undefined {
  if (text.includes('\r') || text.includes(MARKER)) return undefined;
  const lines = text.split('\n');
  const kept: string[] = [];
  const numbers: number[] = [];
  const runs = new Map<string, Run>();
  for (let at = 0; at < lines.length;) {
    const run = new Run(lines);
    const indent = indentOf(lines[at]!);
    const end = indent < 0 ? at : readRun(lines, at, indent, run);
    numbers.push(at + 1);
    if (run.entries.length < LEAST) kept.push(lines[at++]!);
    else {
      const marker = `${MARKER}${runs.size}`;
      runs.set(marker, run);
      kept.push(`${' '.repeat(indent)}- ${marker}`);
      at = end;
    }
  }
  return runs.size === 0
    ? undefined
    : { text: kept.join('\n'), runs, lineOf: (line) => numbers[Math.min(line, numbers.length) - 1] ?? 1 };
}

/** Spaces before the dash of a list entry; −1: it is none. */
function indentOf(line: string): number {
  let at = 0;
  while (line.charCodeAt(at) === 32) at++;
  return line.startsWith('- ', at) ? at : -1;
}

/** @returns the line after the last entry */
function readRun(lines: readonly string[], from: number, indent: number, run: Run): number {
  let at = from;
  while (at < lines.length) {
    const line = lines[at]!;
    const flow = FLOW.exec(line);
    const first = flow ?? FIRST.exec(line);
    if (first?.[1]!.length !== indent) break;
    const entry = Object.create(null) as Entry;
    let next = at + 1;
    let good = put(entry, first[2]!);
    for (
      let more = flow ? null : NEXT.exec(lines[next] ?? '');
      good && more?.[1]!.length === indent + 2;
      more = NEXT.exec(lines[next] ?? '')
    ) {
      good = put(entry, more[2]!);
      next++;
    }
    if (!good) break;
    run.add(entry, at);
    at = next;
  }
  return at;
}

/** @returns false when a key is there twice, which is for the library's reader to report */
function put(entry: Entry, pairs: string): boolean {
  for (const [, key, word] of pairs.matchAll(PAIR)) {
    if (key! in entry) return false;
    entry[key!] = word!;
  }
  return true;
}
