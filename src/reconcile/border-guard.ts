// The border guard in the kernel. At border ports it drops notifications in both directions (PNC-6-c, PNC-6-d,
// FCNP-5-d, FCNP-5-e) unless an allow-list permits them. It also drops packets from outside to an END.CON SID.
import type { BpfObject } from '../kernel/bpf/object.ts';
import {
  END_CON_VALUE,
  GUARD_MAPS,
  GUARD_PROGRAMS,
  encodeAllowed,
  encodeGuardPort,
  endConKey,
  guardPortKey,
} from '../kernel/dataplane/guard.ts';
import { prefixKey } from '../kernel/dataplane/layout.ts';
import type { DesiredState, EndConSidPlan, GuardAllowPlan, GuardPlan } from '../plan/desired.ts';
import { attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { TableCodec } from './map-table.ts';
import type { Reconciler } from './reconciler.ts';

type GuardDesired = Pick<DesiredState, 'guards' | 'guardAllow' | 'endConSids'>;

export class BorderGuard extends Feature {
  readonly #ports: Reconciler<GuardPlan>;
  readonly #allow: Readonly<Record<GuardAllowPlan['direction'], Reconciler<GuardAllowPlan>>>;
  readonly #endCon: Reconciler<EndConSidPlan>;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#ports = this.table(object.map(GUARD_MAPS.ports), PORTS);
    this.#allow = {
      inbound: this.table(object.map(GUARD_MAPS.allowInbound), ALLOWED),
      outbound: this.table(object.map(GUARD_MAPS.allowOutbound), ALLOWED),
    };
    this.#endCon = this.learnedTable(object.map(GUARD_MAPS.endConSids), END_CON_SIDS);
  }

  apply({ guards, guardAllow = [], endConSids }: GuardDesired): void {
    // The allow-lists precede the ports, so that no permitted packet is dropped before its row exists.
    for (const direction of ['inbound', 'outbound'] as const)
      this.#allow[direction].replace(guardAllow.filter((a) => a.direction === direction));
    this.#endCon.replace(endConSids);
    this.#ports.replace(guards);
  }

  attachments({ guards }: { readonly guards: readonly GuardPlan[] }) {
    // First at ingress: a proxy on the same port must not see packets that are dropped here.
    return guards.flatMap((g) => [
      attachment(GUARD_PROGRAMS.ingress, g, 'ingress', true),
      attachment(GUARD_PROGRAMS.egress, g, 'egress'),
    ]);
  }
}

const PORTS: TableCodec<GuardPlan> = {
  kind: 'guard-port',
  key: (g) => guardPortKey(g.ifindex),
  value: encodeGuardPort,
};
const ALLOWED: TableCodec<GuardAllowPlan> = {
  kind: 'guard-allow',
  key: (a) => prefixKey(a.prefix),
  value: (a) => encodeAllowed(a.prefix),
};
const END_CON_SIDS: TableCodec<EndConSidPlan> = {
  kind: 'guard-end-con',
  key: (s) => endConKey(s.sid),
  value: () => END_CON_VALUE,
};

export const borderGuard: FeatureKind<BorderGuard> = {
  name: 'border-guard',
  objectFile: 'guard.bpf.o',
  scratchMaps: [],
  desired: (state) => state.guards.length > 0,
  open: (object, dependencies) => new BorderGuard(object, dependencies),
};
