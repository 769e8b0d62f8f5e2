// Operational state of End.MT groups, as the northbound serves it: see state.ts.

/** A claim that a host is a member of an End.MT group. */
export interface GroupMemberState {
  /** The Proxy Address. */
  group: string;
  role: 'source' | 'receiver';
  address: string;
  /** The reporting carrier, and the originator there; both `local`: this router declares it. */
  carrier: string;
  originator: string;
  /** As this router's file calls the group; else null. */
  name: string | null;
  /** Of the source: the Designated Queue Pair. */
  qpn: number;
  /** End.MT SID of the edge, or replication SID of the source's router. */
  node: string;
  psnDelta: number;
  /** Changes to WRITEs; else null. The signed VA delta in decimal: numbers of JSON have 53 bits. */
  vaDelta: string | null;
  rKey: number | null;
  /** `in force`, `held until …`, or why another claim counts. */
  status: string;
}

/** A group, as this router knows it. */
export interface GroupState {
  proxyAddress: string;
  /** As this router calls it; else null. */
  name: string | null;
  /** Null: no source is known yet, and nothing is declared here. */
  designatedQpn: number | null;
  /** `root`, `branching`, `edge`: of this router in the group's tree. */
  roles: string[];
  source: string | null;
  receivers: number;
  edges: number;
  /** Where the tree comes from: the shortest paths of an area, or flat: the root makes all copies. Null: no tree. */
  tree: 'shortest-paths' | 'flat' | null;
  /** Number of the tree in use, as its packets name it; null: no data was seen. */
  epoch: number | null;
  status: string;
  /** Declared by this router. */
  member: DeclaredMemberState[];
}

/** A member that this router declares; what is null has its default. */
export interface DeclaredMemberState {
  role: 'source' | 'receiver';
  address: string;
  qpn: number | null;
  startPsn: number | null;
  edge: string | null;
  psnDelta: number | null;
  vaDelta: string | null;
  rKey: number | null;
  /** Declared at run time: whether it survives a reboot. Members of the file do. */
  persistent: boolean;
  origin: 'file' | 'run-time';
  /** `declared`, or why it does not count. */
  status: string;
}

/** A branch of this router in a group's tree, and what it has confirmed. */
export interface GroupBranchState {
  group: string;
  role: 'branching' | 'edge';
  /** SID of the child, address of the receiver, or `local`: this router's own edge. */
  branch: string;
  kind: 'local' | 'child' | 'receiver';
  qpn: number | null;
  /** Everything before it is confirmed; null: no answer yet. */
  nextPsn: number | null;
  /** Packets sent and not confirmed. */
  lag: number | null;
  /** PSN that a NAK expects. */
  nakPsn: number | null;
  nakSyndrome: number | null;
  cnps: number;
  copies: number;
  lastHeard: string | null;
  stalledMs: number | null;
  /** `up`, `waiting` for the begin of a message, `silent`, `stalled`, or `excluded` from the minimum. */
  status: string;
}

/** One router in a group's tree. */
export interface GroupTreeState {
  group: string;
  /** Its SID: replication SID of the root and of branching nodes, End.MT SID of edges. */
  node: string;
  parent: string | null;
  kind: 'root' | 'branching' | 'edge';
  /** As its protocol names it; null: no router advertises the SID. */
  router: string | null;
  /** From IS-IS; null: not known. */
  hostname: string | null;
  receivers: string[];
}

export interface GroupsState {
  group: GroupState[];
  members: GroupMemberState[];
  branches: GroupBranchState[];
  tree: GroupTreeState[];
}
