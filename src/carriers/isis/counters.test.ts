// Compares the table of counters with the sources.
import { expect, test } from 'vitest';
import { countedIn, linkSource, sourcesOf } from '../counter-names.fixture.ts';
import { ISIS_COUNTERS } from './counters.ts';

const found = new Set(
  [linkSource(), ...sourcesOf(import.meta.dirname).map(({ text }) => text)]
    .flatMap((text) => countedIn(text, ['\\bcounter:\\s*']))
    .map((name) => `isis.${name}`),
);

const table = ISIS_COUNTERS.map(({ name }) => name.replace(/<[^>]*>/g, '<>'));
// The last part of these names comes from a table in the code; the rows spell it out.
const SPELLED_OUT: Record<string, RegExp> = {
  'isis.auth.<>.<>': /^isis\.auth\.<>\./,
  'isis.rx.<>': /^isis\.rx\.[cp]snp$/,
};

test('every counter in the sources is in the table', () => {
  expect(found.size).toBeGreaterThan(40);
  const missing = [...found].filter(
    (name) => !table.includes(name) && !table.some((row) => SPELLED_OUT[name]?.test(row)),
  );
  expect(missing).toEqual([]);
});

test('every row of the table is counted somewhere', () => {
  const patterns = [...found].flatMap((name) => (SPELLED_OUT[name] ? [SPELLED_OUT[name]] : []));
  expect(table.filter((name) => !found.has(name) && !patterns.some((p) => p.test(name)))).toEqual([]);
});
