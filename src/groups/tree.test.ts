import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type IpAddress, formatAddress, mapKey } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import {
  type World,
  edgeSid,
  membersOf,
  ownSids,
  replicates,
  replicationSid,
  sidsOf,
  topologyOf,
  worlds,
} from './area.fixture.ts';
import { digestText } from './digests.ts';
import { membersInForce } from './membership.ts';
import { networkOf } from './network.ts';
import { type DeclaredBranches, type Tree, computeTree } from './tree.ts';

const force = (claims: readonly GroupMember[]) => [...membersInForce(claims).groups.values()][0]!;

/** The tree as router `self` computes it. */
const treeAt = (world: World, self: number, order: 1 | -1 = 1): Tree =>
  computeTree(
    force(order === 1 ? membersOf(world) : membersOf(world).reverse()),
    networkOf([topologyOf(world, self, order)], sidsOf(world, self, order), ownSids(world, self)),
  )!;

/** How often a packet from the root arrives at each edge. Throws if it comes to a router twice. */
function arrivals({ nodes, root }: Tree): Map<bigint, number> {
  const found = new Map<bigint, number>();
  const visited = new Set<bigint>();
  const pending: IpAddress[] = [root];
  for (let sid = pending.pop(); sid; sid = pending.pop()) {
    const node = nodes.get(mapKey(sid));
    if (!node) {
      found.set(sid.value, (found.get(sid.value) ?? 0) + 1);
      continue;
    }
    if (visited.has(sid.value)) throw new Error(`a packet comes to ${formatAddress(sid)} twice`);
    visited.add(sid.value);
    pending.push(...node.children);
  }
  return found;
}

/** Each edge once, and no router without a reason. */
function isWhole(tree: Tree, world: World): void {
  const edges = new Set(world.receivers.map((n) => edgeSid(n).value));
  expect(arrivals(tree)).toEqual(new Map([...edges].map((sid) => [sid, 1])));
  for (const { sid, parent, children } of tree.nodes.values()) {
    if (sid.value === tree.root.value) expect(parent).toBeNull();
    else {
      expect(children.length).toBeGreaterThan(1);
      expect(tree.nodes.get(mapKey(parent!))!.children).toContainEqual(sid);
    }
  }
}

const RUNS = { numRuns: 300, seed: 5 };

describe('RMC-5.2-c: the tree over any topology', () => {
  test('brings every packet to each edge exactly once, through routers with two branches at least', () => {
    fc.assert(
      fc.property(worlds, (world) => isWhole(treeAt(world, 0), world)),
      RUNS,
    );
  });

  test('is the same on every router that the root can reach, whatever the order of what it knows', () => {
    fc.assert(
      fc.property(worlds, fc.integer({ min: 1, max: 8 }), (world, self) => {
        const [root, other] = [treeAt(world, 0), treeAt(world, self, -1)];
        expect(digestText(other.treeDigest)).toBe(digestText(root.treeDigest));
        expect([...other.nodes.keys()].sort()).toEqual([...root.nodes.keys()].sort());
      }),
      RUNS,
    );
  });

  test('is whole again after any link or router is gone', () => {
    fc.assert(
      fc.property(worlds, fc.nat(), fc.boolean(), (world, which, isLink) => {
        const gone = isLink ? world.links[which % (world.links.length || 1)] : undefined;
        const dead = isLink ? -1 : 1 + (which % (world.size - 1));
        const links = world.links.filter((link) => link !== gone && link[0] !== dead && link[1] !== dead);
        const left = { ...world, links };
        isWhole(treeAt(left, 0), left);
      }),
      RUNS,
    );
  });

  test('follows the shortest path: copies are made where the paths to the edges part', () => {
    // 0 - 1 - 2, and from 2 to 3 and 4; 5 beside 1.
    const world: World = {
      links: [
        [0, 1, 1, 1],
        [1, 2, 1, 1],
        [2, 3, 1, 1],
        [2, 4, 1, 1],
        [1, 5, 1, 1],
      ],
      ...{ size: 9, replicates: Array<boolean>(9).fill(true), overloaded: new Set<number>(), receivers: [3, 4] },
    };
    const shown = (tree: Tree): string[] =>
      [...tree.nodes.values()].map(
        ({ sid, children }) => `${formatAddress(sid)}: ${children.map(formatAddress).join(' ')}`,
      );
    const [e3, e4, e5] = [3, 4, 5].map((n) => formatAddress(edgeSid(n)));
    const [r0, r1, r2] = [0, 1, 2].map((n) => formatAddress(replicationSid(n)));
    expect(shown(treeAt(world, 0))).toEqual([`${r0}: ${r2}`, `${r2}: ${e3} ${e4}`]);
    expect(shown(treeAt({ ...world, receivers: [3, 4, 5] }, 0))).toEqual([
      `${r0}: ${r1}`,
      `${r1}: ${e5} ${r2}`,
      `${r2}: ${e3} ${e4}`,
    ]);
    const only4 = world.replicates.map((_, n) => n === 4);
    expect(shown(treeAt({ ...world, replicates: only4 }, 0))).toEqual([`${r0}: ${e3} ${e4}`]);
    expect(treeAt({ ...world, overloaded: new Set([2]) }, 0).outside.map(formatAddress)).toEqual([e3, e4]);
  });
});

