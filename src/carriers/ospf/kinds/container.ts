// cnpd's private LSA: which link-state IDs the kinds use that share it. The container (packet/sid-container.ts) has no
// field for inter-area copies, so that the ID distinguishes them.
import { opaqueIdOf } from '../../../packet/ospf/lsa-type.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import type { RouteKind } from './route.ts';

/** Bytes of the body before the TLVs. */
export const CONTAINER_HEADER = 4;

const COPIES = 0x80_0000;
/** How many LSAs of a kind, and as many with its copies. */
export const OPAQUE_IDS = 0x40_0000;
/** The first opaque ID; in OSPFv3 the first link-state ID. */
export const CONTAINER_IDS = {
  sid: { original: 0, copy: COPIES },
  'group-membership': { original: OPAQUE_IDS, copy: COPIES + OPAQUE_IDS },
} as const;

export const routeOfContainer = (lsa: LsaKey): RouteKind => (opaqueIdOf(lsa) >= COPIES ? 'inter-area' : 'intra-area');
