// What other routers advertise that may be copied, by area and key, and which entries must be decided about again
// (leaking.ts).
import type { AreaContent, Content } from '../content-state.ts';
import { BACKBONE } from '../constants.ts';
import type { Entry } from '../kinds/kind.ts';

/** Whether we are an area border router (RFC 2328 §3.3). */
export const isBorder = (c: Content): boolean => c.areas.size > 1 && c.areas.has(BACKBONE);

function mark(c: Content, key: string): void {
  c.interArea.queue.mark(key, c.now);
}

const within = <K, V>(map: Map<K, Map<string, V>>, key: K): Map<string, V> => {
  let inner = map.get(key);
  if (!inner) map.set(key, (inner = new Map<string, V>()));
  return inner;
};

/** These are now the entries that an LSA advertises. */
export function offersChanged(c: Content, { areaId }: AreaContent, lsaId: string, advertised: readonly Entry[]): void {
  if (!isBorder(c)) return;
  const entries = advertised.filter((entry) => c.kinds.isLeakable(entry));
  const offers = within(c.interArea.offers, areaId);
  const offered = within(c.interArea.offered, areaId);
  for (const entry of offers.get(lsaId) ?? []) {
    const key = c.kinds.keyOf(entry);
    const lsas = offered.get(key)!;
    lsas.delete(lsaId);
    if (lsas.size === 0) offered.delete(key);
    mark(c, key);
  }
  for (const entry of entries) {
    const key = c.kinds.keyOf(entry);
    within(offered, key).set(lsaId, entry);
    mark(c, key);
  }
  if (entries.length > 0) offers.set(lsaId, entries);
  else offers.delete(lsaId);
}

/** These routers have become reachable or unreachable or are forgotten, or one of their addresses has changed. */
export function originatorsChanged(c: Content, { areaId, routers }: AreaContent, changed: readonly number[]): void {
  if (!isBorder(c)) return;
  for (const router of changed) {
    for (const id of routers.get(router)?.keys() ?? [])
      for (const entry of c.interArea.offers.get(areaId)?.get(id) ?? []) mark(c, c.kinds.keyOf(entry));
  }
}

/** The area has a neighbor now: decides again about everything that may be copied into it. */
export function neighborFound(c: Content, to: AreaContent): void {
  if (!isBorder(c)) return;
  for (const [areaId, keys] of c.interArea.offered)
    if (areaId !== to.areaId) for (const key of keys.keys()) mark(c, key);
}

/** The operator no longer declares an entry that took precedence over inter-area copies. */
export function declaredChanged(c: Content, key: string): void {
  if (isBorder(c)) mark(c, key);
}
