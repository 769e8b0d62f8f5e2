// `cnpctl show counters` and `cnpctl clear counters`. Clearing changes nothing in cnpd: collectors that read the same
// counters over gNMI must not see them fall. It notes the values beside the socket; the table shows what came since.
import { messageOf } from '../model/error-text.ts';
import { clearedCountersOf } from '../model/paths.ts';
import type { Row } from '../model/state.ts';
import { layOut } from './columns.ts';
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { formatAge } from './table.ts';
import { VIEWS } from './views.ts';

interface Cleared {
  readonly at: string;
  /** `started-at` of the cnpd that counted: the counters of the agent begin at 0 with the next one. */
  readonly startedAt: string;
  readonly values: Readonly<Record<string, number>>;
}

interface Counted {
  readonly startedAt: string;
  readonly rows: Row[];
}

const counted = (context: Context): Promise<Counted> =>
  withCnpd(context, async (client) => {
    const status = (await client.get(['cnpd', 'status'])) as Row;
    const rows = (await client.get(VIEWS.counters.path)) as Row[] | undefined;
    return { startedAt: String(status['started-at']), rows: rows ?? [] };
  });

export async function clearCounters(context: Context): Promise<ExitCode> {
  const { startedAt, rows } = await counted(context);
  const at = new Date(context.nowMs()).toISOString();
  const values = Object.fromEntries(rows.map((row) => [String(row['name']), Number(row['value'])]));
  const cleared: Cleared = { at, startedAt, values };
  const file = clearedCountersOf(context.options.socket);
  try {
    context.writeFile(file, JSON.stringify(cleared));
  } catch (error) {
    context.err(`cnpctl: cannot note the counters in ${file}: ${messageOf(error)}\n`);
    return EXIT.error;
  }
  if (context.options.output === 'json') printJson(context, { at, counters: rows.length });
  else print(context, [`${rows.length} counters are shown from 0 on; --total shows all that was counted`]);
  return EXIT.ok;
}

interface CounterOptions {
  readonly total?: boolean;
  readonly all?: boolean;
}

/** JSON always has the totals, and all of them. */
export async function showCounters(
  context: Context,
  { total = false, all = false }: CounterOptions,
): Promise<ExitCode> {
  const { startedAt, rows } = await counted(context);
  if (context.options.output === 'json') {
    printJson(context, rows);
    return EXIT.ok;
  }
  const cleared = total ? undefined : readCleared(context.readFile(clearedCountersOf(context.options.socket)));
  const lines = (shown: readonly Row[]): string[] => {
    const counting = all ? shown : shown.filter((row) => row['value'] !== 0);
    const zero = shown.length - counting.length;
    return [
      ...layOut(VIEWS.counters, counting, context),
      ...(zero > 0 ? ['', `${zero} more ${zero === 1 ? 'is' : 'are'} zero: --all`] : []),
    ];
  };
  if (cleared?.startedAt !== startedAt) print(context, lines(rows));
  else
    print(context, [
      `since ${cleared.at} (${formatAge(cleared.at, context.nowMs())} ago); --total shows all that was counted`,
      '',
      ...lines(
        rows.map((row) => ({ ...row, value: Number(row['value']) - (cleared.values[String(row['name'])] ?? 0) })),
      ),
    ]);
  return EXIT.ok;
}

/** Undefined when there is none, or it is not what this cnpctl writes. */
function readCleared(text: string | undefined): Cleared | undefined {
  if (text === undefined) return undefined;
  try {
    const { at, startedAt, values } = JSON.parse(text) as Partial<Cleared>;
    return typeof at === 'string' && typeof startedAt === 'string' && typeof values === 'object'
      ? { at, startedAt, values }
      : undefined;
  } catch {
    return undefined;
  }
}
