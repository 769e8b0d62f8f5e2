// Operational state as the northbound serves it and `cnpctl` shows it: plain JSON values, addresses and prefixes as
// text, times as RFC 3339, sizes in bytes, rates in bit/s. One interface per list of `yang/cnpd.yang`; those of the
// carriers are in carrier-state.ts. The daemon supplies it; the northbound owns no state.
import type { GroupsState } from './group-state.ts';
import type { FlowControlState } from './flow-control-state.ts';
import type { HoldState, ReceivedNotificationState, SourceState } from './source-state.ts';
import type { ConfigurationState } from './configuration-state.ts';
import type { BgpState, IsisLspState, IsisNeighborState, OspfState } from './carrier-state.ts';
import type { RollBackReason } from './config-change.ts';
import type { Problem } from './problem.ts';

/** A list entry as JSON: names in kebab case, unknown values omitted. */
export type Row = Readonly<Record<string, unknown>>;

export interface StatusState {
  version: string;
  pid: number;
  startedAt: string;
  /**
   * `starting` until everything declared is in force or named as a problem. Then `running`, or `degraded` if a feature
   * cannot work or the last reload was refused. `problems` has the reasons and remedies.
   */
  health: 'starting' | 'running' | 'degraded';
  /** What the start waits for; empty: it is over. */
  waitsFor: string[];
  problems: Problem[];
  intent: {
    file: string;
    loadedAt: string;
    /** Whether a restart comes up with what is in force. */
    persistent: boolean;
    /** When what is in force is taken back unless it is confirmed. */
    confirmBy?: string;
    /** What became of the last trial, until something else is in force. */
    rolledBack?: { at: string; reason: RollBackReason };
    lastReload?: { at: string; ok: boolean; errors: string[] };
  };
  adopted: boolean;
}

/** A proxy that this router declares. */
export interface LocalProxyState {
  address: string;
  prefixes: string[];
  format: string;
  advertisedIn: string[];
}

/** One advertisement of a sender prefix in the learned table. */
export interface SenderState {
  prefix: string;
  proxy: string | null;
  /** Whether this entry is the one in force for its prefix. */
  best: boolean;
  pnc: boolean;
  metric: number;
  carrier: string;
  originator: string;
  source: string;
  since: string;
  /** Set while the originator is unreachable: when the entry will be dropped. */
  heldUntil?: string;
  /** What it says that the senders understand; absent: nothing. */
  supports?: string[];
  /** Whether this is what counts for its prefix. */
  supportsInForce?: boolean;
}

export interface PortState {
  interface: string;
  ifindex: number;
  attached: boolean;
  rootQdisc: string;
  queueBytes: number;
  peakQueueBytes: number;
  kMin: number;
  kMax: number;
  /** Human-readable origin of each threshold, e.g. `k-max: 125000 B = configured`. */
  explanation: string[];
  packets: number;
  bytes: number;
  ceMarked: number;
  triggers: number;
  notifications: number;
  suppressedPerFlow: number;
  suppressedPerPort: number;
  noProxy: number;
  /** RTT_est, configured or measured; null: not known. */
  rttMs: number | null;
  /** V_ecn, percent, and V_growth, bytes a second; null: no such trigger. */
  vEcn: number | null;
  vGrowth: number | null;
  /** The values compared with them, in the last whole measurement interval. */
  ecnMarkingRate: number;
  queueGrowth: number;
  measurementIntervalMs: number | null;
  /**
   * Triggers without a notification. `notContributing`: the flow contributes little. `deferred`: an upstream node's
   * notification was seen to work. `noFormat`: no format is possible for the sender.
   */
  notContributing: number;
  deferred: number;
  noFormat: number;
  /** Packets passed uninspected because of their tunnel: in total, and by kind of tunnel. */
  unseen: number;
  unseenMpls: number;
  unseenGre: number;
  unseenVxlan: number;
  unseenEsp: number;
  unseenGeneve: number;
  unseenOther: number;
}

export interface FlowState {
  port: string;
  source: string;
  destination: string;
  destinationQpn: number;
  /** Known on the proxy only (Queue Pair learning); null elsewhere. */
  sourceQpn: number | null;
  learnedFrom: 'cm' | 'reverse-traffic' | 'configured' | null;
  packets: number;
  bytes: number;
  lastSeen: string;
  notifications: number;
}

/** One notification that this node has sent; the newest first. */
export interface NotificationState {
  /** Counts from 1 since the daemon's start. It is the key, since times and flows repeat. */
  sequence: number;
  at: string;
  port: string;
  format: string;
  reason: string;
  source: string;
  destination: string;
  destinationQpn: number;
  sourceQpn: number | null;
  endCon: string | null;
  queueBytes: number;
  level: number;
  action: string | null;
  parameter: number | null;
}

/** An SRv6 SID that matters to cnpd: its own and those learned. */
export interface SidState {
  sid: string;
  /** `END.CON`, `End.MT`, `replication`; several where routers contradict each other. */
  behavior: string;
  /** `local`: programmed here; `learned`: advertised by another router. */
  origin: 'local' | 'learned';
  /** Local: `programmed` or why not. Learned: `reachable`, or `held until …`. */
  status: string;
  /** Local: table of the lookup; else null. */
  table: number | null;
  /** Learned: the reporting carrier; else null. */
  carrier: string | null;
  originator: string | null;
}

/** An RTT probe target (STAMP). */
export interface RttState {
  target: string;
  port: string | null;
  source: 'configured' | 'learned';
  sent: number;
  received: number;
  /** Milliseconds; null: no answer yet. */
  rttMs: number | null;
  minRttMs: number | null;
  lastAnswer: string | null;
}

export interface CounterState {
  name: string;
  value: number;
}

interface CodePointState {
  name: string;
  value: number;
  default: number;
  description: string;
  source: string;
}

export interface CnpdState {
  status: StatusState;
  proxies: LocalProxyState[];
  senders: SenderState[];
  isis: { neighbors: IsisNeighborState[]; database: IsisLspState[] };
  ospfv2: OspfState;
  ospfv3: OspfState;
  bgp: BgpState;
  ports: PortState[];
  flows: FlowState[];
  notifications: NotificationState[];
  sources: SourceState[];
  received: ReceivedNotificationState[];
  holds: HoldState[];
  flowControl: FlowControlState;
  sids: SidState[];
  groups: GroupsState;
  rtt: RttState[];
  counters: CounterState[];
  codepoints: CodePointState[];
  configuration: ConfigurationState;
}

/** A section with lists that are built only on access. */
export type Lazy<T> = { readonly [K in keyof T]: T[K] | Promise<T[K]> };

/** The northbound's source: one function per section, called on each request. */
export type StateSource = {
  readonly [K in keyof CnpdState]: () =>
    | CnpdState[K]
    | Promise<CnpdState[K]>
    | (K extends 'bgp' ? Promise<Lazy<CnpdState[K]>> : never);
};
