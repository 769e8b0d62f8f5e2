// The route that an entry belongs to, as RFC 2328 §11 would call it, and what follows for copying it between areas. No
// loops, as with summaries (RFC 2328 §12.4.3): into the backbone goes only what is intra-area elsewhere, out of it
// everything.
import { BACKBONE } from '../constants.ts';

/**
 * `external`: from outside OSPF, flooded through the whole AS or within an NSSA. `unspecified`: whoever says it does
 * not know (RFC 7684 §2.1).
 */
export type RouteKind = 'intra-area' | 'inter-area' | 'external' | 'unspecified';

interface Routed {
  readonly route: RouteKind;
}

export const isCopy = ({ route }: Routed): boolean => route === 'inter-area';

export const mayLeak = ({ route }: Routed, from: number, to: number): boolean =>
  route === 'intra-area' || (route === 'inter-area' && from === BACKBONE && to !== BACKBONE);

/** Intra-area before inter-area (RFC 2328 §11); of others no copy is made. */
export const compareRoutes = (a: Routed, b: Routed): number => Number(isCopy(a)) - Number(isCopy(b));
