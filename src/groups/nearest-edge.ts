// The edge that is nearest to a router: where copies are made for hosts behind it whose edge nobody has named.
import type { IpAddress } from '../model/address.ts';
import type { CarrierName } from '../model/advertisement.ts';
import type { Area, Network } from './network.ts';
import { shortestPaths } from './shortest-paths.ts';

const nearest = new WeakMap<Area, Map<number, IpAddress | undefined>>();

/**
 * The End.MT SID at the shortest distance from an originator of a link-state carrier, then with the fewest hops, then
 * the lowest one. Undefined: this router is in no area with that originator and an edge that it reaches.
 */
export function nearestEdge(network: Network, carrier: CarrierName, originator: string): IpAddress | undefined {
  for (const area of network) {
    const from = area.carrier === carrier ? area.nodeOf.get(originator) : undefined;
    const edge = from === undefined ? undefined : nearestTo(area, from);
    if (edge) return edge;
  }
  return undefined;
}

/** Computed once for a node of an area: many receivers are behind the same router. */
function nearestTo(area: Area, from: number): IpAddress | undefined {
  const known = nearest.get(area) ?? new Map<number, IpAddress | undefined>();
  nearest.set(area, known);
  if (!known.has(from)) known.set(from, search(area, from));
  return known.get(from);
}

function search({ graph, edges }: Area, from: number): IpAddress | undefined {
  const { distance, hops } = shortestPaths(graph, from);
  let best: Area['edges'][number] | undefined;
  for (const edge of edges) {
    if (distance[edge.router] === Infinity) continue;
    // The lowest SID comes first, so a later one must be nearer.
    const difference = best
      ? distance[edge.router]! - distance[best.router]! || hops[edge.router]! - hops[best.router]!
      : -1;
    if (difference < 0) best = edge;
  }
  return best?.sid;
}
