// What this router does for End.MT groups right now, as read from the kernel: for `cnpctl show groups NAME branches`
// and `tree`. A snapshot; programs go on meanwhile.
import type { IpAddress } from './address.ts';

/** One group in one role. A router that is both branching node and edge of a group has two. */
export interface GroupRoleView {
  /** The Proxy Address as text. */
  readonly group: string;
  /** `branching` includes the root; see `isRoot`. */
  readonly role: 'edge' | 'branching';
  readonly isRoot: boolean;
  /**
   * The tree that the last data packets named; null: no data packet has come yet, or the agent knows no list that
   * they name.
   */
  readonly current: CurrentTreeView | null;
  /** Branches of `current`; without one, those of the newest list in force, with no progress. */
  readonly branches: readonly BranchView[];
  /** Data packets replicated, and answers that went up, since the role's state was created. */
  readonly packets: bigint;
  readonly answers: bigint;
  /** Milliseconds since the last data packet; null: none yet. */
  readonly dataAgeMs: number | null;
  /** Highest PSN sent down + 1, 24 bits; null: none in this epoch. */
  readonly nextDataPsn: number | null;
  /** PSN before which everything was confirmed upwards, 24 bits; null: nothing in this epoch. */
  readonly confirmedPsn: number | null;
  /** Octets, from the last Packet Too Big in this role; null: none in force. */
  readonly pathMtu: number | null;
}

export interface CurrentTreeView {
  /** 20 bits, chosen by the root. */
  readonly epoch: number;
  /** `edge <group> <digest>` or `tree <group> <digest>`: the identifier of the list in the plan. */
  readonly list: string;
  /** Members digest of an edge, tree digest of a branching node: 16 hexadecimal digits. */
  readonly digest: string;
  /**
   * SID of the node from which data comes; null at the root, and if it is unknown. Of the edge role of a router that
   * replicates: its own replication SID.
   */
  readonly parent: IpAddress | null;
}

export interface BranchView {
  readonly kind: 'local' | 'child' | 'receiver';
  /** SID of the child, address of the receiver; null for `local`. */
  readonly address: IpAddress | null;
  /** Queue Pair of a receiver, 24 bits; else null. */
  readonly qpn: number | null;
  /** Everything before this PSN is confirmed, 24 bits, in the source's numbering; null: no answer in this epoch. */
  readonly nextPsn: number | null;
  /** Message sequence number of its last answer, 24 bits; null as `nextPsn`. */
  readonly msn: number | null;
  /** A NAK that is not answered by a repetition yet: expected PSN and AETH syndrome. */
  readonly nak: { readonly psn: number; readonly syndrome: number } | null;
  /** A receiver that waits for the begin of a message before it gets its first copy. */
  readonly isWaiting: boolean;
  /** CNPs in the open window. */
  readonly cnps: bigint;
  /** Data packets copied to it since the list was installed. */
  readonly copies: bigint;
  /** When its last answer came, CLOCK_MONOTONIC in nanoseconds; null: none yet. */
  readonly heardNs: bigint | null;
  /** Milliseconds for which it has confirmed nothing although data was sent; null: it is not stalled. */
  readonly stalledMs: number | null;
  /** Taken out of the minimum because it stalled (`drop-stalled`). */
  readonly isExcluded: boolean;
}
