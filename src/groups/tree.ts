// The tree of a group (RMC §1.1; RFC 9524 in spirit): the shortest paths from the root to the edges, contracted to the
// routers that replicate. Every router computes it by itself. The same members, SIDs and topology give the same tree,
// with the same digest, on every router of the root's area.
import { type IpAddress, mapKey, sameAddress } from '../model/address.ts';
import { membersDigest, treeDigest } from './digests.ts';
import { type GroupMembers, receiversByEdge } from './membership.ts';
import type { Agent, Area, Network } from './network.ts';
import { type ShortestPaths, shortestPaths } from './shortest-paths.ts';

/** A router that makes copies for other routers. */
export interface TreeNode {
  /** Its replication SID. */
  readonly sid: IpAddress;
  /** The replication SID of the router from which its packets come. Null: it is the root. */
  readonly parent: IpAddress | null;
  /**
   * In order: replication SIDs of those that are in `nodes`, End.MT SIDs of all others. The router's own End.MT SID is
   * among them if it has receivers itself.
   */
  readonly children: readonly IpAddress[];
}

export interface Tree {
  readonly root: IpAddress;
  /** By the SID, as mapKey. The root is always there; all others have at least two children. */
  readonly nodes: ReadonlyMap<string, TreeNode>;
  /** 8 octets each. */
  readonly membersDigest: Uint8Array;
  readonly treeDigest: Uint8Array;
  /** The root is in no area of this router: it makes all copies itself (ingress replication). */
  readonly isFlat: boolean;
  /** Edges that the area of the root, or what is declared, does not reach. They get their packets from the root. */
  readonly outside: readonly IpAddress[];
  /** Alleged edges whose SID replicates in this tree: no router would make the copies. They are not in the tree. */
  readonly misplaced: readonly IpAddress[];
}

/** A declared part of a tree: a replication SID, and the SIDs of those that get copies from it. */
export interface DeclaredBranches {
  readonly node: IpAddress;
  readonly children: readonly IpAddress[];
}

/** A router that may replicate, before single branches are skipped. */
interface Place {
  readonly sid: IpAddress;
  readonly inner: Place[];
  readonly edges: IpAddress[];
}

type Found = Pick<Tree, 'outside' | 'misplaced' | 'isFlat'> & { readonly top: Place };

/**
 * Undefined: there is no source or no receiver, so there is nothing to copy.
 * @param declared overrides what the topology says. As on all routers
 */
export function computeTree(
  members: GroupMembers,
  network: Network,
  declared: readonly DeclaredBranches[] = [],
): Tree | undefined {
  const root = members.source?.node;
  if (!root || members.receivers.length === 0) return undefined;
  const edges = receiversByEdge(members).map(({ edge }) => edge);
  const { top, ...found } = places(root, edges, network, declared);
  const nodes = new Map<string, TreeNode>();
  keep(contracted(top), null, nodes);
  const pairs = [...nodes.values()].flatMap(({ sid, children }) => children.map((child) => [sid, child] as const));
  const digest = membersDigest(members);
  return { root, nodes, membersDigest: digest, treeDigest: treeDigest(digest, pairs), ...found };
}

function places(
  root: IpAddress,
  edges: readonly IpAddress[],
  network: Network,
  declared: readonly DeclaredBranches[],
): Found {
  if (declared.length > 0) return declaredPlaces(root, edges, declared);
  const area = network.find(({ advertisers }) => advertisers.has(mapKey(root)));
  const [misplaced, placed] = partition(edges, (edge) => sameAddress(edge, root) || isReplication(area, edge));
  const rest = { misplaced, isFlat: area === undefined };
  if (!area) return { top: { sid: root, inner: [], edges: placed }, outside: [], ...rest };
  return { ...new AreaTree(area, root).place(placed), ...rest };
}

const isReplication = (area: Area | undefined, sid: IpAddress): boolean =>
  area?.replicationSids.has(mapKey(sid)) ?? false;

function partition<T>(all: readonly T[], test: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}

/** The places of one group in an area. */
class AreaTree {
  readonly #area: Area;
  readonly #paths: ShortestPaths;
  readonly #top: Place;
  /** By the number of the router's node. */
  readonly #places: Map<number, Place>;

