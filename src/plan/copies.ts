// How congested nodes notify about packets of groups (draft RMC). Before an edge the packets have the source's address
// inside, and outside the replication SID of the router that made the copy. Behind it, copies have the Proxy Address as
// their source.
import type { Intent } from '../intent/intent.ts';
import { MAIN_TABLE } from '../intent/sid-allocation.ts';
import type { SidEntry } from '../learned/routers.ts';
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import { formatPrefix, hostPrefix, longestPrefix, prefixCovers } from '../model/prefix.ts';
import type { OwnAddressPlan, ReplicationEndConPlan, SenderPolicyPlan } from './desired.ts';
import { type LearnedAboutGroups, membershipOf } from './group-view.ts';
import type { MulticastPlan } from './multicast-plan.ts';
import { notifiesDirectly } from './policy.ts';

/**
 * FCN-4.2.2-d: a notification through the tunnel goes to the END.CON SID of the router that made the copy. That is the
 * only one that it advertises beside one replication SID: nothing tells the tables behind several. A replication SID
 * that is advertised beside different END.CON SIDs has none. Of this router's own it is that of the main table, in
 * which sources of groups are, whatever others advertise.
 */
export function planReplicationEndCons(intent: Intent, { sids }: LearnedAboutGroups): ReplicationEndConPlan[] {
  if (!notifiesDirectly(intent)) return [];
  const { codePoints, srv6 } = intent;
  const routers = new Map<string, { readonly ends: SidEntry[]; readonly replications: SidEntry[] }>();
  for (const entry of sids()) {
    const key = `${entry.carrier} ${entry.originator}`;
    const router = routers.get(key) ?? { ends: [], replications: [] };
    routers.set(key, router);
    if (entry.behavior === codePoints['end-con-behavior']) router.ends.push(entry);
    else if (entry.behavior === codePoints['replication-behavior']) router.replications.push(entry);
  }
  const pairs = [...routers.values()].flatMap(({ ends, replications }) =>
    ends.length === 1 && replications.length === 1 ? [pairOf(replications[0]!.sid, ends[0]!.sid)] : [],
  );
  const replication = srv6?.replication?.sid;
  const own = replication && srv6?.endCon.find(({ table }) => table === MAIN_TABLE);
  return [
    ...undisputed(pairs).filter(({ replicationSid }) => !replication || !sameAddress(replicationSid, replication)),
    ...(own ? [pairOf(replication, own.sid)] : []),
  ];
}

const pairOf = (replicationSid: IpAddress, endConSid: IpAddress): ReplicationEndConPlan => ({
  ...{ id: formatAddress(replicationSid), replicationSid, endConSid },
});

/** A router may advertise the replication SID of another one. Whose it is cannot be known, so neither counts. */
function undisputed(pairs: readonly ReplicationEndConPlan[]): ReplicationEndConPlan[] {
  const byId = new Map<string, ReplicationEndConPlan | undefined>();
  for (const pair of pairs) {
    const known = byId.has(pair.id) ? byId.get(pair.id) : pair;
    byId.set(pair.id, known && sameAddress(known.endConSid, pair.endConSid) ? pair : undefined);
  }
  return [...byId.values()].flatMap((pair) => pair ?? []);
}

/**
 * With rows for the Proxy Addresses of groups: of the formats that the policy has for such an address, only Fast CNP is
 * left. The edge understands it, since it names the receiver. A proxy and a Long-haul CNP would look for a Queue Pair
 * of the Proxy Address, which no host has.
 */
export function withGroups(
  policies: readonly SenderPolicyPlan[],
  { groups = [] }: Intent,
  { members }: LearnedAboutGroups,
): readonly SenderPolicyPlan[] {
  if (policies.length === 0) return policies;
  const rows = [...membershipOf(groups, members()).groups.values()].flatMap(({ group }) => {
    const all = hostPrefix(group);
    const best = longestPrefix(policies.filter(({ prefix }) => prefixCovers(prefix, all)));
    if (!best) return [];
    const { onlyAdvertised: _, ...policy } = best;
    return [{ ...policy, id: formatPrefix(all), prefix: all, order: policy.order.filter((one) => one === 'fast-cnp') }];
  });
  return rows.length === 0 ? policies : [...new Map([...policies, ...rows].map((row) => [row.id, row])).values()];
}

/** With the Proxy Addresses of groups of which this router is an edge: a notification to one of them needs no route. */
export function withAggregated(
  own: readonly OwnAddressPlan[],
  multicast: MulticastPlan | undefined,
): readonly OwnAddressPlan[] {
  const edges = new Set(multicast?.lists.flatMap(({ role, group }) => (role === 'edge' ? [group] : [])));
  const aggregated = (multicast?.groups ?? [])
    .filter(({ id }) => edges.has(id))
    .map(({ id, proxyAddress }) => ({ id, address: proxyAddress }));
  return [...own, ...aggregated.filter(({ id }) => !own.some((one) => one.id === id))];
}
