// The provider edge's share of the kernel (FCN §4.2): END.CON as seg6local routes, and at the core ports the programs
// that put tunnels right at both ends. The program at egress comes before the detector there, which looks END.CON up in
// the outer source.
import type { BpfObject } from '../kernel/bpf/object.ts';
import {
  FLAG,
  SRV6_CONFIG_SIZE,
  SRV6_MAPS,
  SRV6_PROGRAMS,
  SRV6_SCRATCH_MAPS,
  type SidEntry,
  addressKey,
  encodeSid,
  encodeSrv6Config,
  tunnelKey,
} from '../kernel/dataplane/srv6.ts';
import { SidRoutes } from '../kernel/netlink/sid-routes.ts';
import type { IpAddress } from '../model/address.ts';
import { type Prefix, prefix } from '../model/prefix.ts';
import type {
  DecapsulationBehavior,
  DecapsulationSidPlan,
  DesiredState,
  Srv6Plan,
  TunnelSourcePlan,
} from '../plan/desired.ts';
import { attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { TableCodec } from './map-table.ts';
import { sameJson } from './operations.ts';
import { Reconciler } from './reconciler.ts';
import { type EndConRoute, sidRouteOperations } from './sid-routes.ts';

const MAIN = 254;
const ALL_SENDERS = [prefix('::/0'), prefix('0.0.0.0/0')] as const;

interface TunnelSource {
  readonly id: string;
  readonly ingressIfindex: number;
  readonly sender: Prefix;
  readonly sid: IpAddress;
}

interface Sid extends DecapsulationSidPlan {
  readonly ownRoute: boolean;
}

type Configuration = {
  readonly id: 'srv6';
  readonly defaultSource: IpAddress | null;
  readonly hasRows: boolean;
  readonly sharedIngress: boolean;
} & Pick<Srv6Plan, 'ecnMode' | 'dscp'>;

export class Srv6 extends Feature {
  readonly #routes: SidRoutes;
  readonly #endCon: Reconciler<EndConRoute>;
  readonly #configuration: Reconciler<Configuration>;
  readonly #sids: Reconciler<Sid>;
  readonly #sources: Reconciler<TunnelSource>;
  readonly #local: Reconciler<Srv6Plan['localSources'][number]>;

  constructor(object: BpfObject, routes: SidRoutes, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#routes = routes;
    const map = (name: keyof typeof SRV6_MAPS) => object.map(SRV6_MAPS[name]);
    // A route that was not there when the facts were read is looked at again, though nothing else has changed.
    const same = (a: EndConRoute, b: EndConRoute): boolean => b.installed === true && sameJson(a, b);
    this.#endCon = this.keep(new Reconciler(sidRouteOperations(routes), dependencies, { same }));
    const off = new Uint8Array(SRV6_CONFIG_SIZE);
    this.#configuration = this.configuration<Configuration>({
      kind: 'srv6',
      map: map('config'),
      value: encodeSrv6Config,
      off,
    });
    this.#sids = this.table(map('sids'), SIDS);
    this.#sources = this.table(map('tunnelSources'), TUNNEL_SOURCES);
    this.#local = this.table(map('localSources'), LOCAL_SOURCES);
  }

  apply(desired: Pick<DesiredState, 'srv6' | 'proxy' | 'queuePairs'>): void {
    const { srv6 } = desired;
    const { defaultSource, rows } = splitSources(srv6?.tunnelSources ?? []);
    this.#local.replace(srv6?.localSources ?? []);
    this.#sources.replace(rows);
    this.#endCon.replace((srv6?.endCon ?? []).map((planned) => ({ ...planned, ifindex: srv6!.routeIfindex })));
    const refused = this.refusedSids();
    this.#sids.replace(
      (srv6?.decapsulation ?? []).map((sid) => ({
        ...sid,
        ownRoute: sid.behavior === 'end-con' && !refused.has(sid.id),
      })),
    );
    if (!srv6) return this.#configuration.replace([]);
    // The proxy's program learns Queue Pairs from what arrives: nothing may be sent past it.
    const sharedIngress = desired.proxy !== undefined || desired.queuePairs !== undefined;
    this.#configuration.replace([
      { id: 'srv6', defaultSource, hasRows: rows.length > 0, ecnMode: srv6.ecnMode, dscp: srv6.dscp, sharedIngress },
    ]);
  }

  attachments({ srv6 }: Pick<DesiredState, 'srv6'>) {
    return (srv6?.corePorts ?? []).flatMap((port) => [
      attachment(SRV6_PROGRAMS.encap, port, 'egress', true),
      attachment(SRV6_PROGRAMS.decap, port, 'ingress', true),
    ]);
  }

  /** Why a SID of this router is not programmed; undefined: it is. */
  refusal(sid: string): string | undefined {
    return this.#endCon.status().find((s) => s.id === sid && s.state !== 'done')?.error;
  }

  /** Those of this router's SIDs that are not programmed. */
  refusedSids(): Set<string> {
    return new Set(
      this.#endCon
        .status()
        .filter((s) => s.state !== 'done')
        .map((s) => s.id),
    );
  }

  override close(): void {
    super.close();
    this.#routes.close();
  }
}

