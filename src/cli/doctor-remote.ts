// `cnpctl doctor --remote`: the table of this router's paths as another router sees them, then each reason once, with
// the line that fixes it.
import { type RemoteReport, compareWithRemote } from '../diagnosis/arrival/compare.ts';
import { type BgpOverview, readOverview } from '../diagnosis/arrival/overview.ts';
import type { Arrival, Comparison } from '../diagnosis/arrival/verdicts.ts';
import { bgpOverview } from './bgp.ts';
import { type Context, openNamed, print, printJson } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Column, formatTable, printable } from './table.ts';

/** Rows of each kind of arrival: a proxy may have ten thousand prefixes, and they mostly share a fate. */
const SHOWN = 20;

const ARRIVALS: Readonly<Record<Arrival, string>> = {
  used: 'intact, used',
  'not-used': 'intact, not used',
  altered: 'attribute 39 altered',
  'without-attribute': 'without attribute 39',
  'another-path': "another router's path",
  absent: 'not at all',
};

const COLUMNS: readonly Column<Comparison>[] = [
  { header: 'prefix', cell: (row) => row.prefix },
  { header: 'next hop', cell: (row) => row.nextHop },
  { header: 'arrived', cell: (row) => ARRIVALS[row.arrival] },
  { header: 'from', cell: (row) => row.toldBy },
  { header: 'next hop there', cell: (row) => row.arrivedNextHop },
];

/**
 * Exit code 1 unless every path arrived and is used.
 * @param remote a file, `-` for standard input, or the northbound socket of another cnpd
 */
export async function doctorRemote(context: Context, remote: string): Promise<ExitCode> {
  const other = await overviewOf(context, remote);
  if (typeof other === 'string') {
    context.err(
      `cnpctl: ${remote}: ${other}; it should be what \`cnpctl -o json show bgp\` prints on the other router\n`,
    );
    return EXIT.error;
  }
  const report = compareWithRemote(await bgpOverview(context), other);
  const ok = report.doubts.length === 0 && report.paths.every((path) => path.arrival === 'used');
  if (context.options.output === 'json') printJson(context, { ok, ...report });
  else print(context, lines(report, context.width));
  return ok ? EXIT.ok : EXIT.problem;
}

async function overviewOf(context: Context, remote: string): Promise<BgpOverview | string> {
  const opened = await openNamed(context, remote);
  return opened.kind === 'socket'
    ? bgpOverview({ ...context, options: { ...context.options, socket: remote } })
    : readOverview(opened.text);
}

function lines({ doubts, paths }: RemoteReport, width: number): string[] {
  const kinds = Object.keys(ARRIVALS) as Arrival[];
  const left = kinds.flatMap((kind) => {
    const more = paths.filter((path) => path.arrival === kind).length - SHOWN;
    return more > 0 ? [`… and ${more} more: ${ARRIVALS[kind]}`] : [];
  });
  const shown = kinds.flatMap((kind) => paths.filter((path) => path.arrival === kind).slice(0, SHOWN));
  const inOrder = paths.filter((path) => shown.includes(path));
  const used = paths.filter((path) => path.arrival === 'used').length;
  return [
    ...formatTable(COLUMNS, inOrder, 'this router has added no path to BGP', width),
    ...left,
    ...(paths.length > 0 ? ['', `${used} of ${paths.length} paths arrived intact and are used`] : []),
    ...doubts.flatMap(({ problem, remedy }) => ['', printable(problem), `  ${printable(remedy)}`]),
    ...reasons(paths),
  ];
}

/** Each reason once, with the prefixes that it concerns. */
function reasons(paths: readonly Comparison[]): string[] {
  const groups = new Map<string, { readonly first: Comparison; count: number }>();
  for (const path of paths) {
    if (path.why === undefined) continue;
    const key = `${path.why}\n${path.remedy ?? ''}`;
    const group = groups.get(key);
    if (group) group.count++;
    else groups.set(key, { first: path, count: 1 });
  }
  return [...groups.values()].flatMap(({ first, count }) => {
    const about = count === 1 ? first.prefix : `${first.prefix} and ${count - 1} more`;
    return [
      '',
      `${printable(about)}: ${printable(first.why!)}`,
      ...(first.remedy === undefined ? [] : [`  ${printable(first.remedy)}`]),
    ];
  });
}
