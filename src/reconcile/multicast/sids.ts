// This router's SIDs for groups: the destinations by which programs find them, and routes that drop what no program
// took. Without those a packet to a SID could take a default route, and come back. A SID with a route of another
// program is left alone and refused, as an END.CON SID is (../sid-routes.ts).
import { encodeMulticastDestination, decodeMulticastDestination } from '../../kernel/dataplane/multicast.ts';
import { unmappedAddress } from '../../kernel/dataplane/layout.ts';
import { addressKey } from '../../kernel/dataplane/srv6.ts';
import { MAIN_TABLE, blackhole, isBlackhole } from '../../kernel/netlink/tree-routes.ts';
import { type IpAddress, formatAddress } from '../../model/address.ts';
import type { MulticastSidPlan } from '../../plan/multicast-plan.ts';
import type { DesiredIds, Operations } from '../operations.ts';
import type { MulticastMap } from './maps.ts';
import { type OwnRoutes, sameRoute } from './own-routes.ts';

export function multicastSidOperations(
  destinations: Pick<MulticastMap, 'lookup' | 'update' | 'delete' | 'entries'>,
  routes: OwnRoutes,
): Operations<MulticastSidPlan> {
  const sidOf = new Map<string, IpAddress>();
  const hasRoute = (sid: IpAddress): boolean => sameRoute(routes.find(MAIN_TABLE, sid), blackhole(sid));
  const remove = (sid: IpAddress): void => {
    destinations.delete(addressKey(sid));
    routes.remove(blackhole(sid));
  };
  return {
    kind: 'multicast-sid',
    update: ({ id, sid, kind }) => {
      const before = sidOf.get(id);
      if (before && before.value !== sid.value) remove(before);
      sidOf.set(id, sid);
      if (!hasRoute(sid)) routes.put(blackhole(sid));
      destinations.update(addressKey(sid), encodeMulticastDestination({ kind }));
    },
    delete: (id) => {
      const sid = sidOf.get(id);
      sidOf.delete(id);
      if (sid) remove(sid);
    },
    *prune(desired: DesiredIds) {
      const kept = new Set([...sidOf].filter(([id]) => desired.has(id)).map(([, sid]) => formatAddress(sid)));
      routes.refresh();
      for (const route of routes.all().filter((one) => isBlackhole(one))) {
        const isStray = !kept.has(formatAddress(route.destination));
        yield isStray && routes.remove(route);
      }
      for (const [key, value] of [...destinations.entries()]) {
        const isStray =
          decodeMulticastDestination(value)?.kind !== 'proxy' && !kept.has(formatAddress(unmappedAddress(key)));
        yield isStray && destinations.delete(key);
      }
    },
    verify: ({ sid, kind }) => {
      const found = destinations.lookup(addressKey(sid));
      const value = encodeMulticastDestination({ kind });
      return found !== undefined && Buffer.compare(found, value) === 0 && hasRoute(sid);
    },
  };
}
