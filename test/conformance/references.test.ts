// What texts refer to exists: files and headings that documents link to, files that comments name, decisions that
// comments cite.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDERS = ['bpf', 'containerlab', 'contrib', 'docs', 'frr-configs', 'proto', 'src', 'test', 'yang'];
const files = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
].filter((file) => !file.includes('/gen/'));
const documents = files.filter((file) => file.endsWith('.md'));
const sources = files.filter((file) => /\.(ts|mjs|h|c|sh|proto|yang|ya?ml)$/.test(file));
const textOf = (file: string): string => readFileSync(file, 'utf8');
const withoutCode = (text: string): string => text.replace(/^ *```.*?^ *```/gms, '').replace(/`[^`\n]*`/g, '');

/** As GitHub makes them. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));

test('documents link to files and headings that are there', () => {
  const links = documents.flatMap((file) =>
    [...withoutCode(textOf(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => ({ file, to: to! })),
  );
  const missing = links
    .filter(({ to }) => !/^[a-z]+:/.test(to))
    .filter(({ file, to }) => {
      const [path = '', anchor] = to.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
  expect(links.length).toBeGreaterThan(50);
  expect(missing).toEqual([]);
});

test('docs/README.md leads to every page of docs/', () => {
  const linked = [...textOf('docs/README.md').matchAll(/\]\(([^)#\s]+)/g)].map(([, to]) => join('docs', to!));
  const pages = documents.filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
});

/** What was there once, and files of its own making. */
const NAMES_OTHERS: ReadonlySet<string> = new Set(['CHANGELOG.md', 'test/conformance/conformance.test.ts']);
const LIBBPF_HEADER = /^bpf\/bpf_\w+\.h$/;

test('comments and documents name files that are there', () => {
  const named = [...sources, ...documents]
    .filter((file) => !NAMES_OTHERS.has(file))
    .flatMap((file) =>
      [...textOf(file).matchAll(/(?<![\w./$}-])(?:src|bpf|test|docs)\/[\w./-]+\.(?:ts|mjs|h|c|md|tsv|ya?ml)\b/g)].map(
        ([name]) => ({ file, name }),
      ),
    );
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter(({ name }) => !LIBBPF_HEADER.test(name) && !existsSync(name))).toEqual([]);
});

test('decisions that are cited are in docs/explanation/decisions.md', () => {
  const made = new Set(
    [...textOf('docs/explanation/decisions.md').matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].map(([, id]) => id),
  );
  const cited = [...sources, ...documents].flatMap((file) =>
    [
      ...textOf(file)
        .replace(/\n\s*(?:\/\/|\*)\s*/g, ' ')
        .matchAll(/\b[dD]ecisions? ((?:[A-Z]\d+(?:, | and |-)?)+)/g),
    ]
      .flatMap(([, ids]) => ids!.match(/[A-Z]\d+/g)!)
      .map((id) => ({ file, id })),
  );
  expect(cited.length).toBeGreaterThan(50);
  expect(cited.filter(({ id }) => !made.has(id))).toEqual([]);
});
