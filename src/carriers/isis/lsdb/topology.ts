// Reports the topology of a level when a walk is complete and the links, metrics or overload bits of the systems that
// it has reached have changed. Our own node is not in the database: it is made from the adjacency.
import type { AreaTopology, TopologyNode } from '../../../model/topology.ts';
import { cheapestLinks, forgetReported, renewReport } from '../../topology.ts';
import { LINK_METRIC, UNUSABLE_LINK_METRIC } from '../constants.ts';
import type { LevelState, Speaker } from '../state.ts';
import type { GraphNode } from './graph.ts';

/**
 * A walk is complete. @param visited names of its nodes, the neighbor's first; empty: no adjacency
 * @param nodeOf reads a node of the database
 */
export function reportTopology(
  s: Speaker,
  { level, graph }: LevelState,
  visited: readonly string[],
  nodeOf: (name: string) => GraphNode,
): void {
  if (!s.config.reportsTopology) return;
  const [neighbor] = visited;
  const self = neighbor !== undefined && {
    name: `${s.system}.00`,
    originator: `L${level} ${s.system}`,
    link: { to: neighbor, cost: LINK_METRIC },
  };
  const read = (name: string): TopologyNode | undefined => topologyNode(`L${level}`, name, nodeOf(name));
  if (renewReport(graph.reported, `L${level}`, self || undefined, visited, read)) emit(s);
}

/** Nobody asks for the topology any more. */
export function endReports(s: Speaker): void {
  for (const { graph } of s.levels.values()) forgetReported(graph.reported);
  s.effects.push({ type: 'topology', areas: [] });
}

function emit(s: Speaker): void {
  const areas = [...s.levels.values()].map(
    ({ level, graph }): AreaTopology => graph.reported.former ?? { area: `L${level}`, nodes: new Map() },
  );
  s.effects.push({ type: 'topology', areas });
}

function topologyNode(level: string, name: string, { edges, overload, known }: GraphNode): TopologyNode | undefined {
  if (!known) return undefined;
  const usable = edges.filter(({ metric }) => metric < UNUSABLE_LINK_METRIC);
  return {
    ...(name.endsWith('.00') && { originator: `${level} ${name.slice(0, 14)}` }),
    links: cheapestLinks(usable.map(({ node, metric }) => ({ to: node, cost: metric }))),
    isTransit: !overload,
  };
}
