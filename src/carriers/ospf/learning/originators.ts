// Routers by their names in the learned table, and the addresses that replace a missing proxy.
import type { IpAddress } from '../../../model/address.ts';
import { formatId } from '../../../packet/ospf/router-id.ts';
import type { AreaContent, ReadLsa } from '../content-state.ts';

/**
 * The name of a router in the learned table. It includes the area, because a router may be reachable in one area and
 * not in another.
 */
export function originatorName({ name, names, routers }: AreaContent, routerId: number): string {
  const known = names.get(routerId);
  if (known !== undefined) return known;
  const made = `${name} ${formatId(routerId)}`;
  if (routers.has(routerId)) names.set(routerId, made);
  return made;
}

/**
 * The destination of notices for a prefix without a proxy (decision D6): the router's address for traffic engineering,
 * else a host address of the router.
 */
export function addressOf(area: AreaContent, router: number): IpAddress | undefined {
  if (area.addresses.has(router)) return area.addresses.get(router);
  const address = addressIn([...(area.routers.get(router)?.values() ?? [])]);
  if (area.routers.has(router)) area.addresses.set(router, address);
  return address;
}

const addressIn = (lsas: readonly ReadLsa[]): IpAddress | undefined =>
  lsas.find(({ content }) => content.topology.routerAddress)?.content.topology.routerAddress ??
  lsas.find(({ content }) => content.topology.hostAddress)?.content.topology.hostAddress;
