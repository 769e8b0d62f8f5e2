// Reports the topology of an area when a walk is complete and the links, metrics or transit bits of the routers that it
// has reached have changed. Our own node is not among the LSAs of others: it is made from the adjacency.
import type { AreaTopology, TopologyNode } from '../../../model/topology.ts';
import { MAX_LINK_METRIC } from '../../../packet/ospf/numbers.ts';
import { cheapestLinks, forgetReported, renewReport } from '../../topology.ts';
import type { AreaContent, Content } from '../content-state.ts';
import { originatorName } from './originators.ts';
import { isRouterNode, routerIdOf, routerNode } from './topology.ts';

/** A walk is complete. @param visited names of its nodes; empty: no adjacency, or no LSA of the neighbor yet */
export function reportTopology(c: Content, area: AreaContent, visited: readonly string[]): void {
  if (!c.reportsTopology) return;
  const { graph, name } = area;
  const { routerId } = c.config;
  const self = graph.neighbor !== undefined && {
    name: routerNode(routerId),
    originator: originatorName(area, routerId),
    link: { to: routerNode(graph.neighbor), cost: MAX_LINK_METRIC },
  };
  if (renewReport(graph.reported, name, self || undefined, visited, (node) => topologyNode(area, node))) emit(c);
}

/** Starts or ends reporting. */
export function setReports(c: Content, on: boolean): void {
  if (c.reportsTopology === on) return;
  c.reportsTopology = on;
  for (const { graph } of c.areas.values()) {
    if (on) graph.walkAt = Math.min(graph.walkAt, c.now);
    else forgetReported(graph.reported);
  }
  if (!on) c.effects.push({ type: 'topology', areas: [] });
}

function emit(c: Content): void {
  const areas = [...c.areas.values()].map(
    ({ name, graph }): AreaTopology => graph.reported.former ?? { area: name, nodes: new Map() },
  );
  c.effects.push({ type: 'topology', areas });
}

/** An OSPFv3 router may have several Router-LSAs. */
function topologyNode(area: AreaContent, name: string): TopologyNode | undefined {
  const lsas = area.graph.nodes.get(name);
  if (!lsas) return undefined;
  const all = [...lsas.values()];
  return {
    ...(isRouterNode(name) && { originator: originatorName(area, routerIdOf(name)) }),
    links: cheapestLinks(all.flatMap(({ links }) => links)),
    isTransit: all.some(({ transit, stub }) => transit && !stub),
  };
}
