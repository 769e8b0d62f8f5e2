// Operational state as the northbound serves it and `cnpctl` shows it: plain JSON values, addresses and prefixes as text, times as RFC 3339,
// sizes in bytes, rates in bit/s. One interface a list of `yang/cnpd.yang`. The daemon fills it; the northbound owns none of it.

export interface StatusState {
  version: string;
  pid: number;
  startedAt: string;
  /** `starting` until everything declared was tried; then `running`, or `degraded` when a feature cannot work or the last reload was refused; `problems` says what and what to do. */
  health: 'starting' | 'running' | 'degraded';
  problems: { feature: string; problem: string; remedy: string }[];
  intent: { file: string; loadedAt: string; lastReload?: { at: string; ok: boolean; errors: string[] } };
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
}

export interface IsisNeighborState {
  interface: string;
  level: 'L1' | 'L2' | 'L1L2';
  state: 'down' | 'initializing' | 'up';
  systemId: string;
  hostname?: string;
  holdTimeRemaining: number;
  since: string;
  reason: string;
}

export interface IsisLspState {
  level: 1 | 2;
  lspId: string;
  sequence: number;
  lifetime: number;
  checksum: string;
  length: number;
  own: boolean;
  reachable: boolean;
  overload: boolean;
  proxyPrefixes: number;
}

/** The router that an area's link leads to. Without one there is a row all the same, in state `down`. */
export interface OspfNeighborState {
  /** Dotted quad. */
  area: string;
  interface: string;
  state: 'down' | 'init' | 'ex-start' | 'exchange' | 'loading' | 'full';
  /** Dotted quad; null while nobody answers. */
  routerId: string | null;
  /** Seconds until it is lost unless it is heard. */
  deadTimeRemaining: number;
  /** Of the neighbour's interface, bytes, as its Database Descriptions say; null: none came yet. */
  mtu: number | null;
  /** Whether it takes what cnpd advertises: OSPFv2 opaque LSAs (`capability opaque`); null: not known yet. */
  takesOpaque: boolean | null;
  /** LSAs that it has not acknowledged. */
  unacknowledged: number;
  /** Whether LSAs of the area were refused within half an hour, because the database held its limit. */
  databaseFull: boolean;
  /** Whether somebody else issues LSAs under our router ID, or did so in the last minutes. */
  routerIdContested: boolean;
  /** Since when it is not full, however often it has begun anew; null: it is. */
  notFullSince: string | null;
  since: string;
  /** Why it is in this state. */
  reason: string;
}

export interface OspfLsaState {
  /** Dotted quad. */
  area: string;
  /** The RFC's name of the type, such as `extended-prefix` or `E-Intra-Area-Prefix`; `0x…` of one that has none here. */
  type: string;
  /** Link-state ID, dotted quad. */
  lsId: string;
  /** Advertising router, dotted quad. */
  router: string;
  /** `0x80000001` is the first. */
  sequence: string;
  /** Seconds. */
  age: number;
  checksum: string;
  length: number;
  own: boolean;
  /** Whether its advertising router can be reached. */
  reachable: boolean;
  /** Prefixes in it that have the Proxy Node Capability flag. */
  proxyPrefixes: number;
}

export interface OspfState {
  neighbors: OspfNeighborState[];
  database: OspfLsaState[];
}

/** The connection to gobgpd. */
export interface BgpSessionState {
  /** As in cnpd.yaml. */
  target: string;
  state: 'connecting' | 'loading' | 'ready' | 'waiting';
  /** Of its API; null: not known yet. */
  api: 'v3' | 'v4' | null;
  /** gobgpd's own; null: not known yet. */
  as: number | null;
  /** Dotted quad. */
  routerId: string | null;
  since: string;
  /** Why it is in this state. */
  reason: string;
  /** Paths of cnpd's that gobgpd has, by what it tells, none while it is not ready; and those that cnpd wants there. */
  originated: number;
  wanted: number;
  /** Those that gobgpd took without an error and does not have; absent: none. */
  dropped?: number;
  /** Families of wanted paths of which gobgpd has no table; absent: none. */
  noTable?: string[];
  /** Why gobgpd did not take paths the last time; absent: it did. */
  refusal?: string;
  /** gobgpd's BGP neighbours; absent: it does not tell of them now. */
  neighbors?: number;
  /** Paths that gobgpd has told of, those of cnpd left out; and those of them with a characteristic that is used. */
  learned: number;
  withProxy: number;
}

/** One of gobgpd's BGP neighbours. */
export interface BgpPeerState {
  address: string;
  as: number;
  state: 'idle' | 'connect' | 'active' | 'opensent' | 'openconfirm' | 'established' | 'unknown';
  /** Negotiated, e.g. `ipv6-unicast`. */
  families: string[];
  received: number;
  advertised: number;
  /** Whether its AS is gobgpd's own or one of `bgp.domain`; absent: not known. */
  inDomain?: boolean;
}

/** A path that has a Next Hop Dependent Characteristics attribute, or that cnpd has originated. */
export interface BgpPathState {
  prefix: string;
  /** Address of the BGP neighbour that told of it; `local`: it was originated here. */
  peer: string;
  nextHop: string;
  /** Next hop in the attribute's header; null: unreadable. */
  headerNextHop: string | null;
  proxy: string | null;
  asPath: string;
  best: boolean;
  /** `originated`: by cnpd; `used`; else why the characteristics are not used. */
  status: 'originated' | 'used' | 'next-hop-mismatch' | 'family-mismatch' | 'outside-domain' | 'malformed' | 'no-characteristic' | 'no-proxy-address';
  /** SIDs in the private characteristic. */
  sids: string[];
  /** Codes of characteristics that cnpd does not know. */
  unknown: number[];
  since: string;
}

export interface BgpState {
  /** One row, none without a `bgp` section. */
  session: BgpSessionState[];
  peers: BgpPeerState[];
  paths: BgpPathState[];
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
  /** What they are compared with, in the last whole measurement interval. */
  ecnMarkingRate: number;
  queueGrowth: number;
  measurementIntervalMs: number | null;
  /** Triggers without a notification: of flows that contribute little, while an upstream node's notification was seen to work, of senders that can be told in no way. */
  notContributing: number;
  deferred: number;
  noFormat: number;
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
  /** From 1 on, since the daemon started: times and flows repeat. */
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
  /** `END.CON`, or the behaviour's number or name. */
  behavior: string;
  /** `local`: programmed here; `learned`: advertised by another router. */
  origin: 'local' | 'learned';
  /** Local: `programmed` or why not. Learned: `reachable`, or `held until …`. */
  status: string;
  /** Local: table of the lookup; else null. */
  table: number | null;
  /** Of a learned one; else null. */
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

export interface CodePointState {
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
  sids: SidState[];
  rtt: RttState[];
  counters: CounterState[];
  codepoints: CodePointState[];
}

/** A section some of whose lists are put together only when they are reached. */
export type Lazy<T> = { readonly [K in keyof T]: T[K] | Promise<T[K]> };

/** Where the northbound reads: one function a section, called when asked. */
export type StateSource = { readonly [K in keyof CnpdState]: () => CnpdState[K] | Promise<CnpdState[K]> | (K extends 'bgp' ? Promise<Lazy<CnpdState[K]>> : never) };
