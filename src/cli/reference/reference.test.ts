// What is generated from the table of commands: completion as bash itself does it, and manual pages.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { afterAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../program.ts';
import type { CliDependencies } from '../context.ts';
import { SHELLS, completionScript } from './completion.ts';
import { describeCommand, nameOf, placesOf } from './describe.ts';
import { manualPage } from './manual.ts';

const cnpctl = describeCommand(buildProgram({ version: '1.2.3' } as CliDependencies, () => {}));

/** Where a file is asked for, there is none. */
const empty = mkdtempSync(join(tmpdir(), 'cnpd-completion-'));
afterAll(() => rmSync(empty, { recursive: true }));

/** What bash offers for each line; the cursor is at its end. */
function offered(lines: readonly string[], program = cnpctl): string[][] {
  const script = [
    completionScript('bash', program),
    'compopt() { :; }',
    'while read -r -a COMP_WORDS; do',
    // "." stands for an empty word at the cursor.
    '  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))',
    '  [[ ${COMP_WORDS[COMP_CWORD]} == . ]] && COMP_WORDS[COMP_CWORD]=',
    `  _${nameOf(program)}`,
    '  echo "${COMPREPLY[*]}"',
    'done',
  ].join('\n');
  const options = { input: `${lines.join('\n')}\n`, encoding: 'utf8', cwd: empty } as const;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], options);
  expect(stderr).toBe('');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? [] : line.split(' ')));
}

