// The maps by which the proxy's program determines the tenant of a packet (bpf/lib/proxy/tenant.h, layout.h). The
// numbers are assigned in src/plan/tenants.ts.
import { LITTLE_ENDIAN, structure, u32Key, viewOf } from './layout.ts';

export const TENANT_MAPS = {
  config: 'tenant_config',
  /** Key mappedAddress, value encodeTenant. */
  sids: 'tenant_sids',
  /** Key tunnelKey of srv6.ts, value encodeTenant. */
  ports: 'tenant_ports',
} as const;

export const encodeTenant = (tenant: number): Uint8Array => u32Key(tenant);

interface TenantConfig {
  /** There are tenants besides the main table: then a tunnel without a known SID has no known tenant. */
  readonly known: boolean;
  /** Whether there are rows of ports. */
  readonly hasRows: boolean;
}

/** struct tenant_config. */
export const TENANT_CONFIG_SIZE = 8;
export const TENANT_CONFIG_KEY = u32Key(0);

/** Reads `known` of the map's value. */
export const knowsTenants = (value: Uint8Array | undefined): boolean =>
  value !== undefined && viewOf(value).getUint32(0, LITTLE_ENDIAN) !== 0;

export const encodeTenantConfig = ({ known, hasRows }: TenantConfig): Uint8Array =>
  structure(TENANT_CONFIG_SIZE, (view) => {
    view.setUint32(0, known ? 1 : 0, LITTLE_ENDIAN);
    view.setUint32(4, hasRows ? 1 : 0, LITTLE_ENDIAN);
  });
