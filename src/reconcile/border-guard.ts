// The border guard in the kernel. At border ports it drops notifications in both directions (PNC-6-c, PNC-6-d,
// FCNP-5-d, FCNP-5-e) unless an allow-list permits them. It also drops packets from outside to SIDs of the
// domain and to Proxy Addresses of groups.
import type { BpfObject } from '../kernel/bpf/object.ts';
import {
  GUARDED_VALUE,
  GUARD_MAPS,
  GUARD_PROGRAMS,
  encodeAllowed,
  encodeGuardPort,
  guardedKey,
  guardPortKey,
} from '../kernel/dataplane/guard.ts';
import { prefixKey } from '../kernel/dataplane/layout.ts';
import type { DesiredState, GuardAllowPlan, GuardPlan, GuardedAddressPlan } from '../plan/desired.ts';
import { type Attachment, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { TableCodec } from './map-table.ts';
import type { Reconciler } from './reconciler.ts';

type GuardDesired = Pick<DesiredState, 'guards' | 'guardAllow' | 'guardedAddresses'>;

export class BorderGuard extends Feature {
  readonly #ports: Reconciler<GuardPlan>;
  readonly #allow: Readonly<Record<GuardAllowPlan['direction'], Reconciler<GuardAllowPlan>>>;
  readonly #guarded: Reconciler<GuardedAddressPlan>;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#ports = this.table(object.map(GUARD_MAPS.ports), PORTS);
    this.#allow = {
      inbound: this.table(object.map(GUARD_MAPS.allowInbound), ALLOWED),
      outbound: this.table(object.map(GUARD_MAPS.allowOutbound), ALLOWED),
    };
    this.#guarded = this.learnedTable(object.map(GUARD_MAPS.guarded), GUARDED);
  }

  apply({ guards, guardAllow = [], guardedAddresses = [] }: GuardDesired): void {
    // The allow-lists precede the ports, so that no permitted packet is dropped before its row exists.
    for (const direction of ['inbound', 'outbound'] as const)
      this.#allow[direction].replace(guardAllow.filter((a) => a.direction === direction));
    this.#guarded.replace(guardedAddresses);
    this.#ports.replace(guards);
  }

  attachments(desired: { readonly guards: readonly GuardPlan[] }) {
    return guardAttachments(desired);
  }
}

/** First at ingress: a proxy on the same port must not see packets that are dropped here. */
export const guardAttachments = ({ guards }: { readonly guards: readonly GuardPlan[] }): Attachment[] =>
  guards.flatMap((g) => [
    attachment(GUARD_PROGRAMS.ingress, g, 'ingress', true),
    attachment(GUARD_PROGRAMS.egress, g, 'egress'),
  ]);

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
const GUARDED: TableCodec<GuardedAddressPlan> = {
  kind: 'guard-address',
  key: (s) => guardedKey(s.address),
  value: () => GUARDED_VALUE,
};

export const borderGuard: FeatureKind<BorderGuard> = {
  name: 'border-guard',
  objectFile: 'guard.bpf.o',
  scratchMaps: [],
  desired: (state) => state.guards.length > 0,
  open: (object, dependencies) => new BorderGuard(object, dependencies),
};
