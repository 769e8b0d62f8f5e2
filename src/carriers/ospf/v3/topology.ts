// OSPFv3: links between routers and networks (RFC 5340 §4.4.3.2, §4.4.3.3), and addresses of routers.
import { isUnicastHost } from '../../../model/address.ts';
import type { RouterLinkV3 } from '../../../packet/ospf/lsa/types.ts';
import { LINK_TYPE, OPTION_V3, PREFIX_OPTION } from '../../../packet/ospf/numbers.ts';
import type { TopologyLink } from '../../../model/topology.ts';
import { NO_TOPOLOGY, type TopologyReaders, isStub, readRouterAddress, routerNode } from '../learning/topology.ts';

const VIA_ROUTER: ReadonlySet<number> = new Set([LINK_TYPE.pointToPoint, LINK_TYPE.virtual]);

const networkNode = (router: number, interfaceId: number): string => `n${router}.${interfaceId}`;
const linkEnd = ({ neighborRouterId, neighborInterfaceId }: RouterLinkV3): string =>
  networkNode(neighborRouterId, neighborInterfaceId);

export const TOPOLOGY_V3: TopologyReaders = {
  'router-v3': ({ options, links }, { advertisingRouter }) => {
    const ends = links.flatMap((link): TopologyLink[] =>
      VIA_ROUTER.has(link.type)
        ? [{ to: routerNode(link.neighborRouterId), cost: link.metric }]
        : link.type === LINK_TYPE.transit
          ? [{ to: linkEnd(link), cost: link.metric }]
          : [],
    );
    const transit = (options & OPTION_V3.router) !== 0;
    // RFC 5340 §A.2: without the V6-bit a router takes no part in IPv6 forwarding.
    const stub = isStub(ends) || (options & OPTION_V3.v6) === 0;
    return { node: { name: routerNode(advertisingRouter), links: ends, transit, stub } };
  },
  'network-v3': ({ attachedRouters }, { advertisingRouter, lsId }) => ({
    node: {
      name: networkNode(advertisingRouter, lsId),
      links: attachedRouters.map((router) => ({ to: routerNode(router), cost: 0 })),
      transit: true,
    },
  }),
  'intra-area-prefix': ({ prefixes }) => {
    const own = prefixes.find(
      ({ prefix, options }) =>
        (options & PREFIX_OPTION.noUnicast) === 0 &&
        (options & PREFIX_OPTION.localAddress) !== 0 &&
        prefix.length === 128 &&
        isUnicastHost(prefix.address),
    );
    return own ? { hostAddress: own.prefix.address } : NO_TOPOLOGY;
  },
  'traffic-engineering-v3': readRouterAddress,
};
