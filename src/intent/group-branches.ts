// The key `branches` of a group: its tree as declared, in place of the shortest paths. All routers need the same.
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import { hostAddress } from './address-values.ts';
import { list, section, value } from './schema-parts.ts';
import { type Report, type Seen, each, unique } from './seen.ts';
import type { Path } from './words.ts';

export interface BranchesIntent {
  /** A replication SID. */
  readonly node: IpAddress;
  /** Replication SIDs and End.MT SIDs. */
  readonly children: readonly IpAddress[];
}

/** One copy of a packet each: as many as the programs make. */
const MOST_CHILDREN = 64;

const entry = section(
  {
    node: value(hostAddress(6), 'replication SID of the router'),
    children: list(
      value(hostAddress(6), 'SID'),
      'replication SIDs of the routers below it, and End.MT SIDs of the edges that get their copies from it',
    ),
  },
  'a router of the tree, and what gets its copies',
);

export const schema = list(
  entry,
  'the tree, the same on all routers; edges that it does not name get their copies from the root; ' +
    'default: the shortest paths that the carriers know',
);

/** @param path of the group */
export function branchesAreTree(branches: Seen<typeof schema> | undefined, path: Path, report: Report): void {
  const at = (i: number): Path => [...path, 'branches', i];
  unique(
    branches,
    (i) => [...at(i), 'node'],
    (one) => one.node && formatAddress(one.node),
    'router',
    report,
  );
  const parents = new Map<string, IpAddress>();
  for (const [i, { node, children }] of each(branches)) {
    const childPath = (j: number): Path => [...at(i), 'children', j];
    unique(children, childPath, formatAddress, 'SID', report);
    if (children && (children.length === 0 || children.length > MOST_CHILDREN))
      report(
        [...at(i), 'children'],
        `1 to ${MOST_CHILDREN} SIDs`,
        `a router makes at least one copy and at most ${MOST_CHILDREN}, not ${children.length}`,
      );
    for (const [j, child] of each(children)) {
      const other = parents.get(formatAddress(child));
      if (other && node && !sameAddress(other, node))
        report(
          childPath(j),
          'a SID with one parent',
          `${formatAddress(child)} already gets its copies from ${formatAddress(other)}`,
        );
      else if (node) parents.set(formatAddress(child), node);
    }
  }
  noCircle(branches, parents, at, report);
}

function noCircle(
  branches: Seen<typeof schema> | undefined,
  parents: ReadonlyMap<string, IpAddress>,
  at: (i: number) => Path,
  report: Report,
): void {
  for (const [i, { node }] of each(branches)) {
    if (!node) continue;
    let above = parents.get(formatAddress(node));
    for (let steps = 0; above && steps < parents.size; steps++) {
      if (sameAddress(above, node)) {
        report([...at(i), 'node'], 'a router that is not below itself', `${formatAddress(node)} is below itself`);
        return;
      }
      above = parents.get(formatAddress(above));
    }
  }
}
