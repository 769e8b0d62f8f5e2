// Paths of groups on which packets do not fit, as a problem. Packet Too Big reports them while packets pass.
import { coreMtuNeeds } from '../groups/sizes.ts';
import type { Problem } from '../model/problem.ts';
import { summary } from './group-findings.ts';

interface NarrowPath {
  /** Proxy Address. */
  readonly group: string;
  /** Octets of the largest packet in the tree that passes. */
  readonly mtu: number;
}

/** @param paths one a group */
export const narrowPathProblems = (paths: readonly NarrowPath[]): Problem[] =>
  summary(
    'groups.path-mtu',
    paths,
    ({ group, mtu }) =>
      `group ${group}: packets of more than ${mtu} octets, the headers of the tree included, do not fit on a path ` +
      'from here to its receivers, which get none of them',
    'raise the MTU of the link behind the router where `multicast.copy.too-big` or `multicast.packet-too-big` grows, ' +
      `or give the Queue Pairs a smaller path MTU: ${coreMtuNeeds()}; larger packets are tried again after ten minutes`,
  );
