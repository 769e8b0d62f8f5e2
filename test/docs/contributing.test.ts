// CONTRIBUTING.md says which files change for a new kind, format, counter or view: they exist, they are few, and what
// is named as the example is nowhere else.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as bgp from '../../src/carriers/bgp/kinds/color.fixture.ts';
import * as isis from '../../src/carriers/isis/kinds/color.fixture.ts';
import * as ospf from '../../src/carriers/ospf/kinds/color.fixture.ts';

const page = readFileSync('CONTRIBUTING.md', 'utf8');
const MOST = 10;

/** The files of the numbered list in a section; the items of some name several. */
function listed(section: string): { readonly items: number; readonly files: readonly string[] } {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  const items = [...text.matchAll(/^\d+\. (.*(?:\n {2,}.*)*)/gm)].map(([, item]) => item!);
  const files = items.flatMap((item) =>
    [...item.slice(0, item.indexOf(':')).matchAll(/`((?:src|bpf|contrib|docs|test|yang)\/[^`]+|[A-Z]+\.md)`/g)].map(
      ([, f]) => f!,
    ),
  );
  return { items: items.length, files };
}

const CARRIERS = ['isis', 'ospf', 'bgp'];

const sources = ['src', 'bpf']
  .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file)))
  .filter((file) => /\.([ch]|ts)$/.test(file) && !/\.(test|fixture)\.ts$|\/fixture\.ts$|\/gen\//.test(file));
const naming = (pattern: RegExp): string[] => sources.filter((file) => pattern.test(readFileSync(file, 'utf8'))).sort();
/** They show and measure what there is. */
const ASIDE = /^(src\/(lab|view|demo|bench)|bpf\/(bench|(fast-cnp-host|lossy-wire)\.bpf\.c))/;

const SECTIONS = [
  'A new kind of advertisement',
  'A new notification format',
  'A new format of a packet',
  'A new counter',
  'A new metric',
  'A new CLI view',
  'A new feature',
];

describe.each(SECTIONS)('%s', (section) => {
  test('needs at most ten files, and all of them are there', () => {
    const { items, files } = listed(section);
    expect(items).toBeGreaterThan(3);
    expect(items).toBeLessThanOrEqual(MOST);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});

test('a kind of advertisement is named in the files of its list, and by the feature that it is for', () => {
  const { files } = listed('A new kind of advertisement');
  const used = new Set([...files, ...listed('A new feature').files]);
  const found = naming(/kind(?::| [!=]==) 'sid'|Of<'sid'>|Kinds\['sid'\]/).filter((file) => !ASIDE.test(file));
  expect(found.length).toBeGreaterThan(2);
  expect(found.filter((file) => !used.has(file))).toEqual([]);
  const tables = CARRIERS.map((name) => `src/carriers/${name}/kinds/table.ts`);
  const rows = ['src/plan/origination.ts', 'src/learned/kinds.ts', ...tables];
  expect(rows.filter((file) => !files.includes(file))).toEqual([]);
  for (const file of rows) expect(readFileSync(file, 'utf8'), file).toMatch(/^ {2}sid(?::|,)/m);
});

test('the kind of the tests is a file and a row', () => {
  for (const { COLOR, WITH_COLOR } of [isis, bgp]) expect(WITH_COLOR.rows.at(-1)).toBe(COLOR);
  expect(ospf.WITH_COLOR.at(-1)).toBe(ospf.COLOR);
  expect(naming(/color/i).filter((file) => file.startsWith('src/carriers/'))).toEqual([]);
});

test('a notification format is named in the files of its list, and where its instructions and counters are', () => {
  const { files } = listed('A new notification format');
  const instructions = ['bpf/lib/detector/congestion.h', 'src/state/notifications.ts', 'bpf/lib/source/read.h'];
  const counting = /counter-rows\.h$|dataplane\/counters\.ts$|bpf\/lib\/proxy\/order-notification\.h$/;
  const found = naming(/'long-haul-roce'|LONG_HAUL_ROCE\b/).filter((file) => !ASIDE.test(file) && !counting.test(file));
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter((file) => !files.includes(file) && !instructions.includes(file))).toEqual([]);
});

test('a counter of a program is named in the two tables and where it is counted', () => {
  const { files } = listed('A new counter');
  expect(naming(/'egress\.no-format'|"egress\.no-format"/).filter((file) => !files.includes(file))).toEqual([]);
  expect(naming(/\bCOUNT_EGRESS_NO_FORMAT\b/)).toEqual(['bpf/lib/detector/policy.h']);
});

test('a view is named in the files of its list', () => {
  const { files } = listed('A new CLI view');
  const found = naming(/\bcodepoints\b/);
  expect(found.length).toBeGreaterThan(3);
  expect(found.filter((file) => !files.includes(file))).toEqual([]);
});
