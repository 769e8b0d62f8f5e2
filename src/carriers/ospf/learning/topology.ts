// The topology in the LSAs of other routers: links between routers and networks, routers outside the area that a router
// reaches, and addresses of routers. v2/topology.ts and v3/topology.ts define which bodies of each version contain it.
import type { IpAddress } from '../../../model/address.ts';
import type { LsaBody, TrafficEngineeringLsa } from '../../../packet/ospf/lsa/types.ts';
import type { TopologyLink } from '../../../model/topology.ts';
import { MAX_LINK_METRIC, type Version } from '../../../packet/ospf/numbers.ts';
import { readRouterRoute } from '../../../packet/ospf/route.ts';
import type { RawLsa } from '../../../packet/ospf/types.ts';
import type { Warn } from '../kinds/kind.ts';
import { routerAddressIn } from '../kinds/router-address.ts';

/** A router or a transit network in the graph of an area. */
export interface GraphNode {
  readonly name: string;
  readonly links: readonly TopologyLink[];
  /** False: no router is reached through it (RFC 5340 §2.7, R-bit clear). */
  readonly transit: boolean;
  /** It forwards only what has no other way (RFC 6987), or no IPv6. */
  readonly stub?: boolean;
}

export interface Topology {
  readonly node?: GraphNode;
  /** A router outside the area that the LSA's originator reaches (RFC 2328 §12.4.3). */
  readonly reaches?: number;
  /** The router's address for traffic engineering (RFC 3630 §2.4.1, RFC 5329 §3). */
  readonly routerAddress?: IpAddress;
  /** A host address of the router among its prefixes. */
  readonly hostAddress?: IpAddress;
}

type Reader<B> = (body: B, lsa: RawLsa) => Topology;
/** Bodies without a reader contain no topology. */
export type TopologyReaders = {
  readonly [K in LsaBody['kind']]?: Reader<LsaBody & { readonly kind: K }>;
};

export const NO_TOPOLOGY: Topology = {};

export const routerNode = (routerId: number): string => `r${routerId}`;
export const isRouterNode = (name: string): boolean => name.startsWith('r');
export const routerIdOf = (routerName: string): number => Number(routerName.slice(1));

/** Whether all links have the largest metric, which keeps transit traffic away (RFC 6987 §2). */
export const isStub = (links: readonly TopologyLink[]): boolean =>
  links.length > 0 && links.every(({ cost }) => cost === MAX_LINK_METRIC);

/** The proxy address of prefixes that name no proxy (decision D6). */
export function readRouterAddress(body: TrafficEngineeringLsa): Topology {
  const routerAddress = routerAddressIn(body);
  return routerAddress ? { routerAddress } : NO_TOPOLOGY;
}

/** An LSA without a known body may be a route to a router (packet/ospf/route.ts). */
export function readTopology(
  version: Version,
  readers: TopologyReaders,
  body: LsaBody,
  lsa: RawLsa,
  warn: Warn,
): Topology {
  if (body.kind !== 'unknown') return (readers[body.kind] as Reader<LsaBody> | undefined)?.(body, lsa) ?? NO_TOPOLOGY;
  const reaches = readRouterRoute(version, lsa);
  if (!reaches.ok) warn('malformed');
  return reaches.ok && reaches.value !== undefined ? { reaches: reaches.value } : NO_TOPOLOGY;
}