/** The same of zsh: what would be described to whom completes. */
function offeredByZsh(lines: readonly string[]): string[][] {
  const script = [
    'compdef() { :; }',
    completionScript('zsh', cnpctl),
    '_describe() { local name=$@[-1]; local -a all=("${(@P)name}"); print -r -- ${(M)${all%%:*}:#$PREFIX*}; }',
    'compadd() { shift; print -r -- $*; }',
    '_message() { print; }',
    'while IFS= read -r line; do',
    '  words=(${=line})',
    '  CURRENT=$#words',
    '  [[ $words[-1] == . ]] && words[-1]=',
    '  PREFIX=$words[-1]',
    '  _cnpctl',
    'done',
  ].join('\n');
  const { stdout, stderr } = spawnSync('zsh', ['-fc', script], { input: `${lines.join('\n')}\n`, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split(' ').filter((word) => word !== ''));
}

/** The same of fish: without what the descriptions say. */
function offeredByFish(lines: readonly string[]): string[][] {
  const asked = lines.map((line) => `complete -C ${`'${line.replace(/\.$/, '')}'`} | string split -f1 \\t; echo -`);
  const script = [completionScript('fish', cnpctl), ...asked].join('\n');
  const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', cwd: empty });
  expect(stderr).toBe('');
  return stdout
    .split('-\n')
    .slice(0, -1)
    .map((answer) => answer.split('\n').filter((word) => word !== ''));
}

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const ASKED = { bash: offered, zsh: offeredByZsh, fish: offeredByFish };

describe.each(SHELLS.filter(isInstalled))('after an abbreviation, %s offers', (shell) => {
  test('what it does after the whole word', () => {
    const pairs = [
      ['cnpctl sh .', 'cnpctl show .'],
      ['cnpctl sh isis .', 'cnpctl show isis .'],
      ['cnpctl -o json sh b .', 'cnpctl -o json show bgp .'],
      ['cnpctl sh ospf .', 'cnpctl show ospfv2 .'],
      ['cnpctl show group .', 'cnpctl show groups .'],
      ['cnpctl gr .', 'cnpctl group .'],
      ['cnpctl com .', 'cnpctl completion .'],
    ] as const;
    const of = (at: 0 | 1) => ASKED[shell](pairs.map((pair) => pair[at])).map((words) => words.toSorted());
    expect(of(0)).toEqual(of(1));
    expect(of(0)[0]).toContain('status');
    expect(of(0)[2]).toEqual(['paths', 'peers', 'session']);
    expect(of(0).at(-1)).toEqual([...SHELLS].toSorted());
  });

  test('the rest of a word, and not what is a level above', () => {
    expect(ASKED[shell](['cnpctl show po .', 'cnpctl sh st'])).toEqual([[], ['status']]);
  });
});

describe('completion in bash', () => {
  test('offers the commands of every place, and the options that are valid there', () => {
    const places = placesOf(cnpctl);
    expect(places.length).toBeGreaterThan(40);
    const lines = places.flatMap(({ command: { path } }) => [`${path.join(' ')} .`, `${path.join(' ')} -`]);
    const expected = places.flatMap(({ command, options }) => [
      [...command.commands.map(nameOf), ...command.arguments.flatMap(({ choices, offers }) => [...choices, ...offers])],
      options.flatMap(({ names }) => names),
    ]);
    expect(offered(lines)).toEqual(expected);
  });

  test.each([
    ['cnpctl sh', ['show']],
    ['cnpctl show b', ['bgp']],
    ['cnpctl -o .', ['table', 'json']],
    ['cnpctl --output = j', ['json']],
    ['cnpctl --output = json sh', ['show']],
    ['cnpctl --socket show gr', ['group']],
    ['cnpctl --timeout .', []],
    ['cnpctl log isis=de', ['isis=debug']],
    ['cnpctl log isis = d', ['debug']],
    ['cnpctl log isis=info stamp =', ['debug', 'info', 'warn', 'error', 'file']],
    ['cnpctl completion .', ['bash', 'zsh', 'fish']],
    ['cnpctl doctor --vty-dir /pro', ['/proc']],
    ['cnpctl doctor --config /proc/meminf', ['/proc/meminfo']],
  ])('%s', (line, words) => {
    expect(offered([line])).toEqual([words]);
  });

  test('files are offered for an argument that is one', () => {
    const program = describeCommand(new Command('p').addCommand(new Command('check').argument('<file>')));
    expect(offered(['p check /proc/meminf'], program)).toEqual([['/proc/meminfo']]);
  });
});

describe('in all shells', () => {
  test.each(SHELLS)('%s knows every command and every long option', (shell) => {
    const script = completionScript(shell, cnpctl);
    for (const { command, options } of placesOf(cnpctl)) {
      expect(script).toContain(`'${command.path.join(' ')}'`);
      for (const { names } of options)
        expect(script).toContain(names.at(-1)!.replace(shell === 'fish' ? '--' : '', ''));
    }
  });

  test.each(SHELLS)('%s: a quotation mark in a description does not end the text', (shell) => {
    const program = new Command('p').description("it's").option('--all', "cnpd's $HOME");
    const script = completionScript(shell, describeCommand(program.addCommand(new Command('a').description("b's"))));
    if (shell !== 'bash') expect(script).toContain(String.raw`cnpd'\''s $HOME`);
    // The syntax of fish is another.
    if (shell !== 'fish') expect(spawnSync('bash', ['-n'], { input: script })).toMatchObject({ status: 0 });
  });
});

describe('manual page', () => {
  const text = { version: '1.2.3', description: ['One.', '.Two'], sections: [], seeAlso: ['cnpd(8)'] };
  const lines = (program: Command): string[] => manualPage(describeCommand(program), text).split('\n');

  test('has every command and option of cnpctl', () => {
    const page = manualPage(cnpctl, text).replaceAll(String.raw`\-`, '-');
    for (const { command, options } of placesOf(cnpctl)) {
      if (command !== cnpctl) expect(page).toContain(`\\fB${command.path.slice(1).join(' ')}\\fR`);
      for (const { names } of options) expect(page).toContain(names.at(-1));
    }
  });

  test('shows choices, defaults and arguments', () => {
    const page = lines(
      new Command('p')
        .description('does it.')
        .addOption(new Option('-o, --output <format>', 'how').choices(['a', 'b']).default('a'))
        .addCommand(new Command('go').description('goes').addArgument(new Argument('<where>', 'to what place'))),
    );
    expect(page).toContain(String.raw`p \- does it`);
    expect(page).toContain('how (one of a, b; default: a)');
    expect(page).toContain(String.raw`\fBgo\fR \fI<where>\fR`);
    expect(page).toContain('to what place');
  });

  test('text is not taken for requests or escapes', () => {
    const page = lines(new Command('p').description('d').option('--all', String.raw`.so \n '-'`));
    expect(page).toContain(String.raw`\&.Two`);
    expect(page).toContain(String.raw`\&.so \en '\-'`);
  });
});
