// Inter-area copies (PNC-5.2-b/c, PNC-5.3-b/c: an ABR "MUST" preserve the PNC). FRR's border routers summarize routes
// without the contents of opaque and extended LSAs. So an agent with adjacencies in several areas, including the
// backbone, originates in each area what it learned in the others. The kind decides what a copy contains and when none
// may be made (kinds/). An entry that a router of the target area originates itself is not copied. Of several agents
// that could copy an entry, the one with the lowest router ID does. A copy of an entry that the target area originated
// itself until recently is an echo. The agent that made the copy may not issue its withdrawal before MinLSInterval has
// passed.
import { count } from '../../effects.ts';
import type { AreaContent, Content } from '../content-state.ts';
import { INTER_AREA_ECHO_MS } from '../constants.ts';
import type { Candidate, Entry } from '../kinds/kind.ts';
import { addressOf } from '../learning/originators.ts';
import { isAdvertised, setEntry } from '../own/origination.ts';
import { isAlive } from '../learning/graph.ts';

interface Offered extends Candidate<Entry> {
  readonly area: AreaContent;
}

/** Decides about a batch of entries and target areas. */
export function interAreaDue(c: Content): void {
  c.interArea.queue.take(c.now, (key) =>
    c.declared.has(key) ? Infinity : Math.min(...[...c.areas.values()].map((to) => decide(c, key, to))),
  );
}

/**
 * @returns when to decide again, if the entry is not eligible for long enough yet or may be an echo; otherwise Infinity
 */
function decide(c: Content, key: string, to: AreaContent): number {
  const at = `${to.areaId}:${key}`;
  const advertised = isAdvertised(to, key);
  const here = candidates(c, to, key);
  const copiesFrom = echoesUntil(c, at, here);
  const best = bestCandidate(c, key, to, here, advertised || c.now >= copiesFrom);
  // Nothing is originated before the area has a neighbor: the area's own entries must be learned from it first.
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
  setEntry(c, to, key, c.kinds.leakingOf(best.entry).copy(best));
  return Infinity;
}

/**
 * The time from which a copy cannot be an echo of an entry that the area originated itself.
 * @param here what the area advertises now
 */
function echoesUntil(c: Content, at: string, here: readonly Offered[]): number {
  const { ownUntil } = c.interArea;
  if (here.some((one) => !isCopy(c, one))) ownUntil.set(at, Infinity);
  else if (ownUntil.get(at) === Infinity) ownUntil.set(at, c.now);
  const until = (ownUntil.get(at) ?? -Infinity) + INTER_AREA_ECHO_MS;
  if (until <= c.now) ownUntil.delete(at);
  return until;
}

const isCopy = (c: Content, { entry }: Offered): boolean => c.kinds.leakingOf(entry).isCopy(entry);

/** What other routers advertise in an area under this key, if they are alive. */
function candidates(c: Content, area: AreaContent, key: string): Offered[] {
  const found: Offered[] = [];
  for (const [id, entry] of c.interArea.offered.get(area.areaId)?.get(key) ?? []) {
    const { advertisingRouter } = area.lsas.get(id)!.key;
    if (isAlive(c, area, advertisingRouter))
      found.push({ area, entry, advertisingRouter, node: () => addressOf(area, advertisingRouter) });
  }
  return found;
}

/**
 * The entry to copy; undefined: none may be copied.
 * @param here what the target area advertises
 * @param copies whether copies of other agents may be copied
 */
function bestCandidate(
  c: Content,
  key: string,
  to: AreaContent,
  here: readonly Offered[],
  copies: boolean,
): Offered | undefined {
  const rulesOf = ({ entry }: Offered) => c.kinds.leakingOf(entry);
  const others = [...c.areas.values()].filter((area) => area !== to);
  const eligible = others
    .flatMap((area) => candidates(c, area, key))
    .filter((one) => rulesOf(one).mayLeak(one.entry, one.area.areaId, to.areaId) && (copies || !isCopy(c, one)));
  if (eligible.length === 0) return undefined;
  // A lost agent no longer makes copies, although its copy is held. The next agent takes over while that copy is still
  // used, so that there is no gap.
  const comesFirst = ({ advertisingRouter: router }: Offered): boolean =>
    router < c.config.routerId && to.graph.reachable.has(router);
  const known = here.some((one) => !isCopy(c, one) || comesFirst(one));
  return known ? undefined : eligible.reduce((a, b) => (rulesOf(a).compare(a, b) <= 0 ? a : b));
}
