// `cnpd --configure` beside FRR: gives it the lines that the preconditions miss and that are cnpd's to give, through
// vtysh. Lines are shown before they are applied and checked afterwards. When FRR refuses one, those before it are
// taken back. FRR's startup configuration is written only when asked.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigureError,
  type ConfigureDependencies as SuiteDependencies,
  type ConfigureOptions as SuiteOptions,
} from '../model/router-suite.ts';
import { type FrrCheck, type FrrLine, shownLine } from './check.ts';
import { type FrrLocation, vtyshCommand } from './frr-facts.ts';

interface CommandResult {
  readonly status: number | null;
  /** Standard output and error together. */
  readonly output: string;
}

/** Runs a program with `input` on its standard input. */
export type RunCommand = (command: string, args: readonly string[], input: string) => Promise<CommandResult>;

export interface ConfigureOptions extends FrrLocation, SuiteOptions {}

interface ConfigureDependencies extends SuiteDependencies {
  readonly run: RunCommand;
}

interface ConfigureOutcome {
  readonly applied: readonly FrrLine[];
  /** What is still missing afterwards: an operator's decision, or cnpd is not running yet. */
  readonly remaining: readonly FrrCheck[];
}

/** @param examine what FRR lacks now @throws ConfigureError */
export async function configureFrr(
  examine: () => Promise<readonly FrrCheck[]>,
  options: ConfigureOptions,
  dependencies: ConfigureDependencies,
): Promise<ConfigureOutcome> {
  const { say } = dependencies;
  const before = await examine();
  // Without a daemon's configuration it is unknown what it lacks.
  const deaf = before.find((check) => check.code === 'daemon-silent');
  if (deaf) throw new ConfigureError('unreachable', `${deaf.problem}; nothing was changed. To fix it: ${deaf.remedy}`);
  const lines = before.flatMap((check) => check.lines ?? []);
  if (lines.length === 0) say('FRR has every line that cnpd can give it; nothing to do');
  for (const [i, line] of lines.entries()) {
    if (line.context !== lines[i - 1]?.context) say(line.context);
    say(` ${shownLine(line)}`);
  }
  if (options.dryRun) return { applied: [], remaining: before.filter((check) => check.state !== 'ok') };
  await applyAll(lines, options, dependencies);
  const after = lines.length === 0 ? before : await examine();
  const stubborn = after.find(
    (check) => check.lines !== undefined && before.some((old) => old.id === check.id && old.lines !== undefined),
  );
  if (stubborn) throw new ConfigureError('refused', `vtysh reported no error, but ${stubborn.problem} still`);
  if (options.save) await save(options, dependencies);
  return { applied: lines, remaining: after.filter((check) => check.state !== 'ok') };
}

async function applyAll(
  lines: readonly FrrLine[],
  options: ConfigureOptions,
  dependencies: ConfigureDependencies,
): Promise<void> {
  const done: FrrLine[] = [];
  for (const line of lines) {
    const refusal = await configureLine(line, line.line, options, dependencies);
    if (refusal === undefined) {
      done.push(line);
      continue;
    }
    const what = `FRR refuses "${shownLine(line)}" under "${line.context}": ${refusal}`;
    const left = await takeBack(done, options, dependencies);
    if (left.length > 0)
      throw new ConfigureError(
        'undo-failed',
        `${what}; and these could not be rolled back: ${left.map(shownLine).join(', ')}`,
      );
    throw new ConfigureError(
      'refused',
      done.length > 0 ? `${what}; the ${done.length} before it were rolled back` : what,
    );
  }
}

/** Undoes the newest first; returns what could not be undone. */
async function takeBack(
  done: readonly FrrLine[],
  options: ConfigureOptions,
  dependencies: ConfigureDependencies,
): Promise<FrrLine[]> {
  const left: FrrLine[] = [];
  for (const line of done.toReversed()) {
    const refusal = await configureLine(line, line.undo, options, dependencies);
    if (refusal === undefined) continue;
    dependencies.log.error(
      { context: line.context, line: shownLine(line), refusal },
      'a line could not be rolled back',
    );
    left.push(line);
  }
  return left;
}

/** Where there is no vtysh.conf, as in many containers, vtysh says so and goes on. */
const HARMLESS = /^% Can't open configuration file .*$/gm;

/**
 * The refusal in FRR's words, or undefined. The text goes through standard input, because every process of the machine
 * can read an argument, which may be a key. vtysh then exits 0 even when a transaction is rejected, so its output
 * counts as well.
 */
async function configureLine(
  line: FrrLine,
  text: string,
  options: ConfigureOptions,
  { run }: ConfigureDependencies,
): Promise<string | undefined> {
  const [vtysh, ...sockets] = vtyshCommand(options);
  const { status, output } = await run(vtysh, [...sockets, '-f', '/dev/stdin'], `${line.context}\n${text}\n`);
  const printed = output
    .replace(HARMLESS, '')
    .trim()
    .replace(/\s*\n+\s*/g, ' ');
  if (status === 0 && !/%|failed|error/i.test(printed)) return undefined;
  const words = printed === '' ? `vtysh ended with status ${status}` : printed;
  return line.secret === undefined ? words : words.replaceAll(line.secret, '<key>');
}

async function save(options: ConfigureOptions, { run, say }: ConfigureDependencies): Promise<void> {
  const [vtysh, ...sockets] = vtyshCommand(options);
  const { status, output } = await run(vtysh, [...sockets, '-c', 'write memory'], '');
  if (status !== 0) throw new ConfigureError('save', `write memory failed: ${output.trim()}`);
  say('written to the startup configuration');
}

const COMMAND_TIMEOUT_MS = 15_000;

/**
 * RunCommand with a real process; one that takes too long is killed and has status null. The input is an unlinked file:
 * node's pipes are sockets, and those cannot be opened again by the name /dev/stdin.
 */
export const runCommand: RunCommand = (command, args, input) =>
  new Promise((resolve) => {
    const stdin = unlinkedFile(input);
    const child = spawn(command, args, {
      stdio: [stdin, 'pipe', 'pipe'],
      timeout: COMMAND_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout!.on('data', collect);
    child.stderr!.on('data', collect);
    child.on('error', (error) => resolve({ status: null, output: error.message }));
    child.on('close', (status) => resolve({ status, output }));
    closeSync(stdin);
  });

function unlinkedFile(text: string): number {
  const dir = mkdtempSync(join(tmpdir(), 'cnpd-'));
  try {
    const path = join(dir, 'stdin');
    writeFileSync(path, text, { mode: 0o600 });
    return openSync(path, 'r');
  } finally {
    rmSync(dir, { recursive: true });
  }
}
