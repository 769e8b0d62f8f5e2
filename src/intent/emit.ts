// A tree of cnpd.yaml as text. Plain words stay plain, so that long lists of them are read fast (runs.ts); everything
// else is quoted as in JSON, which is YAML too.
import type { Path } from './words.ts';

/** Without anything that could be an indicator: as in runs.ts, and paths. */
const WORD = /^[A-Za-z0-9/](?:[A-Za-z0-9:./_-]*[A-Za-z0-9./_-])?$/;
const scalarText = (text: string): string => (WORD.test(text) ? text : JSON.stringify(text));
/** A longer list of words, or mapping of words, takes a line for each. */
const LONGEST_LINE = 100;

/** What stands behind a value, without the `#`; undefined: nothing. */
type Comment = (path: Path) => string | undefined;

type Mapping = Readonly<Record<string, unknown>>;
export const isMapping = (node: unknown): node is Mapping =>
  typeof node === 'object' && node !== null && !Array.isArray(node);

export const emitted = (tree: Mapping): string => [...emittedLines(tree, () => undefined)].join('');

/** One after another: a file may have tens of thousands. */
export function* emittedLines(tree: Mapping, comment: Comment): Generator<string> {
  for (const line of mappingLines(tree, '', [], comment)) yield `${line}\n`;
}

function* mappingLines(mapping: Mapping, indent: string, path: Path, comment: Comment): Generator<string> {
  for (const [key, node] of Object.entries(mapping)) {
    const here = [...path, key];
    yield* valueLines(`${indent}${scalarText(key)}:`, node, { indent: `${indent}  `, path: here, comment });
  }
}

interface Place {
  /** Of lines below the head. */
  readonly indent: string;
  readonly path: Path;
  readonly comment: Comment;
}

/** @param head `key:` or `-`, with its indentation */
function* valueLines(head: string, node: unknown, { indent, path, comment }: Place): Generator<string> {
  const behind = comment(path);
  const note = behind === undefined ? '' : ` # ${behind}`;
  const flow = flowText(node);
  const hasComments = isMapping(node) && Object.keys(node).some((key) => comment([...path, key]) !== undefined);
  if (flow !== undefined && !hasComments && head.length + flow.length < LONGEST_LINE) {
    yield `${head}${flow === '' ? '' : ` ${flow}`}${note}`;
  } else if (Array.isArray(node)) {
    yield `${head}${note}`;
    for (const [i, entry] of node.entries())
      yield* valueLines(`${indent}-`, entry, { indent: `${indent}  `, path: [...path, i], comment });
  } else if (isMapping(node)) {
    const lines = mappingLines(node, indent, path, comment);
    // The first key of a list's entry stands behind its dash.
    if (head.endsWith('-')) yield `${head} ${(lines.next().value as string).trimStart()}`;
    else yield `${head}${note}`;
    yield* lines;
  } else yield `${head} ${scalarText(String(node))}${note}`;
}

/** On one line; undefined: it has collections in it. */
function flowText(node: unknown): string | undefined {
  if (node === null) return '';
  if (typeof node === 'string') return scalarText(node);
  const word = (inner: unknown): string => (inner === null ? '""' : scalarText(inner as string));
  if (Array.isArray(node))
    return node.every((one) => typeof one === 'string') ? `[${node.map(word).join(', ')}]` : undefined;
  if (!isMapping(node)) return undefined;
  const entries = Object.entries(node);
  if (entries.length === 0) return '{}';
  if (!entries.every(([, inner]) => typeof inner === 'string')) return undefined;
  return `{ ${entries.map(([key, inner]) => `${scalarText(key)}: ${word(inner)}`).join(', ')} }`;
}
