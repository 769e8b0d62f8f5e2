// Changes of the configuration: plan, diff, apply, confirm, rollback, reload, and `show config`. cnpd computes and does
// them; here they are asked for and printed.
import { type Command, InvalidArgumentError } from 'commander';
import {
  type ConfigOutcome,
  type ConfigPlan,
  LONGEST_CONFIRM_MS,
  type PlaneChanges,
  SHORTEST_CONFIRM_MS,
  isNothing,
} from '../model/config-change.ts';
import type { ConfigText } from '../northbound/client.ts';
import { type Act, type Context, openNamed, print, printJson, withCnpd } from './context.ts';
import { onConfigSocket } from './set-socket.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { FileError } from './file-error.ts';
import { printable, wrap } from './table.ts';

const UNITS = { '': 1000, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds. */
function duration(text: string): number {
  const [, number, unit] = /^(\d{1,5})([smh]?)$/.exec(text) ?? [];
  const ms = Number(number) * UNITS[(unit ?? '') as keyof typeof UNITS];
  if (!(ms >= SHORTEST_CONFIRM_MS && ms <= LONGEST_CONFIRM_MS))
    throw new InvalidArgumentError('allowed: 1s to 24h, such as 60s, 5m or 2h.');
  return ms;
}

export function addConfig(program: Command, act: Act): void {
  program
    .command('plan')
    .description('what would change if a configuration were in force; exit code 2 when something would')
    .argument('<file>', 'a file as cnpd.yaml; -: standard input')
    .action(act(planFile));
  program
    .command('diff')
    .description('what a reload would change; exit code 2 when it would change something')
    .action(act(diff));
  program
    .command('apply')
    .description('put a configuration in force and write it to the file that cnpd was started with')
    .argument('<file>', 'a file as cnpd.yaml; -: standard input')
    .option('--confirm <time>', 'take it back after this time, such as 60s or 5m, unless `confirm` comes', duration)
    .option('--temporary', 'do not write the file: a reload or a restart ends it')
    .action(act(apply));
  program
    .command('confirm')
    .description('keep the configuration that `apply --confirm` has put in force, and write it to the file')
    .action(act(confirmConfig));
  program
    .command('rollback')
    .description('take back at once what `apply --confirm` has put in force')
    .action(act(rollBack));
  program.command('reload').description('make cnpd read cnpd.yaml again').action(act(reload));
  program
    .command('check')
    .description('validate files, without a running cnpd: errors with their places, and notes on what is of no use')
    .argument('<files...>', 'files as cnpd.yaml; -: standard input')
    .action(act(check));
}

/** @param file `-`: standard input. @throws FileError */
async function textOf(context: Context, file: string): Promise<ConfigText> {
  const found = await openNamed(context, file);
  if (found.kind !== 'text') throw new FileError(`${file}: not a file`);
  return { text: found.text, name: file === '-' ? 'standard input' : file };
}

/** Entries of a plane that a table lists; JSON has more. */
const MOST_LISTED = 20;
const SIGNS = { add: '+', change: '~', remove: '-' } as const;

/** Of the further lines of an entry. */
const INDENT = '      ';

function planeLines({ plane, added, changed, removed, entries }: PlaneChanges, width: number): string[] {
  const total = added + changed + removed;
  const name = plane.replace('-', ' ');
  if (total === 0) return [`${name}: no change`];
  const listed = entries.slice(0, MOST_LISTED);
  return [
    `${name}: ${added} added, ${changed} changed, ${removed} removed`,
    ...listed.flatMap(({ operation, entry, detail }) => {
      const [first = '', ...more] = wrap(
        printable(`${entry}${detail === '' ? '' : `: ${detail}`}`),
        width - INDENT.length,
      );
      return [`  ${SIGNS[operation]} ${first}`, ...more.map((line) => `${INDENT}${line}`)];
    }),
    ...(total > listed.length ? [`  … and ${total - listed.length} more`] : []),
  ];
}

/** Exit code 2 when something would change. */
async function planFile(context: Context, file: string): Promise<ExitCode> {
  const text = await textOf(context, file).catch((error: unknown) => {
    // Exit code 2 would say that something would change.
    throw error instanceof FileError ? new Error(error.message) : error;
  });
  return showPlan(context, await withCnpd(onConfigSocket(context), (client) => client.plan(text)));
}

/** Exit code 2 when a reload would change something. */
const diff = async (context: Context): Promise<ExitCode> =>
  showPlan(context, await withCnpd(context, (client) => client.plan()));

function showPlan(context: Context, plan: ConfigPlan): ExitCode {
  const { ok, errors, changed, planes = [] } = plan;
  const isSame = changed.length === 0 && isNothing(planes);
  if (context.options.output === 'json') printJson(context, plan);
  else if (!ok) context.err(['cnpctl: the configuration has errors:', ...errors.map(printable), ''].join('\n'));
  else if (isSame) print(context, ['nothing would change']);
  else
    print(context, [
      ...wrap(`sections that differ: ${changed.join(', ') || 'none'}`, context.width),
      ...planes.flatMap((plane) => planeLines(plane, context.width)),
    ]);
  if (!ok) return EXIT.error;
  return isSame ? EXIT.ok : EXIT.differs;
}

interface ApplyOptions {
  /** Milliseconds. */
  readonly confirm?: number;
  readonly temporary?: boolean;
}

async function apply(context: Context, file: string, { confirm, temporary }: ApplyOptions): Promise<ExitCode> {
  const text = await textOf(context, file);
  const terms = { ...(confirm !== undefined && { confirmMs: confirm }), ...(temporary && { isTemporary: true }) };
  const outcome = await withCnpd(onConfigSocket(context), (client) => client.apply(text, terms));
  return showOutcome(context, outcome, 'applied');
}

async function confirmConfig(context: Context): Promise<ExitCode> {
  await withCnpd(onConfigSocket(context), (client) => client.confirm());
  if (context.options.output === 'json') printJson(context, { ok: true });
  else print(context, ['confirmed: the configuration in force stays']);
  return EXIT.ok;
}

const rollBack = async (context: Context): Promise<ExitCode> =>
  showOutcome(context, await withCnpd(onConfigSocket(context), (client) => client.rollBack()), 'rolled back');

const reload = async (context: Context): Promise<ExitCode> =>
  showOutcome(context, await withCnpd(context, (client) => client.reload()), 'reloaded');

/** Exit code 1 when something waits for a restart. */
function showOutcome(context: Context, outcome: ConfigOutcome, done: string): ExitCode {
  const { ok, errors, changed, planes = [], health, problems = [], confirmBy } = outcome;
  if (context.options.output === 'json') printJson(context, outcome);
  else if (ok) {
    print(context, [
      changed.length === 0 ? `${done}: nothing changed` : `${done}: changed ${changed.join(', ')}`,
      ...(isNothing(planes) ? [] : planes.flatMap((plane) => planeLines(plane, context.width))),
      ...(health ? [`health: ${health}`] : []),
      ...problems.map((problem) => `  ${printable(problem)}`),
      ...(confirmBy === undefined
        ? []
        : [`on trial until ${confirmBy}: cnpctl confirm keeps it, otherwise cnpd takes it back`]),
    ]);
    for (const error of errors) context.err(`cnpctl: not in force: ${printable(error)}\n`);
  } else context.err(['cnpctl: cnpd refused, what is in force stays:', ...errors.map(printable), ''].join('\n'));
  if (!ok) return EXIT.error;
  return errors.length === 0 ? EXIT.ok : EXIT.problem;
}

export async function showConfig(context: Context): Promise<ExitCode> {
  const { text, tree, defaults } = await withCnpd(context, (client) => client.configuration());
  if (context.options.output === 'json') printJson(context, { configuration: tree, defaults });
  else context.out(text);
  return EXIT.ok;
}

async function check(context: Context, files: readonly string[]): Promise<ExitCode> {
  return (await context.check(files, context.options.output)) ? EXIT.ok : EXIT.problem;
}
