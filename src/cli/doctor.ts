// `cnpctl doctor`: everything that has to be so for cnpd to work here, what is missing, and the line that mends it. A
// running cnpd knows the kernel, its ports and its paths; without one they are examined here. FRR and gobgpd are asked
// in either case.
import type { Check } from '../model/problem.ts';
import { NorthboundError } from '../northbound/client.ts';
import { CONFIG_FILE } from '../model/paths.ts';
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { printable } from './table.ts';

interface Status {
  readonly pid: number;
  readonly problems?: readonly { readonly feature: string; readonly problem: string; readonly remedy: string }[];
  readonly intent: { readonly file: string };
}

interface Session {
  readonly state: string;
  readonly originated: number;
  readonly wanted: number;
  readonly refusal?: string;
}

export interface DoctorOptions {
  readonly config?: string;
  readonly vtyDir?: string;
}

const DAEMON = { id: 'cnpd', claim: 'cnpd runs' } as const;

/** Exit code 1 when anything is missing; not because of a warning. */
export async function doctor(given: Context, options: DoctorOptions): Promise<ExitCode> {
  const context = await atSocketOf(options.config, given);
  const items = await examine(context, options);
  if (context.options.output === 'json') printJson(context, { ok: items.every(isOk), items: items.map(fields) });
  else
    print(
      context,
      items.flatMap((item) => describe(item, context.colour)),
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

/** Only these: an item may carry more than is to be shown. */
const fields = ({ id, claim, state, problem, remedy }: Check): Check => ({
  id,
  claim,
  state,
  ...(problem === undefined ? {} : { problem }),
  ...(remedy === undefined ? {} : { remedy }),
});

async function examine(context: Context, { config, vtyDir }: DoctorOptions): Promise<Check[]> {
  let status: Status | undefined;
  let items: Check[];
  try {
    status = (await withCnpd(context, (client) => client.get(['cnpd', 'status']))) as Status;
    const problems = (status.problems ?? []).map(({ feature, problem, remedy }) => ({
      id: feature,
      claim: `${feature} works`,
      state: 'missing' as const,
      problem,
      remedy,
    }));
    items = [
      { ...DAEMON, state: 'ok' },
      ...problems,
      ...originated(
        problems.some(({ id }) => id === 'bgp'),
        await withCnpd(context, (client) => client.get(['cnpd', 'bgp', 'session'])),
      ),
    ];
  } catch (error) {
    if (!(error instanceof NorthboundError)) throw error;
    const remedy = error.code === 'unreachable' ? 'systemctl start cnpd' : 'systemctl restart cnpd; journalctl -u cnpd';
    items = [{ ...DAEMON, state: 'missing', problem: error.message, remedy }];
  }
  return [
    ...items,
    ...(await context.examine(config ?? status?.intent.file ?? CONFIG_FILE, {
      kernel: status === undefined,
      ...(vtyDir === undefined ? {} : { vtyDir }),
    })),
  ];
}

/** What gobgpd has of the running cnpd's. Why a gobgpd that is away has nothing is among the problems. */
function originated(explained: boolean, answer: unknown): Check[] {
  const [session] = (answer as readonly Session[] | undefined) ?? [];
  if (session?.state !== 'ready') return [];
  const [id, count] = ['bgp.originated', `${session.originated} of ${session.wanted} of cnpd's paths`];
  if (session.originated === session.wanted && session.refusal === undefined)
    return [{ id, claim: `${count} are in gobgpd`, state: 'ok' }];
  const remedy =
    explained || session.refusal !== undefined
      ? 'mend what is said of bgp above'
      : 'ask again in a moment: they are on their way';
  return [{ id, claim: "cnpd's paths are in gobgpd", state: 'missing', problem: `${count} are in gobgpd`, remedy }];
}

const COLOURS = { ok: '\u001b[32m', warning: '\u001b[33m', missing: '\u001b[31m', unknown: '\u001b[33m' } as const;

function describe({ id, claim, state, problem, remedy }: Check, colour: boolean): string[] {
  const padded = state.padEnd(7);
  const lines = [
    `${colour ? `${COLOURS[state]}${padded}\u001b[0m` : padded}  ${printable(id)}: ` +
      `${printable(state === 'ok' ? claim : (problem ?? claim))}`,
  ];
  if (state === 'unknown') lines[0] += ' (cannot be told before the above is mended)';
  if (remedy !== undefined) lines.push(`         ${printable(remedy)}`);
  return lines;
}
