// Documentation is read by people in a hurry, often not in their first language: no sentence has more than 30 words.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pages } from './pages.ts';
import { sentencesOf } from './sentences.ts';

const LIMIT = 30;
/** It quotes the drafts. */
const GENERATED = 'docs/conformance.md';

const read = pages.filter((page) => page !== GENERATED);

const wordsOf = (markdown: string): number[] => sentencesOf(markdown).map((sentence) => sentence.words);

describe('no sentence is longer than 30 words', () => {
  test('of at least the pages that users read', () => {
    expect(read).toEqual(
      expect.arrayContaining(['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/how-to/operations.md']),
    );
  });

  test.each(read)('%s', (page) => {
    const long = sentencesOf(readFileSync(page, 'utf8')).filter(({ words }) => words > LIMIT);
    expect(long.map(({ line, words, text }) => `${page}:${line}: ${words} words: ${text}`)).toEqual([]);
  });
});

describe('what counts as a sentence', () => {
  test('ends at a full stop, a question mark or an exclamation mark, also before a name in lower case', () => {
    expect(wordsOf('One two. cnpd is three (or four)! Is it? Yes.')).toEqual([2, 5, 2, 1]);
  });

  test('does not end at an abbreviation or within a number or name', () => {
    expect(wordsOf('Ports, e.g. eth2, take 1.5 ms (RFC 8762 §4.4) of `a.b. c`.')).toEqual([11]);
  });

  test('ends with its paragraph, heading, list entry or cell', () => {
    const text = '# Two words\n\n- one\n- one two\n  - one two three\n\n| a b | c |\n| - | - |\n| d | e f g |\n';
    expect(wordsOf(text)).toEqual([2, 1, 2, 3, 2, 1, 1, 3]);
  });

  test('counts code, and a row of names in code, as one word, and no dashes', () => {
    expect(wordsOf('See `ip link show` – and `a`, `b`, `c` or `d` → here.')).toEqual([5]);
  });

  test('reads neither code blocks nor link targets', () => {
    expect(wordsOf('[Two words](a/very/long/target "with a title")\n\n```\nfour words of code\n```\n')).toEqual([2]);
  });

  test('takes a parenthesis in a cell by itself', () => {
    expect(wordsOf('| a |\n| - |\n| one (two three) four |\n')).toEqual([1, 1, 2, 1]);
  });
});
