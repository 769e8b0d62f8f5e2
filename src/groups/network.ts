// Where the SIDs of groups are in each area: which router's cnpd has which.
//
// cnpd's node is a stub beside that of the routing daemon, to which its only link goes, in IS-IS often through a
// pseudonode. Packets pass through the routing daemon's node; the stub's SIDs are at it.
import { type IpAddress, compareAddresses, mapKey } from '../model/address.ts';
import type { CarrierName } from '../model/advertisement.ts';
import type { AreaTopology, TopologyReport } from '../model/topology.ts';
import { type LinkGraph, linkGraph } from './shortest-paths.ts';

type SidKind = 'edge' | 'replication';

/** A SID of a router, as its originator advertises it in a carrier. */
export interface LocatedSid {
  readonly sid: IpAddress;
  readonly kind: SidKind;
  readonly carrier: CarrierName;
  /** As in TopologyNode.originator. */
  readonly originator: string;
}

/** This router's own SIDs. */
export interface OwnSids {
  readonly edge?: IpAddress | undefined;
  readonly replication?: IpAddress | undefined;
}

/** A cnpd in an area. Nodes are numbers of the graph. */
export interface Agent {
  readonly node: number;
  /** The node through which packets reach it: its routing daemon's, or itself. */
  readonly router: number;
}

export interface Area {
  readonly carrier: CarrierName;
  readonly graph: LinkGraph;
  /** The node of each originator. */
  readonly nodeOf: ReadonlyMap<string, number>;
  /** End.MT SIDs, lowest first, with the routers at which they are. */
  readonly edges: readonly { readonly sid: IpAddress; readonly router: number }[];
  /** Agents that advertise a SID, by its mapKey; the one with the lowest name first. */
  readonly advertisers: ReadonlyMap<string, readonly Agent[]>;
  /**
   * The replication SID at a router; of several agents that of the one with the lowest name. Each SID is at one router.
   * Agents that advertise several, as those between areas do that pass on the SIDs of others, are not here, because it
   * is not known which one is their own.
   */
  readonly replicators: ReadonlyMap<number, IpAddress>;
  /** All replication SIDs that are advertised, by their mapKey. */
  readonly replicationSids: ReadonlySet<string>;
}

/** The areas in which this router is, in the order in which all routers look for the root. */
export type Network = readonly Area[];

/** Link-state carriers, the preferred one first. */
const CARRIERS: readonly CarrierName[] = ['isis', 'ospfv3', 'ospfv2'];

export function networkOf(topologies: readonly TopologyReport[], sids: readonly LocatedSid[], own: OwnSids): Network {
  return CARRIERS.flatMap((carrier) => {
    const ofCarrier = sids.filter((sid) => sid.carrier === carrier);
    return topologies
      .filter((report) => report.carrier === carrier)
      .flatMap(({ areas }) => areas)
      .filter(({ self }) => self !== undefined)
      .sort((a, b) => (a.area < b.area ? -1 : a.area > b.area ? 1 : 0))
      .map((area) => areaOf(carrier, area, ofCarrier, own));
  });
}

/** SIDs of each kind by their mapKey. */
type NodeSids = Readonly<Record<SidKind, Map<string, IpAddress>>>;

const sidsOf = ({ edge, replication }: OwnSids): NodeSids => ({
  edge: new Map(edge && [[mapKey(edge), edge]]),
  replication: new Map(replication && [[mapKey(replication), replication]]),
});

function areaOf(carrier: CarrierName, topology: AreaTopology, sids: readonly LocatedSid[], own: OwnSids): Area {
  const graph = linkGraph(topology);
  const self = graph.indexOf.get(topology.self!);
  const nodeOf = new Map<string, number>();
  for (const [name, { originator }] of topology.nodes)
    if (originator !== undefined) nodeOf.set(originator, graph.indexOf.get(name)!);
  const atNode = new Map<number, NodeSids>();
  for (const { sid, kind, originator } of sids) {
    const node = nodeOf.get(originator);
    if (node === undefined || node === self) continue;
    const found = atNode.get(node) ?? sidsOf({});
    found[kind].set(mapKey(sid), sid);
    atNode.set(node, found);
  }
  if (self !== undefined) atNode.set(self, sidsOf(own));
  return { carrier, graph, nodeOf, ...located(topology, graph, atNode) };
}

function located(
  topology: AreaTopology,
  graph: LinkGraph,
  atNode: ReadonlyMap<number, NodeSids>,
): Omit<Area, 'carrier' | 'graph' | 'nodeOf'> {
  const edges: { readonly sid: IpAddress; readonly router: number }[] = [];
  const advertisers = new Map<string, Agent[]>();
  const replicators = new Map<number, IpAddress>();
  const replicationSids = new Set<string>();
  const taken = new Set<string>();
  for (const node of [...atNode.keys()].sort((a, b) => a - b)) {
    const { edge, replication } = atNode.get(node)!;
    const agent: Agent = { node, router: routerOf(node, topology, graph) };
    for (const sid of [...edge.keys(), ...replication.keys()]) {
      const known = advertisers.get(sid);
      if (known) known.push(agent);
      else advertisers.set(sid, [agent]);
    }
    for (const sid of edge.values()) edges.push({ sid, router: agent.router });
    for (const sid of replication.keys()) replicationSids.add(sid);
    const [[key, first] = []] = replication;
    if (!first || replication.size > 1 || replicators.has(agent.router) || taken.has(key!)) continue;
    replicators.set(agent.router, first);
    taken.add(key!);
  }
  edges.sort((a, b) => compareAddresses(a.sid, b.sid));
  return { edges, advertisers, replicators, replicationSids };
}

/** The only router beside a stub; the node itself, if it has links to several. */
function routerOf(node: number, { nodes }: AreaTopology, { names, links }: LinkGraph): number {
  const isPseudonode = (index: number): boolean => nodes.get(names[index]!)!.originator === undefined;
  const neighbors = (of: number): number[] => links[of]!.filter((_, i) => i % 2 === 0);
  const routers = new Set(neighbors(node).flatMap((next) => (isPseudonode(next) ? neighbors(next) : [next])));
  routers.delete(node);
  const [router] = routers;
  return router !== undefined && routers.size === 1 ? router : node;
}
