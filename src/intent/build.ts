// The declaration with its defaults applied: the Intent that the rest of cnpd reads. Off is absent (PNC-6-e, PNC-6-f):
// a section that is not there and one that says `enabled: off` give the same Intent.
import * as bgp from './bgp.ts';
import * as border from './border.ts';
import * as codePoints from './code-points.ts';
import * as flowControl from './flow-control.ts';
import * as gnmi from './gnmi.ts';
import * as groups from './groups.ts';
import type { Intent } from './intent.ts';
import * as isis from './isis.ts';
import * as log from './log.ts';
import * as metrics from './metrics.ts';
import * as northbound from './northbound.ts';
import * as notifications from './notifications.ts';
import * as ospf from './ospf.ts';
import * as ports from './ports.ts';
import * as proxy from './proxy.ts';
import * as queuePairs from './queue-pairs.ts';
import * as router from './router.ts';
import type { Declared } from './schema.ts';
import * as source from './source.ts';
import * as srv6 from './srv6.ts';
import * as stamp from './stamp.ts';

interface Switched {
  readonly enabled?: boolean | undefined;
}

/** Nothing of a section that is not there, or off. */
const running = <S extends Switched, T extends object>(
  section: S | undefined,
  build: (section: S) => T,
): T | undefined => (section && section.enabled !== false ? build(section) : undefined);

export function buildIntent(file: Declared): Intent {
  const allow = file['border-allow'];
  const probed = stamp.measures(file.stamp);
  const tunnels = running(file.srv6, (declared) => ({ srv6: srv6.build(declared) }));
  return {
    router: router.build(file.router),
    ...running(file.isis, (declared) => ({ isis: isis.build(declared) })),
    ...running(file.ospfv2, (declared) => ({ ospfv2: ospf.build2(declared) })),
    ...running(file.ospfv3, (declared) => ({ ospfv3: ospf.build3(declared) })),
    ...running(file.bgp, (declared) => ({ bgp: bgp.build(declared, file.router.loopback) })),
    ...running(file.proxy, (declared) => ({ proxy: proxy.build(declared) })),
    ...running(file.source, (declared) => ({ source: source.build(declared) })),
    ...running(file['flow-control'], (declared) => ({ flowControl: flowControl.build(declared) })),
    queuePairs: queuePairs.build(file['queue-pairs']),
    ports: (file.ports ?? []).map((port) => ports.build(port, probed)),
    borderPorts: file['border-ports'] ?? [],
    ...(allow && { borderAllow: border.buildAllow(allow) }),
    ...running(file.notifications, (declared) => ({ notifications: notifications.build(declared) })),
    ...tunnels,
    ...(file.groups && { groups: file.groups.map((group) => groups.build(group, tunnels?.srv6 ?? {})) }),
    ...running(file.stamp, (declared) => ({ stamp: stamp.build(declared) })),
    codePoints: codePoints.build(file['code-points']),
    arnBitOrder: codePoints.bitOrder(file['code-points']),
    ...gnmi.build(file.gnmi),
    ...running(file.metrics, (declared) => ({ metrics: metrics.build(declared) })),
    ...running(file.northbound, (declared) => ({ northbound: northbound.build(declared) })),
    logLevel: log.build(file.log),
  };
}
