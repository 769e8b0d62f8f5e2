// OSPFv2: who is linked to whom (RFC 2328 §12.4.1, §12.4.2), and by which addresses routers are known.
import { type IpAddress, isUnicastHost } from '../../../model/address.ts';
import type { NetworkLsaV2, RouterLsaV2 } from '../../../packet/ospf/lsa/types.ts';
import { LINK_TYPE } from '../../../packet/ospf/numbers.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import { type Topology, type TopologyReaders, readRouterAddress, routerNode } from '../learning/topology.ts';

const HOST_MASK = 0xffffffff;

const networkNode = (designatedRouter: number): string => `n${designatedRouter}`;

export const TOPOLOGY_V2: TopologyReaders = {
  'router-v2': readRouter,
  'network-v2': ({ attachedRouters }: NetworkLsaV2, { lsId }) => ({
    node: { name: networkNode(lsId), links: attachedRouters.map(routerNode), transit: true },
  }),
  'traffic-engineering-v2': readRouterAddress,
};

function readRouter({ links }: RouterLsaV2, { advertisingRouter }: LsaKey): Topology {
  const ends = links.flatMap(({ type, linkId }) =>
    type === LINK_TYPE.stub ? [] : [type === LINK_TYPE.transit ? networkNode(linkId) : routerNode(linkId)],
  );
  const hostAddress: IpAddress = { family: 4, value: BigInt(advertisingRouter) };
  // A router ID is an address where the router says so by a host route.
  const isAddress =
    isUnicastHost(hostAddress) &&
    links.some(
      ({ type, linkId, linkData }) => type === LINK_TYPE.stub && linkId === advertisingRouter && linkData === HOST_MASK,
    );
  return {
    node: { name: routerNode(advertisingRouter), links: ends, transit: true },
    ...(isAddress && { hostAddress }),
  };
}
