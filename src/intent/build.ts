// The declaration with its defaults applied: the Intent that the rest of cnpd reads. Off is absent (PNC-6-e, PNC-6-f):
// a section that is not there and one that says `enabled: off` give the same Intent.
import { DEFAULT_CODE_POINTS } from '../model/code-points.ts';
import { buildBgp } from './build-bgp.ts';
import { buildNotifications } from './build-notifications.ts';
import { buildOspfv2, buildOspfv3 } from './build-ospf.ts';
import type { EndConIntent, Intent, IsisIntent, PortIntent, ProxyIntent, Srv6Intent, StampIntent } from './intent.ts';
import type { Declared } from './schema.ts';
import { MAIN_TABLE, allocatedSid } from './sid-allocation.ts';

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
  ageingMs: 300_000,
  portFlowIntervalMs: 20,
  portRate: 1000,
  kBase: 64_000,
  alpha: 1,
  measurementIntervalMs: 10,
  stampPort: 862,
  stampIntervalMs: 1000,
  gnmiSocket: '/run/cnpd/gnmi.sock',
  logLevel: 'info',
} as const;

type EndConDeclared = NonNullable<NonNullable<Declared['srv6']>['end-con']>[number];

export function buildIntent(declared: Declared): Intent {
  const { isis, ospfv2, ospfv3, bgp, proxy, router } = declared;
  return {
    router: {
      name: router.name,
      ...(router.loopback?.ipv4 && { loopback4: router.loopback.ipv4 }),
      ...(router.loopback?.ipv6 && { loopback6: router.loopback.ipv6 }),
      reversePathCheck: router['reverse-path-check'] ?? true,
      ...(router['core-ports'] && { corePorts: router['core-ports'] }),
    },
    ...(isis && isis.enabled !== false && { isis: buildIsis(isis) }),
    ...(ospfv2 && ospfv2.enabled !== false && { ospfv2: buildOspfv2(ospfv2) }),
    ...(ospfv3 && ospfv3.enabled !== false && { ospfv3: buildOspfv3(ospfv3) }),
    ...(bgp && bgp.enabled !== false && { bgp: buildBgp(bgp, router.loopback) }),
    ...(proxy && proxy.enabled !== false && { proxy: buildProxy(proxy) }),
    queuePairs: { ageingMs: declared['queue-pairs']?.ageing ?? DEFAULTS.ageingMs },
    ports: (declared.ports ?? []).map((port) => buildPort(port, probes(declared.stamp))),
    borderPorts: declared['border-ports'] ?? [],
    ...(declared['border-allow'] && {
      borderAllow: {
        inbound: declared['border-allow'].inbound ?? [],
        outbound: declared['border-allow'].outbound ?? [],
      },
    }),
    ...(declared.notifications &&
      declared.notifications.enabled !== false && { notifications: buildNotifications(declared.notifications) }),
    ...(declared.srv6 && declared.srv6.enabled !== false && { srv6: buildSrv6(declared.srv6) }),
    ...(declared.stamp && declared.stamp.enabled !== false && { stamp: buildStamp(declared.stamp) }),
    codePoints: {
      ...DEFAULT_CODE_POINTS,
      ...Object.fromEntries(
        Object.entries(declared['code-points'] ?? {}).filter(
          ([name, value]) => name in DEFAULT_CODE_POINTS && value !== undefined,
        ),
      ),
    },
    gnmiSocket: declared.gnmi?.socket ?? DEFAULTS.gnmiSocket,
    ...(declared.gnmi?.['socket-group'] !== undefined && { gnmiSocketGroup: declared.gnmi['socket-group'] }),
    logLevel: declared.log?.level ?? DEFAULTS.logLevel,
  };
}

