// A default is stated once, in the schema; docs/cnpd.yaml and other pages state the same.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import { load } from './files.fixture.ts';
import type { Defaulted } from './schema-parts.ts';
import { cnpdSchema } from './schema.ts';
import { type Source, readSource } from './yaml.ts';
import type { Path } from './words.ts';

const docs = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const example = docs('cnpd.yaml');

type Key = z.ZodType & Defaulted<unknown>;
const inner = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional ? inner(schema.unwrap() as z.core.$ZodType) : schema;

/** Every key with a default, by its name in the file: `ports.ecn`. */
function defaults(of: z.core.$ZodType, name: string, found = new Map<string, Key>()): Map<string, Key> {
  const schema = inner(of);
  if (schema instanceof z.ZodArray) return defaults(schema.element as z.core.$ZodType, name, found);
  if (!(schema instanceof z.ZodObject)) return found;
  for (const [key, value] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const path = name === '' ? key : `${name}.${key}`;
    if ('written' in value) found.set(path, value as Key);
    defaults(value, path, found);
  }
  return found;
}

const DEFAULTS = defaults(cnpdSchema, '');
const nameOf = (path: Path): string => path.filter((step) => typeof step === 'string').join('.');

/** Every place in a tree. */
function* places(node: unknown, path: Path = []): Generator<readonly [Path, unknown]> {
  yield [path, node];
  if (typeof node !== 'object' || node === null) return;
  for (const [key, child] of Object.entries(node))
    yield* places(child, [...path, Array.isArray(node) ? Number(key) : key]);
}

interface Stated {
  readonly name: string;
  /** The value shown is the default. */
  readonly shown: boolean;
  /** What the comment beside it calls the default. */
  readonly inComment: string | undefined;
}

function sourceOf(text: string): Source {
  const read = readSource(text);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

function isDefault(name: string, node: unknown): boolean {
  const key = DEFAULTS.get(name);
  const read = key?.safeParse(node);
  return read?.success === true && isDeepStrictEqual(read.data, key!.fallback);
}

function stated(text: string): Stated[] {
  const source = sourceOf(text);
  const lines = text.split('\n');
  return [...places(source.tree)].flatMap(([path, node]): Stated[] => {
    if (typeof path.at(-1) !== 'string' || !DEFAULTS.has(nameOf(path))) return [];
    const [line, comment] = lines[source.locate(path, 'key').line - 1]!.split(/ #(.*)/s) as [string, string?];
    // A comment is about the key that its line begins with.
    const own = new RegExp(`^[ -]*${String(path.at(-1))}:`).test(line);
    const inComment = own ? /\bdefault ([^\s:;,)]+)/i.exec(comment ?? '')?.[1] : undefined;
    return [{ name: nameOf(path), shown: isDefault(nameOf(path), node), inComment }];
  });
}

const inComment = (name: string): string => String(DEFAULTS.get(name)!.written);

test('docs/cnpd.yaml states the default of every key that has one', () => {
  const known = stated(example)
    .filter(({ name, shown, inComment: text }) => shown || text === inComment(name))
    .map(({ name }) => name);
  expect(DEFAULTS.size).toBeGreaterThan(80);
  expect([...DEFAULTS.keys()].filter((name) => !known.includes(name))).toEqual([]);
});

test('no comment of docs/cnpd.yaml calls something else the default', () => {
  const comments = stated(example).filter((key) => key.inComment !== undefined);
  expect(comments.length).toBeGreaterThan(4);
  expect(comments.filter((key) => key.inComment !== inComment(key.name))).toEqual([]);
});

/** Defaults that follow from something else, and are what the example shows. */
const FOLLOWING = ['ospfv2.areas.interface', 'ospfv2.areas.link', 'ospfv3.areas.interface', 'bgp.next-hop'];

test('a key that is left out means what docs/cnpd.yaml shows as its default', () => {
  let dropped = 0;
  const without = (node: unknown, name: string): unknown => {
    if (Array.isArray(node)) return node.map((entry) => without(entry, name));
    if (typeof node !== 'object' || node === null) return node;
    const named = Object.entries(node).map(
      ([key, child]) => [key, name === '' ? key : `${name}.${key}`, child] as const,
    );
    const kept = named.filter(([, path, child]) => !(FOLLOWING.includes(path) || isDefault(path, child)));
    dropped += named.length - kept.length;
    return Object.fromEntries(kept.map(([key, path, child]) => [key, without(child, path)]));
  };
  const text = stringify(without(sourceOf(example).tree, ''));
  expect(dropped).toBeGreaterThan(80);
  expect(load(text)).toEqual(load(example));
});

test('a default that is stated wrongly, or not at all, is noticed', () => {
  const names = (text: string): string[] =>
    stated(text)
      .filter(({ shown }) => !shown)
      .map(({ name }) => name);
  expect(names('log: { level: info }\nstamp: { port: 862 }\n')).toEqual([]);
  expect(names('log: { level: warn }\nstamp: { port: 863 }\n')).toEqual(['log.level', 'stamp.port']);
  expect(stated('log:\n  level: warn # not info; default error\n')).toMatchObject([
    { name: 'log.level', inComment: 'error' },
  ]);
});

test.each([
  ['reference/gnmi.md', 'gnmi.socket', /`gnmi\.socket`.{0,20}, `([^`]+)` by default/],
  ['explanation/decisions.md', 'isis.hold-unreachable', /`hold-unreachable`, (\d+ min) by default/],
])('docs/%s says the default of %s', (page, name, sentence) => {
  const text = sentence.exec(docs(page).replaceAll('\n', ' '))?.[1]?.replace(' ', '');
  expect(DEFAULTS.get(name)!.safeParse(text).data).toEqual(DEFAULTS.get(name)!.fallback);
});
