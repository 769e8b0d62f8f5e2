// `cnpctl show bgp`: the BGP carrier as a whole. Its JSON is all that `cnpctl doctor --remote` needs of another router: gobgpd, its neighbours, the paths, and
// the sender prefixes that were learned from them.
import { type Context, print, printJson, withCnpd } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { BGP_VIEWS, layOut, type Row } from './views.ts';

export interface BgpOverview {
  readonly session: readonly Row[];
  readonly peers: readonly Row[];
  readonly paths: readonly Row[];
  /** Of the learned table, those of the carrier `bgp` alone. */
  readonly senders: readonly Row[];
}

type Answer = Partial<Record<'session' | 'peers' | 'paths', readonly Row[]>>;

/** @throws NorthboundError */
export const bgpOverview = (context: Context): Promise<BgpOverview> =>
  withCnpd(context, async (client) => {
    const { session = [], peers = [], paths = [] } = ((await client.get(['cnpd', 'bgp'])) as Answer | undefined) ?? {};
    const senders = ((await client.get(['cnpd', 'senders'])) as Row[] | undefined) ?? [];
    return { session, peers, paths, senders: senders.filter((row) => row['carrier'] === 'bgp') };
  });

export async function showBgp(context: Context): Promise<ExitCode> {
  const overview = await bgpOverview(context);
  if (context.options.output === 'json') printJson(context, overview);
  else print(context, Object.values(BGP_VIEWS).flatMap((view, i) => [...(i > 0 ? [''] : []), ...layOut(view, overview[view.path[2]], context.nowMs())]));
  return EXIT.ok;
}
