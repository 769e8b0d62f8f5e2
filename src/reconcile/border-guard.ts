// The border guard's share of the kernel: at border ports notifications are dropped in both directions (PNC-6-c, PNC-6-d).
import type { BpfObject } from '../kernel/bpf/object.ts';
import { GUARD_MAPS, GUARD_PROGRAMS, encodeGuardPort, guardPortKey } from '../kernel/dataplane/guard.ts';
import type { GuardPlan } from '../plan/desired.ts';
import { attachment } from './attachments.ts';
import { type Feature, type FeatureKind, type FeatureModules, reconciledTable } from './feature.ts';
import type { ObjectStatus } from './operations.ts';
import type { Reconciler } from './reconciler.ts';

export class BorderGuard implements Feature {
  readonly object: BpfObject;
  readonly #ports: Reconciler<GuardPlan>;

  constructor(object: BpfObject, modules: FeatureModules) {
    this.object = object;
    const codec = { kind: 'guard-port', key: (g: GuardPlan) => guardPortKey(g.ifindex), value: encodeGuardPort };
    this.#ports = reconciledTable<GuardPlan>(object.map(GUARD_MAPS.ports), codec, modules);
  }

  apply({ guards }: { readonly guards: readonly GuardPlan[] }): void {
    this.#ports.replace(guards);
  }

  attachments({ guards }: { readonly guards: readonly GuardPlan[] }) {
    // First at ingress: a proxy on the same port must not see what is dropped here.
    return guards.flatMap((g) => [attachment(GUARD_PROGRAMS.ingress, g, 'ingress', true), attachment(GUARD_PROGRAMS.egress, g, 'egress')]);
  }

  status(): ObjectStatus[] {
    return this.#ports.status().filter((s) => s.state !== 'done');
  }

  fullPass(): void {
    this.#ports.fullPass();
  }

  close(): void {
    this.#ports.close();
    this.object.close();
  }
}

export const borderGuard: FeatureKind<BorderGuard> = {
  name: 'border-guard',
  objectFile: 'guard.bpf.o',
  scratchMaps: [],
  wanted: (desired) => desired.guards.length > 0,
  open: (object, modules) => new BorderGuard(object, modules),
};
