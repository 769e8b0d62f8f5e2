// Edges of receivers that name none: for each the router that is nearest to its address. That is this router if the
// address is on one of its links. Otherwise it is the edge nearest to whoever advertises the longest prefix with the
// address.
import { nearestEdge } from '../groups/nearest-edge.ts';
import type { GroupIntent, Intent } from '../intent/intent.ts';
import type { SidEntry } from '../learned/routers.ts';
import { type IpAddress, mapKey, sameAddress } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import { type Facts, linkOfHost } from './facts.ts';
import { type LearnedAboutGroups, networkFrom } from './group-view.ts';

/** Remembers the last answer: what has not changed stays the same object, and so does what is computed from it. */
export class NearestEdges {
  #last:
    | { readonly intent: Intent; readonly edges: readonly (bigint | undefined)[]; readonly decided: Intent }
    | undefined;

  /**
   * The intent with an edge for each receiver that names none. In a group that comes back with `nearest`, that lists
   * the receivers whose edge cannot be decided; they are no members.
   */
  decide(intent: Intent, learned: LearnedAboutGroups, facts: Facts): Intent {
    const { groups } = intent;
    if (!groups?.some(({ nearest }) => nearest)) return intent;
    const found = groups.map(({ nearest = [] }) => nearest.map((address) => edgeOf(address, intent, learned, facts)));
    const edges = found.flat().map((edge) => edge?.value);
    const last = this.#last;
    if (last?.intent === intent && last.edges.every((edge, i) => edge === edges[i])) return last.decided;
    const decided = { ...intent, groups: groups.map((group, i) => withEdges(group, found[i]!)) };
    this.#last = { intent, edges, decided };
    return decided;
  }
}

/** Undefined: it cannot be decided. */
function edgeOf(address: IpAddress, intent: Intent, learned: LearnedAboutGroups, facts: Facts): IpAddress | undefined {
  const own = intent.srv6?.endMt?.sid;
  if (own && linkOfHost(facts, address)) return own;
  const advertised = learned.originatorOf(address);
  if (!advertised || advertised.carrier === 'local') return own;
  const { carrier, originator } = advertised;
  if (carrier === 'bgp') {
    const behavior = intent.codePoints['end-mt-behavior'];
    const isTheirs = (sid: SidEntry): boolean =>
      sid.carrier === 'bgp' && sid.originator === originator && sid.behavior === behavior;
    const theirs = learned.sids().find(isTheirs);
    return theirs?.sid ?? own;
  }
  const network = networkFrom(learned, { edge: own, replication: intent.srv6?.replication?.sid }, intent);
  return nearestEdge(network, carrier, originator) ?? own;
}

function withEdges(group: GroupIntent, edges: readonly (IpAddress | undefined)[]): GroupIntent {
  const { nearest, ...rest } = group;
  if (!nearest) return group;
  const edgeAt = new Map(nearest.map((address, i) => [mapKey(address), edges[i]]));
  const missing = nearest.filter((_, i) => !edges[i]);
  const members = group.members.flatMap((member): GroupMember[] => {
    if (member.role === 'source' || !edgeAt.has(mapKey(member.address))) return [member];
    const node = edgeAt.get(mapKey(member.address));
    return node ? [sameAddress(node, member.node) ? member : { ...member, node }] : [];
  });
  return { ...rest, members, ...(missing.length > 0 && { nearest: missing }) };
}
