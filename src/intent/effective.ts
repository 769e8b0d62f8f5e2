// The configuration in force as an operator may see it: with the defaults of the keys that were left out, and without
// its secrets. In steps: whoever may read may ask for it, and a list may have ten thousand entries.
import * as z from 'zod';
import type { ShownConfig } from '../model/config-change.ts';
import { HIDDEN } from '../model/masks.ts';
import type { Steps } from '../model/work.ts';
import { emittedLines, isMapping } from './emit.ts';
import { formatPath } from './errors.ts';
import { intentOf } from './load.ts';
import { cnpdSchema } from './schema.ts';
import { shownValue } from './secrets.ts';
import type { Path } from './words.ts';
import { readSource } from './yaml.ts';

/** In force without being declared. */
const ALWAYS = ['queue-pairs', 'code-points', 'gnmi', 'log'];

type Tree = Record<string, unknown>;

/** @param text a valid cnpd.yaml */
export function* shownConfig(text: string): Steps<ShownConfig> {
  const source = readSource(text);
  yield;
  const declared = (source.ok ? source.value.tree : undefined) as Tree | undefined;
  const { tree, defaults } = yield* withDefaults(declared ?? {});
  const comment = (path: Path): string | undefined => (defaults.has(formatPath(path)) ? 'default' : undefined);
  const shown = (yield* withoutSecrets(tree, [])) as Tree;
  let out = '';
  for (const line of emittedLines(shown, comment)) {
    out += line;
    yield;
  }
  return { text: out, tree: shown, defaults: [...defaults] };
}

/** An error names 200 places at most, and few files have more that are of no use. */
const MOST_ROUNDS = 20;

/** A default that the rules refuse beside what is declared has no effect, and is left out. */
function* withDefaults(declared: Tree): Steps<{ tree: Tree; defaults: Set<string> }> {
  const always = ALWAYS.filter((name) => !isMapping(declared[name])).map((name) => [name, {}]);
  const refused = new Set<string>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found: Found = { defaults: new Set(), refused };
    const tree = (yield* filled(cnpdSchema, { ...declared, ...Object.fromEntries(always) }, [], found)) as Tree;
    const loaded = intentOf({ tree, errors: [], locate: () => NOWHERE }, '');
    yield;
    if (loaded.ok) return { tree, defaults: found.defaults };
    for (const { path } of loaded.error) if (found.defaults.has(path)) refused.add(path);
  }
  return { tree: declared, defaults: new Set() };
}
const NOWHERE = { line: 1, column: 1 };

interface Found {
  readonly defaults: Set<string>;
  /** Paths that get no default. */
  readonly refused: ReadonlySet<string>;
}

const inner = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional ? inner(schema.unwrap() as z.core.$ZodType) : schema;

function* filled(of: z.core.$ZodType | undefined, node: unknown, path: Path, found: Found): Steps<unknown> {
  const schema = of && inner(of);
  if (Array.isArray(node)) {
    const element = schema instanceof z.ZodArray ? (schema.element as z.core.$ZodType) : undefined;
    return yield* eachOf(node, (entry, i) => filled(element, entry, [...path, i], found));
  }
  if (!isMapping(node)) return node;
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  const out = Object.create(null) as Tree;
  for (const [key, child] of Object.entries(node)) out[key] = yield* filled(shape[key], child, [...path, key], found);
  for (const [key, child] of Object.entries(shape)) {
    const name = formatPath([...path, key]);
    if (key in node || !('written' in child) || found.refused.has(name)) continue;
    out[key] = plain(child.written);
    found.defaults.add(name);
  }
  return out;
}

const plain = (written: unknown): unknown =>
  Array.isArray(written)
    ? written.map(plain)
    : isMapping(written)
      ? Object.fromEntries(Object.entries(written).map(([key, value]) => [key, plain(value)]))
      : String(written as string | number);

/** The name of a file with a key is no secret. */
const isFileName = (path: Path): boolean =>
  path.at(-1) === 'key' && (path.at(-2) === 'tls' || path.at(-2) === 'northbound');

function* withoutSecrets(node: unknown, path: Path): Steps<unknown> {
  if (Array.isArray(node)) return yield* eachOf(node, (entry, i) => withoutSecrets(entry, [...path, i]));
  if (isMapping(node)) {
    const out = Object.create(null) as Tree;
    for (const [key, child] of Object.entries(node)) out[key] = yield* withoutSecrets(child, [...path, key]);
    return out;
  }
  return typeof node !== 'string' || isFileName(path) ? node : (shownValue(path, node) ?? HIDDEN);
}

/** An entry of a list is a step. */
function* eachOf(list: readonly unknown[], of: (entry: unknown, i: number) => Steps<unknown>): Steps<unknown[]> {
  const out: unknown[] = [];
  for (const [i, entry] of list.entries()) {
    out.push(yield* of(entry, i));
    yield;
  }
  return out;
}
