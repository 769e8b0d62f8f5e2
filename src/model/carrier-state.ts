// The operational state (state.ts) of single carriers: neighbors, databases, sessions and paths. One interface per list
// of `yang/cnpd.yang`.
import type { GobgpFaultCode } from './gobgp-fault.ts';

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

/** Faults of an IS-IS level that has an adjacency. */
export interface IsisTrouble {
  readonly level: 1 | 2;
  /** Whether LSPs were refused, or their contents are not learned, because database and learned table are full. */
  readonly databaseFull: boolean;
  /** Whether another router issues LSPs with our system ID, or did so in the last minutes. */
  readonly systemIdContested: boolean;
  /**
   * Fragments of our LSP that cannot be issued because another router used their highest sequence number, and until
   * when (RFC 3339).
   */
  readonly exhausted: readonly { readonly fragment: number; readonly until: string }[];
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

/** The neighbor on an area's link. Without one there still is a row, in state `down`. */
export interface OspfNeighborState {
  /** Dotted quad. */
  area: string;
  interface: string;
  state: 'down' | 'init' | 'ex-start' | 'exchange' | 'loading' | 'full';
  /** Dotted quad; null while gobgpd does not answer. */
  routerId: string | null;
  /** Seconds until it is lost unless a hello arrives. */
  deadTimeRemaining: number;
  /** MTU of the neighbor's interface from its Database Descriptions, bytes; null: none received yet. */
  mtu: number | null;
  /** Whether it accepts what cnpd advertises: OSPFv2 opaque LSAs (`capability opaque`); null: not known yet. */
  takesOpaque: boolean | null;
  /** LSAs that it has not acknowledged. */
  unacknowledged: number;
  /** Whether LSAs of the area were refused within half an hour, because the database held its limit. */
  databaseFull: boolean;
  /** Whether another router issues LSAs with our router ID, or did so in the last minutes. */
  routerIdContested: boolean;
  /** Since when the adjacency is not full, however often the exchange has restarted; null: it is full. */
  notFullSince: string | null;
  since: string;
  /** Why it is in this state. */
  reason: string;
}

export interface OspfLsaState {
  /** Dotted quad. */
  area: string;
  /** The RFC's name of the type, such as `extended-prefix` or `E-Intra-Area-Prefix`; else `0x…`. */
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
  /** Version of gobgpd's API; null: not known yet. */
  api: 'v3' | 'v4' | null;
  /** gobgpd's AS number; null: not known yet. */
  as: number | null;
  /** Dotted quad. */
  routerId: string | null;
  since: string;
  /** Why it is in this state. */
  reason: string;
  /** `originated`: cnpd's paths that gobgpd reports, 0 while it is not ready. `wanted`: cnpd's desired paths. */
  originated: number;
  wanted: number;
  /** Paths that gobgpd accepted without an error but does not have; absent: none. */
  dropped?: number;
  /** Families of desired paths for which gobgpd has no table; absent: none. */
  noTable?: string[];
  /** Why gobgpd last refused paths; absent: it accepted them. */
  refusal?: string;
  /** Seconds that a request is unanswered while gobgpd sends nothing else; absent: it answers. */
  silent?: number;
  /** cnpd's policies in gobgpd: `off` if so declared, `pending` until gobgpd was asked. */
  policy: 'off' | 'pending' | 'installed' | 'failed';
  /** Why the policies are missing; absent: they are installed, or were not tried. */
  policyReason?: string;
  /** Number of gobgpd's BGP neighbors; absent: gobgpd does not report them at present. */
  neighbors?: number;
  /**
   * `learned`: paths that gobgpd has reported, without cnpd's own. `withProxy`: those with a characteristic that is
   * used.
   */
  learned: number;
  withProxy: number;
}

/** The session inside cnpd: the codes of causes besides the texts that are shown. */
export interface BgpSession extends BgpSessionState {
  /** Code for `reason` if gobgpd cannot be used; absent: not known. */
  fault?: GobgpFaultCode;
  /** Code for `refusal`. */
  refusalFault?: GobgpFaultCode;
  /** Code for `policyReason`. */
  policyFault?: GobgpFaultCode;
  /** For `policyReason`: another object has the name of one of cnpd's policies. */
  policyNameTaken?: boolean;
}

/** One of gobgpd's BGP neighbors. */
export interface BgpPeerState {
  address: string;
  as: number;
  state: 'idle' | 'connect' | 'active' | 'opensent' | 'openconfirm' | 'established' | 'unknown';
  /** Negotiated, e.g. `ipv6-unicast`. */
  families: string[];
  received: number;
  advertised: number;
  /** Whether its AS is gobgpd's own, one of `bgp.domain` or a member of gobgpd's confederation; absent: not known. */
  inDomain?: boolean;
}

/** A path that has a Next Hop Dependent Characteristics attribute, or that cnpd has originated. */
export interface BgpPathState {
  prefix: string;
  /** Address of the BGP neighbor that advertised it; `local`: it was originated here. */
  peer: string;
  nextHop: string;
  /** Next hop in the attribute's header; null: unreadable. */
  headerNextHop: string | null;
  proxy: string | null;
  asPath: string;
  best: boolean;
  /** `originated`: by cnpd; `used`; else why the characteristics are not used. */
  status:
    | 'originated'
    | 'used'
    | 'next-hop-mismatch'
    | 'family-mismatch'
    | 'outside-domain'
    | 'first-as-mismatch'
    | 'malformed'
    | 'no-characteristic'
    | 'no-proxy-address'
    | 'no-senders';
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
