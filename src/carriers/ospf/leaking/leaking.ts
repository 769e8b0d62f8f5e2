// The PNC between areas (PNC-5.2-b/c, PNC-5.3-b/c: an ABR "MUST" preserve it). FRR's border routers summarise routes
// without the contents of opaque and extended LSAs. So an agent with adjacencies in several areas, one of them the
// backbone, originates in each what it learned in the others: same flags, same proxy address, same source router ID, as
// an inter-area prefix. A prefix without the P-flag is not copied, so a clear flag stays clear. SIDs alike. No loops,
// as with summaries (RFC 2328 §12.4.3): into the backbone goes only what is intra-area elsewhere, out of it everything.
// What a router of the target area originates itself is not copied, and of several agents that could copy the one with
// the lowest router ID does. A copy of what the target area originated itself until a moment ago is an echo: the agent
// that made it may not issue its withdrawal before MinLSInterval has passed.
import { count } from '../../effects.ts';
import { type IpAddress, compareAddresses } from '../../../model/address.ts';
import type { AreaContent, Content, ReadLsa } from '../content-state.ts';
import { proxyOf } from '../learning/originators.ts';
import { INTER_AREA_ECHO_MS } from '../constants.ts';
import { type Entry, isSid } from '../kinds/entries.ts';
import { isAdvertised, setEntry } from '../own/origination.ts';
import { isAlive } from '../learning/graph.ts';
import { BACKBONE } from './offers.ts';

interface Candidate {
  readonly area: AreaContent;
  readonly entry: Entry;
  readonly lsa: ReadLsa;
}

/** Decides about a batch of prefixes and SIDs for every area. */
export function interAreaDue(c: Content): void {
  c.interArea.queue.take(c.now, (key) =>
    c.declared.has(key) ? Infinity : Math.min(...[...c.areas.values()].map((to) => decide(c, key, to))),
  );
}

/**
 * @returns when to decide again, if it is eligible but has not been so for long enough, or may be an echo; else never
 */
function decide(c: Content, key: string, to: AreaContent): number {
  const at = `${to.areaId}:${key}`;
  const advertised = isAdvertised(to, key);
  const here = candidates(c, to, key);
  const copiesFrom = echoesUntil(c, at, here);
  const best = bestCandidate(c, key, to, here, advertised || c.now >= copiesFrom);
  // Nothing is originated before the area has a neighbour, from which comes first what the area originates itself.
  if (!best || (!advertised && to.graph.neighbor === undefined)) {
    c.interArea.queue.notEligible(at);
    if (advertised) {
      count(c, 'carry.withdrawn');
      setEntry(c, to, key, undefined);
    }
    return copiesFrom > c.now ? copiesFrom : Infinity;
  }
  const ripe = c.interArea.queue.eligible(at, c.now);
  if (c.now < ripe) return ripe;
  if (!advertised) count(c, 'carry.carried');
  setEntry(c, to, key, interAreaCopy(best));
  return Infinity;
}

/** From when on a copy can be no echo of what the area originated itself. @param here what it originates now */
function echoesUntil({ interArea: { ownUntil }, now }: Content, at: string, here: readonly Candidate[]): number {
  if (here.some(({ entry }) => entry.route !== 'inter-area')) ownUntil.set(at, Infinity);
  else if (ownUntil.get(at) === Infinity) ownUntil.set(at, now);
  const until = (ownUntil.get(at) ?? -Infinity) + INTER_AREA_ECHO_MS;
  if (until <= now) ownUntil.delete(at);
  return until;
}

/**
 * The advertisements of a flagged prefix or a SID in an area that are not ours and whose originator is there, or was
 * until a short while ago.
 */
function candidates(c: Content, area: AreaContent, key: string): Candidate[] {
  const found: Candidate[] = [];
  for (const [id, entry] of c.interArea.offered.get(area.areaId)?.get(key) ?? []) {
    const lsa = area.lsas.get(id)!;
    if (isAlive(c, area, lsa.key.advertisingRouter)) found.push({ area, entry, lsa });
  }
  return found;
}

function mayCross({ area, entry }: Candidate, to: AreaContent): boolean {
  return (
    entry.route === 'intra-area' || (entry.route === 'inter-area' && area.areaId === BACKBONE && to.areaId !== BACKBONE)
  );
}

/**
 * What to copy: intra-area before inter-area (RFC 2328 §11), the lowest metric, the lowest proxy address (decision
 * D7). Undefined: nothing may be.
 * @param here what the target area advertises
 * @param copies whether copies of other agents may be copied
 */
function bestCandidate(
  c: Content,
  key: string,
  to: AreaContent,
  here: readonly Candidate[],
  copies: boolean,
): Candidate | undefined {
  const others = [...c.areas.values()].filter((area) => area !== to);
  const eligible = others
    .flatMap((area) => candidates(c, area, key))
    .filter((candidate) => mayCross(candidate, to) && (copies || candidate.entry.route === 'intra-area'));
  if (eligible.length === 0) return undefined;
  // A lost agent copies no longer, though its copy is held: the next agent takes over while the copy still counts, so
  // that there is no gap.
  const comesFirst = ({ lsa: { key: id } }: Candidate): boolean =>
    id.advertisingRouter < c.config.routerId && to.graph.reachable.has(id.advertisingRouter);
  const known = here.some((candidate) => candidate.entry.route !== 'inter-area' || comesFirst(candidate));
  return known ? undefined : eligible.reduce((a, b) => (preferred(a, b) <= 0 ? a : b));
}

const PREFERENCE = { 'intra-area': 0, 'inter-area': 1, external: 2, unspecified: 3 } as const;

function preferred(a: Candidate, b: Candidate): number {
  const byRoute = PREFERENCE[a.entry.route] - PREFERENCE[b.entry.route];
  if (byRoute !== 0 || isSid(a.entry) || isSid(b.entry)) return byRoute;
  if (a.entry.metric !== b.entry.metric) return a.entry.metric - b.entry.metric;
  const [proxyA, proxyB] = [resolve(a), resolve(b)];
  if (proxyA && proxyB) return compareAddresses(proxyA, proxyB);
  return proxyA ? -1 : proxyB ? 1 : 0;
}

/** The proxy of a prefix; a SID has none. */
const resolve = ({ area, entry, lsa }: Candidate): IpAddress | undefined =>
  isSid(entry) ? undefined : proxyOf(area, lsa.key.advertisingRouter, entry.proxy);

/**
 * The copy: all flags kept, the proxy that the original resolves to and the router it came from named in the entry
 * itself.
 */
function interAreaCopy(candidate: Candidate): Entry {
  const { entry, lsa } = candidate;
  if (isSid(entry)) return { ...entry, route: 'inter-area' };
  const proxy = resolve(candidate);
  return {
    ...entry,
    route: 'inter-area',
    attached: entry.route === 'intra-area',
    sourceRouter: entry.sourceRouter ?? lsa.key.advertisingRouter,
    ...(proxy && { proxy }),
  };
}
