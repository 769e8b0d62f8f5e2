// Keys of cnpd.yaml, counters, problems and checks that the documents name with dots are there.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sourcesOf } from '../../src/carriers/counter-names.fixture.ts';
import { fileKeys } from '../conformance/file-reference.ts';
import { pages } from './pages.ts';

const KEYS = new Set(fileKeys().map(({ path }) => path.join('.')));
const SECTIONS = new Set([...KEYS].map((key) => key.split('.')[0]!));
const sources = sourcesOf('src')
  .map(({ text }) => text)
  .join('\n');
const counters = readFileSync('docs/reference/counters.md', 'utf8');

/** Carriers name their counters without their own name, and events and checks are made of parts. */
const inSource = (name: string): boolean =>
  [name, name.split('.').slice(1).join('.'), `.${name.split('.').slice(1).join('.')}`].some((text) =>
    new RegExp(`['"\`}]${text.replaceAll('.', '[.]')}['"\`]`).test(sources),
  );
const isFile = (name: string): boolean => /\.(?:ts|o|c|h|md|ya?ml|conf|sock|json)$/.test(name);

/** Names of which the first part is that of a section: a key, or something of its feature. */
const namesIn = (page: string): string[] => [
  ...new Set(
    [
      ...readFileSync(page, 'utf8')
        .replaceAll(/^ *```[^]*?^ *```/gm, '')
        .matchAll(/`([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+)(?:: [^`]*)?`/g),
    ]
      .map(([, name]) => name!)
      .filter((name) => SECTIONS.has(name.split('.')[0]!) && !isFile(name)),
  ),
];

test('names with dots are keys of the file, counters, problems, events or checks', () => {
  // The changelog tells of what was there once.
  const named = pages
    .filter((page) => page !== 'CHANGELOG.md' && page !== 'docs/reference/counters.md')
    .flatMap((page) => namesIn(page).map((name) => ({ page, name })));
  expect(named.filter(({ name }) => KEYS.has(name)).length).toBeGreaterThan(60);
  const unknown = named.filter(({ name }) => !KEYS.has(name) && !counters.includes(`\`${name}\``) && !inSource(name));
  expect(unknown).toEqual([]);
});
