// The links of the database as a graph, and the systems reachable over them: the state of the walk in reachability.ts.
import { type Aliveness, isAliveAt, newAliveness } from '../../aliveness.ts';
import { type Reported, newReported } from '../../topology.ts';
import type { Edge } from './content.ts';

export interface GraphNode {
  readonly edges: readonly Edge[];
  readonly lists: ReadonlySet<string>;
  readonly overload: boolean;
  /** Without fragment 0 the other fragments do not count (ISO/IEC 10589 §7.2.5). */
  readonly known: boolean;
}

export interface Walk {
  readonly queue: string[];
  readonly visited: Set<string>;
  position: number;
}

/** The reachable systems, by system ID. */
export interface Graph extends Aliveness<string> {
  readonly nodes: Map<string, GraphNode>;
  walk: Walk | undefined;
  changed: boolean;
  walkAt: number;
  readonly reported: Reported;
}

export const newGraph = (): Graph => ({
  nodes: new Map(),
  walk: undefined,
  changed: false,
  walkAt: Infinity,
  reported: newReported(),
  ...newAliveness(),
});

export const isAlive = (
  s: { readonly now: number; readonly config: { readonly holdUnreachableMs: number } },
  { graph }: { readonly graph: Graph },
  system: string,
): boolean => isAliveAt(graph, system, s.now, s.config.holdUnreachableMs);
