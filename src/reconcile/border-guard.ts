// The border guard's share of the kernel: at border ports notifications are dropped in both directions (PNC-6-c,
// PNC-6-d, FCNP-5-d, FCNP-5-e), except what the allow-lists name, and so is what comes from outside for an END.CON SID.
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
import { type Feature, type FeatureKind, type FeatureModules, learnedTable, reconciledTable } from './feature.ts';
import type { ObjectStatus } from './operations.ts';
import type { Reconciler } from './reconciler.ts';

type GuardDesired = Pick<DesiredState, 'guards' | 'guardAllow' | 'endConSids'>;

export class BorderGuard implements Feature {
  readonly object: BpfObject;
  readonly #ports: Reconciler<GuardPlan>;
  readonly #allow: Readonly<Record<GuardAllowPlan['direction'], Reconciler<GuardAllowPlan>>>;
  readonly #endCon: Reconciler<EndConSidPlan>;
  #mayForget = false;

  constructor(object: BpfObject, modules: FeatureModules) {
    this.object = object;
    const codec = { kind: 'guard-port', key: (g: GuardPlan) => guardPortKey(g.ifindex), value: encodeGuardPort };
    this.#ports = reconciledTable<GuardPlan>(object.map(GUARD_MAPS.ports), codec, modules);
    const allow = (map: string) =>
      reconciledTable<GuardAllowPlan>(
        object.map(map),
        { kind: 'guard-allow', key: (a) => prefixKey(a.prefix), value: (a) => encodeAllowed(a.prefix) },
        modules,
      );
    this.#allow = { inbound: allow(GUARD_MAPS.allowInbound), outbound: allow(GUARD_MAPS.allowOutbound) };
    const endCon = { kind: 'guard-end-con', key: (s: EndConSidPlan) => endConKey(s.sid), value: () => END_CON_VALUE };
    this.#endCon = learnedTable<EndConSidPlan>(
      object.map(GUARD_MAPS.endConSids),
      endCon,
      modules,
      () => this.#mayForget,
    );
  }

  apply({ guards, guardAllow = [], endConSids }: GuardDesired): void {
    // Before the ports: what is allowed must not be dropped for want of its row.
    for (const direction of ['inbound', 'outbound'] as const)
      this.#allow[direction].replace(guardAllow.filter((a) => a.direction === direction));
    this.#endCon.replace(endConSids);
    this.#ports.replace(guards);
  }

  attachments({ guards }: { readonly guards: readonly GuardPlan[] }) {
    // First at ingress: a proxy on the same port must not see what is dropped here.
    return guards.flatMap((g) => [
      attachment(GUARD_PROGRAMS.ingress, g, 'ingress', true),
      attachment(GUARD_PROGRAMS.egress, g, 'egress'),
    ]);
  }

  status(): ObjectStatus[] {
    return this.#reconcilers().flatMap((r) => r.status().filter((s) => s.state !== 'done'));
  }

  fullPass(): void {
    for (const reconciler of this.#reconcilers()) reconciler.fullPass();
  }

  forgetUnknown(): void {
    this.#mayForget = true;
    this.#endCon.fullPass();
  }

  close(): void {
    for (const reconciler of this.#reconcilers()) reconciler.close();
    this.object.close();
  }

  #reconcilers() {
    return [this.#ports, this.#allow.inbound, this.#allow.outbound, this.#endCon];
  }
}

export const borderGuard: FeatureKind<BorderGuard> = {
  name: 'border-guard',
  objectFile: 'guard.bpf.o',
  scratchMaps: [],
  wanted: (desired) => desired.guards.length > 0,
  open: (object, modules) => new BorderGuard(object, modules),
};
