// Who can be reached by the links of an area: the state of the walk in reachability.ts.
import type { GraphNode } from '../dialect.ts';

export interface Walk {
  readonly queue: string[];
  readonly visited: Set<string>;
  /** Of the routers and networks that were looked at. */
  readonly links: Map<string, ReadonlySet<string>>;
  position: number;
}

export interface Graph {
  /** By name; an OSPFv3 router may have several LSAs. */
  readonly nodes: Map<string, Map<string, GraphNode>>;
  /** LSAs of border routers about routers outside the area, by key. */
  readonly beyond: Map<string, { readonly by: number; readonly reaches: number }>;
  /** Router ID of the Full neighbour. */
  neighbor: number | undefined;
  /** The walk that is under way. */
  walk: Walk | undefined;
  walkAt: number;
  /** Router IDs. */
  reachable: ReadonlySet<number>;
  /** Since when the routers that were reachable once are not any more. */
  readonly lostAt: Map<number, number>;
  /** When the first of them has been lost for the hold time. */
  forgetAt: number;
}

export const newGraph = (): Graph => ({
  nodes: new Map(),
  beyond: new Map(),
  neighbor: undefined,
  walk: undefined,
  walkAt: Infinity,
  reachable: new Set(),
  lostAt: new Map(),
  forgetAt: Infinity,
});

/** Reachable, or lost for less than the hold time. */
export function isAlive(
  c: { readonly now: number; readonly holdUnreachableMs: number },
  { graph }: { readonly graph: Graph },
  router: number,
): boolean {
  if (graph.reachable.has(router)) return true;
  const lostAt = graph.lostAt.get(router);
  return lostAt !== undefined && c.now < lostAt + c.holdUnreachableMs;
}
