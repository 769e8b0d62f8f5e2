// What a link-state protocol knows of the links of one area: routers, networks between them, costs. Trees of End.MT
// groups are computed from it (src/groups/).
import type { CarrierName } from './advertisement.ts';

export interface TopologyLink {
  /**
   * Name of a node of the same area. The link counts only if that node is in the report and lists this one in turn: the
   * report does not check it.
   */
  readonly to: string;
  /** The protocol's metric. Of parallel links only the cheapest is reported. A network's links cost 0. */
  readonly cost: number;
}

export interface TopologyNode {
  /** As in LearnedReport.originator. Absent: a pseudonode or a network. */
  readonly originator?: string;
  readonly links: readonly TopologyLink[];
  /** Whether packets may pass through it (no overload bit, no stub router). */
  readonly isTransit: boolean;
}

export interface AreaTopology {
  /** `L2`, or an area ID; unique in the carrier. */
  readonly area: string;
  /** This router's own node: that of the carrier, not that of the routing daemon. Absent: no adjacency. */
  readonly self?: string;
  /**
   * The nodes that can be reached from this router, and its own. A node that has not changed is the same object as in
   * the former report.
   */
  readonly nodes: ReadonlyMap<string, TopologyNode>;
}

/** All areas of a carrier. It replaces the carrier's former report. No areas: it does not report any more. */
export interface TopologyReport {
  readonly carrier: CarrierName;
  readonly areas: readonly AreaTopology[];
}
