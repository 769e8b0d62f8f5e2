// Routes that drop what a source sends to a Proxy Address while no tree takes it: before the members are known, while
// routers disagree, after the last receiver has left. Without them the data would follow a default route out of the
// domain. The route into the tree has a lower metric, so neither is in the other's way.
import { MAIN_TABLE, blackhole, isBlackhole } from '../../kernel/netlink/tree-routes.ts';
import { type IpAddress, formatAddress } from '../../model/address.ts';
import type { DiscardPlan } from '../../plan/multicast-plan.ts';
import type { DesiredIds, Operations } from '../operations.ts';
import { type OwnRoutes, sameRoute } from './own-routes.ts';

/** After every route that anybody is likely to have. */
const METRIC = 0x7fff_ffff;

const discard = (destination: IpAddress) => blackhole(destination, METRIC);

export function discardOperations(routes: OwnRoutes): Operations<DiscardPlan> {
  const addresses = new Map<string, IpAddress>();
  const isThere = ({ address }: DiscardPlan): boolean =>
    sameRoute(routes.find(MAIN_TABLE, address, METRIC), discard(address));
  return {
    kind: 'multicast-discard',
    update: (plan) => {
      addresses.set(plan.id, plan.address);
      if (!isThere(plan)) routes.put(discard(plan.address));
    },
    delete: (id) => {
      const address = addresses.get(id);
      addresses.delete(id);
      if (address) routes.remove(discard(address));
    },
    *prune(desired: DesiredIds) {
      routes.refresh();
      for (const route of routes.all().filter((one) => isBlackhole(one, METRIC))) {
        const isStray = !desired.has(formatAddress(route.destination));
        yield isStray && routes.remove(route);
      }
    },
    verify: isThere,
  };
}
