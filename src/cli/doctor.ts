// `cnpctl doctor`: everything that cnpd needs here, what is missing, and the command that fixes it. A running cnpd
// knows the kernel, its ports and its paths; without one they are checked here. The routing suite and gobgpd are
// asked in either case.
import { RUNNING, checkOriginated, notRunning, problemCheck } from '../diagnosis/running.ts';
import type { BgpSessionState } from '../model/carrier-state.ts';
import type { Check, Problem } from '../model/problem.ts';
import type { ConfigInForce } from '../diagnosis/in-force.ts';
import { NorthboundError } from '../northbound/client.ts';
import { CONFIG_FILE } from '../model/paths.ts';
import type { Row } from '../model/state.ts';
import { type Context, type FrrPlace, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { printable } from './table.ts';

interface Status {
  readonly problems?: readonly (Omit<Problem, 'code'> & { readonly code?: string })[];
  readonly intent: { readonly file: string; readonly persistent?: boolean; readonly 'confirm-by'?: string };
}

export interface DoctorOptions extends FrrPlace {
  readonly config?: string;
}

/** Exit code 1 when anything is missing; not because of a warning. */
export async function doctor(given: Context, options: DoctorOptions): Promise<ExitCode> {
  const context = await atSocketOf(options.config, given);
  const items = await examine(context, options);
  if (context.options.output === 'json') printJson(context, { ok: items.every(isOk), items: items.map(fields) });
  else
    print(
      context,
      items.flatMap((item) => describe(item, context.color)),
    );
  return items.every(isOk) ? EXIT.ok : EXIT.problem;
}

/** The cnpd of a file that is named is asked where that file says. */
async function atSocketOf(config: string | undefined, context: Context): Promise<Context> {
  if (config === undefined || context.options.socketGiven) return context;
  const socket = (await context.socketOf(config)) ?? context.options.socket;
  return { ...context, options: { ...context.options, socket } };
}

const isOk = (item: Check): boolean => item.state === 'ok' || item.state === 'warning';

/** Only these: an item may have fields that are not shown. */
const fields = ({ id, claim, state, problem, remedy }: Check): Check => ({
  id,
  claim,
  state,
  ...(problem === undefined ? {} : { problem }),
  ...(remedy === undefined ? {} : { remedy }),
});

async function examine(context: Context, { config, vtyDir, vtysh }: DoctorOptions): Promise<Check[]> {
  let status: Status | undefined;
  let items: Check[];
  let roots: string[] | undefined;
  let inForce: ConfigInForce | undefined;
  try {
    status = (await withCnpd(context, (client) => client.get(['cnpd', 'status']))) as Status;
    const session = await withCnpd(context, (client) => client.get(['cnpd', 'bgp', 'session']));
    roots = rootsAmong(
      (await withCnpd(context, (client) => client.get(['cnpd', 'groups', 'group']))) as Row[] | undefined,
    );
    if (config === undefined) inForce = await inForceOf(context, status);
    const problems = status.problems ?? [];
    items = [
      RUNNING,
      ...problems.map(problemCheck),
      ...checkOriginated(
        problems.some(({ feature }) => feature === 'bgp'),
        (session as readonly BgpSessionState[] | undefined)?.[0],
      ),
    ];
  } catch (error) {
    if (!(error instanceof NorthboundError)) throw error;
    items = [notRunning(error, error.code === 'unreachable')];
  }
  return [
    ...items,
    ...(await context.examine(config ?? status?.intent.file ?? CONFIG_FILE, {
      kernel: status === undefined,
      ...(roots === undefined ? {} : { roots }),
      ...(inForce && { inForce }),
      ...((vtyDir ?? vtysh) !== undefined && {
        location: { ...(vtyDir !== undefined && { vtyDir }), ...(vtysh !== undefined && { vtysh }) },
      }),
    })),
  ];
}

async function inForceOf(context: Context, { intent }: Status): Promise<ConfigInForce> {
  const { text } = await withCnpd(context, (client) => client.configuration());
  const confirmBy = intent['confirm-by'];
  return { text, isPersistent: intent.persistent === true, ...(confirmBy !== undefined && { confirmBy }) };
}

/** Without receivers there is no tree. */
const rootsAmong = (groups: readonly Row[] = []): string[] =>
  groups
    .filter((row) => row['tree'] !== undefined && (row['roles'] as string[] | undefined)?.includes('root'))
    .map((row) => String(row['proxy-address']));

const COLORS = { ok: '\u001b[32m', warning: '\u001b[33m', missing: '\u001b[31m', unknown: '\u001b[33m' } as const;

function describe({ id, claim, state, problem, remedy }: Check, color: boolean): string[] {
  const padded = state.padEnd(7);
  const lines = [
    `${color ? `${COLORS[state]}${padded}\u001b[0m` : padded}  ${printable(id)}: ` +
      `${printable(state === 'ok' ? claim : (problem ?? claim))}`,
  ];
  if (state === 'unknown') lines[0] += ' (fix the above first)';
  if (remedy !== undefined) lines.push(`         ${printable(remedy)}`);
  return lines;
}
