import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROBLEM_CODES } from './problem.ts';

test('each code is one section and one cause, listed once', () => {
  for (const code of PROBLEM_CODES) expect(code).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*\.[a-z0-9]+(-[a-z0-9]+)*$/);
  expect(new Set(PROBLEM_CODES).size).toBe(PROBLEM_CODES.length);
});

test('each code is used by some component', () => {
  const root = new URL('..', import.meta.url);
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.test|\.fixture)\.ts$/.test(path) && path !== 'model/problem.ts')
    .map((path) => readFileSync(new URL(path, root), 'utf8'))
    .join('\n');
  expect(PROBLEM_CODES.filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
});
