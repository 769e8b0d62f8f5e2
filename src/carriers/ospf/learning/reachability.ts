// Which routers of an area can be reached: a walk over the links of the database, from the neighbor. A link is followed
// only if both ends list it (RFC 2328 §16.1 step 2b). No distances are computed, so this is less than SPF. A router
// with a clear R-bit is no transit router (RFC 5340 §2.7). A router whose links have the largest metric is, if there is
// no other way (RFC 6987). A router outside the area is reachable if a reachable border router advertises a route to it
// (RFC 2328 §16.2). The walk runs in batches; after a change during the walk, another walk follows. The topology is
// reported with it (topology-report.ts).
import { forget, reach } from '../../aliveness.ts';
import type { AreaContent, Content, ReadLsa } from '../content-state.ts';
import { originatorName } from './originators.ts';
import { GRAPH_BATCH, GRAPH_DELAY_MS } from '../constants.ts';
import type { Graph, Walk } from './graph.ts';
import { isRouterNode, routerIdOf, routerNode } from './topology.ts';
import { reportTopology } from './topology-report.ts';

export function adjacencyChanged(c: Content, area: AreaContent, neighbor: number | undefined): void {
  area.graph.neighbor = neighbor;
  area.graph.walkAt = Math.min(area.graph.walkAt, c.now + GRAPH_DELAY_MS);
  if (neighbor !== undefined) for (const hear of c.subscribers.neighborFound) hear(c, area);
}

/** An LSA about the topology is new, changed or gone. */
export function topologyChanged(
  c: Content,
  { graph }: AreaContent,
  before: ReadLsa | undefined,
  after: ReadLsa | undefined,
): void {
  const [was, is] = [before?.content.topology, after?.content.topology];
  if (!was?.node && !is?.node && was?.reaches === is?.reaches) return;
  if (was?.node) {
    const lsas = graph.nodes.get(was.node.name);
    lsas?.delete(before!.id);
    if (lsas?.size === 0) graph.nodes.delete(was.node.name);
  }
  if (is?.node) {
    const lsas = graph.nodes.get(is.node.name);
    if (lsas) lsas.set(after!.id, is.node);
    else graph.nodes.set(is.node.name, new Map([[after!.id, is.node]]));
  }
  if (c.reportsTopology) for (const each of [was, is]) if (each?.node) graph.reported.outdated.add(each.node.name);
  if (was?.reaches !== undefined) graph.beyond.delete(before!.id);
  if (is?.reaches !== undefined) graph.beyond.set(after!.id, { by: after!.key.advertisingRouter, reaches: is.reaches });
  graph.walkAt = Math.min(graph.walkAt, c.now + GRAPH_DELAY_MS);
}

/** Continues the walk; when it is complete, publishes the changes. */
export function walkDue(c: Content, area: AreaContent): void {
  const { graph } = area;
  const walk = (graph.walk ??= startWalk(graph));
  const self = routerNode(c.config.routerId);
  const end = Math.min(walk.queue.length, walk.position + GRAPH_BATCH);
  for (; walk.position < end; walk.position++) expand(graph, walk, walk.queue[walk.position]!, self);
  if (walk.position < walk.queue.length) return;
  graph.walk = undefined;
  const reachable = new Set<number>();
  for (const name of walk.queue) if (isRouterNode(name)) reachable.add(routerIdOf(name));
  for (const { by, reaches } of graph.beyond.values()) if (reachable.has(by)) reachable.add(reaches);
  publish(c, area, reachable);
  reportTopology(c, area, walk.queue);
}

function startWalk(graph: Graph): Walk {
  graph.walkAt = Infinity;
  const root = graph.neighbor === undefined ? undefined : routerNode(graph.neighbor);
  const queue = root !== undefined && graph.nodes.has(root) ? [root] : [];
  return { queue, visited: new Set(queue), links: new Map(), position: 0 };
}

const NO_LINKS: ReadonlySet<string> = new Set();

/** The links of a router, read once per walk: it may have thousands, and thousands of other routers may list it. */
function linksOf({ nodes }: Graph, { links }: Walk, name: string): ReadonlySet<string> {
  const lsas = nodes.get(name);
  if (!lsas) return NO_LINKS;
  let found = links.get(name);
  if (!found) links.set(name, (found = new Set([...lsas.values()].flatMap((node) => node.links.map(({ to }) => to)))));
  return found;
}

function expand(graph: Graph, walk: Walk, name: string, self: string): void {
  const { queue, visited } = walk;
  const lsas = graph.nodes.get(name);
  if (!lsas || ![...lsas.values()].some(({ transit }) => transit)) return;
  for (const end of linksOf(graph, walk, name)) {
    if (visited.has(end) || end === self || !linksOf(graph, walk, end).has(name)) continue;
    visited.add(end);
    queue.push(end);
  }
}

function publish(c: Content, area: AreaContent, next: ReadonlySet<number>): void {
  const { found, lost } = reach(area.graph, next, c.now, c.holdUnreachableMs);
  if (lost.length === 0 && found.length === 0) return;
  emit(c, area, [...lost, ...found]);
  const all = [...c.areas.values()].flatMap((each) =>
    [...each.graph.reachable].map((router) => originatorName(each, router)),
  );
  c.effects.push({ type: 'reachability', reachable: new Set(all) });
}

/** The hold time of some lost routers has expired. */
export function forgetDue(c: Content, area: AreaContent): void {
  emit(c, area, forget(area.graph, c.now, c.holdUnreachableMs));
}

function emit(c: Content, area: AreaContent, routers: readonly number[]): void {
  for (const hear of c.subscribers.routersChanged) hear(c, area, routers);
}
