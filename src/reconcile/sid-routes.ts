// Reconciles cnpd's own SIDs with the kernel's seg6local routes. Ours are told by their protocol number; a SID that has
// a route of somebody else's is left alone and reported. A route of an earlier run that is as it should be is adopted:
// nothing is taken away in between.
import type { IpAddress } from '../model/address.ts';
import { formatAddress } from '../model/address.ts';
import { RTPROT_CNPD, type SidRoute, type SidRoutes } from '../kernel/netlink/sid-routes.ts';
import type { Seg6LocalRoute } from '../kernel/netlink/seg6local.ts';
import type { Operations } from './operations.ts';

/**
 * END.CON in the kernel's terms: End.DT6. Packets at core ports are decapsulated ahead of it; it answers for all
 * others.
 */
export interface EndConRoute {
  readonly id: string;
  readonly sid: IpAddress;
  /** Of the look-up behind the SID. */
  readonly table: number;
  readonly ifindex: number;
  /** As last seen: a route that is not there any more is wanted anew. */
  readonly installed?: boolean;
}

const wantedRoute = ({ sid, table, ifindex }: EndConRoute): SidRoute => ({ sid, action: 'end.dt6', table, ifindex });

const isAsWanted = (found: Seg6LocalRoute, wanted: EndConRoute): boolean =>
  found.action === 'end.dt6' && found.table === wanted.table && found.ifindex === wanted.ifindex;

/** What a route that was found needs to be named by for its removal. */
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
    update: (wanted) => {
      sidOf.set(wanted.id, wanted);
      const found = kernel.find(wanted.sid);
      if (found && found.protocol !== RTPROT_CNPD) {
        throw new Error(
          `${formatAddress(wanted.sid)} is already a SID of another program: ${found.action ?? 'seg6local'}, ` +
            `protocol ${found.protocol}`,
        );
      }
      if (found && isAsWanted(found, wanted)) return;
      if (found) kernel.remove(named(found, wanted));
      kernel.add(wantedRoute(wanted));
    },
    delete: (id) => {
      const known = sidOf.get(id);
      sidOf.delete(id);
      const found = known && kernel.find(known.sid);
      if (found?.protocol === RTPROT_CNPD) kernel.remove(named(found, known!));
    },
    *prune(wanted) {
      for (const route of kernel.own()) {
        const isStray = !wanted.has(formatAddress(route.sid));
        yield isStray && kernel.remove(named(route, { ifindex: 0 }));
      }
    },
    verify: (wanted) => {
      const found = kernel.find(wanted.sid);
      return found !== undefined && found.protocol === RTPROT_CNPD && isAsWanted(found, wanted);
    },
  };
}

/**
 * Removes every route of cnpd: for a router whose configuration has no SIDs any more, and for the uninstaller.
 * @returns the SIDs
 * @throws KernelError
 */
export function removeSidRoutes(kernel: Pick<SidRoutes, 'own' | 'remove'>): string[] {
  const removed = kernel.own().filter((route) => kernel.remove(named(route, { ifindex: 0 })));
  return removed.map(({ sid }) => formatAddress(sid));
}
