// Carrying the PNC between areas (PNC-5.2-b/c, PNC-5.3-b/c: an ABR "MUST" preserve it). FRR's border routers carry
// routes and not what opaque or extended LSAs say about them, so an agent with adjacencies in several areas, one of
// them the backbone, says in each what it learned in the others: same flags, same proxy address, same source router ID,
// as an inter-area prefix. A prefix without the P-flag is not carried, so a clear flag stays clear. SIDs alike. No
// loops, as with summaries (RFC 2328 §12.4.3): into the backbone goes only what is intra-area elsewhere, out of it
// everything. What a router of the target area says itself is not said again, and of several agents that could carry
// the one with the lowest router ID does. A copy of what the target area said itself until a moment ago is an echo: the
// agent that made it may not issue its withdrawal before MinLSInterval has passed.
import { count } from '../../effects.ts';
import { type IpAddress, compareAddresses } from '../../../model/address.ts';
import type { AreaContent, Content, ReadLsa } from '../content-state.ts';
import { proxyOf } from '../learning/originators.ts';
import { CARRY_ECHO_MS } from '../constants.ts';
import { type Entry, isSid } from '../kinds/entries.ts';
import { isSaid, setEntry } from '../own/origination.ts';
import { isAlive } from '../learning/graph.ts';
import { BACKBONE } from './offers.ts';

interface Candidate {
  readonly area: AreaContent;
  readonly entry: Entry;
  readonly lsa: ReadLsa;
}

/** Decides about a batch of prefixes and SIDs for every area. */
export function carryDue(c: Content): void {
  c.carry.queue.take(c.now, (key) =>
    c.declared.has(key) ? Infinity : Math.min(...[...c.areas.values()].map((to) => decide(c, key, to))),
  );
}

/**
 * @returns when to decide again, if it is eligible but has not been so for long enough, or may be an echo; else never
 */
function decide(c: Content, key: string, to: AreaContent): number {
  const at = `${to.areaId}:${key}`;
  const said = isSaid(to, key);
  const here = candidates(c, to, key);
  const copiesFrom = echoesUntil(c, at, here);
  const best = bestCandidate(c, key, to, here, said || c.now >= copiesFrom);
  // Nothing is said before there is somebody to say it to, who tells first what the area says itself.
  if (!best || (!said && to.graph.neighbor === undefined)) {
    c.carry.queue.notEligible(at);
    if (said) {
      count(c, 'carry.withdrawn');
      setEntry(c, to, key, undefined);
    }
    return copiesFrom > c.now ? copiesFrom : Infinity;
  }
  const ripe = c.carry.queue.eligible(at, c.now);
  if (c.now < ripe) return ripe;
  if (!said) count(c, 'carry.carried');
  setEntry(c, to, key, carried(best));
  return Infinity;
}

/** From when on a copy can be no echo of what the area has said itself. @param here what it says now */
function echoesUntil({ carry: { ownUntil }, now }: Content, at: string, here: readonly Candidate[]): number {
  if (here.some(({ entry }) => entry.route !== 'inter-area')) ownUntil.set(at, Infinity);
  else if (ownUntil.get(at) === Infinity) ownUntil.set(at, now);
  const until = (ownUntil.get(at) ?? -Infinity) + CARRY_ECHO_MS;
  if (until <= now) ownUntil.delete(at);
  return until;
}

/**
 * The advertisements of a flagged prefix or a SID in an area that are not ours and whose originator is there, or was
 * until a short while ago.
 */
function candidates(c: Content, area: AreaContent, key: string): Candidate[] {
  const found: Candidate[] = [];
  for (const [id, entry] of c.carry.offered.get(area.areaId)?.get(key) ?? []) {
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
 * What to carry: intra-area before inter-area (RFC 2328 §11), the lowest metric, the lowest proxy address (decision
 * D7). Undefined: nothing may be.
 * @param here what the target area says.
 * @param copies what is a copy itself may be carried
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
  // An agent that was lost carries no longer, though its copy is held: whoever is next takes over while the copy still
  // counts, so that there is no gap.
  const carriesFirst = ({ lsa: { key: id } }: Candidate): boolean =>
    id.advertisingRouter < c.config.routerId && to.graph.reachable.has(id.advertisingRouter);
  const known = here.some((candidate) => candidate.entry.route !== 'inter-area' || carriesFirst(candidate));
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
function carried(candidate: Candidate): Entry {
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
