// The tenant tables of the program that learns Queue Pairs: they determine whose addresses a packet has
// (plan/tenants.ts). A SID's row is written before Queue Pairs are learned in its tunnels. Once its row is gone,
// packets in its tunnels belong to no tenant.
import type { BpfObject } from '../kernel/bpf/object.ts';
import { mappedAddress } from '../kernel/dataplane/layout.ts';
import { tunnelKey } from '../kernel/dataplane/srv6.ts';
import {
  TENANT_CONFIG_KEY,
  TENANT_CONFIG_SIZE,
  TENANT_MAPS,
  encodeTenant,
  encodeTenantConfig,
  knowsTenants,
} from '../kernel/dataplane/tenants.ts';
import { prefix } from '../model/prefix.ts';
import type { TenantsPlan } from '../plan/desired.ts';
import { type FeatureDependencies, configurationOperations, learnedTable, reconciledTable } from './feature.ts';
import type { Table } from './map-table.ts';
import { Reconciler } from './reconciler.ts';

interface Configuration {
  readonly id: 'tenants';
  readonly known: boolean;
  readonly hasRows: boolean;
}
type Sid = TenantsPlan['sids'][number];
type Port = TenantsPlan['ports'][number];
const ANY = [prefix('0.0.0.0/0'), prefix('::/0')];

export class TenantTables {
  readonly reconcilers: readonly Pick<Reconciler<Sid>, 'unfinished' | 'fullPass' | 'close'>[];
  /** The tables among them, by map. */
  readonly tables: readonly (readonly [map: Table, reconciler: Pick<Reconciler<Sid>, 'size'>])[];
  readonly #configuration: Reconciler<Configuration>;
  readonly #sids: Reconciler<Sid>;
  readonly #ports: Reconciler<Port>;
  /**
   * An earlier run had tenants. Until the carriers have had time to learn them again, a tunnel without a known SID
   * belongs to no tenant.
   */
  #knewBefore: boolean;
  #plan: TenantsPlan | undefined;

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    const map = (name: keyof typeof TENANT_MAPS) => object.map(TENANT_MAPS[name]);
    const off = new Uint8Array(TENANT_CONFIG_SIZE);
    this.#configuration = new Reconciler(
      configurationOperations<Configuration>({ kind: 'tenants', map: map('config'), value: encodeTenantConfig, off }),
      dependencies,
    );
    this.#knewBefore = knowsTenants(map('config').lookup(TENANT_CONFIG_KEY));
    const sids = {
      kind: 'tenant-sid',
      key: (s: Sid) => mappedAddress(s.sid),
      value: (s: Sid) => encodeTenant(s.tenant),
    };
    this.#sids = learnedTable<Sid>(map('sids'), sids, dependencies, () => !this.#knewBefore);
    this.#ports = reconciledTable<Port>(
      map('ports'),
      { kind: 'tenant-port', key: (p) => tunnelKey(p.ingressIfindex, p.sender!), value: (p) => encodeTenant(p.tenant) },
      dependencies,
    );
    this.reconcilers = [this.#configuration, this.#sids, this.#ports];
    this.tables = [
      [map('sids'), this.#sids],
      [map('ports'), this.#ports],
    ];
  }

  /** `plan` undefined: one address space. */
  apply(plan: TenantsPlan | undefined): void {
    this.#plan = plan;
    const known = this.#knewBefore || (plan?.known ?? false);
    const ports = (plan?.ports ?? []).flatMap((port) =>
      port.sender ? [port] : ANY.map((sender) => ({ ...port, id: `${port.id} ${sender.address.family}`, sender })),
    );
    this.#sids.replace(plan?.sids ?? []);
    this.#ports.replace(ports);
    this.#configuration.replace(known ? [{ id: 'tenants', known, hasRows: ports.length > 0 }] : []);
  }

  forgetUnknown(): void {
    this.#knewBefore = false;
    this.apply(this.#plan);
    this.#sids.fullPass();
  }
}
