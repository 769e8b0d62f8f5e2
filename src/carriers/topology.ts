// The report of an area's topology (model/topology.ts), made from what the walk of reachability has visited. Only nodes
// that have changed since the former report are made anew, so that a change among ten thousand routers makes one.
import type { AreaTopology, TopologyLink, TopologyNode } from '../model/topology.ts';

/** What was reported of an area, and what the next report must read again. */
export interface Reported {
  former: AreaTopology | undefined;
  /** Names of nodes that have changed since. */
  readonly outdated: Set<string>;
}

export const newReported = (): Reported => ({ former: undefined, outdated: new Set() });

/** Nobody asks for reports any more. */
export function forgetReported(reported: Reported): void {
  reported.former = undefined;
  reported.outdated.clear();
}

/** This router beside its routing daemon: a stub with one link. */
export interface Self {
  readonly name: string;
  readonly originator: string;
  readonly link: TopologyLink;
}

/**
 * Renews the report of an area.
 * @param self undefined: no adjacency
 * @param visited names of the nodes that can be reached, without this router's own
 * @param read the node of that name as it is now; undefined: it does not count
 * @returns whether anything has changed
 */
export function renewReport(
  reported: Reported,
  area: string,
  self: Self | undefined,
  visited: readonly string[],
  read: (name: string) => TopologyNode | undefined,
): boolean {
  const { former, outdated } = reported;
  const nodes = new Map<string, TopologyNode>();
  // Before the first adjacency there is nothing to report: what an earlier carrier reported is still held.
  let changed = former?.self !== self?.name;
  const renewed = (before: TopologyNode | undefined, now: TopologyNode): TopologyNode => {
    if (before && sameNode(before, now)) return before;
    changed = true;
    return now;
  };
  if (self) nodes.set(self.name, renewed(former?.nodes.get(self.name), selfNode(self)));
  for (const name of visited) {
    const before = former?.nodes.get(name);
    if (before && !outdated.has(name)) nodes.set(name, before);
    else {
      const now = read(name);
      if (now) nodes.set(name, renewed(before, now));
    }
  }
  outdated.clear();
  if (!changed && nodes.size === (former?.nodes.size ?? 0)) return false;
  reported.former = { area, ...(self && { self: self.name }), nodes };
  return true;
}

const selfNode = ({ originator, link }: Self): TopologyNode => ({ originator, links: [link], isTransit: false });

const sameNode = (a: TopologyNode, b: TopologyNode): boolean =>
  a.isTransit === b.isTransit &&
  a.links.length === b.links.length &&
  a.links.every(({ to, cost }, i) => to === b.links[i]!.to && cost === b.links[i]!.cost);

/** Parallel links as one, with the lowest cost; in the order of their first appearance. */
export function cheapestLinks(links: readonly TopologyLink[]): readonly TopologyLink[] {
  const cheapest = new Map<string, number>();
  for (const { to, cost } of links) cheapest.set(to, Math.min(cost, cheapest.get(to) ?? Infinity));
  return [...cheapest].map(([to, cost]) => ({ to, cost }));
}
