// The declaration with its defaults applied: the Intent that the rest of cnpd reads. Off is absent (PNC-6-e, PNC-6-f): a section that is not there
// and one that says `enabled: off` give the same Intent.
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import type { Intent, IsisIntent, PortIntent, ProxyIntent } from './intent.ts';
import type { Declared } from './schema.ts';

/** Times in milliseconds, rates a second. */
export const DEFAULTS = {
  level: '2',
  interface: 'cnpd-isis',
  mtu: 1500,
  helloMs: 3000,
  holdMultiplier: 10,
  lifetimeMs: 1_200_000,
  refreshMs: 900_000,
  holdUnreachableMs: 120_000,
  proxyFlowIntervalMs: 0.05,
  proxyRate: 10_000,
  portFlowIntervalMs: 20,
  portRate: 1000,
  gnmiSocket: '/run/cnpd/gnmi.sock',
  logLevel: 'info',
} as const;

export function buildIntent(declared: Declared): Intent {
  const { isis, proxy, router } = declared;
  return {
    router: {
      name: router.name,
      ...(router.loopback?.ipv4 && { loopback4: router.loopback.ipv4 }),
      ...(router.loopback?.ipv6 && { loopback6: router.loopback.ipv6 }),
    },
    ...(isis && isis.enabled !== false && { isis: buildIsis(isis) }),
    ...(proxy && proxy.enabled !== false && { proxy: buildProxy(proxy) }),
    ports: (declared.ports ?? []).map(buildPort),
    borderPorts: declared['border-ports'] ?? [],
    codePoints: { ...DEFAULT_CODE_POINTS, ...Object.fromEntries(Object.entries(declared['code-points'] ?? {}).filter(([, value]) => value !== undefined)) },
    gnmiSocket: declared.gnmi?.socket ?? DEFAULTS.gnmiSocket,
    logLevel: declared.log?.level ?? DEFAULTS.logLevel,
  };
}

function buildIsis(isis: NonNullable<Declared['isis']>): IsisIntent {
  const keys = isis.authentication ?? {};
  const key = (scope: 'interface' | 'area' | 'domain'): object => (keys[scope] ? { [scope]: { key: keys[scope]['hmac-md5'] } } : {});
  return {
    systemId: isis['system-id'],
    area: isis.area,
    levels: isis.level ?? DEFAULTS.level,
    interface: isis.interface ?? DEFAULTS.interface,
    mtu: isis.mtu ?? DEFAULTS.mtu,
    helloIntervalMs: isis['hello-interval'] ?? DEFAULTS.helloMs,
    holdMultiplier: isis['hold-multiplier'] ?? DEFAULTS.holdMultiplier,
    lifetimeSeconds: (isis.lifetime ?? DEFAULTS.lifetimeMs) / 1000,
    refreshSeconds: (isis.refresh ?? DEFAULTS.refreshMs) / 1000,
    authentication: { ...key('interface'), ...key('area'), ...key('domain') },
    holdUnreachableMs: isis['hold-unreachable'] ?? DEFAULTS.holdUnreachableMs,
  };
}

function buildProxy(proxy: NonNullable<Declared['proxy']>): ProxyIntent {
  return {
    address: proxy.address,
    senders: proxy.senders,
    interfaces: proxy.interfaces ?? [],
    acceptFrom: proxy['accept-from'],
    perFlowIntervalMs: proxy['per-flow-interval'] ?? DEFAULTS.proxyFlowIntervalMs,
    noticesPerSecond: proxy.rate ?? DEFAULTS.proxyRate,
  };
}

/** K_min is K_max / 2 when not given (LHCNP §5.3.2), absent with `ecn: off`. */
function buildPort(port: NonNullable<Declared['ports']>[number]): PortIntent {
  const kMax = port['k-max'];
  const kMin = port.ecn === false ? undefined : (port['k-min'] ?? (kMax === undefined ? undefined : Math.floor(kMax / 2)));
  return {
    interface: port.interface,
    ...(kMin !== undefined && { kMin }),
    ...(kMax !== undefined && { kMax }),
    perFlowIntervalMs: port['per-flow-interval'] ?? DEFAULTS.portFlowIntervalMs,
    noticesPerSecond: port.rate ?? DEFAULTS.portRate,
  };
}
