// Which tenant a packet belongs to (bpf/lib/proxy/tenant.h): two customers of a VPN may use the same addresses and the
// same Queue Pair numbers. A tenant is the routing table of one of this router's SIDs, or the END.CON SID of another
// router (FCN §4.2.2) whose tunnels pass through here. Tenant numbers are derived from tables and SIDs alone, so that
// every run and every program compute the same ones. SIDs with colliding numbers are indistinguishable: both are
// unknown.
import type { Intent } from '../intent/intent.ts';
import { type IpAddress, addressBytes, formatAddress } from '../model/address.ts';
import type { EndConSidPlan, TenantsPlan } from './desired.ts';
import type { DecapsulationSidPlan } from './srv6-plan.ts';
import type { LearnedAboutSenders } from './senders-learned.ts';
import type { DeclaredSource } from './srv6.ts';

/** As in bpf/lib/proxy/tenant.h. */
const MAIN = 0;
const PASSING = 0x8000_0000;
export const TENANT_UNKNOWN = 0xffff_ffff;
const RT_TABLE_MAIN = 254;

/** The tenant of a routing table. Null: the SID does no lookup, so its tenant is unknown. */
export function tenantOfTable(table: number | null): number {
  if (table === null) return TENANT_UNKNOWN;
  if (table === RT_TABLE_MAIN || table === 0) return MAIN;
  return table < PASSING ? table : TENANT_UNKNOWN;
}

/** The tenant of another router's SID: 31 bits of FNV-1a. */
export function tenantOfSid(sid: IpAddress): number {
  const hash = addressBytes(sid).reduce((h, byte) => Math.imul(h ^ byte, 0x0100_0193), 0x811c_9dc5 | 0);
  const tenant = (hash | PASSING) >>> 0;
  return tenant === TENANT_UNKNOWN ? PASSING : tenant;
}

/** END.CON SIDs of other routers with their tenants. */
function passing(sids: Iterable<IpAddress>): Map<string, { readonly sid: IpAddress; readonly tenant: number }> {
  const rows = new Map([...sids].map((sid) => [formatAddress(sid), { sid, tenant: tenantOfSid(sid) }]));
  const uses = new Map<number, number>();
  for (const { tenant } of rows.values()) uses.set(tenant, (uses.get(tenant) ?? 0) + 1);
  return new Map(
    [...rows].map(([id, row]) => [id, uses.get(row.tenant) === 1 ? row : { ...row, tenant: TENANT_UNKNOWN }]),
  );
}

/** Every END.CON SID of the domain, including this router's, with the tenant of the senders behind it. */
export function endConTenants(intent: Intent, { routers }: LearnedAboutSenders): EndConSidPlan[] {
  const learned = passing([...(routers?.sidsOf(intent.codePoints['end-con-behavior']) ?? [])].map(({ sid }) => sid));
  const own = (intent.srv6?.endCon ?? []).map(
    ({ sid, table }) => [formatAddress(sid), { sid, tenant: tenantOfTable(table) }] as const,
  );
  return [...new Map([...own, ...[...learned].filter(([id]) => !own.some(([ours]) => ours === id))])].map(
    ([id, row]) => ({ id, ...row }),
  );
}

/** The tenants for the program that learns Queue Pairs and accepts notices. */
export function planTenants(
  endCon: readonly EndConSidPlan[],
  decapsulation: readonly DecapsulationSidPlan[],
  tunnelSources: readonly DeclaredSource[],
): TenantsPlan {
  const local = decapsulation.map(({ id, sid, table }) => [id, { id, sid, tenant: tenantOfTable(table) }] as const);
  const sids = [...new Map([...endCon.map((row) => [row.id, row] as const), ...local]).values()];
  const tenantOf = new Map(sids.map(({ id, tenant }) => [id, tenant]));
  // Keep rows of the main table: they override less specific rows of other tables, as in the choice of a tunnel's
  // source.
  const ports = tunnelSources.map(({ sid, ...row }) => ({
    ...row,
    tenant: tenantOf.get(formatAddress(sid)) ?? MAIN,
  }));
  return {
    sids,
    ports: ports.some(({ tenant }) => tenant !== MAIN) ? ports : [],
    known: sids.some(({ tenant }) => tenant !== MAIN),
  };
}

/**
 * The tenant of packets that leave this port outside tunnels: that of a SID declared for the whole interface. It is
 * unknown if the port has several tenants by source, or if only rows for any interface match. Such rows describe
 * arriving packets, and "any" includes ports to the core.
 */
export function portTenant({ ports }: TenantsPlan, ifindex: number): number {
  const own = ports.filter(({ ingressIfindex }) => ingressIfindex === ifindex);
  const isWhole = own.some(({ sender }) => sender === null);
  const [tenant, ...others] = new Set([
    ...(isWhole ? [] : [MAIN, ...ports.filter(({ ingressIfindex }) => ingressIfindex === 0).map((row) => row.tenant)]),
    ...own.map((row) => row.tenant),
  ]);
  return others.length === 0 ? tenant! : TENANT_UNKNOWN;
}
