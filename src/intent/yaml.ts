// cnpd.yaml as text → a tree of mappings, lists and strings, with the position of everything in it (YAML 1.2). Every
// scalar stays text (the "failsafe" schema), because only the key knows what it should be. Aliases, tags and merge keys
// are refused: a configuration file of this size needs none, and without them no file can grow when it is read.
import {
  type Document,
  LineCounter,
  type Node,
  Pair,
  Scalar,
  type YAMLError,
  YAMLMap,
  YAMLSeq,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument,
} from 'yaml';
import { type Result, fail, ok } from '../model/result.ts';
import { HIDDEN } from '../model/masks.ts';
import { oversizedInText } from './capacity.ts';
import { type Run, type Shortened, shorten } from './runs.ts';
import { isSafeName } from './secrets.ts';
import { MAX_DEPTH, MAX_FILE_BYTES, MAX_SEPARATORS, hasTooManyEntries, tooDeepAt } from './yaml-limits.ts';
import { type Path, type Place, placeIn } from './words.ts';

interface SourceError extends Place {
  readonly path: Path;
  readonly found: string;
  readonly allowed: string;
  readonly message: string;
  /** The value is not shown. */
  readonly hides?: true;
}

export interface Source {
  /** Mappings without a prototype, arrays, strings, and null where nothing was written. */
  readonly tree: unknown;
  /** Errors that do not hide the rest: duplicate keys, aliases, tags. */
  readonly errors: readonly SourceError[];
  /** The place of the value, of the key when `of` says so, or of the nearest thing around it that exists. */
  locate(path: Path, of?: 'key' | 'value'): Place;
}

/** Fails when the text is not YAML at all; it then reports only that. */
export function readSource(text: string): Result<Source, SourceError[]> {
  const refuse = (place: Place, found: string, allowed: string, message: string): Result<Source, SourceError[]> =>
    fail([{ ...place, path: [], found, allowed, message }]);
  const top = { line: 1, column: 1 };
  if (text.length > MAX_FILE_BYTES)
    return refuse(
      top,
      `${text.length} characters`,
      `at most ${MAX_FILE_BYTES}`,
      `the file is larger than ${MAX_FILE_BYTES} characters`,
    );
  const long = oversizedInText(text);
  if (long.length > 0) return fail(long.map(({ offset, ...what }) => ({ ...what, ...placeIn(text, offset) })));
  const deep = tooDeepAt(text);
  if (deep)
    return refuse(
      deep,
      'nested collections',
      `at most ${MAX_DEPTH} levels`,
      `collections are nested more than ${MAX_DEPTH} levels deep`,
    );
  if (hasTooManyEntries(text))
    return refuse(
      top,
      'too many entries',
      `at most ${MAX_SEPARATORS} lines and commas`,
      `the file has more than ${MAX_SEPARATORS} lines and commas: ` +
        'cnpd supports 65536 senders and a few thousand of everything else',
    );
  try {
    const shortened = shorten(text);
    const short = shortened && parse(shortened.text, shortened);
    return short?.ok ? short : readWhole(text);
  } catch (error) {
    // The parser recurses: too deep nesting is refused here instead of ending the process.
    if (!(error instanceof RangeError)) throw error;
    return refuse(
      top,
      'nested collections',
      `at most ${MAX_DEPTH} levels`,
      `collections are nested more than ${MAX_DEPTH} levels deep`,
    );
  }
}

/**
 * What a text says outside its long lists, of which it has the first entry of each run alone. Undefined: it has no long
 * list, or something is wrong with it.
 */
