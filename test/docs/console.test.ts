import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { consoleSteps, isDefinition, missing, mayRepeat } from './console.ts';

describe('what a page shows', () => {
  test('is commands, continued ones too, each with its output', () => {
    const page = 'text\n\n```console\n$ a \\\n>   b\nout 1\n> 2\n\nout 2\n$ c <<E\n> d\n> E\n```\n\n```\n$ no\n```\n';
    expect(consoleSteps(page)).toEqual([
      { command: 'a \\\n  b', output: ['out 1', '> 2', '', 'out 2'], line: 4 },
      { command: 'c <<E\nd\nE', output: [], line: 10 },
    ]);
  });

  test('is compared line by line, spaces apart', () => {
    expect(missing(['A  B', ' yes x'], 'A B\nyes   x\n')).toBeUndefined();
    expect(missing(['A  B', 'yes x'], 'A B\n')).toBe('yes x');
    expect(missing(['A  B'], 'A B\nmore\n')).toContain('more');
    expect(missing([], 'output\n')).toContain('output');
    expect(missing(['yes'], 'yesterday')).toBe('yes');
  });

  test('may leave out lines, and parts of a line', () => {
    expect(missing(['…', 'b', '…'], 'a\nb\nc\n')).toBeUndefined();
    expect(missing(['…', 'd', '…'], 'a\nb\nc\n')).toBe('d');
    expect(missing(['b', '…'], 'a\nb\n')).toBe('b');
    expect(missing(['{"a":1,…"b":true,…}'], '{"a":1,"x":5,"b":true,"c":[]}')).toBeUndefined();
    expect(missing(['{"a":1,…"b":true,…}'], '{"a":1,"b":false,"c":[]}')).toBeDefined();
    expect(missing(['A 1s …'], 'A 1m01s B C')).toBeUndefined();
    expect(missing(['A …'], 'AB')).toBeDefined();
  });

  test('has numbers of which only zero counts; addresses and names are compared as they are', () => {
    expect(missing(['12 1.5 3s 0x7f 40%'], '7 2.25 59s 0x1 1%')).toBeUndefined();
    expect(missing(['12'], '0')).toBe('12');
    expect(missing(['0'], '12')).toBe('0');
    expect(missing(['0 0.00'], '0.0 0')).toBeUndefined();
    expect(missing(['2001:db8::1'], '2001:db8::2')).toBe('2001:db8::1');
    expect(missing(['L2'], 'L1')).toBe('L2');
    expect(missing(['12'], 'none')).toBe('12');
  });

  test('is defined, repeated, or run once', () => {
    const step = (command: string): { command: string; output: []; line: 1 } => ({ command, output: [], line: 1 });
    expect(['at() { x "$@"; }', 'a=b', 'at p1 -- x=1'].map((text) => isDefinition(step(text)))).toEqual([
      true,
      true,
      false,
    ]);
    expect(['at p -- cnpctl show x', 'at p -- vtysh -c "conf t"'].map((text) => mayRepeat(step(text)))).toEqual([
      true,
      false,
    ]);
  });
});

test('the quick start is short, and so is the page that it is on', () => {
  const readme = readFileSync('README.md', 'utf8');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  const start = readme.slice(readme.indexOf('## Quick start'), readme.indexOf('## Where next'));
  expect(start.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  expect(consoleSteps(start).length).toBeGreaterThan(5);
});
