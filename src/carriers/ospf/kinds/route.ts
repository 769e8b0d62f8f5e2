// The kind of route that an entry belongs to, in the terms of RFC 2328 §11, and whether the entry may be copied between
// areas. Copies cannot loop, for the same reason as summaries (RFC 2328 §12.4.3): only intra-area entries are copied
// into the backbone; entries of any route in the backbone are copied out of it.
import { BACKBONE } from '../constants.ts';

/**
 * `external`: from outside OSPF, flooded through the whole AS or within an NSSA. `unspecified`: the originator does not
 * know (RFC 7684 §2.1).
 */
export type RouteKind = 'intra-area' | 'inter-area' | 'external' | 'unspecified';

interface Routed {
  readonly route: RouteKind;
}

export const isCopy = ({ route }: Routed): boolean => route === 'inter-area';

export const mayLeak = ({ route }: Routed, from: number, to: number): boolean =>
  route === 'intra-area' || (route === 'inter-area' && from === BACKBONE && to !== BACKBONE);

/** Intra-area is preferred to inter-area (RFC 2328 §11). Other routes are not copied. */
export const compareRoutes = (a: Routed, b: Routed): number => Number(isCopy(a)) - Number(isCopy(b));
