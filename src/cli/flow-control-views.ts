// `cnpctl show flow-control`, and the traffic that it pauses for `show holds`.
import type { Row } from '../model/state.ts';
import { type Cells, type View, age, layOut, number, text } from './columns.ts';
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Column, formatPairs, printable } from './table.ts';
import { VIEWS } from './views.ts';

/** A threshold that a port does not have. */
const threshold = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row }) => (row['watched'] === true ? (row[name] as number) : 'not watched'),
  align: 'right',
});

const PORTS: Pick<View, 'empty' | 'columns'> = {
  empty: 'no port is watched, and none holds',
  columns: [
    text('interface'),
    threshold('pause-above', 'pause above (B)'),
    threshold('resume-below', 'resume below (B)'),
    number('asked'),
    text('holds'),
    number('paused'),
  ],
};

const ASKED: Pick<View, 'empty' | 'columns'> = {
  empty: 'no neighbor is asked to pause anything',
  columns: [
    text('traffic', 'asked to pause'),
    text('neighbor'),
    text('ingress', 'arrives at'),
    text('interface', 'fills'),
    text('reason'),
    age('since', 'age'),
    number('times', 'ARNs'),
  ],
};

const PAUSED: Pick<View, 'empty' | 'columns'> = {
  empty: 'nothing is paused for a neighbor',
  columns: [
    text('traffic', 'paused'),
    text('interface', 'leaves by'),
    text('neighbor', 'asked by'),
    text('state'),
    { header: 'pause (ms)', cell: ({ row }) => Number(row['pause-us']) / 1000, align: 'right' },
    number('times', 'ARNs'),
    age('since', 'age'),
    age('until', 'ends in'),
  ],
};

const PATH = ['cnpd', 'flow-control'];
const EMPTY = 'this router has no flow control';

interface Shown {
  readonly mode?: string;
  readonly 'udp-port'?: number;
  readonly 'bit-order'?: string;
  readonly ports?: readonly Row[];
  readonly asked?: readonly Row[];
  readonly paused?: readonly Row[];
}
interface Problem {
  readonly feature: string;
  readonly problem: string;
  readonly remedy: string;
}

/** Mode and ports, what is asked of whom, what is held for whom, and what is wrong. */
export async function showFlowControl(context: Context): Promise<ExitCode> {
  const [shown = {}, all = []] = await withCnpd(context, async (client) => [
    (await client.get(PATH)) as Shown | undefined,
    (await client.get(['cnpd', 'status', 'problems'])) as Problem[] | undefined,
  ]);
  const problems = all.filter(({ feature }) => /^flow-control\b/.test(feature));
  if (context.options.output === 'json') printJson(context, { ...shown, problems });
  else if (shown.mode === undefined) print(context, [EMPTY]);
  else print(context, lines(shown, problems, context.nowMs()));
  return EXIT.ok;
}

function lines(shown: Shown, problems: readonly Problem[], nowMs: number): string[] {
  const { ports = [], asked = [], paused = [] } = shown;
  return [
    ...formatPairs([
      ['mode', shown.mode],
      ['UDP port', shown['udp-port']],
      ['Para-Type', shown['bit-order']],
    ]),
    '',
    ...layOut(PORTS, ports, nowMs),
    '',
    ...layOut(ASKED, asked, nowMs),
    '',
    ...layOut(PAUSED, paused, nowMs),
    ...problems.flatMap(({ feature, problem, remedy }) => [
      '',
      `${printable(feature)}: ${printable(problem)}`,
      `  ${printable(remedy)}`,
    ]),
  ];
}

/** Flows that are held for hosts, then traffic that is held for neighbors; in JSON one list. */
export async function showHolds(context: Context): Promise<ExitCode> {
  const [holds = [], paused = []] = await withCnpd(context, async (client) => [
    (await client.get(VIEWS.holds.path)) as Row[] | undefined,
    (await client.get([...PATH, 'paused'])) as Row[] | undefined,
  ]);
  const nowMs = context.nowMs();
  if (context.options.output === 'json') printJson(context, [...holds, ...paused]);
  else {
    const ofHosts = holds.length > 0 || paused.length === 0 ? layOut(VIEWS.holds, holds, nowMs) : [];
    const between = ofHosts.length > 0 && paused.length > 0 ? [''] : [];
    print(context, [...ofHosts, ...between, ...(paused.length > 0 ? layOut(PAUSED, paused, nowMs) : [])]);
  }
  return EXIT.ok;
}
