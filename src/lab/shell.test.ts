import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteWord, splitWords } from './shell.ts';

test.each([
  ['ip link set eth1 up', ['ip', 'link', 'set', 'eth1', 'up']],
  [`sh -c 'a && b "c" &'`, ['sh', '-c', 'a && b "c" &']],
  [`a "b c"d  e\\ f ''`, ['a', 'b cd', 'e f', '']],
  [`"\\$x \\" \\n"`, ['$x " \\n']],
  ['', []],
])('%s is split as a shell would', (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test('a quote that is not closed is no command', () => {
  expect(splitWords(`sh -c 'oops`)).toBeUndefined();
  expect(splitWords('say "oops')).toBeUndefined();
});

test('a quoted word comes back from a real shell, and from splitWords, as it was', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ minLength: 0, maxLength: 12 }).filter((s) => !s.includes('\0')),
        { minLength: 1, maxLength: 5 },
      ),
      (words) => {
        expect(splitWords(words.map(quoteWord).join(' '))).toEqual(words);
      },
    ),
  );
  const words = [`it's`, 'a b', '$HOME', '*', '', '"', '\\', 'ü'];
  const shell = spawnSync('/bin/sh', ['-c', `printf '%s\\n' ${words.map(quoteWord).join(' ')}`], { encoding: 'utf8' });
  expect(shell.stdout.split('\n').slice(0, -1)).toEqual(words);
});