export function readOutline(text: string): Source | undefined {
  const shortened = text.length > MAX_FILE_BYTES ? undefined : shorten(text);
  if (!shortened || tooDeepAt(shortened.text) || hasTooManyEntries(shortened.text)) return undefined;
  for (const run of shortened.runs.values()) run.keepFirst();
  try {
    const read = parse(shortened.text, shortened);
    return read?.ok ? read.value : undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

/** Without the short cut; the short cut must agree with it. @throws RangeError when it is nested too deep */
export const readWhole = (text: string): Result<Source, SourceError[]> => parse(text, undefined)!;

/** @returns undefined when a run turned out not to be one */
function parse(text: string, shortened: Shortened | undefined): Result<Source, SourceError[]> | undefined {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: shortened ? shortened.lineOf(line) : Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, {
    schema: 'failsafe',
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: false,
  });
  if (document.errors.length > 0) return fail(document.errors.map((error) => syntaxError(error, place)));
  const source = sourceOf(document, place, shortened?.runs);
  return source && ok(source);
}

/**
 * Of a document that has been parsed: with the schema "failsafe", and without a check for duplicate keys, since the
 * library's own takes the square of their number; the reader makes it.
 * @returns undefined when a run turned out not to be one
 */
export function sourceOf(
  document: Document.Parsed,
  place: (offset: number) => Place,
  runs: Runs = NO_RUNS,
): Source | undefined {
  const reader = new TreeReader(place, runs);
  const tree = document.contents === null ? null : reader.read(document.contents, []);
  if (reader.runsRead !== runs.size) return undefined;
  return {
    tree,
    errors: reader.errors,
    locate: (path, of = 'value') => placeOf({ document, runs, place }, path, of),
  };
}

function syntaxError(error: YAMLError, place: (offset: number) => Place): SourceError {
  return {
    ...place(error.pos[0]),
    path: [],
    found: 'text that is not YAML',
    allowed: 'YAML 1.2',
    message:
      error.code === 'MULTIPLE_DOCS'
        ? 'a second YAML document begins here: cnpd.yaml is one document: remove this line or the text after it'
        : `YAML: ${withoutText(error.message)}`,
  };
}

/** The parser's sentence without its quotes from the file: they may contain a key, and the line is shown anyway. */
const withoutText = (message: string): string =>
  message
    .split('\n')[0]!
    .replace(/: .*$|["'`\\].*$/, '')
    .trim();

class TreeReader {
  readonly errors: SourceError[] = [];
  /** Runs that were confirmed as entries of a list. */
  runsRead = 0;
  private readonly place: (offset: number) => Place;
  private readonly runs: Runs;

  constructor(place: (offset: number) => Place, runs: Runs) {
    this.place = place;
    this.runs = runs;
  }

  read(node: unknown, path: Path): unknown {
    if (path.length > MAX_DEPTH) throw new RangeError('too deep');
    if (!isNode(node)) return null;
    if (isAlias(node))
      return this.refuse(node, path, 'an alias', 'the value itself', 'aliases are not allowed: write the value out');
    if (node.tag !== undefined && !DEFAULT_TAGS.has(node.tag))
      this.refuse(node, path, 'a tag', 'no tag', 'tags are not allowed');
    if (isScalar(node)) return isEmpty(node) ? null : String(node.value);
    if (isSeq(node)) return this.readSeq(node, path);
    return isMap(node) ? this.readMap(node, path) : null;
  }

  private readSeq(seq: YAMLSeq, path: Path): unknown[] {
    const out: unknown[] = [];
    for (const item of seq.items) {
      const run = runOf(this.runs, item);
      if (run) this.runsRead++;
      if (run) for (const entry of run.entries) out.push(entry);
      else out.push(this.read(item, [...path, out.length]));
    }
    return out;
  }

  private readMap(map: YAMLMap, path: Path): Record<string, unknown> {
    const out = Object.create(null) as Record<string, unknown>;
    let firsts: ReadonlyMap<string, number> | undefined;
    for (const pair of map.items) {
      if (!isScalar(pair.key)) {
        this.complexKey(isNode(pair.key) ? pair.key : map, path);
        continue;
      }
      const key = String(pair.key.value);
      const shown = isSafeName(path, key, isNode(pair.value) && !isEmpty(pair.value)) ? key : HIDDEN;
      if (key in out) {
        const first = this.place((firsts ??= firstOffsets(map)).get(key) ?? 0);
        const message = `duplicate key (first at line ${first.line})`;
        this.refuse(pair.key, [...path, shown], `"${shown}" again`, 'each key once', message);
      } else out[key] = this.read(pair.value, [...path, key]);
    }
    return out;
  }

  private complexKey(node: Node, path: Path): void {
    const [found, allowed, message] = ['a collection or an alias as a key', 'a name', 'a key must be plain text'];
    this.errors.push({ ...this.place(node.range?.[0] ?? 0), path, found, allowed, message, hides: true });
  }

  private refuse(node: Node, path: Path, found: string, allowed: string, message: string): null {
    this.errors.push({ ...this.place(node.range?.[0] ?? 0), path, found, allowed, message });
    return null;
  }
}

const DEFAULT_TAGS = new Set(['tag:yaml.org,2002:map', 'tag:yaml.org,2002:seq', 'tag:yaml.org,2002:str']);

const findPair = (map: YAMLMap, key: string): Pair | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);

/** The first position of each key; computed at the first duplicate, since a mapping may have 100,000 of them. */
function firstOffsets(map: YAMLMap): Map<string, number> {
  const offsets = new Map<string, number>();
  for (const { key } of map.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (!offsets.has(name)) offsets.set(name, key.range?.[0] ?? 0);
  }
  return offsets;
}

const isEmpty = (node: unknown): boolean => isScalar(node) && node.type === Scalar.PLAIN && node.source === '';

const offsetOfNode = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

type Runs = ReadonlyMap<string, Run>;
const NO_RUNS: Runs = new Map();
const runOf = (runs: Runs, node: unknown): Run | undefined =>
  runs.size > 0 && isScalar(node) && node.type === Scalar.PLAIN ? runs.get(String(node.value)) : undefined;

interface Parsed {
  readonly document: Document.Parsed;
  readonly runs: Runs;
  readonly place: (offset: number) => Place;
}

/** The entry of a list, or the run that it is in and its place there. */
function entryOf(
  seq: YAMLSeq,
  index: number,
  runs: Runs,
): { readonly node: unknown } | { readonly run: Run; readonly index: number } {
  let left = index;
  for (const node of runs.size === 0 ? [] : seq.items) {
    const run = runOf(runs, node);
    if (run && left < run.entries.length) return { run, index: left };
    if (!run && left === 0) return { node };
    left -= run ? run.entries.length : 1;
  }
  return { node: runs.size === 0 ? seq.items[index] : undefined };
}

function placeOf({ document, runs, place }: Parsed, path: Path, of: 'key' | 'value'): Place {
  let node: unknown = document.contents;
  let offset = offsetOfNode(node) ?? 0;
  for (const [depth, step] of path.entries()) {
    const pair = isMap(node) && typeof step === 'string' ? findPair(node, step) : undefined;
    const entry = isSeq(node) && typeof step === 'number' ? entryOf(node, step, runs) : undefined;
    if (entry && 'run' in entry)
      return entry.run.place(entry.index, path[depth + 1]?.toString(), depth + 2 < path.length ? 'key' : of);
    const next = pair ? pair.value : entry?.node;
    if (!pair && next === undefined) return place(offset);
    const key = offsetOfNode(pair?.key);
    const last = depth === path.length - 1;
    const empty = isEmpty(next);
    // The parent of something missing, and an empty value, are best shown by their key.
    offset = (last && of === 'value' && !empty ? offsetOfNode(next) : (key ?? offsetOfNode(next))) ?? offset;
    node = next;
  }
  return place(offset);
}
