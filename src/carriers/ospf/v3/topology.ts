// OSPFv3: links between routers and networks (RFC 5340 §4.4.3.2, §4.4.3.3; RFC 8362 §4.1, §4.2), and addresses of
// routers.
import { isUnicastHost } from '../../../model/address.ts';
import type { RouterLinkV3 } from '../../../packet/ospf/lsa/types.ts';
import { LINK_TYPE, OPTION_V3, PREFIX_OPTION } from '../../../packet/ospf/numbers.ts';
import type { Prefix } from '../../../model/prefix.ts';
import type { TopologyLink } from '../../../model/topology.ts';
import type { RawLsa } from '../../../packet/ospf/types.ts';
import {
  NO_TOPOLOGY,
  type Topology,
  type TopologyReaders,
  isStub,
  readRouterAddress,
  routerNode,
} from '../learning/topology.ts';

const VIA_ROUTER: ReadonlySet<number> = new Set([LINK_TYPE.pointToPoint, LINK_TYPE.virtual]);

const networkNode = (router: number, interfaceId: number): string => `n${router}.${interfaceId}`;
const linkEnd = ({ neighborRouterId, neighborInterfaceId }: RouterLinkV3): string =>
  networkNode(neighborRouterId, neighborInterfaceId);

/** Of a Router-LSA, or of an E-Router-LSA, which says the same in TLVs. */
function router(options: number, links: readonly RouterLinkV3[], advertisingRouter: number): Topology {
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
}

const network = (attached: readonly number[], { advertisingRouter, lsId }: RawLsa): Topology => ({
  node: {
    name: networkNode(advertisingRouter, lsId),
    links: attached.map((one) => ({ to: routerNode(one), cost: 0 })),
    transit: true,
  },
});

function hostAddress(prefixes: readonly { readonly prefix: Prefix; readonly options: number }[]): Topology {
  const own = prefixes.find(
    ({ prefix, options }) =>
      (options & PREFIX_OPTION.noUnicast) === 0 &&
      (options & PREFIX_OPTION.localAddress) !== 0 &&
      prefix.length === 128 &&
      isUnicastHost(prefix.address),
  );
  return own ? { hostAddress: own.prefix.address } : NO_TOPOLOGY;
}

export const TOPOLOGY_V3: TopologyReaders = {
  'router-v3': ({ options, links }, { advertisingRouter }) => router(options, links, advertisingRouter),
  'network-v3': ({ attachedRouters }, lsa) => network(attachedRouters, lsa),
  'e-router': ({ options, tlvs }, { advertisingRouter }) =>
    router(
      options,
      tlvs.filter((tlv) => tlv.kind === 'router-link-tlv'),
      advertisingRouter,
    ),
  'e-network': ({ tlvs }, lsa) =>
    network(
      tlvs.flatMap((tlv) => (tlv.kind === 'attached-routers-tlv' ? tlv.routers : [])),
      lsa,
    ),
  'intra-area-prefix': ({ prefixes }) => hostAddress(prefixes),
  'e-intra-area-prefix': ({ tlvs }) =>
    hostAddress(
      tlvs.flatMap((tlv) =>
        tlv.kind === 'intra-area-prefix-tlv' ? { prefix: tlv.prefix, options: tlv.prefixOptions } : [],
      ),
    ),
  'traffic-engineering-v3': readRouterAddress,
};
