// Changes of cnpd.yaml as values (gNMI Set) → its new text. Sections that are not named keep their text with its
// comments; a section that is changed is written anew.
import { isDeepStrictEqual } from 'node:util';
import type { SectionChange } from '../model/config-change.ts';
import { type Result, fail, ok } from '../model/result.ts';
import { HIDDEN } from '../model/masks.ts';
import { emitted, isMapping } from './emit.ts';
import { formatPath } from './errors.ts';
import type { Path } from './words.ts';
import { type Source, readSource } from './yaml.ts';
import { MAX_DEPTH } from './yaml-limits.ts';

type Tree = Record<string, unknown>;

/** @param text a valid cnpd.yaml. An error is a sentence with its path. */
export function editedText(text: string, changes: readonly SectionChange[]): Result<string, string> {
  const source = readSource(text);
  if (!source.ok) return fail('the configuration in force cannot be read as YAML');
  const before = source.value.tree as Tree;
  const edit = new Edit(before);
  for (const change of changes) {
    const error = edit.make(change);
    if (error !== undefined) return fail(error);
  }
  const { tree, touched } = edit;
  const spliced = touched === 'all' ? undefined : withSections(text, source.value, tree, touched);
  if (spliced !== undefined && says(spliced, tree)) return ok(spliced);
  const whole = emitted(tree);
  return says(whole, tree) ? ok(whole) : fail('a value has characters that cannot be written into a file');
}

function says(text: string, tree: Tree): boolean {
  const read = readSource(text);
  return read.ok && read.value.errors.length === 0 && isDeepStrictEqual(read.value.tree ?? Object.create(null), tree);
}

class Edit {
  tree: Tree;
  touched: Set<string> | 'all' = new Set();

  constructor(before: Tree) {
    this.tree = Object.assign(Object.create(null) as Tree, before);
  }

  /** @returns an error */
  make({ operation, section, value }: SectionChange): string | undefined {
    const read = operation === 'delete' ? ok(null) : treeOf(value, section === undefined ? [] : [section]);
    if (!read.ok) return read.error;
    if (section === undefined) return this.#whole(operation, read.value);
    this.#touch(section);
    if (operation === 'delete') delete this.tree[section];
    else this.tree[section] = operation === 'update' ? merged(this.tree[section], read.value) : read.value;
    return undefined;
  }

  #whole(operation: SectionChange['operation'], value: unknown): string | undefined {
    if (operation !== 'delete' && !isMapping(value)) return 'allowed: an object with the sections of cnpd.yaml';
    if (operation !== 'update') {
      this.touched = 'all';
      this.tree = (value ?? Object.create(null)) as Tree;
      return undefined;
    }
    for (const [name, inner] of Object.entries(value as Tree)) {
      this.#touch(name);
      this.tree[name] = merged(this.tree[name], inner);
    }
    return undefined;
  }

  #touch(section: string): void {
    if (this.touched !== 'all') this.touched.add(section);
  }
}

/** Mappings key by key; a list takes the place of the former. */
function merged(before: unknown, after: unknown): unknown {
  if (!isMapping(before) || !isMapping(after)) return after;
  const both = Object.assign(Object.create(null) as Tree, before);
  for (const [key, inner] of Object.entries(after)) both[key] = merged(both[key], inner);
  return both;
}

/** JSON as the tree of a file, in which every scalar is text. */
function treeOf(value: unknown, path: Path): Result<unknown, string> {
  if (path.length > MAX_DEPTH)
    return fail(`${formatPath(path.slice(0, 4))}…: nested more than ${MAX_DEPTH} levels deep`);
  if (value === null || value === undefined) return ok(null);
  if (typeof value === 'string' && value.includes(HIDDEN))
    return fail(`${formatPath(path)}: ${HIDDEN} is what answers have in place of a secret: give the secret itself`);
  if (typeof value !== 'object') return ok(String(value as string | number | boolean));
  if (Array.isArray(value)) {
    const out: unknown[] = [];
    for (const [i, inner] of value.entries()) {
      const read = treeOf(inner, [...path, i]);
      if (!read.ok) return read;
      out.push(read.value);
    }
    return ok(out);
  }
  const out = Object.create(null) as Tree;
  for (const [name, inner] of Object.entries(value)) {
    // RFC 7951 qualifies names at the top.
    const key = path.length === 0 ? name.replace(/^cnpd:/, '') : name;
    const read = treeOf(inner, [...path, key]);
    if (!read.ok) return read;
    out[key] = read.value;
  }
  return ok(out);
}

/** Undefined: the sections are not in lines of their own. */
function withSections(text: string, source: Source, tree: Tree, touched: ReadonlySet<string>): string | undefined {
  const names = Object.keys((source.tree ?? {}) as Tree);
  const starts = names.map((name) => source.locate([name], 'key'));
  if (!starts.every(({ line, column }, i) => column === 1 && line > (starts[i - 1]?.line ?? 0))) return undefined;
  const lines = text.split('\n');
  const bound = (i: number): number => starts[i]?.line ?? lines.length + 1;
  const kept = lines.slice(0, bound(0) - 1);
  for (const [i, name] of names.entries()) {
    const own = lines.slice(bound(i) - 1, bound(i + 1) - 1);
    if (!touched.has(name)) kept.push(...own);
    else kept.push(...sectionLines(tree, name), ...own.slice(own.length - commentsAtEnd(own)));
  }
  const added = [...touched].filter((name) => !names.includes(name)).flatMap((name) => sectionLines(tree, name));
  const isOpen = kept.at(-1) === '';
  return added.length === 0 ? kept.join('\n') : [...(isOpen ? kept.slice(0, -1) : kept), ...added, ''].join('\n');
}

const sectionLines = (tree: Tree, name: string): string[] =>
  name in tree
    ? emitted({ [name]: tree[name] })
        .trimEnd()
        .split('\n')
    : [];

/** Comments before the next section are the next section's. */
function commentsAtEnd(lines: readonly string[]): number {
  let count = 0;
  while (count < lines.length - 1 && /^(#|\s*$)/.test(lines[lines.length - 1 - count]!)) count++;
  return count;
}
