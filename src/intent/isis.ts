// The section `isis`: the IS-IS carrier, a stub system of cnpd's own beside FRR (PNC §5.1).
import type * as z from 'zod';
import { defaulted, defaultsOf, enabled, filled, holdUnreachable, section, value } from './schema-parts.ts';
import { type Report, type Rule, type Seen, orDefaults } from './seen.ts';
import { areaAddress, hmacKey, integer, interfaceName, oneOf, systemId, time } from './values.ts';

type IsisLevels = '1' | '2' | '1-2';

/** HMAC-MD5 (RFC 5304). */
interface IsisAuthentication {
  readonly key: string;
}

export interface IsisIntent {
  /** 6 bytes; cnpd is a system of its own beside FRR, so this differs from FRR's. */
  readonly systemId: Uint8Array;
  /** Area address, 1..13 bytes, the NET without system ID and selector. */
  readonly area: Uint8Array;
  readonly levels: IsisLevels;
  /**
   * Name of the veth end in the router's namespace, on which FRR runs `ipv6 router isis`. cnpd creates and removes it.
   */
  readonly interface: string;
  readonly mtu: number;
  readonly helloIntervalMs: number;
  readonly holdMultiplier: number;
  readonly lifetimeSeconds: number;
  readonly refreshSeconds: number;
  /** `area`: LSPs and SNPs of level 1; `domain`: of level 2; `interface`: hellos. */
  readonly authentication: {
    readonly interface?: IsisAuthentication;
    readonly area?: IsisAuthentication;
    readonly domain?: IsisAuthentication;
  };
  /** How long entries outlive the reachability of their originator. */
  readonly holdUnreachableMs: number;
}

const hmac = (description: string) =>
  section({ 'hmac-md5': value(hmacKey, 'the shared key (RFC 5304)') }, description).optional();

export const schema = section(
  {
    enabled: enabled(),
    'system-id': value(systemId, "cnpd's own system ID; it differs from FRR's"),
    area: value(areaAddress, 'area address of the NET that FRR is configured with'),
    level: defaulted(oneOf<IsisLevels>('1', '2', '1-2'), '2', 'levels of the adjacency with FRR'),
    interface: defaulted(interfaceName, 'cnpd-isis', 'veth end on which FRR runs IS-IS; cnpd creates and removes it'),
    mtu: defaulted(integer(1280, 9000), '1500', (text) => `MTU of the veth; default ${text}, which FRR can always use`),
    'hello-interval': defaulted(time('1s', '600s'), '3s', 'time between two hellos on the veth'),
    'hold-multiplier': defaulted(integer(2, 100), '10', 'hellos that may be lost before the adjacency is lost'),
    lifetime: defaulted(time('120s', '65535s'), '1200s', 'lifetime of our LSPs (ISO 10589 maxAge)'),
    refresh: defaulted(time('30s', '65000s'), '900s', 'how often our LSPs are refreshed'),
    'hold-unreachable': holdUnreachable(),
    authentication: section(
      {
        interface: hmac('of hellos'),
        area: hmac('of LSPs and SNPs of level 1'),
        domain: hmac('of LSPs and SNPs of level 2'),
      },
      'HMAC-MD5 keys (RFC 5304)',
    ).optional(),
  },
  'the IS-IS carrier: a stub system beside FRR',
);

type Isis = z.output<typeof schema>;
interface Sections {
  readonly isis?: Seen<typeof schema> | undefined;
}

function timers({ isis }: Sections, report: Report): void {
  if (!isis) return;
  const fallback = defaultsOf(schema);
  const lifetime = (isis.lifetime ?? fallback.lifetime) / 1000;
  const refresh = (isis.refresh ?? fallback.refresh) / 1000;
  if (refresh > lifetime - 60) {
    const reason = `LSPs refreshed every ${refresh} s may expire, their lifetime being ${lifetime} s`;
    report(
      ['isis', isis.refresh === undefined ? 'lifetime' : 'refresh'],
      'refresh at least 60 s below lifetime',
      reason,
    );
  }
  for (const key of ['hello-interval', 'lifetime', 'refresh'] as const) {
    const ms = isis[key];
    if (ms !== undefined && ms % 1000 !== 0)
      report(['isis', key], 'whole seconds', 'IS-IS counts this time in whole seconds');
  }
}

function keysOfLevels({ isis }: Sections, report: Report): void {
  const { level, authentication: keys } = orDefaults(schema, isis);
  if (level === '2' && keys?.area)
    report(['isis', 'authentication', 'area'], 'domain, on level 2', 'the area key is for level 1, which is not run');
  if (level === '1' && keys?.domain)
    report(['isis', 'authentication', 'domain'], 'area, on level 1', 'the domain key is for level 2, which is not run');
}

export const rules: readonly Rule<Sections>[] = [timers, keysOfLevels];

export function build(declared: Isis): IsisIntent {
  const isis = filled(schema, declared);
  const keys = isis.authentication ?? {};
  const key = (scope: 'interface' | 'area' | 'domain'): object =>
    keys[scope] ? { [scope]: { key: keys[scope]['hmac-md5'] } } : {};
  return {
    systemId: isis['system-id'],
    area: isis.area,
    levels: isis.level,
    interface: isis.interface,
    mtu: isis.mtu,
    helloIntervalMs: isis['hello-interval'],
    holdMultiplier: isis['hold-multiplier'],
    lifetimeSeconds: isis.lifetime / 1000,
    refreshSeconds: isis.refresh / 1000,
    authentication: { ...key('interface'), ...key('area'), ...key('domain') },
    holdUnreachableMs: isis['hold-unreachable'],
  };
}
