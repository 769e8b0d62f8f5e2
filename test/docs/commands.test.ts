// The commands that the documents name are there: of cnpd and cnpctl, with their options, and scripts of npm.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CommandDescription, type OptionDescription, nameOf } from '../../src/cli/reference/describe.ts';
import { commandLine, daemonCommandLine } from '../../src/setup/command-lines.ts';
import { pages } from './pages.ts';

const PROGRAMS = { cnpctl: commandLine(), cnpd: daemonCommandLine() } as const;
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
/** It tells of what was there once. */
const named = pages.filter((page) => page !== 'CHANGELOG.md');

/** Code in a text: the lines of blocks of commands, and what stands in sentences. */
function codeOf(text: string): string[] {
  const lines: string[] = [];
  const prose: string[] = [];
  let fence: string | undefined;
  for (const line of text.replaceAll(/\\\n(?:> )?/g, ' ').split('\n')) {
    const [, language] = /^ *```(\w*)/.exec(line) ?? [];
    if (language !== undefined) fence = fence === undefined ? language : undefined;
    else if (fence === undefined) prose.push(line);
    else if (!/yaml|toml/.test(fence)) lines.push(line);
  }
  const spans = prose.join('\n').matchAll(/`([^`]+)`/g);
  return [...lines, ...[...spans].map(([, code]) => code!.replaceAll(/\s+/g, ' '))];
}

/** The words behind the name of a program, where it begins a command: not in a path, nor behind the end of another. */
function callsOf(program: string, code: string): string[][] {
  const call = new RegExp(`(?:^|-- |[$#;|] |ssh \\w+ |\\()${program}(?= |$)([^|;#<>&)\`]*)`, 'g');
  return [...code.matchAll(call)].map(([, words]) => words!.trim().split(/\s+/).filter(Boolean));
}

const isWord = (word: string): boolean => /^[a-z][a-z0-9-]*$/.test(word);

/** @returns what is wrong with the words, which may leave off at any place */
function wrongIn(program: CommandDescription, words: readonly string[]): string | undefined {
  let command = program;
  let options: readonly OptionDescription[] = program.options;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word.startsWith('-') && word.length > 1) {
      const option = options.find(({ names }) => names.includes(word.split('=')[0]!));
      if (!option && word !== '--help') return `no option ${word}`;
      if (option?.takesValue && !word.includes('=')) i++;
      continue;
    }
    // An address, a name in capitals, several names in one: arguments, or all that a reader is told.
    if (command.commands.length === 0 || !isWord(word)) continue;
    const below = command.commands.filter((one) => nameOf(one).startsWith(word));
    const next = below.find((one) => nameOf(one) === word) ?? below[0];
    if (!next || (nameOf(next) !== word && below.length > 1)) return `no command ${word}`;
    command = next;
    options = [...command.options, ...options];
  }
  return undefined;
}

describe('what counts as wrong', () => {
  test.each([
    ['show stauts', 'no command stauts'],
    ['show status --frequently', 'no option --frequently'],
    ['show status -o json', undefined],
    ['sh st', undefined],
    ['show groups NAME tree', undefined],
    ['doctor --remote -', undefined],
    ['group join 2001:db8::1 --receiver 2001:db8::2 --qpn 5', undefined],
    ['group join 2001:db8::1 --receive 2001:db8::2', 'no option --receive'],
  ])('%s', (words, wrong) => {
    expect(wrongIn(PROGRAMS.cnpctl, words.split(' '))).toBe(wrong);
  });

  test('calls are found in sentences, blocks and nodes of a lab, and end where the next begins', () => {
    const text = 'Ask `cnpctl a`.\n\n```\n$ at p1 -- cnpctl b | grep c   # cnpctl d\nssh x cnpctl e\n```\n';
    expect(codeOf(text).flatMap((code) => callsOf('cnpctl', code))).toEqual([['b'], ['d'], ['e'], ['a']]);
  });
});

test.each(Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[])('%s is called as it can be', (program) => {
  const calls = named.flatMap((page) =>
    codeOf(readFileSync(page, 'utf8'))
      .flatMap((code) => callsOf(program, code))
      .map((words) => ({ page, words })),
  );
  expect(calls.length).toBeGreaterThan(program === 'cnpctl' ? 150 : 8);
  const wrong = calls.flatMap(({ page, words }) => {
    const found = wrongIn(PROGRAMS[program], words);
    return found === undefined ? [] : [`${page}: ${program} ${words.join(' ')}: ${found}`];
  });
  expect(wrong).toEqual([]);
});

test('scripts of npm are those of package.json', () => {
  const used = named.flatMap((page) =>
    codeOf(readFileSync(page, 'utf8'))
      .flatMap((code) => [...code.matchAll(/\bnpm run (?:--silent )?([a-z0-9:-]+)/g)].map(([, script]) => script!))
      .map((script) => ({ page, script })),
  );
  expect(used.length).toBeGreaterThan(40);
  expect(used.filter(({ script }) => !(script in scripts))).toEqual([]);
});
