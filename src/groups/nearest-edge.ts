// The edge that is nearest to a router: where copies are made for hosts behind it whose edge nobody has named.
import type { IpAddress } from '../model/address.ts';
import type { CarrierName } from '../model/advertisement.ts';
import type { Network } from './network.ts';
import { shortestPaths } from './shortest-paths.ts';

/**
 * The End.MT SID at the shortest distance from an originator of a link-state carrier, then with the fewest hops, then
 * the lowest one. Undefined: this router is in no area with that originator and an edge that it reaches.
 */
export function nearestEdge(network: Network, carrier: CarrierName, originator: string): IpAddress | undefined {
  for (const area of network) {
    const from = area.carrier === carrier ? area.nodeOf.get(originator) : undefined;
    if (from === undefined) continue;
    const { distance, hops } = shortestPaths(area.graph, from);
    const reached = area.edges.filter(({ router }) => distance[router] !== Infinity);
    const [first] = reached.sort(
      (a, b) => distance[a.router]! - distance[b.router]! || hops[a.router]! - hops[b.router]!,
    );
    if (first) return first.sid;
  }
  return undefined;
}