function buildIsis(isis: NonNullable<Declared['isis']>): IsisIntent {
  const keys = isis.authentication ?? {};
  const key = (scope: 'interface' | 'area' | 'domain'): object =>
    keys[scope] ? { [scope]: { key: keys[scope]['hmac-md5'] } } : {};
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
  const [address, otherAddress] = [proxy.address].flat();
  return {
    address: address!,
    ...(otherAddress && { otherAddress }),
    senders: proxy.senders,
    interfaces: proxy.interfaces ?? [],
    acceptFrom: proxy['accept-from'],
    perFlowIntervalMs: proxy['per-flow-interval'] ?? DEFAULTS.proxyFlowIntervalMs,
    noticesPerSecond: proxy.rate ?? DEFAULTS.proxyRate,
  };
}

/** Whether RTTs are measured at all. */
export const probes = (stamp: Declared['stamp']): boolean =>
  stamp !== undefined && stamp.enabled !== false && (stamp.learn === true || (stamp.targets ?? []).length > 0);

/**
 * A K_min that is not given is K_max / 2 (LHCNP-5.3.2-g), which of `k-max: auto` only plan knows; absent with `ecn:
 * off`.
 */
function buildPort(port: NonNullable<Declared['ports']>[number], probed: boolean): PortIntent {
  const { rtt, bandwidth, 'k-max': kMax, 'v-ecn': vEcn, 'v-growth': vGrowth } = port;
  const fixed = kMax === 'auto' ? undefined : kMax;
  const kMin =
    port.ecn === false ? undefined : (port['k-min'] ?? (fixed === undefined ? undefined : Math.floor(fixed / 2)));
  const triggers = { ...(vEcn !== undefined && { vEcn }), ...(vGrowth !== undefined && { vGrowth }) };
  return {
    interface: port.interface,
    ...(kMin !== undefined && { kMin }),
    ...(kMin !== undefined && port['k-min'] !== undefined && { kMinDeclared: true as const }),
    ...(fixed !== undefined && { kMax: fixed }),
    ...(kMax === 'auto' && {
      adaptive: { kBase: port['k-base'] ?? DEFAULTS.kBase, alpha: port.alpha ?? DEFAULTS.alpha },
    }),
    ...(port.ecn === false && { ecn: false as const }),
    ...(bandwidth !== undefined && { rateBitPerS: bandwidth }),
    ...(typeof rtt === 'number' ? { rttMs: rtt } : probed && { probeRtt: true as const }),
    ...triggers,
    measurementIntervalMs: port['measurement-interval'] ?? DEFAULTS.measurementIntervalMs,
    perFlowIntervalMs: port['per-flow-interval'] ?? DEFAULTS.portFlowIntervalMs,
    noticesPerSecond: port.rate ?? DEFAULTS.portRate,
  };
}

/** The rules have seen that there is a SID, or room for one. */
function buildEndCon({
  sid,
  locator,
  table = MAIN_TABLE,
  interfaces = [],
  senders = [],
}: EndConDeclared): EndConIntent {
  return { sid: sid ?? allocatedSid(locator, table)!, locator, table, interfaces, senders };
}

function buildSrv6(srv6: NonNullable<Declared['srv6']>): Srv6Intent {
  const { dscp } = srv6;
  return {
    endCon: (srv6['end-con'] ?? []).map(buildEndCon),
    corePorts: srv6['core-ports'],
    ecnMode: srv6.ecn ?? 'normal',
    dscpModel: typeof dscp === 'object' ? { kind: 'pipe', outerDscp: dscp.pipe } : { kind: dscp ?? 'pipe' },
  };
}

function buildStamp(stamp: NonNullable<Declared['stamp']>): StampIntent {
  return {
    reflector: stamp.reflector ?? false,
    acceptFrom: stamp['accept-from'] ?? [],
    udpPort: stamp.port ?? DEFAULTS.stampPort,
    intervalMs: stamp.interval ?? DEFAULTS.stampIntervalMs,
    targets: stamp.targets ?? [],
    learnTargets: stamp.learn ?? false,
    ...(stamp['hmac-key'] !== undefined && { hmacKey: stamp['hmac-key'] }),
  };
}
