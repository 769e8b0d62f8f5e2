// The share of End.MT groups (draft RMC) in the desired state of the kernel. As everywhere in the desired state, `id`
// identifies an object. reconcile assigns the indices of the maps (bpf/lib/multicast/layout.h).
import type { IpAddress } from '../model/address.ts';
import type { WriteDelta } from '../model/group.ts';

export interface MulticastPlan {
  /** SRH TLV types. */
  readonly endMtTlv: number;
  readonly treeTlv: number;
  /** Types of the Destination Options of Fast CNPs; with IOAM trace data 0: none. */
  readonly fastCnpOption: number;
  readonly fastCnpIoamOption: number;
  /** This router's SIDs for groups; Proxy Addresses follow from the groups. */
  readonly sids: readonly MulticastSidPlan[];
  /** Routers that may send data or answers: their replication and End.MT SIDs, this router's included. */
  readonly routers: readonly { readonly id: string; readonly sid: IpAddress }[];
  /** Addresses of routers whose Fast CNPs about copies are believed. */
  readonly notifiers: readonly { readonly id: string; readonly address: IpAddress }[];
  /** Where multicast_ingress runs, besides the loopback interface of an edge. */
  readonly ports: readonly {
    readonly id: string;
    readonly interface: string;
    readonly ifindex: number;
    readonly isCore: boolean;
  }[];
  readonly groups: readonly MulticastGroupPlan[];
  readonly discards: readonly DiscardPlan[];
  readonly lists: readonly MulticastListPlan[];
  /** Routes into trees of which this router is the root. */
  readonly headEnds: readonly HeadEndPlan[];
  /** Time between a list and its use by the root, ms. */
  readonly settleMs: number;
  /** A branch that has not confirmed what it was sent for this long is a problem, ms. */
  readonly stallMs: number;
  /** Whether such a branch is taken out of the minimum. */
  readonly dropStalled: boolean;
}

/** Packets to this Proxy Address are dropped while no tree takes them. */
export interface DiscardPlan {
  /** The address as text. */
  readonly id: string;
  readonly address: IpAddress;
}

export interface MulticastSidPlan {
  readonly id: string;
  readonly sid: IpAddress;
  readonly kind: 'edge' | 'replication';
}

export interface MulticastGroupPlan {
  /** The Proxy Address as text. */
  readonly id: string;
  readonly proxyAddress: IpAddress;
  readonly designatedQpn: number;
  /** At the root. `qpn` null: not known yet. */
  readonly source: { readonly address: IpAddress; readonly qpn: number | null } | null;
  /** The root's replication SID. */
  readonly rootSid: IpAddress;
  readonly edgeSid: IpAddress | null;
  readonly replicationSid: IpAddress | null;
  readonly cnpWindowNs: number;
  readonly copiesPerSecond: number;
  readonly copiesBurst: number;
  /** Copies keep the source's address instead of the Proxy Address (decision C6). */
  readonly keepSource: boolean;
}

export type MulticastBranchPlan =
  | { readonly kind: 'local' }
  | { readonly kind: 'child'; readonly sid: IpAddress }
  | {
      readonly kind: 'receiver';
      readonly address: IpAddress;
      readonly qpn: number;
      readonly psnDelta: number;
      readonly write?: WriteDelta | undefined;
    };

/** What one router does with the packets of one digest. A list never changes: another composition, another digest. */
export interface MulticastListPlan {
  /** `edge <group> <digest>` or `tree <group> <digest>`. */
  readonly id: string;
  readonly group: string;
  readonly role: 'edge' | 'branching';
  /** 8 bytes: members digest (edge) or tree digest (branching). */
  readonly digest: Uint8Array;
  /** `local`, if there is one, comes first. 1 to 64. */
  readonly branches: readonly MulticastBranchPlan[];
  /** Of a branching node: the replication SID from which packets may come. Null at the root, and at an edge. */
  readonly parent: IpAddress | null;
}

/** The kernel's route from the Proxy Address into the tree. */
export interface HeadEndPlan {
  /** The Proxy Address as text. */
  readonly id: string;
  readonly proxyAddress: IpAddress;
  /** Destination of the outer header: this router's replication SID. */
  readonly replicationSid: IpAddress;
  readonly membersDigest: Uint8Array;
  readonly treeDigest: Uint8Array;
  /** One per TLV, at most 11 receivers each. Empty: edges take receivers from membership (RMC-8-f). */
  readonly endMtTlvs: readonly {
    readonly edge: IpAddress;
    readonly receivers: readonly { readonly address: IpAddress; readonly qpn: number }[];
  }[];
  /** Octets: the smallest MTU of the core ports. */
  readonly mtu: number;
}
