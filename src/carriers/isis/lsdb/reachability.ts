// Which originators are reachable: a walk over the links of the database from the neighbor, following a link only when
// both ends list it (RFC 5305; ISO/IEC 10589 §7.2). It computes no distances, so it is cheaper than SPF. A router with
// the overload bit is no transit: behind it only routers that are overloaded themselves are reached. So the cnpd beside
// an overloaded router remains reachable. The walk works in slices; a change during the walk starts another one
// afterward. The topology is reported with it (topology.ts).
import { forget, reach } from '../../aliveness.ts';
import { activeLevels } from '../adjacency/adjacency.ts';
import { GRAPH_BATCH, GRAPH_DELAY_MS, UNUSABLE_LINK_METRIC } from '../constants.ts';
import { sameEdges } from './content.ts';
import { fragmentsOf, type StoredLsp } from './lsdb.ts';
import type { LevelState, Speaker, SystemsChange } from '../state.ts';
import type { GraphNode, Walk } from './graph.ts';
import { reportTopology } from './topology.ts';

export function graphChanged(s: Speaker, level: LevelState): void {
  level.graph.changed = true;
  level.graph.walkAt = Math.min(level.graph.walkAt, s.now + GRAPH_DELAY_MS);
}

/** The links of a node, or its overload bit, may have changed. */
export function topologyChanged(
  s: Speaker,
  level: LevelState,
  before: StoredLsp | undefined,
  after: StoredLsp | undefined,
): void {
  const edgesChanged = !sameEdges(before?.content.edges ?? [], after?.content.edges ?? []);
  // An LSP that was added or removed has an overload bit on one side only.
  if (!edgesChanged && before?.content.overload === after?.content.overload) return;
  const { node } = (after ?? before)!;
  level.graph.nodes.delete(node);
  if (s.config.reportsTopology) level.graph.reported.outdated.add(node);
  graphChanged(s, level);
}

function nodeOf(level: LevelState, name: string): GraphNode {
  let node = level.graph.nodes.get(name);
  if (!node) {
    const fragments = fragmentsOf(level.lsdb, name);
    const edges = fragments.flatMap((lsp) => lsp.content.edges);
    const zero = fragments[0]?.fragment === 0 ? fragments[0] : undefined;
    node = {
      edges,
      lists: new Set(edges.map((edge) => edge.node)),
      overload: zero?.content.overload ?? false,
      known: zero !== undefined,
    };
    level.graph.nodes.set(name, node);
  }
  return node;
}

/** Continues the walk and publishes the result when it is complete. */
export function walkDue(s: Speaker, level: LevelState): void {
  const { graph } = level;
  graph.walk ??= startWalk(s, level);
  const { walk } = graph;
  const end = Math.min(walk.queue.length, walk.position + GRAPH_BATCH);
  for (; walk.position < end; walk.position++) expand(s, level, walk, walk.queue[walk.position]!);
  if (walk.position < walk.queue.length) {
    graph.walkAt = s.now;
    return;
  }
  graph.walk = undefined;
  graph.walkAt = graph.changed ? s.now + GRAPH_DELAY_MS : Infinity;
  publish(s, level, walk);
  reportTopology(s, level, walk.queue, (name) => nodeOf(level, name));
}

function startWalk(s: Speaker, level: LevelState): Walk {
  level.graph.changed = false;
  const root = activeLevels(s).includes(level.level) ? [`${s.adjacency!.system}.00`] : [];
  return { queue: [...root], visited: new Set(root), position: 0 };
}

function expand(s: Speaker, level: LevelState, walk: Walk, name: string): void {
  const node = nodeOf(level, name);
  if (!node.known) return;
  const transit = !node.overload || walk.position === 0;
  for (const edge of node.edges) {
    if (walk.visited.has(edge.node) || edge.metric >= UNUSABLE_LINK_METRIC || edge.node.startsWith(s.system)) continue;
    const other = nodeOf(level, edge.node);
    if (!other.known || !other.lists.has(name) || !(transit || other.overload)) continue;
    walk.visited.add(edge.node);
    walk.queue.push(edge.node);
  }
}

function publish(s: Speaker, level: LevelState, walk: Walk): void {
  const { graph } = level;
  const next = new Set<string>();
  for (const name of walk.queue) if (name.endsWith('.00') && nodeOf(level, name).known) next.add(name.slice(0, 14));
  const { found, lost } = reach(graph, next, s.now, s.config.holdUnreachableMs);
  if (lost.length === 0 && found.length === 0) return;
  emit(s, level, { found, lost, forgotten: [] });
  s.effects.push({ type: 'reachability', reachable: allReachable(s) });
}

function allReachable(s: Speaker): ReadonlySet<string> {
  const all = new Set<string>();
  for (const { level, graph } of s.levels.values())
    for (const system of graph.reachable) all.add(`L${level} ${system}`);
  return all;
}

/** The hold time of some lost systems is over. */
export function forgetDue(s: Speaker, level: LevelState): void {
  emit(s, level, { found: [], lost: [], forgotten: forget(level.graph, s.now, s.config.holdUnreachableMs) });
}

function emit(s: Speaker, level: LevelState, change: SystemsChange): void {
  for (const notify of s.subscribers.systemsChanged) notify(s, level, change);
}
