// `cnpctl show …`: asks one path and prints it. The subjects and their columns are in views.ts.
import { type IpAddress, parseAddress } from '../model/address.ts';
import type { RollBackReason } from '../model/config-change.ts';
import type { Row } from '../model/state.ts';
import { type Context, print, printJson, usage, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Filters, filterRows, filtered } from './filters.ts';
import { coveringEntries, explainClaim, explainDecision } from './senders.ts';
import { folded, formatAge, formatPairs, printable } from './table.ts';
import { type View, few, layOut } from './columns.ts';
import { VIEWS } from './views.ts';

const rowsOf = async (context: Context, view: View): Promise<Row[]> =>
  ((await withCnpd(context, (client) => client.get(view.path))) as Row[] | undefined) ?? [];

function printRows(context: Context, view: Pick<View, 'columns' | 'empty'>, rows: readonly Row[]): void {
  if (context.options.output === 'json') printJson(context, rows);
  else print(context, layOut(view, rows, context));
}

export async function showList(context: Context, view: View, filters: Filters): Promise<ExitCode> {
  const rows = await rowsOf(context, view);
  printRows(context, filtered(view, rows, filters), filterRows(view, rows, filters));
  return EXIT.ok;
}

/** Whether the row is in force for its prefix, as its proxy or as what its senders understand. */
const isInForce = (row: Row): boolean => row['best'] === true || row['supports-in-force'] === true;
const saysSomething = (row: Row): boolean => row['proxy'] !== undefined || row['supports-in-force'] === true;

interface SenderOptions extends Filters {
  readonly all?: boolean;
}

/** `show senders [ADDRESS | PREFIX]`: why a sender has its proxy, or the list. */
export async function showSenders(
  context: Context,
  addressOrPrefix: string | undefined,
  options: SenderOptions,
): Promise<ExitCode> {
  const both = bothGiven('show senders', addressOrPrefix, options.prefix, 'prefix');
  if (both !== undefined) return usage(context, both);
  if (addressOrPrefix === undefined) return listSenders(context, options);
  const address = parseAddress(addressOrPrefix);
  return address
    ? showSender(context, addressOrPrefix, address, options.all === true)
    : listSenders(context, { ...options, prefix: addressOrPrefix });
}

/** Only senders of which something is known, unless `all`: an IGP names thousands of prefixes without. */
async function listSenders(context: Context, { all, ...filters }: SenderOptions): Promise<ExitCode> {
  const rows = await rowsOf(context, VIEWS.senders);
  const shown = all ? rows : rows.filter((row) => isInForce(row) && saysSomething(row));
  printRows(context, filtered(VIEWS.senders, shown, filters), filterRows(VIEWS.senders, shown, filters));
  return EXIT.ok;
}

/** Which proxy an address has, and why, and what it is said to understand. Exit code 1: no proxy. */
async function showSender(context: Context, text: string, address: IpAddress, all: boolean): Promise<ExitCode> {
  const { entries, decides, claims } = coveringEntries(await rowsOf(context, VIEWS.senders), address);
  const shown = all ? entries : entries.filter(isInForce);
  const proxy = decides?.['proxy'];
  if (context.options.output === 'json') {
    printJson(context, {
      address: text,
      ...(proxy === undefined ? {} : { proxy }),
      ...(decides ? { prefix: decides['prefix'] } : {}),
      ...(claims ? { supports: claims['supports'] } : {}),
      entries: shown,
    });
  } else {
    print(context, [
      explainDecision(text, decides),
      ...(claims ? [explainClaim(text, claims)] : []),
      ...(shown.length > 0 ? ['', ...layOut(VIEWS.senders, shown, context)] : []),
    ]);
  }
  return proxy === undefined ? EXIT.problem : EXIT.ok;
}

export interface Latest extends Filters {
  readonly last: number;
}

/** The newest `last` of those that match. */
export async function showLatest(context: Context, view: View, { last, ...filters }: Latest): Promise<ExitCode> {
  const rows = await rowsOf(context, view);
  printRows(context, filtered(view, rows, filters), filterRows(view, rows, filters).slice(0, last));
  return EXIT.ok;
}

