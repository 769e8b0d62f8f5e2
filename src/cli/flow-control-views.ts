// `cnpctl show flow-control`, and the traffic that it pauses for `show holds`.
import type { Row } from '../model/state.ts';
import { type Cells, type View, type ViewColumn, address, age, layOut, number, port, text } from './columns.ts';
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Filters, applies, filterRows, filtered } from './filters.ts';
import { type Column, formatPairs, printable } from './table.ts';
import { VIEWS } from './views.ts';

/** A threshold that a port does not have. */
const threshold = (name: string, header: string): Column<Cells> => ({
  header,
  cell: ({ row }) => (row['watched'] === true ? (row[name] as number) : 'not watched'),
  align: 'right',
});

/** A service or a flow has two addresses. */
const traffic = (header: string): ViewColumn => ({
  ...text('traffic', header),
  filter: { by: 'prefix', values: (row) => [row['source'], row['destination']] },
});

type Table = Pick<View, 'empty' | 'columns'>;

const PORTS: Table = {
  empty: 'no port is watched, and none holds',
  columns: [
    port('interface'),
    threshold('pause-above', 'pause above (B)'),
    threshold('resume-below', 'resume below (B)'),
    number('asked'),
    text('holds'),
    number('paused'),
  ],
};

const ASKED: Table = {
  empty: 'no neighbor is asked to pause anything',
  columns: [
    traffic('asked to pause'),
    address('neighbor'),
    port('ingress', 'arrives at'),
    port('interface', 'fills'),
    text('reason'),
    age('since', 'age'),
    number('times', 'ARNs'),
  ],
};

const PAUSED: Table = {
  empty: 'nothing is paused for a neighbor',
  columns: [
    traffic('paused'),
    port('interface', 'leaves by'),
    address('neighbor', 'asked by'),
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

/** The tables of `show flow-control` and `show holds`, for what can be filtered. */
export const FLOW_CONTROL_TABLES: readonly Table[] = [PORTS, ASKED, PAUSED];
export const HOLD_TABLES: readonly Table[] = [VIEWS.holds, PAUSED];

/** Mode and ports, what is asked of whom, what is held for whom, and what is wrong. */
export async function showFlowControl(context: Context, filters: Filters): Promise<ExitCode> {
  const [shown = {}, all = []] = await withCnpd(context, async (client) => [
    (await client.get(PATH)) as Shown | undefined,
    (await client.get(['cnpd', 'status', 'problems'])) as Problem[] | undefined,
  ]);
  const problems = all.filter(({ feature }) => /^flow-control\b/.test(feature));
  const { ports = [], asked = [], paused = [], ...general } = shown;
  const tables = [
    { name: 'ports', table: PORTS, rows: ports },
    { name: 'asked', table: ASKED, rows: asked },
    { name: 'paused', table: PAUSED, rows: paused },
  ].filter(({ table }) => applies(table, filters));
  if (context.options.output === 'json') {
    const lists = tables.map(({ name, table, rows }) => [name, filterRows(table, rows, filters)]);
    printJson(context, { ...general, ...Object.fromEntries(lists), problems });
  } else if (shown.mode === undefined) print(context, [EMPTY]);
  else
    print(context, [
      ...formatPairs([
        ['mode', shown.mode],
        ['UDP port', shown['udp-port']],
        ['Para-Type', shown['bit-order']],
      ]),
      ...tables.flatMap(({ table, rows }) => ['', ...layOutMatching(context, table, rows, filters)]),
      ...problems.flatMap(({ feature, problem, remedy }) => [
        '',
        `${printable(feature)}: ${printable(problem)}`,
        `  ${printable(remedy)}`,
      ]),
    ]);
  return EXIT.ok;
}

const layOutMatching = (context: Context, table: Table, rows: readonly Row[], filters: Filters): string[] =>
  layOut(filtered(table, rows, filters), filterRows(table, rows, filters), context);

/** Flows that are held for hosts, then traffic that is held for neighbors; in JSON one list. */
export async function showHolds(context: Context, filters: Filters): Promise<ExitCode> {
  const [holds = [], paused = []] = await withCnpd(context, async (client) => [
    (await client.get(VIEWS.holds.path)) as Row[] | undefined,
    (await client.get([...PATH, 'paused'])) as Row[] | undefined,
  ]);
  const tables = [
    { table: VIEWS.holds, rows: holds },
    { table: PAUSED, rows: paused },
  ].filter(({ table }) => applies(table, filters));
  const matching = tables.map(({ table, rows }) => ({ table, rows: filterRows(table, rows, filters) }));
  const found = matching.filter(({ rows }) => rows.length > 0);
  if (context.options.output === 'json')
    printJson(
      context,
      found.flatMap(({ rows }) => rows),
    );
  else if (found.length === 0) print(context, [filtered(VIEWS.holds, [...holds, ...paused], filters).empty]);
  else
    print(
      context,
      found.flatMap(({ table, rows }, i) => [...(i > 0 ? [''] : []), ...layOut(table, rows, context)]),
    );
  return EXIT.ok;
}
