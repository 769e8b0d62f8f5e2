// The provider edge in the kernel (FCN §4.2): END.CON as seg6local routes, and the programs at core ports that set the
// outer source at the tunnel's start and merge ECN at its end. The egress program runs before the detector, which looks
// up END.CON by the outer source.
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
import type { DesiredState } from '../plan/desired.ts';
import type { DecapsulationSidPlan, Srv6Plan, TunnelSourcePlan } from '../plan/srv6-plan.ts';
import { type Attachment, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { TableCodec } from './map-table.ts';
import { samePlain } from './operations.ts';
import { Reconciler } from './reconciler.ts';
import { type EndConRoute, sidRouteOperations } from './sid-routes.ts';

interface Sid extends DecapsulationSidPlan {
  readonly ownRoute: boolean;
}

type Configuration = {
  readonly id: 'srv6';
  readonly hasRows: boolean;
} & Pick<Srv6Plan, 'defaultSource' | 'ecnMode' | 'dscp' | 'sharedIngress'>;

export class Srv6 extends Feature {
  readonly #routes: SidRoutes;
  readonly #endCon: Reconciler<EndConRoute>;
  readonly #configuration: Reconciler<Configuration>;
  readonly #sids: Reconciler<Sid>;
  readonly #sources: Reconciler<TunnelSourcePlan>;
  readonly #local: Reconciler<Srv6Plan['localSources'][number]>;

  constructor(object: BpfObject, routes: SidRoutes, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#routes = routes;
    const map = (name: keyof typeof SRV6_MAPS) => object.map(SRV6_MAPS[name]);
    // A route that was missing when the facts were read is applied again, even if nothing else has changed.
    const same = (a: EndConRoute, b: EndConRoute): boolean => b.installed === true && samePlain(a, b);
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

  apply({ srv6 }: Pick<DesiredState, 'srv6'>): void {
    this.#local.replace(srv6?.localSources ?? []);
    this.#sources.replace(srv6?.tunnelSources ?? []);
    this.#endCon.replace((srv6?.endCon ?? []).map((planned) => ({ ...planned, ifindex: srv6!.routeIfindex })));
    // `ownRoute` says whether the kernel accepted the route: the programs must not treat another program's SID as
    // cnpd's.
    const refused = this.refusedSids();
    this.#sids.replace(
      (srv6?.decapsulation ?? []).map((sid) => ({
        ...sid,
        ownRoute: sid.behavior === 'end-con' && !refused.has(sid.id),
      })),
    );
    if (!srv6) return this.#configuration.replace([]);
    const { defaultSource, tunnelSources, ecnMode, dscp, sharedIngress } = srv6;
    const hasRows = tunnelSources.length > 0;
    this.#configuration.replace([{ id: 'srv6', defaultSource, hasRows, ecnMode, dscp, sharedIngress }]);
  }

  attachments(desired: Pick<DesiredState, 'srv6'>) {
    return srv6Attachments(desired);
  }

  /** Why the kernel refused a SID of this router; undefined: no refusal is known. */
  refusal(sid: string): string | undefined {
    return this.#endCon.status().find((s) => s.id === sid && s.state !== 'done')?.error;
  }

  /** This router's SIDs that are not programmed, as text. */
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
const TUNNEL_SOURCES: TableCodec<TunnelSourcePlan> = {
  kind: 'tunnel-source',
  key: (s) => tunnelKey(s.ingressIfindex, s.sender),
  value: (s) => addressKey(s.sid),
};
const LOCAL_SOURCES: TableCodec<Srv6Plan['localSources'][number]> = {
  kind: 'local-source',
  key: (s) => addressKey(s.address),
  value: () => FLAG,
};

/** The row as the program reads it. */
const sidEntry = ({ behavior, families, table, ownRoute }: Sid): SidEntry => ({
  families,
  endCon: behavior === 'end-con',
  decapsulate: table !== null,
  table: table ?? 0,
  ownRoute,
});

export const srv6Attachments = ({ srv6 }: Pick<DesiredState, 'srv6'>): Attachment[] =>
  (srv6?.corePorts ?? []).flatMap((port) => [
    attachment(SRV6_PROGRAMS.encap, port, 'egress', true),
    attachment(SRV6_PROGRAMS.decap, port, 'ingress', true),
  ]);

export const srv6: FeatureKind<Srv6> = {
  name: 'srv6',
  objectFile: 'srv6.bpf.o',
  scratchMaps: SRV6_SCRATCH_MAPS,
  desired: (state) => state.srv6 !== undefined,
  open: (object, dependencies) => new Srv6(object, SidRoutes.open(), dependencies),
};
