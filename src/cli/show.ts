// `cnpctl show …`: asks one path and prints it. The subjects and their columns are in views.ts.
import { parseAddress } from '../model/address.ts';
import type { Row } from '../model/state.ts';
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { coveringEntries, explainClaim, explainDecision } from './senders.ts';
import { formatAge, formatPairs, printable } from './table.ts';
import { type View, layOut } from './columns.ts';
import { VIEWS } from './views.ts';

const rowsOf = async (context: Context, view: View): Promise<Row[]> =>
  ((await withCnpd(context, (client) => client.get(view.path))) as Row[] | undefined) ?? [];

function printRows(context: Context, view: View, rows: readonly Row[]): void {
  if (context.options.output === 'json') printJson(context, rows);
  else print(context, layOut(view, rows, context.nowMs()));
}

export async function showList(context: Context, view: View): Promise<ExitCode> {
  printRows(context, view, await rowsOf(context, view));
  return EXIT.ok;
}

/** Whether the row is in force for its prefix, as its proxy or as what its senders understand. */
const isInForce = (row: Row): boolean => row['best'] === true || row['supports-in-force'] === true;
const saysSomething = (row: Row): boolean => row['proxy'] !== undefined || row['supports-in-force'] === true;

/** Only senders of which something is known, unless `all`: an IGP names thousands of prefixes without. */
export async function showSenders(context: Context, all: boolean): Promise<ExitCode> {
  const rows = await rowsOf(context, VIEWS.senders);
  printRows(context, VIEWS.senders, all ? rows : rows.filter((row) => isInForce(row) && saysSomething(row)));
  return EXIT.ok;
}

/** Which proxy an address has, and why, and what it is said to understand. Exit code 1: no proxy. */
export async function showSender(context: Context, text: string, all: boolean): Promise<ExitCode> {
  const address = parseAddress(text)!;
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
      ...(shown.length > 0 ? ['', ...layOut(VIEWS.senders, shown, context.nowMs())] : []),
    ]);
  }
  return proxy === undefined ? EXIT.problem : EXIT.ok;
}

/** The newest `last` of them. */
export async function showLatest(context: Context, view: View, last: number): Promise<ExitCode> {
  printRows(context, view, (await rowsOf(context, view)).slice(0, last));
  return EXIT.ok;
}

/** The ports, what became of their triggers, and where each threshold comes from. */
export async function showPorts(context: Context): Promise<ExitCode> {
  const rows = await rowsOf(context, VIEWS.ports);
  printRows(context, VIEWS.ports, rows);
  if (context.options.output === 'table' && rows.length > 0) {
    print(context, ['', ...layOut(VIEWS.triggers, rows, context.nowMs())]);
    const notes = rows.flatMap((row) =>
      ((row['explanation'] as string[] | undefined) ?? []).map(
        (line) => `${String(row['interface'])}: ${printable(line)}`,
      ),
    );
    if (notes.length > 0) print(context, ['', ...notes]);
  }
  return EXIT.ok;
}

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

function statusLines(status: Status, nowMs: number): string[] {
  const ago = (time: string): string => `${time} (${formatAge(time, nowMs)} ago)`;
  const reload = status.intent['last-reload'];
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
