// Reconciles cnpd's own SIDs with the kernel's seg6local routes. cnpd's routes have their own protocol number. A SID
// with a route of another program is left alone and reported. A matching route of an earlier run is adopted without
// being removed.
import type { IpAddress } from '../model/address.ts';
import { formatAddress } from '../model/address.ts';
import { RTPROT_CNPD, type SidRoute, type SidRoutes } from '../kernel/netlink/sid-routes.ts';
import type { Seg6LocalRoute } from '../kernel/netlink/seg6local.ts';
import type { Operations } from './operations.ts';

/**
 * END.CON is End.DT6 in the kernel. At core ports the programs decapsulate packets before they reach it; it handles all
 * others.
 */
export interface EndConRoute {
  readonly id: string;
  readonly sid: IpAddress;
  /** Routing table for the lookup after decapsulation. */
  readonly table: number;
  readonly ifindex: number;
  /** Whether the route was there when the facts were read. If not, the route is added again. */
  readonly installed?: boolean;
}

const desiredRoute = ({ sid, table, ifindex }: EndConRoute): SidRoute => ({ sid, action: 'end.dt6', table, ifindex });

const isAsDesired = (found: Seg6LocalRoute, desired: EndConRoute): boolean =>
  found.action === 'end.dt6' && found.table === desired.table && found.ifindex === desired.ifindex;

/** The keys that the removal of a found route needs. */
const named = (found: Seg6LocalRoute, fallback: { readonly ifindex: number }): SidRoute => ({
  sid: found.sid,
  action: found.action ?? 'end',
  table: found.table ?? 0,
  ifindex: found.ifindex ?? fallback.ifindex,
});

export function sidRouteOperations(
  kernel: Pick<SidRoutes, 'find' | 'own' | 'add' | 'remove'>,
): Operations<EndConRoute> {
  const sidOf = new Map<string, EndConRoute>();
  return {
    kind: 'sid-route',
    update: (desired) => {
      sidOf.set(desired.id, desired);
      const found = kernel.find(desired.sid);
      if (found && found.protocol !== RTPROT_CNPD) {
        throw new Error(
          `${formatAddress(desired.sid)} is already a SID of another program: ${found.action ?? 'seg6local'}, ` +
            `protocol ${found.protocol}`,
        );
      }
      if (found && isAsDesired(found, desired)) return;
      if (found) kernel.remove(named(found, desired));
      kernel.add(desiredRoute(desired));
    },
    delete: (id) => {
      const known = sidOf.get(id);
      sidOf.delete(id);
      const found = known && kernel.find(known.sid);
      if (found?.protocol === RTPROT_CNPD) kernel.remove(named(found, known!));
    },
    *prune(desired) {
      for (const route of kernel.own()) {
        const isStray = !desired.has(formatAddress(route.sid));
        yield isStray && kernel.remove(named(route, { ifindex: 0 }));
      }
    },
    verify: (desired) => {
      const found = kernel.find(desired.sid);
      return found !== undefined && found.protocol === RTPROT_CNPD && isAsDesired(found, desired);
    },
  };
}

/**
 * Removes every route of cnpd: for a router whose configuration no longer has SIDs, and for uninstall.
 * @returns the removed SIDs, as text
 * @throws KernelError
 */
export function removeSidRoutes(kernel: Pick<SidRoutes, 'own' | 'remove'>): string[] {
  const removed = kernel.own().filter((route) => kernel.remove(named(route, { ifindex: 0 })));
  return removed.map(({ sid }) => formatAddress(sid));
}
