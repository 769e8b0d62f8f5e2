import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../model/log.ts';
import { type Kernel, KeptFeatures } from './kept-features.ts';

const THIS: Kernel = { boot: 'b1', kernel: '6.12 #1', cnpd: '1.0.0', programs: 'd1' };

let dir: string;
let counted: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-features-'));
  counted = [];
});
afterEach(() => rmSync(dir, { recursive: true }));
const file = (): string => join(dir, 'kernel-features.json');
const start = (kernel: () => Kernel = () => THIS): KeptFeatures =>
  new KeptFeatures(dir, { kernel, count: (name) => void counted.push(name), log: silentLog });
const known = (kernel?: () => Kernel): string[] => [...start(kernel).known()];

test('a first start knows nothing; the next one knows what it has found', () => {
  expect(known()).toEqual([]);
  start().keep(['loop', 'atomics']);
  expect(known()).toEqual(['atomics', 'loop']);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(counted).toEqual([]);
});

test.each(Object.keys(THIS) as (keyof Kernel)[])('nothing counts once this is another: %s', (key) => {
  start().keep(['loop']);
  expect(known(() => ({ ...THIS, [key]: 'other' }))).toEqual([]);
  expect(known()).toEqual(['loop']);
});

test('what is found again is not written again', () => {
  start().keep(['loop']);
  const before = statSync(file()).ino;
  const next = start();
  next.keep([...next.known()]);
  expect(statSync(file()).ino).toBe(before);
});

test('a program that the kernel refuses takes everything back', () => {
  start().keep(['loop']);
  start().keep([]);
  expect(existsSync(file())).toBe(false);
});

const sound = { ...THIS, found: ['loop'] };
test.each([
  ...['', '{', 'null', '[]', '7', '{}', JSON.stringify(THIS)],
  ...[7, 'loop', [7], ['loop', null], ['Loop'], [''], ['x'.repeat(33)]].map((found) =>
    JSON.stringify({ ...sound, found }),
  ),
  `${JSON.stringify(sound)}${' '.repeat(16 * 1024)}`,
])('a damaged file is not believed, and is replaced: %.60s', (text) => {
  writeFileSync(file(), text);
  const next = start();
  expect([...next.known()]).toEqual([]);
  expect(counted).toEqual(['kernel.features-not-kept']);
  next.keep(['loop']);
  expect(known()).toEqual(['loop']);
});

test('nor is a link followed, to read or to write', () => {
  const other = join(dir, 'other');
  writeFileSync(other, `${JSON.stringify(sound)}\n`);
  symlinkSync(other, file());
  expect(known()).toEqual([]);
  symlinkSync(other, `${file()}.new`);
  start().keep(['atomics']);
  expect(readFileSync(other, 'utf8')).toContain('loop');
  expect(known()).toEqual(['atomics']);
});

test('a directory that cannot be written, or a probe without its object: everything is tried, and it is counted', () => {
  mkdirSync(join(`${file()}.new`, 'in-the-way'), { recursive: true });
  start().keep(['loop']);
  expect(counted).toEqual(['kernel.features-not-kept']);
  rmSync(`${file()}.new`, { recursive: true });
  start().keep(['loop']);
  const noObject = (): Kernel => {
    throw new Error('no such file');
  };
  expect(known(noObject)).toEqual([]);
  expect(counted).toHaveLength(2);
});