const SIDS: TableCodec<Sid> = { kind: 'sid', key: (s) => addressKey(s.sid), value: (s) => encodeSid(sidEntry(s)) };
const TUNNEL_SOURCES: TableCodec<TunnelSource> = {
  kind: 'tunnel-source',
  key: (s) => tunnelKey(s.ingressIfindex, s.sender),
  value: (s) => addressKey(s.sid),
};
const LOCAL_SOURCES: TableCodec<Srv6Plan['localSources'][number]> = {
  kind: 'local-source',
  key: (s) => addressKey(s.address),
  value: () => FLAG,
};

/** What may be inside, of End.DT46 and its like. */
const FAMILIES: Readonly<Record<DecapsulationBehavior, SidEntry['families']>> = {
  'end-con': [6, 4],
  'end.dt46': [6, 4],
  'end.dt6': [6],
  'end.dx6': [6],
  'end.dt4': [4],
  'end.dx4': [4],
};

/**
 * A look-up in the main table after END.CON is that of any packet; after a SID of others it is in that one table, as
 * the kernel's is.
 */
function sidEntry({ behavior, table, ownRoute }: Sid): SidEntry {
  const endCon = behavior === 'end-con';
  return {
    families: FAMILIES[behavior],
    endCon,
    decapsulate: table !== null,
    table: table === null || (endCon && table === MAIN) ? 0 : table,
    ownRoute,
  };
}

/**
 * Rows of the longest-match table; a source for all tunnels needs none. A prefix that is written down goes before "any
 * sender", which means the same to the table.
 */
export function splitSources(sources: readonly TunnelSourcePlan[]): {
  defaultSource: IpAddress | null;
  rows: TunnelSource[];
} {
  const rows = new Map<string, TunnelSource>();
  let defaultSource: IpAddress | null = null;
  for (const { ingressIfindex, sender, sid } of [...sources].sort(
    (a, b) => Number(a.sender !== null) - Number(b.sender !== null),
  )) {
    if (ingressIfindex === 0 && sender === null) defaultSource = sid;
    else
      for (const each of sender ? [sender] : ALL_SENDERS)
        rows.set(rowId(ingressIfindex, each), { id: rowId(ingressIfindex, each), ingressIfindex, sender: each, sid });
  }
  return { defaultSource, rows: [...rows.values()] };
}

const rowId = (ingressIfindex: number, { address, length }: Prefix): string =>
  `${ingressIfindex} ${address.family} ${address.value}/${length}`;

export const srv6: FeatureKind<Srv6> = {
  name: 'srv6',
  objectFile: 'srv6.bpf.o',
  scratchMaps: SRV6_SCRATCH_MAPS,
  desired: (state) => state.srv6 !== undefined,
  open: (object, dependencies) => new Srv6(object, SidRoutes.open(), dependencies),
};
