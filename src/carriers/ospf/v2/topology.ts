// OSPFv2: links between routers and networks (RFC 2328 §12.4.1, §12.4.2), and addresses of routers.
import { type IpAddress, isUnicastHost } from '../../../model/address.ts';
import type { NetworkLsaV2, RouterLsaV2 } from '../../../packet/ospf/lsa/types.ts';
import { LINK_TYPE } from '../../../packet/ospf/numbers.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import type { TopologyLink } from '../../../model/topology.ts';
import { type Topology, type TopologyReaders, isStub, readRouterAddress, routerNode } from '../learning/topology.ts';

const HOST_MASK = 0xffffffff;

const networkNode = (designatedRouter: number): string => `n${designatedRouter}`;

export const TOPOLOGY_V2: TopologyReaders = {
  'router-v2': readRouter,
  'network-v2': ({ attachedRouters }: NetworkLsaV2, { lsId }) => ({
    node: {
      name: networkNode(lsId),
      links: attachedRouters.map((router) => ({ to: routerNode(router), cost: 0 })),
      transit: true,
    },
  }),
  'traffic-engineering-v2': readRouterAddress,
};

function readRouter({ links }: RouterLsaV2, { advertisingRouter }: LsaKey): Topology {
  const ends: TopologyLink[] = [];
  let namesItself = false;
  for (const { type, linkId, linkData, metric } of links) {
    if (type === LINK_TYPE.transit) ends.push({ to: networkNode(linkId), cost: metric });
    else if (type !== LINK_TYPE.stub) ends.push({ to: routerNode(linkId), cost: metric });
    // A router ID is an address if the router advertises a host route to it.
    else if (linkId === advertisingRouter && linkData === HOST_MASK) namesItself = true;
  }
  const node = { name: routerNode(advertisingRouter), links: ends, transit: true, stub: isStub(ends) };
  if (!namesItself) return { node };
  const hostAddress: IpAddress = { family: 4, value: BigInt(advertisingRouter) };
  return isUnicastHost(hostAddress) ? { node, hostAddress } : { node };
}
