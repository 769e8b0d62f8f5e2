import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatIntentErrors } from './errors.ts';
import { loadIntent } from './load.ts';

const example = readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8');
type Step = string | number;

/** Every place in a tree. */
function* places(node: unknown, path: readonly Step[] = []): Generator<readonly Step[]> {
  if (path.length > 0) yield path;
  if (typeof node !== 'object' || node === null) return;
  for (const [key, child] of Object.entries(node))
    yield* places(child, [...path, Array.isArray(node) ? Number(key) : key]);
}

/** The tree with something else at a place; undefined: with nothing there. */
function replaced(tree: unknown, path: readonly Step[], value: unknown): unknown {
  const copy = structuredClone(tree);
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((node, step) => (node as Record<Step, unknown>)[step], copy) as Record<Step, unknown>;
  const last = path.at(-1)!;
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}

const OTHERS: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['a word', 'other'],
  ['an empty list', []],
  ['a list of lists', [[[]], null]],
  ['a mapping', { other: { other: 1 } }],
];

test.each(OTHERS)('%s in place of anything in the example: an intent, or errors with their places', (_what, value) => {
  const tree: unknown = parse(example);
  let refused = 0;
  for (const path of places(tree)) {
    // JSON is YAML, and quicker to write.
    const text = JSON.stringify(replaced(tree, path, value), undefined, 1);
    const result = loadIntent(text, 'cnpd.yaml');
    if (result.ok) continue;
    refused++;
    expect(result.error.length).toBeGreaterThan(0);
    for (const { line, column, allowed, message } of result.error)
      expect({ path, line, column, allowed: allowed.length, message: message.length }).toSatisfy(
        () => line > 0 && column > 0 && allowed.length > 0 && message.length > 0,
      );
    expect(formatIntentErrors(result.error, text)).toMatch(/^cnpd\.yaml:\d+:\d+: /);
  }
  expect(refused).toBeGreaterThan(20);
});
