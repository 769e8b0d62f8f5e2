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
  ports: PortState[];
  flows: FlowState[];
  counters: CounterState[];
  codepoints: CodePointState[];
}

/** Where the northbound reads: one function a section, called when asked. */
export type StateSource = { readonly [K in keyof CnpdState]: () => CnpdState[K] | Promise<CnpdState[K]> };
