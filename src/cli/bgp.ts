// `cnpctl show bgp`: the BGP carrier as a whole. Its JSON is all that `cnpctl doctor --remote` needs of another router:
// gobgpd, its neighbors, the paths, and the sender prefixes that were learned from them.
import type { BgpOverview } from '../diagnosis/arrival/overview.ts';
import type { Row } from '../model/state.ts';
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { type Filters, filterRows, filtered } from './filters.ts';
import { printable } from './table.ts';
import { BGP_VIEWS } from './carrier-views.ts';
import { type View, layOut } from './columns.ts';

type Answer = Partial<Record<'session' | 'peers' | 'paths', readonly Row[]>>;

/** @throws NorthboundError */
export const bgpOverview = (context: Context): Promise<BgpOverview> =>
  withCnpd(context, async (client) => {
    const { session = [], peers = [], paths = [] } = ((await client.get(['cnpd', 'bgp'])) as Answer | undefined) ?? {};
    const senders = ((await client.get(['cnpd', 'senders'])) as Row[] | undefined) ?? [];
    return { session, peers, paths, senders: senders.filter((row) => row['carrier'] === 'bgp') };
  });

/** Paths that gobgpd does not confirm now are shown as last reported, under whichever table. */
const lastReport = ([session]: readonly Row[]): string[] =>
  typeof session?.['silent'] === 'number'
    ? ['', `gobgpd does not answer (for ${session['silent']} s): this is its last report`]
    : [];

export async function showBgp(context: Context): Promise<ExitCode> {
  const overview = await bgpOverview(context);
  if (context.options.output === 'json') printJson(context, overview);
  else if (overview.session.length === 0) print(context, [BGP_VIEWS.session.empty]);
  else
    print(
      context,
      Object.values(BGP_VIEWS)
        .flatMap((view, i) => [
          ...(i > 0 ? [''] : []),
          ...layOut({ ...view, empty: emptySentence(view, overview.session) }, overview[view.path[2]], context),
        ])
        .concat(lastReport(overview.session)),
    );
  return EXIT.ok;
}

/** gobgpd's silence about its neighbors does not mean that it has none. */
function emptySentence({ path, empty }: View, [session]: readonly Row[]): string {
  if (path[2] === BGP_VIEWS.session.path[2]) return empty;
  if (!session) return BGP_VIEWS.session.empty;
  if (path[2] !== BGP_VIEWS.peers.path[2] || typeof session['neighbors'] === 'number') return empty;
  return printable(
    `gobgpd does not report its BGP neighbors now (${String(session['state'])}: ${String(session['reason'])})`,
  );
}

/** One of the three. */
export async function showBgpList(context: Context, view: View, filters: Filters): Promise<ExitCode> {
  const [all, session] = await withCnpd(context, async (client) => {
    const asked = ((await client.get(view.path)) as Row[] | undefined) ?? [];
    return [
      asked,
      view === BGP_VIEWS.session ? asked : (((await client.get(BGP_VIEWS.session.path)) as Row[] | undefined) ?? []),
    ] as const;
  });
  const rows = filterRows(view, all, filters);
  if (context.options.output === 'json') printJson(context, rows);
  else
    print(context, [
      ...layOut(filtered({ ...view, empty: emptySentence(view, session) }, all, filters), rows, context),
      ...lastReport(session),
    ]);
  return EXIT.ok;
}
