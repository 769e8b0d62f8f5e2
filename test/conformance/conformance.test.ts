import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { citations, conformanceDocument, notes, requirements, untested } from './conformance.ts';
import { skippedTitlesOf, titlesOf } from './test-titles.ts';

describe('docs/conformance.md', () => {
  test('is what the tests of this tree say (npm run conformance rewrites it)', () => {
    const document = conformanceDocument();
    if (process.env['UPDATE_CONFORMANCE']) writeFileSync('docs/conformance.md', document);
    expect(readFileSync('docs/conformance.md', 'utf8')).toBe(document);
  });

  test('names only requirements that exist', () => {
    const known = new Set(requirements().map((r) => r.id));
    const { built, tested } = citations();
    expect([...tested.keys(), ...built.keys()].filter((id) => !known.has(id))).toEqual([]);
    const prefixes = [...notes().keys()].filter(
      (k) => ![...known].some((id) => id === k || id.startsWith(`${k}-`) || id.startsWith(`${k}.`)),
    );
    expect(prefixes).toEqual([]);
  });
});

describe('what counts as the title of a test', () => {
  const counted = (text: string): string[] => titlesOf('x.test.ts', text);
  const body = '() => { expect(1).toBe(1); }';

  test.each([
    ['a test', `test('T', ${body});`],
    ['one whose title is in pieces', `test('T' + '', ${body});`],
    ['one with options', `it('T', { timeout: 5 }, ${body});`],
    ['one of a table', `it.each([[1, 2]] as const)('T', ${body});`],
    ['one that runs where it can', `test.runIf(root)('T', ${body});`],
    ['one made in a loop', `for (const x of y) it(\`T\`, ${body});`],
    ['a group with a test in it', `describe('T', () => { test('', ${body}); });`],
  ])('%s does', (_what, text) => {
    expect(counted(text)).toContain('T');
  });

  test.each([
    ['a skipped test', `test.skip('T', ${body});`],
    ['a skipped test of a table', `test.skip.each([[1]])('T', ${body});`],
    ['one that is still to be written', `it.todo('T');`],
    ['one without a body', `it('T');`],
    ['one that is expected to fail', `test.fails('T', ${body});`],
    ['a comment', `// test('T', ${body});\n/* it('T', ${body}); */`],
    ['a string', `const text = "test('T', () => 1)";`],
    ['the argument of another function', `expect('T', 'x').toBe(1); check(1)('T');`],
    ['a group without a test', `describe('T', () => { beforeEach(${body}); });`],
    ['a group whose tests are all skipped', `describe('T', () => { test.skip('a', ${body}); it.todo('b'); });`],
    ['a skipped group', `describe.skip('T', () => { test('T', ${body}); });`],
  ])('%s does not', (_what, text) => {
    expect(counted(text)).not.toContain('T');
  });

  test('is what the rows of a table put into it, and a constant of the file', () => {
    expect(counted(`it.each([['R1', 1], ['R2', 2]])('%s', ${body});`)).toEqual(['%s', 'R1', 'R2']);
    expect(counted(`it.each([['R1', 1]])('T %i', ${body});`)).toEqual(['T %i']);
    expect(counted(`const WHAT = { a: 'R1' };\ntest.each(rows)(\`\${WHAT[way]}: T\`, ${body});`)).toEqual(['R1 : T']);
  });
});

test('a line that only the RoCE endpoint of the lab fulfils says so', () => {
  const entries = conformanceDocument().split(/^- (?=\*\*)/m);
  const builtIn = new Map(
    entries.map((entry) => [/^\*\*(\S+)\*\*/.exec(entry)?.[1], / - built in ([^-]*)/.exec(entry)?.[1] ?? '']),
  );
  for (const id of ['LHCNP-6.1-m', 'LHCNP-6.1.1-g', 'RMC-5.2-a']) expect(builtIn.get(id), id).toMatch(/^\*\*lab\*\*/);
  for (const id of [
    'LHCNP-5.6-a',
    'LHCNP-5.6-j',
    'LHCNP-8-b',
    'LHCNP-8-c',
    'LHCNP-5.6-e',
    'LHCNP-5.6-h',
    'LHCNP-9-a',
    'LHCNP-6.2.5-a',
    'LHCNP-5.5-g',
    'PNC-5.1-a',
    'A1',
    'A2',
  ])
    expect(builtIn.get(id), id).not.toContain('lab**');
});

test('a line whose test is skipped says so, and not that it is not built', () => {
  const body = '() => { expect(1).toBe(1); }';
  const titles = skippedTitlesOf(
    'x.test.ts',
    `test.skip('PNC-3-a', ${body}); test('PNC-3-b', ${body}); it.todo('PNC-3-c');`,
  );
  expect(titles).toEqual(['PNC-3-a', 'PNC-3-c']);
  const built = new Map([
    ['PNC-3-a', new Set(['src/a.ts'])],
    ['PNC-3-b', new Set(['src/a.ts'])],
  ]);
  const skipped = new Map([['PNC-3-a', new Set(['src/a.test.ts'])]]);
  expect(['PNC-3-a', 'PNC-3-b', 'PNC-3-c'].map((id) => untested(id, built, skipped))).toEqual([
    '**its test is skipped** in `src/a.test.ts`',
    '**no test yet**',
    '**not built yet**',
  ]);
});
