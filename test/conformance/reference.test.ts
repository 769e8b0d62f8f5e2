// The pages of docs/reference that are made from the source.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import { fileKeys, fileReference } from './file-reference.ts';
import { commandReference } from './command-reference.ts';
import { codePointReference } from './code-point-reference.ts';
import { expectGenerated } from './generated.ts';

test('docs/reference/cnpd-yaml.md has every key of the file (npm run conformance rewrites it)', () =>
  expectGenerated('docs/reference/cnpd-yaml.md', fileReference()));

test('docs/reference/code-points.md has every code point (npm run conformance rewrites it)', () =>
  expectGenerated('docs/reference/code-points.md', codePointReference()));

test('docs/reference/commands.md has every command and option (npm run conformance rewrites it)', () =>
  expectGenerated('docs/reference/commands.md', commandReference()));

/** The names of a tree, lists left out. */
function names(node: unknown, path: readonly string[] = []): string[] {
  if (Array.isArray(node)) return node.flatMap((entry) => names(entry, path));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, child]) => [[...path, key].join('.'), ...names(child, [...path, key])]);
}

test('the reference has the keys that docs/cnpd.yaml uses, each described and with what it allows', () => {
  const keys = fileKeys();
  const known = new Set(keys.map(({ path }) => path.join('.')));
  const used = names(parse(readFileSync('docs/cnpd.yaml', 'utf8')));
  expect(used.length).toBeGreaterThan(150);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
  const isSection = ({ path }: { path: readonly string[] }): boolean =>
    keys.some((key) => key.path.length > path.length && path.every((name, i) => key.path[i] === name));
  const bare = keys.filter((key) => key.description === '' || (key.allowed === undefined && !isSection(key)));
  expect(bare.map(({ path }) => path.join('.'))).toEqual([]);
});
