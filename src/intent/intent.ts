// What the operator declared, validated: the typed form of cnpd.yaml. Everything is off until the file turns it on
// (PNC-6-e, PNC-6-f): an absent section is a feature that does not run. Sizes are bytes, times milliseconds, rates per
// second. The form of a section is in the file named after it; the forms that other components use are exported here.
import type { ArnBitOrder, CodePointValues } from '../model/code-points.ts';
import type { BgpIntent } from './bgp.ts';
import type { BorderAllowIntent } from './border.ts';
import type { FlowControlIntent } from './flow-control.ts';
import type { GroupIntent } from './groups.ts';
import type { GnmiIntent } from './gnmi.ts';
import type { IsisIntent } from './isis.ts';
import type { LogLevel } from '../model/log-levels.ts';
import type { MetricsIntent } from './metrics.ts';
import type { NorthboundIntent } from './northbound.ts';
import type { NotificationsIntent } from './notifications.ts';
import type { OspfIntent } from './ospf.ts';
import type { PortIntent } from './ports.ts';
import type { ProxyIntent } from './proxy.ts';
import type { QueuePairsIntent } from './queue-pairs.ts';
import type { RouterIntent } from './router.ts';
import type { SourceIntent } from './source.ts';
import type { Srv6Intent } from './srv6.ts';
import type { StampIntent } from './stamp.ts';

export type { BgpIntent } from './bgp.ts';
export type { FlowControlIntent } from './flow-control.ts';
export type { GroupIntent } from './groups.ts';
export type { IsisIntent } from './isis.ts';
export type { NorthboundIntent } from './northbound.ts';
export type { NotificationsIntent } from './notifications.ts';
export type { OspfIntent } from './ospf.ts';
export type { PortIntent } from './ports.ts';
export type { ProxyIntent, SenderIntent } from './proxy.ts';
export type { SourceIntent } from './source.ts';
export type { EndConIntent, Srv6Intent } from './srv6.ts';

export interface Intent extends GnmiIntent {
  readonly router: RouterIntent;
  readonly isis?: IsisIntent;
  readonly ospfv2?: OspfIntent;
  readonly ospfv3?: OspfIntent;
  readonly bgp?: BgpIntent;
  readonly proxy?: ProxyIntent;
  /** Hosts behind this router whose notifications it takes. Absent: none. */
  readonly source?: SourceIntent;
  /** Precise flow control. Absent: no neighbor is asked, and none is obeyed. */
  readonly flowControl?: FlowControlIntent;
  readonly queuePairs: QueuePairsIntent;
  /** Egress ports to watch. Empty: this router is no congested node. */
  readonly ports: readonly PortIntent[];
  /** Interfaces at which notifications are dropped in both directions (PNC-6-c, PNC-6-d). */
  readonly borderPorts: readonly string[];
  /** Exceptions at border ports: from outside by source, to outside by destination. Absent: none. */
  readonly borderAllow?: BorderAllowIntent;
  /** The format per sender prefix. Absent: senders are notified only through their proxies. */
  readonly notifications?: NotificationsIntent;
  readonly srv6?: Srv6Intent;
  /** End.MT groups with members behind this router. Absent: none. */
  readonly groups?: readonly GroupIntent[];
  readonly stamp?: StampIntent;
  readonly codePoints: CodePointValues;
  /** Which bit of an ARN's Para-Type is bit 0. */
  readonly arnBitOrder: ArnBitOrder;
  /** Where metrics and health are served. Absent: nowhere. */
  readonly metrics?: MetricsIntent;
  /** gNMI over TCP. Absent: only the unix sockets. */
  readonly northbound?: NorthboundIntent;
  readonly logLevel: LogLevel;
}
