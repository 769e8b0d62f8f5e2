// The desired state of the kernel: what plan computes and reconcile makes true. Plain values, every policy already
// computed (programs only compare and act). One list an object kind; identity of an object is the field named `id`.
//
// senderProxies may stand for a million entries, so it is a source: who has none of them walks all, who has those of an
// earlier state asks for what has changed since. plan() costs nothing that grows with the network.
import type { Family, IpAddress } from '../model/address.ts';
import type { LongHaulInstruction, NotificationFormat } from '../model/notification.ts';
import type { Prefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';

export interface DesiredState {
  readonly ports: readonly EgressPortPlan[];
  /**
   * Longest-match table of the congested node: sender prefix → where its notice goes. `proxy` null: explicitly none
   * (D5).
   */
  readonly senderProxies: SenderProxies;
  readonly notifier?: NotifierPlan;
  readonly proxy?: ProxyPlan;
  /**
   * The builder's settings on a proxy that does not notify all senders by standard CNPs. Where there is a notifier, its
   * settings are the same.
   */
  readonly builder?: NotifierPlan;
  readonly guards: readonly GuardPlan[];
  /** What may pass the guards, both directions. */
  readonly guardAllow?: readonly GuardAllowPlan[];
  /** Longest-match table of the congested node: sender prefix → formats to try. */
  readonly senderPolicies: readonly SenderPolicyPlan[];
  /** Hosts that have shown not to understand a format. */
  readonly senderCapabilities: readonly SenderCapabilityPlan[];
  /**
   * END.CON SIDs that the network has advertised, this router's among them: outer sources to which a notification may
   * be wrapped.
   */
  readonly endConSids: readonly EndConSidPlan[];
  /** Addresses of this router: a notification may be for itself, and then has no route. */
  readonly ownAddresses?: readonly OwnAddressPlan[];
  readonly srv6?: Srv6Plan;
  /** Absent: one address space. */
  readonly tenants?: TenantsPlan;
  /** Which connections' Queue Pairs are learned, for the proxy or for Long-haul CNP. */
  readonly queuePairs?: QueuePairsPlan;
  /** How they are learned, and from which ports. */
  readonly learning?: LearningPlan;
  /** What cannot be done as declared, and the remedy: shown by `cnpctl show status`. */
  readonly problems: readonly Problem[];
}

export interface EgressPortPlan {
  readonly id: string;
  readonly interface: string;
  readonly ifindex: number;
  /** Bytes; null: no CE marking. */
  readonly kMin: number | null;
  /** Bytes; null: no notification. */
  readonly kMax: number | null;
  /**
   * Level n is reported from levelBytes[n] upwards; levelBytes[0] = kMax; ascending; 8 entries (PNC-4-f, decision D10).
   */
  readonly levelBytes: readonly number[];
  readonly perFlowIntervalNs: number;
  /** Token bucket of the port: notices per second and burst. */
  readonly noticesPerSecond: number;
  readonly burst: number;
  /** V_ecn in parts per million of the packets of an interval; null: no such trigger (LHCNP-5.4-d). */
  readonly vEcnPpm: number | null;
  /** V_growth in bytes an interval; null: no such trigger (LHCNP-5.4-e). */
  readonly vGrowthBytes: number | null;
  /** The measurement interval. */
  readonly intervalNs: number;
  /**
   * RTT_est: observation window of deferral and least interval of Long-haul CNPs for one flow; null: not known,
   * perFlowIntervalNs serves.
   */
  readonly rttNs: number | null;
  /** What a Long-haul CNP says, ascending in strictness, 1 to 8 rows. */
  readonly instructions: readonly InstructionPlan[];
  /** A flow is notified when its share is at least this many 1/256 of the largest one; 0: every flow. */
  readonly contribution256: number;
  /** A fall of the arrival rate by this many 1/256 counts as a reduction; 0: nobody is waited for. */
  readonly deferral256: number;
  /** Of what leaves here outside tunnels (tenants.ts); absent: the router's own address space. */
  readonly tenant?: number;
  /** How each threshold came about, for `cnpctl show ports`. */
  readonly explanation: readonly string[];
}

/** A row of the table of instructions. The first row is for triggers below K_max. */
export interface InstructionPlan extends LongHaulInstruction {
  /** Queue depth from which the row applies, bytes; null: only by escalation. */
  readonly fromBytes: number | null;
}

export interface SenderPolicyPlan {
  readonly id: string;
  readonly prefix: Prefix;
  /** 1 to 4 formats, tried in this order. */
  readonly order: readonly NotificationFormat[];
  readonly markCeWithFastCnp: boolean;
}

export interface SenderCapabilityPlan {
  readonly id: string;
  readonly host: IpAddress;
  readonly lacks: readonly NotificationFormat[];
}

export interface OwnAddressPlan {
  readonly id: string;
  readonly address: IpAddress;
}

export interface EndConSidPlan {
  readonly id: string;
  readonly sid: IpAddress;
  /** Whose senders are behind it (tenants.ts). */
  readonly tenant: number;
}

/** Whose addresses a packet has, for the program that learns Queue Pairs. */
export interface TenantsPlan {
  /** This router's SIDs by their tables, and END.CON SIDs of others. */
  readonly sids: readonly EndConSidPlan[];
  /** By ingress interface (0: any) and source (null: any of both families); longest match. */
  readonly ports: readonly {
    readonly id: string;
    readonly ingressIfindex: number;
    readonly sender: Prefix | null;
    readonly tenant: number;
  }[];
  /** There are tenants besides the main table. */
  readonly known: boolean;
}

/** Endpoint behaviours that decapsulate, whoever configured them; `end-con` is cnpd's. */
export type DecapsulationBehavior = 'end-con' | 'end.dt6' | 'end.dt4' | 'end.dt46' | 'end.dx6' | 'end.dx4';

export interface DecapsulationSidPlan {
  readonly id: string;
  readonly sid: IpAddress;
  readonly behavior: DecapsulationBehavior;
  /** Families of the packets that may be inside. */
  readonly families: readonly Family[];
  /**
   * Table for the lookup after decapsulation; 0: the rules and tables of any packet; null: decapsulation is left to the
   * kernel.
   */
  readonly table: number | null;
}

/** Which outer source a tunnel gets: by ingress interface (0: any) and inner source prefix; longest match. */
export interface TunnelSourcePlan {
  readonly id: string;
  readonly ingressIfindex: number;
  readonly sender: Prefix;
  readonly sid: IpAddress;
}

export interface Srv6Plan {
  /**
   * cnpd's own SIDs: to be seg6local routes with cnpd's protocol number. `installed`: whether the kernel had the SID
   * when the facts were read: it drops the route with an interface that goes down, and says nothing.
   */
  readonly endCon: readonly {
    readonly id: string;
    readonly sid: IpAddress;
    readonly table: number;
    readonly installed: boolean;
  }[];
  /** All local SIDs that decapsulate: RFC 6040 at tunnel egress. */
  readonly decapsulation: readonly DecapsulationSidPlan[];
  readonly tunnelSources: readonly TunnelSourcePlan[];
  /** The outer source of tunnels that no row names; null: it is left alone. */
  readonly defaultSource: IpAddress | null;
  /**
   * Addresses that tunnels of this router have as outer source before it becomes a SID; the SIDs themselves are among
   * them.
   */
  readonly localSources: readonly { readonly id: string; readonly address: IpAddress }[];
  readonly corePorts: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
  /** The interface that cnpd's seg6local routes name: a core port, one that is up if there is one. */
  readonly routeIfindex: number;
  readonly ecnMode: 'normal' | 'compatibility';
  readonly dscp: { readonly kind: 'pipe'; readonly outerDscp: number | null } | { readonly kind: 'uniform' };
  /** Other programs look at what arrives at core ports: nothing may be sent past them. */
  readonly sharedIngress: boolean;
}

export interface QueuePairsPlan {
  /** Connections of these senders. */
  readonly senders: readonly { readonly id: string; readonly prefix: Prefix }[];
  readonly interfaces: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
}

export interface LearningPlan {
  /** A connection without packets is forgotten after this time. */
  readonly ageingNs: number;
  readonly reversePathCheck: boolean;
  /** Of the router's ports, those of which something is to be said (bpf/lib/proxy/port-roles.h). */
  readonly ports: readonly {
    readonly id: string;
    readonly ifindex: number;
    readonly link: number;
    readonly isCore: boolean;
    readonly share: number;
  }[];
}

export interface SenderProxyPlan {
  readonly id: string;
  readonly prefix: Prefix;
  readonly proxy: IpAddress | null;
}

/** Which senders have which proxy, as of one moment of the learned table. */
export interface SenderProxies {
  /** All, walked anew each time. */
  all(): Iterable<SenderProxyPlan>;
  /**
   * What makes a table that holds `earlier` hold these: pieces to be applied in order. Undefined: they do not follow
   * from `earlier`, only `all` will do.
   */
  since(earlier: SenderProxies): readonly SenderProxyChanges[] | undefined;
}

/** Upserts come before deletes, each in the order given. */
export interface SenderProxyChanges {
  readonly upserts: readonly SenderProxyPlan[];
  readonly deletes: readonly string[];
}

/** Of a router that sends no notice to a proxy. */
export const NO_SENDER_PROXIES: SenderProxies = {
  all: () => [],
  since: (earlier) => (earlier === NO_SENDER_PROXIES ? [] : undefined),
};

/** How notices are built on a congested node. */
export interface NotifierPlan {
  readonly source4: IpAddress | null;
  readonly source6: IpAddress | null;
  readonly udpPort: number;
  readonly fastCnp?: FastCnpPlan;
  readonly longHaul?: LongHaulPlan;
}

export interface FastCnpPlan {
  /** Option types of option 1 and option 2 (FCNP §6). */
  readonly option: number;
  readonly ioamOption: number;
  readonly icrc: 'cover' | 'skip';
}

export interface LongHaulPlan {
  readonly icmpv6Type: number;
  readonly objectClass: number;
  readonly disclose: boolean;
  readonly timestamp: boolean;
  readonly deviceId: string | null;
  readonly pathId: number | null;
  readonly padToCnp: boolean;
}

/** How a sender behind the proxy is notified (PNC §1). */
type ProxyFormat = 'standard-cnp' | Exclude<NotificationFormat, 'proxy'>;

export interface ProxyPlan {
  readonly address: IpAddress;
  readonly otherAddress?: IpAddress | undefined;
  readonly udpPort: number;
  readonly senders: readonly { readonly id: string; readonly prefix: Prefix; readonly format: ProxyFormat }[];
  /** The instruction of a Long-haul CNP, by the notice's level; absent: no sender is notified by one. */
  readonly instructions?: readonly LongHaulInstruction[];
  readonly acceptFrom: readonly { readonly id: string; readonly prefix: Prefix }[];
  readonly perFlowIntervalNs: number;
  readonly noticesPerSecond: number;
  readonly burst: number;
  /** Where the proxy program is attached at ingress. */
  readonly interfaces: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
}

export interface GuardPlan {
  readonly id: string;
  readonly interface: string;
  readonly ifindex: number;
  readonly udpPort: number;
  /** What else is recognised as a notification (FCNP-5-d, FCNP-5-e, LHCNP §9). */
  readonly fastCnpOption?: number;
  readonly fastCnpIoamOption?: number;
  readonly longHaulIcmpv6Type?: number;
}

export interface GuardAllowPlan {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly prefix: Prefix;
}
