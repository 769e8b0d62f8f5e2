// Long lists are read without the YAML library: the same tree, the same errors, the same places as with it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadIntent, outlineOf } from './load.ts';
import { shorten } from './runs.ts';
import { readSource, readWhole } from './yaml.ts';
import { MAX_FILE_BYTES, MAX_SEPARATORS } from './yaml-limits.ts';
import type { Path } from './words.ts';

const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** Every path of a tree, and some that are missing. */
function* paths(node: unknown, path: Path = []): Generator<Path> {
  yield path;
  yield [...path, 'missing'];
  if (Array.isArray(node)) {
    for (const [i, element] of node.entries()) yield* paths(element, [...path, i]);
    yield [...path, node.length];
  } else if (typeof node === 'object' && node !== null)
    for (const [key, value] of Object.entries(node)) yield* paths(value, [...path, key]);
}

function expectSame(text: string): void {
  const [short, long] = [readSource(text), readWhole(text)];
  expect(short.ok).toBe(long.ok);
  if (!short.ok || !long.ok) return expect(plain(short)).toEqual(plain(long));
  expect(plain(short.value.tree)).toEqual(plain(long.value.tree));
  expect(short.value.errors).toEqual(long.value.errors);
  for (const path of paths(long.value.tree))
    for (const of of ['key', 'value'] as const)
      expect({ path, locate: short.value.locate(path, of) }).toEqual({ path, locate: long.value.locate(path, of) });
}

const repeat = (n: number, line: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => line(i)).join('\n');
const flow = (i: number): string => `  - { prefix: 2001:db8:${i.toString(16)}::/48, format: standard-cnp }`;
const block = (i: number): string => `  - prefix: 10.${i}.0.0/16\n    format: standard-cnp`;

describe('runs of entries', () => {
  test.each([
    ['flow mappings', `a:\n${repeat(20, flow)}\nb: 1\n`],
    ['block mappings', `a:\n${repeat(20, block)}\nb: 1\n`],
    [
      'both, with comments and blank lines between and behind',
      `# c\na:\n${repeat(20, flow)} # last\n  # between\n\n${repeat(20, block)}\n${repeat(3, flow)}\n` +
        `  - { prefix: "quoted", format: x }\n${repeat(20, flow)}\nb: [x, y]\n`,
    ],
    ['at the indent of their key', `a:\n${repeat(20, (i) => `- { k: v${i} }`)}\nb: 1`],
    ['at the top', repeat(20, (i) => `- { k: v${i} }`)],
    ['two lists', `a:\n${repeat(20, flow)}\nb:\n${repeat(20, block)}\n`],
    [
      'nested: a list in an entry of a list',
      `a:\n  - n:\n${repeat(20, (i) => `    - { k: v${i} }`)}\n${repeat(20, flow)}`,
    ],
    ['in a block scalar', `a: |\n${repeat(20, flow)}\nb: 1\n`],
    ['in a quoted string', `a: "\n${repeat(20, flow)}\n"\nb: 1\n`],
    ['going on in a plain string', `a: x\n${repeat(20, flow)}\nb: 1\n`],
    ['in a flow list', `a: [\n${repeat(20, flow)}\n]\n`],
    ['followed by what goes on', `a:\n${repeat(20, (i) => `  - k: v${i}`)}\n      more\nb: 1\n`],
    ['followed by what cannot go on', `a:\n${repeat(20, flow)}\n      more\nb: 1\n`],
    ['with a key twice', `a:\n${repeat(20, flow)}\n  - { k: x, k: y }\n${repeat(20, flow)}`],
    [
      'with an alias, a tag, an anchor',
      `a:\n${repeat(20, flow)}\n  - { k: &x y }\n  - { k: *x }\n  - !!str z\n${repeat(20, flow)}`,
    ],
    ['with tabs', `a:\n${repeat(20, (i) => `${flow(i)}\t`)}`],
    ['with carriage returns', `a:\r\n${repeat(20, flow).replaceAll('\n', '\r\n')}`],
    ['a lone carriage return in a comment', `a:\n${repeat(20, (i) => `${flow(i)} # c\r  x: y`)}`],
    ['with a colon at the end of a word', `a:\n${repeat(20, (i) => `  - { k: v${i}: }`)}`],
    ['several documents', `a:\n${repeat(20, flow)}\n---\nb:\n${repeat(20, flow)}`],
    ['complex keys', `? a\n:\n${repeat(20, flow)}`],
    ['deep', `${'- '.repeat(5)}x\n${repeat(20, flow)}`],
  ])('%s', (_how, text) => expectSame(text));

  test('are taken out of what the library reads', () => {
    expect(shorten(`a:\n${repeat(50_000, flow)}\nb: 1\n`)?.text.split('\n').length).toBe(4);
    expect(shorten(`a:\n${repeat(50_000, block)}\nb: 1\n`)?.text.split('\n').length).toBe(4);
    expect(shorten(`a:\n${repeat(10, flow)}\nb: 1\n`)).toBeUndefined();
  });

  test('whatever is around and among them: as without', () => {
    const line = fc.constantFrom(
      'a:',
      'b:',
      '  c:',
      '  - x',
      '- x',
      '  - { k: v }',
      '    - { k: v }',
      '  - k: v',
      '    l: w',
      '      l: w',
      '# comment',
      '',
      '  "q',
      '"',
      "'",
      'a: |',
      'a: >-',
      '  - |',
      '  - [',
      ']',
      '}',
      '  - {',
      '  -',
      '- - y',
      '? z',
      ': z',
      '&a',
      '---',
      '...',
      '      more',
    );
    const runs = fc
      .tuple(fc.constantFrom('', '  ', '    '), fc.boolean(), fc.constantFrom('', ' # c', ' '))
      .map(([indent, flowing, end]) =>
        repeat(17, (i) =>
          flowing ? `${indent}- { k: v${i}, l: w:${i} }${end}` : `${indent}- k: v${i}${end}\n${indent}  l: w`,
        ),
      );
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ arbitrary: line, weight: 3 }, runs), { maxLength: 8 }),
        (parts) => void expectSame(parts.join('\n')),
      ),
      { numRuns: 400 },
    );
  });

  test('an error in an entry is shown at its line and column, of a key that is unknown at the key', () => {
    const senders = Array.from(
      { length: 40 },
      (_, i) =>
        `    - { prefix: 2001:db8:${i.toString(16)}::/48, ${i === 30 ? 'formt' : 'format'}: ` +
        `${i === 20 ? 'cnp' : 'standard-cnp'} }`,
    );
    const text = [
      'router: { name: r1 }',
      'isis: { system-id: 0000.0000.c001, area: 49.0001 }',
      'proxy:',
      '  address: 2001:db8::1',
      '  accept-from: ["2001:db8::/48"]',
      '  senders:',
      ...senders,
    ].join('\n');
    const places = (of: string): string[] => {
      const result = loadIntent(of, 'cnpd.yaml');
      return result.ok ? [] : result.error.map((e) => `${e.line}:${e.column} ${e.path}: ${e.message}`);
    };
    expect(places(text)).toHaveLength(3);
    // The marker in a comment: the library reads everything.
    expect(places(text)).toEqual(places(`${text}\n# cnpd-run-of-entries-\n`));
    expect(places(text)[0]).toMatch(/^27:\d+ proxy\.senders\[20\]\.format/);
  });
});