  constructor(area: Area, root: IpAddress) {
    const [start] = area.advertisers.get(mapKey(root)) as readonly [Agent, ...Agent[]];
    this.#area = area;
    this.#paths = shortestPaths(area.graph, start.node);
    this.#top = { sid: root, inner: [], edges: [] };
    this.#places = new Map([
      [start.node, this.#top],
      [start.router, this.#top],
    ]);
  }

  place(edges: readonly IpAddress[]): Pick<Found, 'top' | 'outside'> {
    const outside: IpAddress[] = [];
    for (const edge of edges) {
      const agent = this.#nearest(edge);
      const place = agent && this.#placeOf(agent.router);
      if (!place) outside.push(edge);
      (place ?? this.#top).edges.push(edge);
    }
    return { top: this.#top, outside };
  }

  /** Of several that advertise the SID the nearest one. */
  #nearest(edge: IpAddress): Agent | undefined {
    const { distance, hops } = this.#paths;
    const isNearer = (a: number, b: number): boolean =>
      distance[a]! < distance[b]! || (distance[a]! === distance[b]! && hops[a]! < hops[b]!);
    const [first, ...others] = this.#area.advertisers.get(mapKey(edge)) ?? [];
    return others.reduce((best, one) => (best && isNearer(one.node, best.node) ? one : best), first);
  }

  /** The place at this router, or at the nearest one before it that replicates. Undefined: no path leads to it. */
  #placeOf(router: number): Place | undefined {
    const path: number[] = [];
    let at = router;
    for (; at >= 0 && !this.#places.has(at); at = this.#paths.predecessor[at]!) path.push(at);
    let place = this.#places.get(at);
    for (const node of place ? path.reverse() : []) {
      const sid = this.#area.replicators.get(node);
      if (sid && sid.value !== this.#top.sid.value) {
        const inner: Place = { sid, inner: [], edges: [] };
        place!.inner.push(inner);
        place = inner;
      }
      this.#places.set(node, place!);
    }
    return place;
  }
}

/** Declared branches as far as they hang together. Edges that they do not name get their packets from the root. */
function declaredPlaces(root: IpAddress, edges: readonly IpAddress[], declared: readonly DeclaredBranches[]): Found {
  const childrenOf = new Map(declared.map(({ node, children }) => [mapKey(node), children]));
  const [misplaced, placed] = partition(edges, (edge) => sameAddress(edge, root) || childrenOf.has(mapKey(edge)));
  const missing = new Map(placed.map((edge) => [mapKey(edge), edge]));
  const visited = new Set<string>();
  const walk = (sid: IpAddress): Place => {
    const place: Place = { sid, inner: [], edges: [] };
    visited.add(mapKey(sid));
    for (const child of childrenOf.get(mapKey(sid)) ?? []) {
      const key = mapKey(child);
      if (visited.has(key)) continue;
      if (childrenOf.has(key)) place.inner.push(walk(child));
      else if (missing.delete(key)) place.edges.push(child);
    }
    return place;
  };
  const top = walk(root);
  const outside = [...missing.values()];
  top.edges.push(...outside);
  return { top, outside, misplaced, isFlat: false };
}

/** A router that replicates, or without branches an edge. */
interface Branch {
  readonly sid: IpAddress;
  readonly branches: readonly Branch[];
}

/** Without routers that have a single branch: nothing would be gained there. */
function contracted({ sid, inner, edges }: Place): Branch {
  const branches = [
    ...edges.map((edge): Branch => ({ sid: edge, branches: [] })),
    ...inner.flatMap((place): readonly Branch[] => {
      const branch = contracted(place);
      return branch.branches.length > 1 ? [branch] : branch.branches;
    }),
  ];
  return { sid, branches: branches.sort((a, b) => (a.sid.value < b.sid.value ? -1 : 1)) };
}

function keep({ sid, branches }: Branch, parent: IpAddress | null, nodes: Map<string, TreeNode>): void {
  nodes.set(mapKey(sid), { sid, parent, children: branches.map((branch) => branch.sid) });
  for (const branch of branches) if (branch.branches.length > 0) keep(branch, sid, nodes);
}