describe('packets while routers know different things', () => {
  /** What a router has computed of the versions so far. */
  interface Router {
    readonly lists: Map<string, readonly IpAddress[]>;
  }

  test('no packet loops, and none comes to an edge twice, at any order in which routers learn of changes', () => {
    fc.assert(
      fc.property(
        fc.array(worlds, { minLength: 2, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat({ max: 8 }), fc.boolean()), { minLength: 5, maxLength: 60 }),
        (versions, steps) => {
          // Who replicates stays; links, receivers and overload change.
          const worldOf = (i: number): World => ({ ...versions[i]!, replicates: versions[0]!.replicates });
          const routers = Array.from({ length: 9 }, (): Router & { version: number } => ({
            lists: new Map(),
            version: -1,
          }));
          const trees: Tree[][] = versions.map((_, i) => Array.from({ length: 9 }, (_, n) => treeAt(worldOf(i), n)));
          const learn = (n: number): void => {
            const router = routers[n]!;
            router.version = Math.min(router.version + 1, versions.length - 1);
            const tree = trees[router.version]![n]!;
            const node = replicates(worldOf(0), n) ? tree.nodes.get(mapKey(replicationSid(n))) : undefined;
            if (node) router.lists.set(digestText(tree.treeDigest), node.children);
          };
          learn(0);
          let delivered = 0;
          for (const [n, isPacket] of steps) {
            if (!isPacket) learn(n);
            else delivered += send(trees[routers[0]!.version]![0]!, routers);
          }
          return delivered >= 0;
        },
      ),
      { ...RUNS, numRuns: 60 },
    );
  });

  /** A packet with the root's tree. Routers without its list drop it. @returns to how many edges it came */
  function send({ treeDigest, root }: Tree, routers: readonly Router[]): number {
    const digest = digestText(treeDigest);
    const numberOf = new Map(routers.map((_, n) => [replicationSid(n).value, n]));
    const edges = new Set<bigint>();
    let hops = 0;
    const pending: IpAddress[] = [root];
    for (let sid = pending.pop(); sid; sid = pending.pop()) {
      if (++hops > 100) throw new Error('a packet loops');
      const router = numberOf.get(sid.value);
      if (router === undefined) {
        if (edges.has(sid.value)) throw new Error(`a second copy at ${formatAddress(sid)}`);
        edges.add(sid.value);
      } else pending.push(...(routers[router]!.lists.get(digest) ?? []));
    }
    return edges.size;
  }
});

describe('declared branches', () => {
  const world: World = {
    ...{
      links: [],
      size: 9,
      replicates: Array<boolean>(9).fill(true),
      overloaded: new Set<number>(),
      receivers: [3, 4, 5],
    },
  };
  const declared = (...entries: readonly DeclaredBranches[]): Tree =>
    computeTree(force(membersOf(world)), [], entries)!;

  test('override the topology; edges that they do not name hang at the root', () => {
    const tree = declared(
      { node: replicationSid(0), children: [replicationSid(1)] },
      { node: replicationSid(1), children: [edgeSid(3), edgeSid(4)] },
    );
    expect(tree.nodes.get(mapKey(replicationSid(0)))!.children).toEqual([edgeSid(5), replicationSid(1)]);
    expect([tree.outside, tree.isFlat]).toEqual([[edgeSid(5)], false]);
    isWhole(tree, world);
  });

  test('that are no tree bring each packet once nevertheless', () => {
    const tree = declared(
      { node: replicationSid(0), children: [replicationSid(1), replicationSid(2)] },
      { node: replicationSid(1), children: [replicationSid(2), edgeSid(3), edgeSid(4)] },
      { node: replicationSid(2), children: [replicationSid(0), edgeSid(4), edgeSid(5), edgeSid(3)] },
    );
    isWhole(tree, world);
  });
});

test('without a topology the root makes all copies', () => {
  const world = { receivers: [3, 1, 3] };
  const tree = computeTree(force(membersOf(world)), [])!;
  expect([...tree.nodes.values()]).toEqual([
    { sid: replicationSid(0), parent: null, children: [edgeSid(1), edgeSid(3)] },
  ]);
  expect(tree.isFlat).toBe(true);
});

test('an alleged edge that replicates in the tree is left out, and reported', () => {
  const [source, ...receivers] = membersOf({ receivers: [3, 4] });
  const at = (node: IpAddress): Tree => computeTree(force([source!, { ...receivers[0]!, node }, receivers[1]!]), [])!;
  expect(at(replicationSid(0)).misplaced).toEqual([replicationSid(0)]);
  expect([...at(replicationSid(0)).nodes.values()][0]!.children).toEqual([edgeSid(4)]);
});
