// Who can be reached in a level or an area, and for how long what a lost router advertises still counts.

/** `Id` is what tells routers apart: a system ID, a router ID. */
export interface Aliveness<Id> {
  reachable: ReadonlySet<Id>;
  /** Since when those that were reachable once are not any more. */
  readonly lostAt: Map<Id, number>;
  /** When the first of them has been lost for the hold time. */
  forgetAt: number;
}

export const newAliveness = <Id>(): Aliveness<Id> => ({
  reachable: new Set(),
  lostAt: new Map(),
  forgetAt: Infinity,
});

/** Reachable, or lost for less than the hold time. */
export function isAliveAt<Id>({ reachable, lostAt }: Aliveness<Id>, id: Id, now: number, holdMs: number): boolean {
  if (reachable.has(id)) return true;
  const at = lostAt.get(id);
  return at !== undefined && now < at + holdMs;
}

/** These can be reached now. @returns who could not before, and who no longer can */
export function reach<Id>(
  aliveness: Aliveness<Id>,
  next: ReadonlySet<Id>,
  now: number,
  holdMs: number,
): { readonly found: readonly Id[]; readonly lost: readonly Id[] } {
  const { reachable, lostAt } = aliveness;
  const lost = [...reachable].filter((id) => !next.has(id));
  const found = [...next].filter((id) => !reachable.has(id));
  aliveness.reachable = next;
  for (const id of found) lostAt.delete(id);
  for (const id of lost) lostAt.set(id, now);
  if (lost.length > 0) aliveness.forgetAt = Math.min(aliveness.forgetAt, now + holdMs);
  return { found, lost };
}

/** @returns those whose hold time is over, once */
export function forget<Id>(aliveness: Aliveness<Id>, now: number, holdMs: number): readonly Id[] {
  const { lostAt } = aliveness;
  const over: Id[] = [];
  aliveness.forgetAt = Infinity;
  for (const [id, since] of lostAt) {
    const at = since + holdMs;
    if (at <= now) over.push(id);
    else aliveness.forgetAt = Math.min(aliveness.forgetAt, at);
  }
  for (const id of over) lostAt.delete(id);
  return over;
}
