// What is too long is refused before anything looks at its entries.
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { CAPACITY } from './capacity.ts';
import { ROUTER, complaints, errorsOf } from './files.fixture.ts';
import { listLengths } from './list-lengths.ts';

const PATHS = CAPACITY.map(({ path }) => path);
const example = readFileSync(new URL('../../docs/cnpd.yaml', import.meta.url), 'utf8');

/** A file with a list of `n` entries that no rule, schema or parser ever has to look at: they are wrong. */
const WAYS: readonly (readonly [string, (path: readonly string[], n: number) => string])[] = [
  [
    'in lines',
    ([section, key], n) =>
      `${section}:\n${key ? `  ${key}:\n` : ''}${'    - { prefix: 2001:db8::/64, order: [proxy] }\n'.repeat(n)}`,
  ],
  [
    'in lines at the indentation of its name',
    ([section, key], n) =>
      `${section}:\n${key ? `  ${key}:\n` : ''}${`${key ? '  ' : ''}- "[a, b]" # c, d\n`.repeat(n)}`,
  ],
  [
    'each over several lines',
    ([section, key], n) =>
      `${section}:\n` +
      `${key ? `    ${key}:\n` : ''}${'    - prefix: x\n      order:\n        - a\n        - b\n'.repeat(n)}`,
  ],
  [
    'in brackets',
    ([section, key], n) => `${section}: ${key ? `{ ${key}: [${'a, '.repeat(n)}] }` : `[${'a, '.repeat(n)}]`}\n`,
  ],
  [
    'in brackets over lines',
    ([section, key], n) => `${section}:\n  ${key ? `${key}: ` : ''}[\n${"    { prefix: 'x, y' },\n".repeat(n)}  ]\n`,
  ],
];

describe.each(WAYS)('a list that is too long, %s', (_way, of) => {
  test.each(CAPACITY.map(({ path, most }) => [path.join('.'), path, most] as const))('%s', (name, path, most) => {
    const text = `${ROUTER}${of(path, most + 1)}log: { level: info }\n`;
    expect(listLengths(text, PATHS)).toEqual([{ path, entries: most + 1, offset: expect.any(Number) }]);
    expect(complaints(text)).toEqual([`${name}: ${most + 1} entries are more than cnpd holds, ${most}`]);
    // One fewer, and its entries are looked at: none of these is right.
    if (most <= 128) expect(complaints(`${ROUTER}${of(path, most)}`)[0]).not.toMatch(/more than cnpd holds/);
  });
});

test('the place is that of the first entry', () => {
  const [error] = errorsOf(`${ROUTER}ports:\n${'  - eth1\n'.repeat(129)}`);
  expect({ line: error!.line, column: error!.column }).toEqual({ line: 3, column: 3 });
});

test('one that only the parser finds is refused before its entries are looked at', () => {
  const hidden = `${ROUTER}? ports\n:\n${'  - { k-max: x }\n'.repeat(129)}`;
  expect(listLengths(hidden, PATHS)).toEqual([]);
  expect(complaints(hidden)).toEqual(['ports: 129 entries are more than cnpd holds, 128']);
});

describe('what is counted is what the parser finds', () => {
  const counted = (text: string): unknown =>
    Object.fromEntries(listLengths(text, PATHS).map(({ path, entries }) => [path.join('.'), entries]));
  const inTree = (text: string): unknown => {
    const tree: unknown = parse(text);
    const lists = PATHS.map((path) => {
      const list = path.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], tree);
      return [path.join('.'), Array.isArray(list) ? list.length : undefined] as const;
    });
    return Object.fromEntries(lists.filter(([, length]) => length !== undefined));
  };
  const tree: unknown = parse(example);
  test.each([
    ['the example', example],
    ['as its writer lays it out', stringify(tree)],
    ['lists at the indentation of their names', stringify(tree, { indentSeq: false })],
    ['in brackets', stringify(tree, { collectionStyle: 'flow' })],
    ['as JSON', JSON.stringify(tree)],
    ['as JSON in lines', JSON.stringify(tree, null, 3)],
    ['all in quotes', stringify(tree, { defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'QUOTE_DOUBLE' })],
    ['lines that end in CR LF', example.replaceAll('\n', '\r\n')],
    ['with a document start', `---\n${example}`],
  ])('%s', (_how, text) => {
    expect(Object.keys(inTree(text) as object).length).toBeGreaterThan(12);
    expect(counted(text)).toEqual(inTree(text));
  });
});

/** A bound that another machine, or a busy one, keeps: the parser took seconds, and hundreds of megabytes. */
test.each([
  ['notifications.senders', '    - { prefix: 2001:db8:0:1::/64, order: [proxy] }\n', 160_000],
  ['proxy.senders', '    - { prefix: 2001:db8:1::/64, format: fast-cnp }\n', 160_000],
  ['stamp.accept-from', '    - 2001:db8:0:1234::/64\n', 200_000],
])('200,000 entries, or as many as a file may hold, under %s cost what a look at the text costs', (name, entry, n) => {
  const [section, key] = name.split('.') as [string, string];
  const text = `${ROUTER}${section}:\n  ${key}:\n${entry.repeat(n)}`;
  const before = process.cpuUsage();
  expect(complaints(text)).toEqual([expect.stringContaining(`${name}: ${n} entries are more than cnpd holds`)]);
  const { user } = process.cpuUsage(before);
  expect(user / 1e6).toBeLessThan(2);
});
