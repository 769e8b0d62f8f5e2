// What a link-state protocol knows of the links of one area: routers, networks between them, costs. Trees of End.MT
// groups are computed from it (src/groups/).
import type { CarrierName } from './advertisement.ts';

export interface TopologyLink {
  /** Name of a node of the same area. Links that the other end does not list are included; they do not count. */
  readonly to: string;
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
  readonly nodes: ReadonlyMap<string, TopologyNode>;
}

/** All areas of a carrier. It replaces the carrier's former report. */
export interface TopologyReport {
  readonly carrier: CarrierName;
  readonly areas: readonly AreaTopology[];
}