describe('too large a file', () => {
  test.each([
    [
      'in one line each',
      (n: number) => `proxy:\n  senders:\n${repeat(n, (i) => `- {prefix: 10.${i % 256}.0.0/16,format: x}`)}`,
    ],
    [
      'in two lines each',
      (n: number) => `proxy:\n  senders:\n${repeat(n, (i) => `- prefix: 10.${i % 256}.0.0/16\n  format: x`)}`,
    ],
    [
      'in one line',
      (n: number) =>
        `proxy: { senders: [${repeat(n, (i) => `{prefix: 10.${i % 256}.0.0/16,format: x},`).replaceAll('\n', '')}] }`,
    ],
  ])('200,000 senders %s are refused before anything is built', (_how, text) => {
    const source = readSource(text(200_000).slice(0, MAX_FILE_BYTES));
    expect(source.ok ? [] : source.error.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^the file has more than ${MAX_SEPARATORS} lines and commas: ` +
            'cnpd supports 65536 senders|^200000 entries are more',
        ),
      ),
    ]);
  });

  test('65,536 senders in the longest form, and a comment for each, are not too many', () =>
    expect(65_536 * 4).toBeLessThan(MAX_SEPARATORS));
});

describe('the outline of a file', () => {
  const RUNS = `router:\n  name: r1\n  loopback: { ipv6: 2001:db8::1 }\nproxy:\n  address: 2001:db8::1\n  accept-from: [2001:db8::/32]\n  senders:\n`;
  const REST = 'gnmi: { socket: /run/x.sock, socket-group: adm }\nlog: { level: debug }\n';

  test('says what the file says, with the first entry of each long list', () => {
    const whole = loadIntent(`${RUNS}${repeat(1, flow)}\n${REST}`, 'a');
    expect(whole).toMatchObject({ ok: true, value: { gnmiSocketGroup: 'adm' } });
    expect(outlineOf(`${RUNS}${repeat(5000, flow)}\n${REST}`)).toEqual(whole.ok && whole.value);
  });

  test.each([
    ['no long list', `${RUNS}${repeat(3, flow)}\n${REST}`],
    ['an unknown key', `${RUNS}${repeat(50, flow)}\n${REST}nobody: 1\n`],
    ['no YAML', `${RUNS}${repeat(50, flow)}\n${REST}: {\n`],
    ['a marker inside a string', `${RUNS}${repeat(50, flow)}\n${REST}\nx: |\n${repeat(50, flow)}\n`],
    ['too deep', `${RUNS}${repeat(50, flow)}\n${REST}x: ${'['.repeat(5000)}\n`],
    ['too large', `${RUNS}${repeat(50, flow)}\n${REST}#${'x'.repeat(MAX_FILE_BYTES)}\n`],
  ])('there is none: %s', (_, text) => {
    expect(outlineOf(text)).toBeUndefined();
  });
});