/** The ports, what became of their triggers, and where each threshold comes from. Exit code 1: no such port. */
export async function showPorts(context: Context, name: string | undefined, filters: Filters): Promise<ExitCode> {
  const both = bothGiven('show ports', name, filters.port, 'port');
  if (both !== undefined) return usage(context, both);
  const wanted = name === undefined ? filters : { port: name };
  const all = await rowsOf(context, VIEWS.ports);
  const rows = filterRows(VIEWS.ports, all, wanted);
  if (wanted.port !== undefined && rows.length === 0) {
    const others = all.map((row) => printable(String(row['interface'])));
    const known = others.length === 0 ? VIEWS.ports.empty : `monitored: ${few(others, ', ')}`;
    context.err(`cnpctl: port ${wanted.port} is not monitored; ${known}\n`);
    return EXIT.problem;
  }
  printRows(context, filtered(VIEWS.ports, all, wanted), rows);
  if (context.options.output === 'table' && rows.length > 0) {
    print(context, ['', ...layOut(VIEWS.triggers, rows, context)]);
    const notes = rows.flatMap((row) =>
      ((row['explanation'] as string[] | undefined) ?? []).flatMap((line) =>
        folded(`${String(row['interface'])}: ${printable(line)}`, context.width),
      ),
    );
    if (notes.length > 0) print(context, ['', ...notes]);
  }
  return EXIT.ok;
}

/** An argument that stands for an option excludes it. */
const bothGiven = (view: string, argument: string | undefined, option: string | undefined, name: string) =>
  argument !== undefined && option !== undefined
    ? `${view}: found "${argument}" and --${name} ${option}; allowed: one of them`
    : undefined;

interface Status {
  readonly version: string;
  readonly pid: number;
  readonly 'started-at': string;
  readonly health: string;
  readonly 'waits-for'?: readonly string[];
  readonly problems?: readonly { readonly feature: string; readonly problem: string; readonly remedy: string }[];
  readonly intent: {
    readonly file: string;
    readonly 'loaded-at': string;
    readonly persistent?: boolean;
    readonly 'confirm-by'?: string;
    readonly 'rolled-back'?: { readonly at: string; readonly reason: RollBackReason };
    readonly 'last-reload'?: { readonly at: string; readonly ok: boolean; readonly errors?: readonly string[] };
  };
  readonly adopted: boolean;
}

/** Exit code 1 unless it runs as declared. */
export async function showStatus(context: Context): Promise<ExitCode> {
  const status = (await withCnpd(context, (client) => client.get(['cnpd', 'status']))) as Status;
  if (context.options.output === 'json') printJson(context, status);
  else print(context, statusLines(status, context.nowMs()));
  return status.health === 'running' ? EXIT.ok : EXIT.problem;
}

/** Nothing where what is in force is that of the file. */
function keptLines({ persistent, 'confirm-by': confirmBy }: Status['intent']): [string, string][] {
  if (confirmBy !== undefined) return [['on trial', `until ${confirmBy}: cnpctl confirm, or cnpctl rollback`]];
  return persistent === false ? [['kept', 'no: a reload or a restart takes the file']] : [];
}

const ROLLED_BACK: Readonly<Record<RollBackReason, string>> = {
  'not-confirmed': 'no confirmation came in time',
  requested: 'asked for',
};

function statusLines(status: Status, nowMs: number): string[] {
  const ago = (time: string): string => `${time} (${formatAge(time, nowMs)} ago)`;
  const { 'last-reload': reload, 'rolled-back': back } = status.intent;
  const lines = formatPairs([
    ['health', status.health],
    ...(status['waits-for'] ?? []).map((what): [string, string] => ['waits for', what]),
    ['version', status.version],
    ['pid', status.pid],
    ['started', ago(status['started-at'])],
    ['adopted', status.adopted ? 'yes, programs and maps of an earlier run' : 'no'],
    ['intent', status.intent.file],
    ['loaded', ago(status.intent['loaded-at'])],
    ...keptLines(status.intent),
    ...(back ? [['last trial', `rolled back ${ago(back.at)}: ${ROLLED_BACK[back.reason]}`] as const] : []),
    [
      'last reload',
      reload ? `${reload.ok ? 'done' : 'refused, the configuration above stays in force'}, ${ago(reload.at)}` : 'none',
    ],
  ]);
  for (const error of reload?.errors ?? []) lines.push(`  ${printable(error)}`);
  for (const { feature, problem, remedy } of status.problems ?? [])
    lines.push('', `${printable(feature)}: ${printable(problem)}`, `  ${printable(remedy)}`);
  return lines;
}
