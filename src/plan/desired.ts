// The desired state of the kernel: plan computes it and reconcile applies it. Plain values, with every policy already
// computed (programs only compare and act). One list per kind of object; the field `id` identifies an object.
//
// senderProxies may have a million entries, so it is a source. A consumer with an earlier state asks for the
// changes since then; one without walks all entries. The cost of plan() does not grow with the network.
import type { SourcePlan } from './source-plan.ts';
import type { IpAddress } from '../model/address.ts';
import type { LongHaulInstruction, NotificationFormat } from '../model/notification.ts';
import type { Prefix } from '../model/prefix.ts';
import type { Problem } from '../model/problem.ts';
import type { Understood } from '../model/understood.ts';
import type { FlowControlPlan } from './flow-control-plan.ts';
import type { MulticastPlan } from './multicast-plan.ts';
import type { Srv6Plan } from './srv6-plan.ts';

export interface DesiredState {
  readonly ports: readonly EgressPortPlan[];
  /**
   * Longest-match table of the congested node: sender prefix → where its notice goes, and what its senders understand.
   * `proxy` null: explicitly none (D5).
   */
  readonly senderProxies: SenderProxies;
  readonly notifier?: NotifierPlan;
  readonly proxy?: ProxyPlan;
  /**
   * The builder's settings on a proxy that notifies some senders in other formats than standard CNP. If there is a
   * notifier, its settings are the same.
   */
  readonly builder?: NotifierPlan;
  readonly source?: SourcePlan;
  readonly flowControl?: FlowControlPlan;
  readonly guards: readonly GuardPlan[];
  /** Notifications that may pass the guards, in both directions. */
  readonly guardAllow?: readonly GuardAllowPlan[];
  /** Longest-match table of the congested node: sender prefix → formats to try. */
  readonly senderPolicies: readonly SenderPolicyPlan[];
  /** Hosts that have shown that they do not understand a format. */
  readonly senderCapabilities: readonly SenderCapabilityPlan[];
  /** END.CON SIDs of the domain, including this router's: outer sources to which a notification may be encapsulated. */
  readonly endConSids: readonly EndConSidPlan[];
  /** Through which END.CON SID the source of a group's packets is reached that have this replication SID outside. */
  readonly replicationEndCons?: readonly ReplicationEndConPlan[];
  /**
   * Addresses to which no host or router outside of the domain may send, for the border guard: END.CON, End.MT and
   * replication SIDs of the domain, and Proxy Addresses of groups.
   */
  readonly guardedAddresses?: readonly GuardedAddressPlan[];
  /** Addresses of this router. A notification to one of them needs no route. */
  readonly ownAddresses?: readonly OwnAddressPlan[];
  readonly srv6?: Srv6Plan;
  /** Absent: this router has no SID for groups, or cannot serve them. */
  readonly multicast?: MulticastPlan;
  /** This router's SIDs for groups, as text, also where nothing can serve them. Absent: there are none. */
  readonly groupSids?: readonly string[];
  /** Absent: one address space. */
  readonly tenants?: TenantsPlan;
  /** Connections whose Queue Pairs are learned, for the proxy or for Long-haul CNP. */
  readonly queuePairs?: QueuePairsPlan;
  /** How Queue Pairs are learned, and from which ports. */
  readonly learning?: LearningPlan;
  /** What cannot be applied, and the remedy: shown by `cnpctl show status`. */
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
  /** Whether the depth is the sum over the transmit queues below an mq; default: that of the root. */
  readonly multiqueue?: boolean;
  /**
   * RTT_est: observation window of deferral and least interval of Long-haul CNPs for one flow. Null: not known, and
   * perFlowIntervalNs is used instead.
   */
  readonly rttNs: number | null;
  /** Instructions of Long-haul CNPs, ascending in strictness, 1 to 8 rows. */
  readonly instructions: readonly InstructionPlan[];
  /** A flow is notified when its share is at least this many 1/256 of the largest one; 0: every flow. */
  readonly contribution256: number;
  /** A fall of the arrival rate by this many 1/256 counts as a reduction; 0: no deferral. */
  readonly deferral256: number;
  /** Tenant of packets that leave here outside tunnels (tenants.ts). Absent: the router's own address space. */
  readonly tenant?: number;
  /** The origin of each threshold, for `cnpctl show ports`. */
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
  /** Formats but `proxy` are tried for senders only whose prefix is advertised to understand them. */
  readonly onlyAdvertised?: boolean;
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
  /** The tenant whose senders are behind the SID (tenants.ts). */
  readonly tenant: number;
}

export interface ReplicationEndConPlan {
  /** The replication SID as text. */
  readonly id: string;
  readonly replicationSid: IpAddress;
  readonly endConSid: IpAddress;
}

/** Which tenant a packet belongs to, for the program that learns Queue Pairs. */
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

export interface QueuePairsPlan {
  /** Queue Pairs are learned for connections of these senders. */
  readonly senders: readonly { readonly id: string; readonly prefix: Prefix }[];
  readonly interfaces: readonly { readonly id: string; readonly interface: string; readonly ifindex: number }[];
}

export interface LearningPlan {
  /** A connection without packets is forgotten after this time. */
  readonly ageingNs: number;
  readonly reversePathCheck: boolean;
  /** The router's ports that have a role in learning (bpf/lib/proxy/port-roles.h). */
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
  /** What the senders are advertised to understand. */
  readonly supports?: Understood;
}

/** Which senders have which proxy: a snapshot of the learned table. */
export interface SenderProxies {
  /** All entries. Each call starts a new walk. */
  all(): Iterable<SenderProxyPlan>;
  /**
   * The changes that turn `earlier` into this snapshot, in batches to be applied in order. Undefined: this snapshot
   * does not follow from `earlier`, so use `all`.
   */
  since(earlier: SenderProxies): readonly SenderProxyChanges[] | undefined;
}

/** Upserts come before deletes, each in the order given. */
export interface SenderProxyChanges {
  readonly upserts: readonly SenderProxyPlan[];
  readonly deletes: readonly string[];
}

/** For a router that sends no notices to proxies. */
export const NO_SENDER_PROXIES: SenderProxies = {
  all: () => [],
  since: (earlier) => (earlier === NO_SENDER_PROXIES ? [] : undefined),
};

/** How notifications are built. */
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
  /** Other packets that are recognized as notifications (FCNP-5-d, FCNP-5-e, LHCNP §9). */
  readonly fastCnpOption?: number;
  readonly fastCnpIoamOption?: number;
  readonly longHaulIcmpv6Type?: number;
  /** Present on a router with flow control. */
  readonly arnUdpPort?: number;
}

export interface GuardedAddressPlan {
  readonly id: string;
  readonly address: IpAddress;
}

export interface GuardAllowPlan {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly prefix: Prefix;
}
