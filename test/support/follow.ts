// What a page of the documents tells to do is done, command by command, and shows what the page shows.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Step, consoleSteps, isDefinition, mayRepeat, missing } from '../docs/console.ts';
import { until } from './until.ts';

const REPEAT_LIMIT_MS = 60_000;

export const stepsOf = (page: string): Step[] => consoleSteps(readFileSync(page, 'utf8'));

/**
 * @param directory for the output: a command in the background may still write to its own
 * @returns what a terminal would show of a program. Commands in the background go on.
 */
export async function shownBy(argv: readonly string[], directory: string, cwd?: string): Promise<string> {
  const file = join(mkdtempSync(join(directory, 'command-')), 'output');
  const output = openSync(file, 'w');
  const [program, ...args] = argv;
  const shell = spawn(program!, args, { cwd, stdio: ['ignore', output, output] });
  await once(shell, 'exit');
  closeSync(output);
  return readFileSync(file, 'utf8');
}

/**
 * @param page for messages
 * @param terminal runs a script of bash, and has what a terminal would show
 */
export async function follow(
  page: string,
  steps: readonly Step[],
  terminal: (script: string) => Promise<string>,
): Promise<void> {
  const definitions: string[] = [];
  const run = async (step: Step): Promise<string | undefined> => {
    const output = await terminal([...definitions, step.command].join('\n'));
    const line = missing(step.output, output);
    return line === undefined ? undefined : `${page}:${step.line}: ${step.command}\n  lacks: ${line}\n${output}`;
  };
  for (const step of steps) {
    if (isDefinition(step)) definitions.push(step.command);
    else if (mayRepeat(step))
      await until(
        page,
        () => run(step),
        (wrong) => wrong === undefined || undefined,
        REPEAT_LIMIT_MS,
      );
    else expect(await run(step)).toBeUndefined();
  }
}
