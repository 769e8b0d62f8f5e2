// For tests: the topology of an area as text.
import type { AreaTopology } from './topology.ts';

/** One line a node, sorted: `name (originator): neighbor cost, neighbor cost`; `stub` before the name: no transit. */
export const topologyText = ({ nodes }: Pick<AreaTopology, 'nodes'>): string[] =>
  [...nodes]
    .map(([name, { originator, links, isTransit }]) => {
      const ends = links.map(({ to, cost }) => `${to} ${cost}`).sort();
      return `${isTransit ? '' : 'stub '}${name} (${originator ?? ''}): ${ends.join(', ')}`;
    })
    .sort();
