// The links of the database as a graph, and who can be reached by them: the state of the walk in reachability.ts.
import type { Edge } from './content.ts';

export interface GraphNode {
  readonly edges: readonly Edge[];
  readonly lists: ReadonlySet<string>;
  readonly overload: boolean;
  /** Without fragment 0 the others do not count (ISO/IEC 10589 §7.2.5). */
  readonly known: boolean;
}

export interface Walk {
  readonly queue: string[];
  readonly visited: Set<string>;
  position: number;
}

export interface Graph {
  readonly nodes: Map<string, GraphNode>;
  walk: Walk | undefined;
  changed: boolean;
  walkAt: number;
  /** System IDs. */
  reachable: ReadonlySet<string>;
  /** Since when the systems that were reachable once are not any more. */
  readonly lostAt: Map<string, number>;
  /** When the first of them has been lost for the hold time. */
  forgetAt: number;
}

export const newGraph = (): Graph => ({
  nodes: new Map(),
  walk: undefined,
  changed: false,
  walkAt: Infinity,
  reachable: new Set(),
  lostAt: new Map(),
  forgetAt: Infinity,
});

/** Reachable, or lost for less than the hold time. */
export function isAlive(
  s: { readonly now: number; readonly config: { readonly holdUnreachableMs: number } },
  level: { readonly graph: Graph },
  system: string,
): boolean {
  if (level.graph.reachable.has(system)) return true;
  const lostAt = level.graph.lostAt.get(system);
  return lostAt !== undefined && s.now < lostAt + s.config.holdUnreachableMs;
}
