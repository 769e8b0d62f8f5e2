// The routers that can be reached by the links of an area: the state of the walk in reachability.ts.
import { type Aliveness, isAliveAt, newAliveness } from '../../aliveness.ts';
import { type Reported, newReported } from '../../topology.ts';
import type { GraphNode } from './topology.ts';

export interface Walk {
  readonly queue: string[];
  readonly visited: Set<string>;
  /** Links of the routers and networks that the walk has read. */
  readonly links: Map<string, ReadonlySet<string>>;
  position: number;
}

/** The reachable routers by router ID, and the data for the next walk. */
export interface Graph extends Aliveness<number> {
  /** By name; an OSPFv3 router may have several LSAs. */
  readonly nodes: Map<string, Map<string, GraphNode>>;
  /** Routers outside the area, by key of the border router's LSA. */
  readonly beyond: Map<string, { readonly by: number; readonly reaches: number }>;
  /** Router ID of the Full neighbor. */
  neighbor: number | undefined;
  /** The running walk. */
  walk: Walk | undefined;
  walkAt: number;
  readonly reported: Reported;
}

export const newGraph = (): Graph => ({
  nodes: new Map(),
  beyond: new Map(),
  neighbor: undefined,
  walk: undefined,
  walkAt: Infinity,
  reported: newReported(),
  ...newAliveness(),
});

export const isAlive = (
  c: { readonly now: number; readonly holdUnreachableMs: number },
  { graph }: { readonly graph: Graph },
  router: number,
): boolean => isAliveAt(graph, router, c.now, c.holdUnreachableMs);
