// The part of the operational state (state.ts) that is of one carrier each: neighbours, databases, sessions and paths,
// one interface a list of `yang/cnpd.yang`.
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

/** What does not work in a level of IS-IS though there is an adjacency. */
export interface IsisTrouble {
  readonly level: 1 | 2;
  /** Whether LSPs were refused, or their contents are not learned, because database and learned table are full. */
  readonly databaseFull: boolean;
  /** Whether another router issues LSPs with our system ID, or did so in the last minutes. */
  readonly systemIdContested: boolean;
  /**
   * Fragments of our LSP that cannot be issued because somebody used their highest sequence number, and until when (RFC
   * 3339).
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

/** The router at the other end of an area's link. Without one there still is a row, in state `down`. */
export interface OspfNeighborState {
  /** Dotted quad. */
  area: string;
  interface: string;
  state: 'down' | 'init' | 'ex-start' | 'exchange' | 'loading' | 'full';
  /** Dotted quad; null while nobody answers. */
  routerId: string | null;
  /** Seconds until it is lost unless a hello arrives. */
  deadTimeRemaining: number;
  /** Of the neighbour's interface, bytes, as its Database Descriptions say; null: none came yet. */
  mtu: number | null;
  /** Whether it accepts what cnpd advertises: OSPFv2 opaque LSAs (`capability opaque`); null: not known yet. */
  takesOpaque: boolean | null;
  /** LSAs that it has not acknowledged. */
  unacknowledged: number;
  /** Whether LSAs of the area were refused within half an hour, because the database held its limit. */
  databaseFull: boolean;
  /** Whether another router issues LSAs with our router ID, or did so in the last minutes. */
  routerIdContested: boolean;
  /** Since when it is not full, however often the exchange has restarted; null: it is. */
  notFullSince: string | null;
  since: string;
  /** Why it is in this state. */
  reason: string;
}

export interface OspfLsaState {
  /** Dotted quad. */
  area: string;
  /**
   * The RFC's name of the type, such as `extended-prefix` or `E-Intra-Area-Prefix`; `0x…` of one that has none here.
   */
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
  /** For how many seconds gobgpd owes an answer and says nothing else either; absent: it answers. */
  silent?: number;
  /** cnpd's policies in gobgpd: `off` as declared, `pending` until it has been asked. */
  policy: 'off' | 'pending' | 'installed' | 'failed';
  /** Why they are not there; absent: they are, or were not tried. */
  policyReason?: string;
  /** gobgpd's BGP neighbours; absent: it does not tell of them now. */
  neighbors?: number;
  /** Paths that gobgpd has told of, those of cnpd left out; and those of them with a characteristic that is used. */
  learned: number;
  withProxy: number;
}

/** The session as cnpd itself sees it: causes by their codes besides the words that are shown. */
export interface BgpSession extends BgpSessionState {
  /** Of `reason`, where gobgpd cannot be used; absent: not known. */
  fault?: GobgpFaultCode;
  /** Of `refusal`. */
  refusalFault?: GobgpFaultCode;
  /** Of `policyReason`. */
  policyFault?: GobgpFaultCode;
  /** Of `policyReason`: somebody else has something under the name of one. */
  policyNameTaken?: boolean;
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
  /** Whether its AS is gobgpd's own, one of `bgp.domain` or a member of gobgpd's confederation; absent: not known. */
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
