// Shortest paths through an area, the same on every router: ties go to the predecessor with the lowest name.
import type { AreaTopology } from '../model/topology.ts';

/** The links of an area that count: those that both ends list. Nodes are numbers, in the order of their names. */
export interface LinkGraph {
  readonly names: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly isTransit: readonly boolean[];
  /** Neighbors of each node, alternating with the cost towards them. */
  readonly links: readonly (readonly number[])[];
}

export interface ShortestPaths {
  /** −1: unreachable, or the start. */
  readonly predecessor: Int32Array;
  /** Infinity: unreachable. */
  readonly distance: Float64Array;
  readonly hops: Int32Array;
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** No protocol has costs of more than 32 bits. */
const isCost = (cost: number): boolean => Number.isInteger(cost) && cost >= 0 && cost <= 0xffff_ffff;

const graphs = new WeakMap<AreaTopology, LinkGraph>();

/** Computed once for each value of the topology. */
export function linkGraph(area: AreaTopology): LinkGraph {
  let found = graphs.get(area);
  if (!found) graphs.set(area, (found = build(area)));
  return found;
}

function build({ nodes }: AreaTopology): LinkGraph {
  const names = [...nodes.keys()].sort(byText);
  const indexOf = new Map(names.map((name, i) => [name, i]));
  const costs = names.map((name) => {
    const best = new Map<number, number>();
    for (const { to, cost } of nodes.get(name)!.links) {
      const other = indexOf.get(to);
      if (other === undefined || to === name || !isCost(cost)) continue;
      // Of parallel links the cheapest.
      best.set(other, Math.min(cost, best.get(other) ?? Infinity));
    }
    return best;
  });
  return {
    names,
    indexOf,
    isTransit: names.map((name) => nodes.get(name)!.isTransit),
    links: costs.map((best, from) => [...best].filter(([to]) => costs[to]!.has(from)).flat()),
  };
}

const paths = new WeakMap<LinkGraph, Map<number, ShortestPaths>>();

/**
 * Dijkstra, by distance and then by hops: links of cost 0, as from networks to their routers, make no circle of
 * predecessors. A node that is not transit is only an end of paths.
 */
export function shortestPaths(graph: LinkGraph, start: number): ShortestPaths {
  const ofGraph = paths.get(graph) ?? new Map<number, ShortestPaths>();
  paths.set(graph, ofGraph);
  let found = ofGraph.get(start);
  if (!found) ofGraph.set(start, (found = search(graph, start)));
  return found;
}

function search({ names, links, isTransit }: LinkGraph, start: number): ShortestPaths {
  const predecessor = new Int32Array(names.length).fill(-1);
  const distance = new Float64Array(names.length).fill(Infinity);
  const hops = new Int32Array(names.length).fill(0x7fff_ffff);
  const isDone = new Uint8Array(names.length);
  const heap = new Heap();
  distance[start] = hops[start] = 0;
  for (let node: number | undefined = start; node !== undefined; node = heap.take()?.node) {
    if (isDone[node]) continue;
    isDone[node] = 1;
    if (!isTransit[node] && node !== start) continue;
    const ofNode = links[node]!;
    for (let i = 0; i < ofNode.length; i += 2) {
      const to = ofNode[i]!;
      if (isDone[to]) continue;
      const far = distance[node]! + ofNode[i + 1]!;
      const difference = far - distance[to]! || hops[node]! + 1 - hops[to]!;
      if (difference > 0 || (difference === 0 && node > predecessor[to]!)) continue;
      predecessor[to] = node;
      if (difference === 0) continue;
      distance[to] = far;
      hops[to] = hops[node]! + 1;
      heap.add({ node: to, distance: far, hops: hops[to] });
    }
  }
  return { predecessor, distance, hops };
}

interface Entry {
  readonly node: number;
  readonly distance: number;
  readonly hops: number;
}

const before = (a: Entry, b: Entry): boolean => (a.distance - b.distance || a.hops - b.hops || a.node - b.node) < 0;

/** A binary heap. A node that has come closer is in it twice. */
class Heap {
  readonly #entries: Entry[] = [];

  add(entry: Entry): void {
    const entries = this.#entries;
    let at = entries.length;
    for (let up = (at - 1) >> 1; at > 0 && before(entry, entries[up]!); up = (at - 1) >> 1) {
      entries[at] = entries[up]!;
      at = up;
    }
    entries[at] = entry;
  }

  take(): Entry | undefined {
    const entries = this.#entries;
    const [first] = entries;
    const last = entries.pop();
    if (!last || entries.length === 0) return first;
    let at = 0;
    for (let down = 1; down < entries.length; down = 2 * at + 1) {
      if (down + 1 < entries.length && before(entries[down + 1]!, entries[down]!)) down++;
      if (!before(entries[down]!, last)) break;
      entries[at] = entries[down]!;
      at = down;
    }
    entries[at] = last;
    return first;
  }
}
