// Which routers are reachable in a level or an area, and how long the advertisements of a lost router remain valid.

/** `Id` identifies a router: a system ID or a router ID. */
export interface Aliveness<Id> {
  reachable: ReadonlySet<Id>;
  /** Routers that were reachable and no longer are, and since when. */
  readonly lostAt: Map<Id, number>;
  /** When the hold time of the router lost first is over. */
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

/** Sets the routers that are reachable now. @returns the routers newly reachable, and those no longer reachable */
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

/** @returns the routers whose hold time is over, each once */
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
