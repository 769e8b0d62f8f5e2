// Every `yaml` block of the documents is a cnpd.yaml that cnpd takes, by these rules:
// - one with `router` is a whole file;
// - one that begins with `# added there` is added to the whole file before it on the page, in place of its sections of
//   the same names;
// - any other has the sections of its subject alone, and is added to a router that runs IS-IS;
// - one that begins with `# NAME.yml` is a file of another program.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { complaints } from '../../src/intent/files.fixture.ts';
import { pages } from './pages.ts';

const OTHERS = /^# prometheus\.yml\n/;
const ADDED = '# added there';
const BASE = `
router: { name: r1, loopback: { ipv4: 192.0.2.1, ipv6: 2001:db8:ffff::1 } }
isis: { system-id: 0000.0000.c001, area: "49.0001", level: "2" }
`;

interface Block {
  readonly line: number;
  readonly text: string;
}

function blocks(page: string): Block[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^( *)```yaml\n([^]*?)^ *```/gm)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: match[2]!.replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  }));
}

/** Scalars stay what they are written as: a number that is quoted, and one that is not. */
const tree = (text: string): Record<string, unknown> => parse(text, { schema: 'failsafe' }) as Record<string, unknown>;
const withSections = (file: string, part: string): string => stringify({ ...tree(file), ...tree(part) });

/** The files that a page shows, by the line of their block. */
function files(page: string): { readonly at: string; readonly file: string }[] {
  let before: string | undefined;
  return blocks(page)
    .filter(({ text }) => !OTHERS.test(text))
    .map(({ line, text }) => {
      const at = `${page}:${line}`;
      if (/^router:/m.test(text)) before = text;
      else if (!text.startsWith(ADDED)) return { at, file: withSections(BASE, text) };
      else if (before === undefined) throw new Error(`${at}: there is no whole file before it`);
      else before = withSections(before, text);
      return { at, file: before };
    });
}

const withYaml = pages.filter((page) => blocks(page).length > 0);

test('examples are in many pages', () => {
  expect(withYaml.length).toBeGreaterThan(8);
  expect(withYaml.flatMap(files).length).toBeGreaterThan(25);
});

test.each(withYaml)('%s shows files that cnpd takes', (page) => {
  const wrong = files(page).flatMap(({ at, file }) => complaints(file).map((complaint) => `${at}: ${complaint}`));
  expect(wrong).toEqual([]);
});
