// Reconciles the routes from Proxy Addresses into their trees (kernel/netlink/tree-routes.ts). A head end has three: in
// cnpd's own table the one that encapsulates and the one of the replication SID, in the main table the one that leads
// there, with the MTU that is left for the source.
import type { TreeDevice } from '../../kernel/netlink/tree-device.ts';
import { TREE_DEVICE } from '../../model/tree-device.ts';
import { MAIN_TABLE, TREE_TABLE, type TreeRoute, type TreeRoutes } from '../../kernel/netlink/tree-routes.ts';
import { type IpAddress, formatAddress } from '../../model/address.ts';
import { decodeSrh } from '../../packet/srv6/srh.ts';
import type { DesiredIds, Operations } from '../operations.ts';
import { type OwnRoutes, sameRoute } from './own-routes.ts';

/** A head end as it is to be in the kernel. */
export interface HeadEndRoute {
  /** The Proxy Address as text. */
  readonly id: string;
  readonly proxyAddress: IpAddress;
  readonly replicationSid: IpAddress;
  /** The header, as hexadecimal text. */
  readonly srh: string;
  /** Octets that a packet of the source may have. */
  readonly mtu: number;
}

type Rules = Pick<TreeRoutes, 'hasRule' | 'addRule' | 'removeRule'>;

const isInTree = (route: TreeRoute): boolean => route.table === TREE_TABLE && route.srh !== undefined;
const isEntry = (route: TreeRoute): boolean => route.table === MAIN_TABLE && route.ifindex !== undefined;

/** The routes of a head end in the order in which they are made; removed the other way round. */
const routesOf = ({ proxyAddress, replicationSid, srh, mtu }: HeadEndRoute, device: TreeDevice): TreeRoute[] => [
  { destination: replicationSid, table: TREE_TABLE, ifindex: device.outer, mtu: undefined, srh: undefined },
  {
    ...{ destination: proxyAddress, table: TREE_TABLE, ifindex: device.outer, mtu: undefined },
    srh: new Uint8Array(Buffer.from(srh, 'hex')),
  },
  { destination: proxyAddress, table: MAIN_TABLE, ifindex: device.inner, mtu, srh: undefined },
];

/** The head ends of an earlier run that have all their routes but those of replication SIDs. */
export function foundHeadEnds(routes: OwnRoutes): HeadEndRoute[] {
  const own = routes.all();
  return own.filter(isInTree).flatMap(({ destination, srh }) => {
    const entry = own.find((route) => isEntry(route) && route.destination.value === destination.value);
    const header = srh && decodeSrh(srh);
    const replicationSid = header?.ok ? header.value.segments[1] : undefined;
    if (!entry?.mtu || !replicationSid) return [];
    const id = formatAddress(destination);
    return { id, proxyAddress: destination, replicationSid, srh: Buffer.from(srh!).toString('hex'), mtu: entry.mtu };
  });
}

interface HeadEndOperationsOptions {
  readonly rules: Rules;
  /** The pair of interfaces; throws when there is none and none can be made. */
  readonly device: () => TreeDevice;
  /** Whether head ends of an earlier run that are no longer desired may go. */
  readonly mayForget: () => boolean;
}

export function headEndOperations(
  routes: OwnRoutes,
  { rules, device, mayForget }: HeadEndOperationsOptions,
): Operations<HeadEndRoute> {
  /** The entry first: no packet may come to the table of trees without a route there. */
  const remove = (destination: IpAddress): boolean =>
    [MAIN_TABLE, TREE_TABLE].map((table) => routes.remove({ table, destination })).includes(true);
  const proxies = new Map<string, IpAddress>();
  return {
    kind: 'head-end',
    update: (headEnd) => {
      proxies.set(headEnd.id, headEnd.proxyAddress);
      const there = routesOf(headEnd, device());
      if (!rules.hasRule(TREE_DEVICE)) rules.addRule(TREE_DEVICE);
      for (const route of there) if (!sameRoute(routes.find(route.table, route.destination), route)) routes.put(route);
    },
    delete: (id) => {
      const proxy = proxies.get(id);
      proxies.delete(id);
      if (proxy) remove(proxy);
    },
    *prune(desired: DesiredIds) {
      if (!mayForget()) return;
      routes.refresh();
      for (const { destination } of routes.all().filter((route) => isInTree(route) || isEntry(route))) {
        const isStray = !desired.has(formatAddress(destination));
        yield isStray && remove(destination);
      }
      const isUnused = [...desired.keys()].length === 0;
      if (!isUnused) return;
      for (const route of routes.all().filter(({ table }) => table === TREE_TABLE)) yield routes.remove(route);
      yield rules.removeRule(TREE_DEVICE);
    },
    verify: (headEnd) =>
      rules.hasRule(TREE_DEVICE) &&
      routesOf(headEnd, device()).every((route) => sameRoute(routes.find(route.table, route.destination), route)),
  };
}
