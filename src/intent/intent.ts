// What the operator declared, validated: the typed form of cnpd.yaml. Everything is off until it is written down
// (PNC-6-e, PNC-6-f): an absent section is a feature that does not run. Sizes are bytes, times milliseconds, rates per
// second.
import type { CodePointValues } from '../model/code-points.ts';
import type { IpAddress } from '../model/address.ts';
import type { LongHaulInstruction, NotificationFormat } from '../model/notification.ts';
import type { Prefix } from '../model/prefix.ts';

export interface Intent {
  readonly router: RouterIntent;
  readonly isis?: IsisIntent;
  readonly ospfv2?: OspfIntent;
  readonly ospfv3?: OspfIntent;
  readonly bgp?: BgpIntent;
  readonly proxy?: ProxyIntent;
  readonly queuePairs: QueuePairsIntent;
  /** Egress ports to watch. Empty: this router is no congested node. */
  readonly ports: readonly PortIntent[];
  /** Interfaces at which notifications are dropped in both directions (PNC-6-c, PNC-6-d). */
  readonly borderPorts: readonly string[];
  /** What may pass a border port all the same: from outside by source, to outside by destination. Absent: nothing. */
  readonly borderAllow?: { readonly inbound: readonly Prefix[]; readonly outbound: readonly Prefix[] };
  /** Who is told how. Absent: senders are told through their proxies alone. */
  readonly notifications?: NotificationsIntent;
  readonly srv6?: Srv6Intent;
  readonly stamp?: StampIntent;
  readonly codePoints: CodePointValues;
  readonly gnmiSocket: string;
  /** Name or number of the group that may connect besides root. */
  readonly gnmiSocketGroup?: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export interface RouterIntent {
  readonly name: string;
  /** Source of the notices that this router sends; one a family at most. */
  readonly loopback4?: IpAddress;
  readonly loopback6?: IpAddress;
  /**
   * Whether notifications, probes and what teaches Queue Pairs are believed only from a port to which the route back to
   * their source leads. False where routing is asymmetric towards hosts or borders.
   */
  readonly reversePathCheck: boolean;
  /** Interfaces towards other routers of the domain; absent: those with a route through a gateway. */
  readonly corePorts?: readonly string[];
}

/** What is known about connections, by a proxy or for Long-haul CNPs. */
export interface QueuePairsIntent {
  /** A connection of which no packet came for this time is forgotten. */
  readonly ageingMs: number;
}

export type IsisLevels = '1' | '2' | '1-2';

/** HMAC-MD5 (RFC 5304). */
export interface IsisAuthentication {
  readonly key: string;
}

export interface IsisIntent {
  /** 6 bytes; cnpd is a system of its own beside FRR, so this differs from FRR's. */
  readonly systemId: Uint8Array;
  /** Area address, 1..13 bytes, the NET without system ID and selector. */
  readonly area: Uint8Array;
  readonly levels: IsisLevels;
  /**
   * Name of the veth end in the router's namespace, on which FRR runs `ipv6 router isis`. cnpd creates and removes it.
   */
  readonly interface: string;
  readonly mtu: number;
  readonly helloIntervalMs: number;
  readonly holdMultiplier: number;
  readonly lifetimeSeconds: number;
  readonly refreshSeconds: number;
  /** `area`: LSPs and SNPs of level 1; `domain`: of level 2; `interface`: hellos. */
  readonly authentication: {
    readonly interface?: IsisAuthentication;
    readonly area?: IsisAuthentication;
    readonly domain?: IsisAuthentication;
  };
  /** How long entries outlive the reachability of their originator. */
  readonly holdUnreachableMs: number;
}

/** Keyed MD5 (RFC 2328 §D.4.3, OSPFv2 alone), the HMACs of RFC 5709 (OSPFv2) and RFC 7166 (OSPFv3). */
export interface OspfKey {
  /** 1-255 with OSPFv2, 1-65535 with OSPFv3 (security association ID). */
  readonly id: number;
  readonly algorithm: 'md5' | 'hmac-sha-1' | 'hmac-sha-256' | 'hmac-sha-384' | 'hmac-sha-512';
  readonly key: string;
}

/** One area: one veth, one adjacency with FRR. */
export interface OspfAreaIntent {
  /** 32 bits. */
  readonly areaId: number;
  /** Name of the veth end in the router's namespace, on which FRR runs OSPF. cnpd creates and removes it. */
  readonly interface: string;
  readonly mtu: number;
  /** Accept a neighbour whose MTU is larger. */
  readonly ignoreMtu: boolean;
  /** OSPFv3 only; 0 with OSPFv2. */
  readonly instanceId: number;
  /** OSPFv2 only: the IPv4 addresses of the veth's two ends, FRR's and cnpd's. */
  readonly link?: { readonly router: IpAddress; readonly own: IpAddress; readonly length: number };
  /** The first signs, all are accepted; none: no authentication. */
  readonly keys: readonly OspfKey[];
}

export interface OspfIntent {
  readonly version: 2 | 3;
  /** 32 bits, not 0; cnpd is a router of its own beside FRR, so this differs from FRR's. */
  readonly routerId: number;
  /** Never empty, each area once. */
  readonly areas: readonly OspfAreaIntent[];
  readonly helloSeconds: number;
  readonly deadSeconds: number;
  readonly retransmitMs: number;
  /** How long entries outlive the reachability of their originator. */
  readonly holdUnreachableMs: number;
}

/** Where gobgpd's gRPC interface is. */
export interface GobgpIntent {
  /** `HOST:PORT`, or `unix:/PATH`. */
  readonly target: string;
  /** Paths of PEM files. Absent: no TLS, which is for the loopback and for UNIX sockets. */
  readonly tls?: {
    readonly ca: string;
    readonly certificate?: string;
    readonly key?: string;
    readonly serverName?: string;
  };
  /** Largest message that is taken from gobgpd, bytes. */
  readonly maxMessageBytes: number;
}

/** What is advertised in BGP: a path a sender prefix, or one for the proxy's own host prefix (PNC-5.4-b). */
export type BgpAdvertise = 'senders' | 'proxy-host';

export interface BgpIntent {
  readonly gobgp: GobgpIntent;
  /**
   * Next hops of the paths that cnpd originates, by family of the next hop; a prefix is advertised only with one of its
   * own family.
   */
  readonly nextHop4?: IpAddress;
  readonly nextHop6?: IpAddress;
  readonly advertise: BgpAdvertise;
  /** RFC 1997, 32 bits each. */
  readonly communities: readonly number[];
  /** RFC 8092: global administrator and two local data parts, 32 bits each. */
  readonly largeCommunities: readonly (readonly [number, number, number])[];
  /**
   * AS numbers of the domain beside gobgpd's own: characteristics of paths through any other AS are not used (decision
   * D9), and with none of them no path of cnpd's leaves the AS (NO_EXPORT).
   */
  readonly domain: readonly number[];
  /**
   * Member ASes of gobgpd's confederation (RFC 5065) beside its own: their neighbours are of the domain, as those are
   * that have sent a path as members do.
   */
  readonly confederation: readonly number[];
  /**
   * Whether cnpd keeps policies of its own in gobgpd: its paths stay in the domain, and what comes from outside is
   * marked.
   */
  readonly policy: boolean;
  /** `best`: the best path of a prefix alone; `all`: every path that gobgpd has. */
  readonly learn: 'best' | 'all';
  /**
   * Whether a path without the characteristic has the proxy that its next hop's host prefix names (for `advertise:
   * proxy-host` at the other end).
   */
  readonly viaNextHop: boolean;
  /** How long entries outlive the connection to gobgpd. */
  readonly holdUnreachableMs: number;
}

/** What the senders behind the proxy understand (PNC-1-a). */
export type ProxyOutputFormat = 'standard-cnp' | SenderCapability;

export interface SenderIntent {
  readonly prefix: Prefix;
  readonly format: ProxyOutputFormat;
}

export interface ProxyIntent {
  /** A unicast address of this router. Notices arrive here. */
  readonly address: IpAddress;
  /** One of the other family, where there is: each sender prefix is advertised with that of its own family. */
  readonly otherAddress?: IpAddress;
  readonly senders: readonly SenderIntent[];
  /**
   * Interfaces at which notices arrive and RoCEv2 traffic is observed. Empty: all Ethernet-like ones but the carriers'
   * own.
   */
  readonly interfaces: readonly string[];
  /** Sources from which notices are accepted. Never empty: there is no "from anybody". */
  readonly acceptFrom: readonly Prefix[];
  /** Least time between two CNPs for one flow. */
  readonly perFlowIntervalMs: number;
  /** Notices accepted per second, all flows together. */
  readonly noticesPerSecond: number;
}

/**
 * What the senders of a prefix are known to understand; `unknown`: nothing is known. A standard CNP is understood by
 * every RoCEv2 sender.
 */
export type SenderCapability = 'fast-cnp' | 'long-haul-icmpv6' | 'long-haul-roce';

export interface SenderPolicyIntent {
  readonly prefix: Prefix;
  /** `unknown`, or all that they understand (empty: standard CNPs only). */
  readonly supports: 'unknown' | readonly SenderCapability[];
  /** The formats tried, in this order; the first that is possible is used. Never empty. */
  readonly order: readonly NotificationFormat[];
  /**
   * Whether packets of flows that a Fast CNP is sent for are CE-marked all the same (FCNP-4-a); false when known
   * capable (FCNP-4-b).
   */
  readonly markCeWithFastCnp: boolean;
}

/** A row of the severity table: from `kMaxRatio` × K_max upwards. */
export interface SeverityRowIntent extends LongHaulInstruction {
  readonly kMaxRatio: number;
}

/**
 * A step beyond the severity table. `rtt`: a pause of one round-trip time of the port, as far as 16 bits of
 * microseconds go.
 */
export interface EscalationRowIntent {
  readonly level: number;
  readonly action: 'rate-reduce' | 'pause';
  readonly parameter: number | 'rtt';
}

export interface NotificationsIntent {
  /** By longest match on the data packet's source. Senders outside all of them are not told. */
  readonly senders: readonly SenderPolicyIntent[];
  /** How long "does not understand", learned from an ICMPv6 Parameter Problem, is believed. */
  readonly capabilityExpiryMs: number;
  readonly fastCnp: {
    /** Whether the ICRC covers the Destination Options header (decision B2). */
    readonly icrc: 'cover' | 'skip';
  };
  readonly longHaul: {
    /** Sent for triggers below K_max (marking rate, growth). */
    readonly early: LongHaulInstruction;
    /** Ascending in kMaxRatio, the first at 1; never Pause or Resume (LHCNP-5.5.1-d). */
    readonly severity: readonly SeverityRowIntent[];
    /** Steps taken when the metrics worsen after a reduction, ascending in strictness; Pause belongs here. */
    readonly escalation: readonly EscalationRowIntent[];
    readonly resume: LongHaulInstruction;
    /**
     * A flow is told when its share of the bytes queued in the window is at least this fraction of the largest share;
     * 0: every flow (LHCNP-5.5-b).
     */
    readonly contribution: number;
    /**
     * An arrival rate that fell by at least this fraction within the window counts as a reduction by an upstream node
     * (LHCNP-5.7-c).
     */
    readonly deferralReduction: number;
    /** Off: Metric Type and Value are zero (LHCNP-6.1-n). */
    readonly disclose: boolean;
    readonly objects: { readonly timestamp: boolean; readonly deviceId?: string; readonly pathId?: number };
    /** RoCEv2 form: 4 zero octets behind the extension, so that it is as long as a CNP (decision A3). */
    readonly padToCnp: boolean;
  };
}

/** END.CON: one SID a routing table (decision E6). */
export interface EndConIntent {
  readonly sid: IpAddress;
  readonly locator: Prefix;
  /** The table in which senders are looked up after decapsulation; 254 is main. */
  readonly table: number;
  /**
   * Traffic whose tunnels carry this SID as outer source: from these interfaces (empty: any) and these inner source
   * prefixes (empty: any).
   */
  readonly interfaces: readonly string[];
  readonly senders: readonly Prefix[];
}

export interface Srv6Intent {
  readonly endCon: readonly EndConIntent[];
  /** Interfaces towards the SRv6 domain: where tunnels leave and enter. */
  readonly corePorts: readonly string[];
  /** RFC 6040 at encapsulation (FCN-4.2.1-a). */
  readonly ecnMode: 'normal' | 'compatibility';
  /** RFC 2983. Pipe: inner and outer DSCP are independent. */
  readonly dscpModel: { readonly kind: 'pipe'; readonly outerDscp?: number } | { readonly kind: 'uniform' };
}

/** RTT probing (STAMP, RFC 8762). */
export interface StampIntent {
  readonly reflector: boolean;
  /** Who may be reflected to; never empty with `reflector`. */
  readonly acceptFrom: readonly Prefix[];
  readonly udpPort: number;
  readonly intervalMs: number;
  /** Probed in addition to the router addresses learned from the IGP. */
  readonly targets: readonly IpAddress[];
  /** Whether addresses learned from the IGP are probed. */
  readonly learnTargets: boolean;
  /** HMAC-SHA-256 of authenticated mode (RFC 8762 §4.4), of probes and answers alike; absent: unauthenticated. */
  readonly hmacKey?: string;
}

/** K_max = max(K_base, alpha × R × RTT / 8) (LHCNP §5.3.2). */
export interface AdaptiveThreshold {
  readonly kBase: number;
  readonly alpha: number;
}

export interface PortIntent {
  readonly interface: string;
  /** CE marking of ECT packets above this queue depth, bytes (LHCNP-5.4-a). Off when absent. */
  readonly kMin?: number;
  /** It was declared, and is not half of K_max by default. */
  readonly kMinDeclared?: true;
  /** Notification above this queue depth, bytes. Off when absent, unless `adaptive` is there. */
  readonly kMax?: number;
  /**
   * `k-max: auto`: computed from the bandwidth-delay product; kMin absent then means K_max / 2 unless `ecn` is false.
   */
  readonly adaptive?: AdaptiveThreshold;
  /** Set, to false, when nothing is to be CE-marked. */
  readonly ecn?: false;
  /** R; absent: from the qdisc, else from the link. bit/s. */
  readonly rateBitPerS?: number;
  /** RTT_est configured; absent and `probeRtt`: measured; neither: not known. */
  readonly rttMs?: number;
  readonly probeRtt?: true;
  /** V_ecn, fraction 0-1 (LHCNP-5.4-d). */
  readonly vEcn?: number;
  /** V_growth, bytes a second (LHCNP-5.4-e). */
  readonly vGrowth?: number;
  /** Over which both are measured. */
  readonly measurementIntervalMs: number;
  /** Least time between two notices for one flow. */
  readonly perFlowIntervalMs: number;
  /** Notices per second, all flows of the port together. */
  readonly noticesPerSecond: number;
}
