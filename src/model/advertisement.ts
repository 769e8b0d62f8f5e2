// The three things that the network carries for cnpd, whatever the protocol (docs/architecture.md, "What each protocol
// carries"), and what a carrier reports of them.
import type { IpAddress } from './address.ts';
import type { Prefix } from './prefix.ts';

export type CarrierName = 'isis' | 'ospfv2' | 'ospfv3' | 'bgp';

/**
 * What we ask a carrier to advertise: "`proxy` is the congestion notification proxy for the senders in `prefix`" (PNC
 * §5).
 */
export interface ProxyPrefix {
  readonly prefix: Prefix;
  readonly proxy: IpAddress;
}

/** An SRv6 SID of this router with its endpoint behaviour: END.CON (FCN §4.2.2), later End.MT. */
export interface SidAdvertisement {
  readonly sid: IpAddress;
  /**
   * The locator that the SID belongs to. Carriers say what it is; that packets get there is for the routing daemon
   * beside (docs/decisions.md).
   */
  readonly locator: Prefix;
  /** SRv6 Endpoint Behavior, 16 bits (RFC 8986 §10.2). */
  readonly behavior: number;
}

/** A SID that a carrier learned. */
export interface LearnedSid {
  readonly sid: IpAddress;
  readonly behavior: number;
}

/** Everything that this router advertises through a carrier. */
export interface Origination {
  readonly proxies: readonly ProxyPrefix[];
  readonly sids: readonly SidAdvertisement[];
  /** Router addresses (loopbacks) at which this router's STAMP reflector answers; empty when it has none. */
  readonly routerAddresses: readonly IpAddress[];
  /** Addresses by which this router is known (its loopbacks), whether or not they answer probes. */
  readonly identity?: readonly IpAddress[];
}

/** Membership of an edge in an End.MT group. Not carried yet. */
export interface GroupMembership {
  readonly group: IpAddress;
  readonly edge: IpAddress;
}

/** One prefix that a carrier learned, flagged or not: an unflagged longest match means "no proxy" (decision D5). */
export interface LearnedPrefix {
  readonly prefix: Prefix;
  /** The Proxy Node Capability flag of this advertisement. */
  readonly pnc: boolean;
  /**
   * Where the notice goes (decision D6). Absent when the flag is clear, or set but no usable address was advertised.
   */
  readonly proxy?: IpAddress | undefined;
  readonly metric: number;
  /** The routing protocol prefers another path of this prefix: it counts only where that one names no proxy. */
  readonly second?: boolean;
}

/**
 * All that one source (an LSP fragment, an LSA, a BGP path) says now; it replaces what the same source said before, and
 * an empty list withdraws it.
 */
export interface LearnedReport {
  readonly carrier: CarrierName;
  /** Unique in the carrier, e.g. `L2 0000.0000.0001.00-03`. */
  readonly source: string;
  /** The router that vouches for it, e.g. `L2 0000.0000.0001`; its reachability decides whether the entries count. */
  readonly originator: string;
  readonly prefixes: readonly LearnedPrefix[];
  readonly sids?: readonly LearnedSid[];
  /**
   * Addresses by which the originator is known as a router (IS-IS TLVs 134 and 140, OSPF router addresses): where RTT
   * probes may go.
   */
  readonly routerAddresses?: readonly IpAddress[];
}

/** Which originators the carrier can reach at present. Those absent are held for the hold time, then dropped. */
export interface ReachabilityReport {
  readonly carrier: CarrierName;
  readonly reachable: ReadonlySet<string>;
}
