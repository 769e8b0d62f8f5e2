import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  LineCounter,
  type Node,
  Pair,
  type YAMLMap,
  type YAMLSeq,
  isMap,
  isPair,
  isSeq,
  parseDocument,
  visit,
} from 'yaml';
import { formatIntentErrors } from './errors.ts';
import { intentOf, loadIntent } from './load.ts';
import { sourceOf } from './yaml.ts';

const example = readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8');
const OPTIONS = { schema: 'failsafe', uniqueKeys: false } as const;

/** Something of the example that can be replaced. */
interface Place {
  readonly within: YAMLMap | YAMLSeq;
  readonly index: number;
}

/** Every place in a tree, what is within it after it. */
function* places(node: unknown): Generator<Place> {
  if (!isMap(node) && !isSeq(node)) return;
  for (const [index, item] of node.items.entries()) {
    yield { within: node, index };
    yield* places(isPair(item) ? item.value : item);
  }
}

/** What JSON, which is YAML, makes of a value, as if it stood where `at` stands. */
function parsedAt(at: Node, value: unknown): Node {
  const { contents } = parseDocument(JSON.stringify(value), OPTIONS);
  visit(contents, { Node: (_, node) => void (node.range = at.range ?? null) });
  return contents!;
}

/** Does something while something else stands at a place; undefined: while nothing stands there. */
function whileReplaced({ within, index }: Place, value: unknown, run: () => void): void {
  const item = within.items[index];
  const [key, old] = isPair(item) ? [item.key, item.value as Node] : [undefined, item as Node];
  const other = value === undefined ? undefined : parsedAt(old, value);
  (within.items as unknown[]).splice(index, 1, ...(other ? [key ? new Pair(key, other) : other] : []));
  try {
    run();
  } finally {
    (within.items as unknown[]).splice(index, other ? 1 : 0, item);
  }
}

const OTHERS: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['a word', 'other'],
  ['an empty list', []],
  ['a list of lists', [[[]], null]],
  ['a mapping', { other: { other: 1 } }],
];

/** Of so many files one is also read as text: the parser takes longer than all else. */
const AS_TEXT = 20;

test.each(OTHERS)('%s in place of anything in the example: an intent, or errors with their places', (_what, value) => {
  const lineCounter = new LineCounter();
  const document = parseDocument(example, { ...OPTIONS, lineCounter });
  const placeOf = (offset: number): { line: number; column: number } => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const all = [...places(document.contents)];
  let refused = 0;
  for (const [n, place] of all.entries())
    whileReplaced(place, value, () => {
      const result = intentOf(sourceOf(document, placeOf)!, 'cnpd.yaml');
      if (n % AS_TEXT === 0) {
        const asText = loadIntent(JSON.stringify(document.toJS(), undefined, 1), 'cnpd.yaml');
        expect(withoutPlaces(asText)).toEqual(withoutPlaces(result));
      }
      if (result.ok) return;
      refused++;
      expect(result.error.length).toBeGreaterThan(0);
      const unclear = result.error.filter(
        ({ line, column, allowed, message }) => !(line > 0 && column > 0 && allowed.length > 0 && message.length > 0),
      );
      expect(unclear).toEqual([]);
      expect(formatIntentErrors(result.error, example)).toMatch(/^cnpd\.yaml:\d+:\d+: /);
    });
  expect(all.length).toBeGreaterThan(300);
  expect(refused).toBeGreaterThan(20);
});

/** Errors as a set: they are in the order of their places. */
const withoutPlaces = (result: ReturnType<typeof loadIntent>): unknown =>
  result.ok
    ? result.value
    : new Set(result.error.map(({ path, found, allowed, message }) => JSON.stringify([path, found, allowed, message])));
