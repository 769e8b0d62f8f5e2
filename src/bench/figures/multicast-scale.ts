// A thousand groups of sixteen receivers at their root: memory of the agent, and how long after the last LSP the tree
// of every group is programmed. A real cnpd declares the sources and learns 16,000 receivers of sixteen edges over
// IS-IS, so that each list has sixteen branches. The first time everything is new; then all receivers get another Queue
// Pair, so that every list is another one. Beside it the bare map updates of as many lists.
import { setTimeout as delay } from 'node:timers/promises';
import type { BpfMap } from '../../kernel/bpf/map.ts';
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { u32Key } from '../../kernel/dataplane/layout.ts';
import {
  decodeMulticastListKey,
  encodeMulticastBranch,
  encodeMulticastList,
  multicastListKey,
  multicastMemberKey,
} from '../../kernel/dataplane/multicast-lists.ts';
import { newMulticastRecord } from '../../kernel/dataplane/multicast-state.ts';
import { MULTICAST_MAPS } from '../../kernel/dataplane/multicast.ts';
import { TreeRoutes } from '../../kernel/netlink/tree-routes.ts';
import type { Netns } from '../../kernel/netns.ts';
import { digestText, membersDigest, treeDigest } from '../../groups/digests.ts';
import { membersInForce } from '../../groups/membership.ts';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { address, formatAddress } from '../../model/address.ts';
import type { GroupMember } from '../../model/group.ts';
import { treeOfSrh } from '../../packet/srv6/tree-srh.ts';
import { Agent, ISIS_LINK, bareNode, mainThread, routerNamespace, rssMb } from '../support/agent/agent.ts';
import { type Bench, type Figure, bpfObject, until } from '../support/bench.ts';
import {
  edgeLsps,
  edgeSid,
  memberLsps,
  neighborOfEdges,
  proxyOf,
  receiverOf,
  sourceOf,
} from '../support/network/isis-groups.ts';
import { Neighbor } from '../support/network/isis-neighbor.ts';
import type { Row } from '../support/report.ts';

const [GROUPS, RECEIVERS, DESIGNATED] = [1000, 16, 4096] as const;
const ROOT = address('2001:db8:f::1');
/** Obsolete lists are gone after this time, and V8 has collected what it will. */
const LINGER_MS = 13_000;
const LIMIT_MS = 150_000;
/** Each look costs some milliseconds, on a processor that the agent may need. */
const POLL_MS = 100;

const root = (): string =>
  'srv6:\n  core-ports: [t-bench-wan]\n  replication: { sid: 2001:db8:f::1, locator: 2001:db8:f::/64 }\ngroups:\n' +
  Array.from(
    { length: GROUPS },
    (_, g) =>
      `  - { name: g${g}, proxy-address: '${formatAddress(proxyOf(g))}', designated-qpn: ${DESIGNATED}, ` +
      `source: { address: '${formatAddress(sourceOf(g))}', qpn: 77 } }\n`,
  ).join('');

/** Digests of the trees, as text. The edges are children of the root: no router between them replicates. */
function treesOf(version: number): Set<string> {
  const claims = Array.from({ length: GROUPS }, (_, g): GroupMember[] => [
    {
      ...{ group: proxyOf(g), role: 'source', address: sourceOf(g), qpn: DESIGNATED, node: ROOT, psnDelta: 0 },
    },
    ...Array.from({ length: RECEIVERS }, (__, edge) => receiverOf(g, edge, version)),
  ]).flat();
  const pairs = Array.from({ length: RECEIVERS }, (_, edge) => [ROOT, edgeSid(edge)] as const);
  const { groups } = membersInForce(claims);
  return new Set([...groups.values()].map((group) => digestText(treeDigest(membersDigest(group), pairs))));
}

interface Programmed {
  /** From the last LSP on, ms. */
  readonly lists: number;
  readonly routes: number;
  /** Of the agent's main thread until the lists are there, from the first LSP on. */
  readonly ran: number;
  readonly waited: number;
}

async function program(
  bench: Bench,
  { agent, neighbor, lists, netns }: { agent: Agent; neighbor: Neighbor; lists: BpfMap; netns: Netns },
  version: number,
): Promise<Programmed> {
  // All edges at the same time: the first LSP of each, then the second.
  const byEdge = Array.from({ length: RECEIVERS }, (_, edge) =>
    memberLsps(edge, GROUPS, { version, sequence: version }),
  );
  const lsps = byEdge[0]!.flatMap((_, i) => byEdge.map((ofEdge) => ofEdge[i]!));
  const expected = treesOf(version);
  const before = mainThread(agent.pid);
  const start = neighbor.flood(lsps);
  const wait = (what: string, found: () => Iterable<string>): Promise<void> =>
    until(
      what,
      async () => {
        const isDone = [...found()].filter((digest) => expected.has(digest)).length === GROUPS;
        if (!isDone) await delay(POLL_MS);
        return isDone;
      },
      bench.signal,
      LIMIT_MS,
    );
  await wait('all lists', () => [...lists.keys()].map((key) => digestText(decodeMulticastListKey(key).digest)));
  const [listsAt, after] = [performance.now(), mainThread(agent.pid)];
  const routes = TreeRoutes.open({ netns });
  try {
    await wait('all routes', () =>
      routes
        .own()
        .flatMap(({ srh }) => (srh && treeOfSrh(srh, DEFAULT_CODE_POINTS['srh-tree-tlv'])) ?? [])
        .map((tree) => digestText(tree.treeDigest)),
    );
  } finally {
    routes.close();
  }
  return {
    lists: listsAt - start,
    routes: performance.now() - start,
    ran: after.ran - before.ran,
    waited: after.waited - before.waited,
  };
}

/** The same entries in maps that nobody reads, ms. */
function bareUpdates(bench: Bench): number {
  const object = openBpfObject(bpfObject('multicast'));
  bench.finally(() => object.close());
  const put = (name: keyof typeof MULTICAST_MAPS, entries: [Uint8Array, Uint8Array][]): void =>
    object.map(MULTICAST_MAPS[name]).updateBatch(entries);
  const start = performance.now();
  for (let g = 0; g < GROUPS; g++) {
    const [list, first] = [g + 1, g * RECEIVERS];
    const slots = Array.from({ length: RECEIVERS }, (_, edge) => [u32Key(first + edge), edgeSid(edge)] as const);
    const plain = { qpn: 0, psnDelta: 0, write: null, excluded: false };
    put(
      'records',
      slots.map(([slot]) => [slot, newMulticastRecord(false)]),
    );
    put(
      'branches',
      slots.map(([slot, sid]) => [slot, encodeMulticastBranch({ ...plain, address: sid })]),
    );
    put(
      'members',
      slots.map(([slot, sid]) => [multicastMemberKey({ address: sid, list }), slot]),
    );
    const value = { group: g, first, count: RECEIVERS, role: 'branching', hasLocal: false, parent: 0 } as const;
    put('lists', [[u32Key(list), encodeMulticastList(value)]]);
    const digest = new Uint8Array(8).fill(1);
    put('listIds', [[multicastListKey({ digest, group: g, role: 'branching' }), u32Key(list)]]);
  }
  return performance.now() - start;
}

export const multicastScale: Figure = {
  name: 'multicast-scale',
  title: `${GROUPS} groups of ${RECEIVERS} receivers at their root: memory, and time to program them`,
  async measure(bench) {
    const netns = await routerNamespace(bench);
    const agent = Agent.spawn(bench, { netns, role: root() });
    await agent.running(bench);
    const neighbor = new Neighbor();
    await neighbor.join(bench, netns, ISIS_LINK);
    const empty = rssMb(agent.pid);
    neighbor.flood([
      neighborOfEdges(RECEIVERS, 1),
      ...Array.from({ length: RECEIVERS }, (_, edge) => edgeLsps(edge, 1)).flat(),
    ]);
    await delay(2000, undefined, { signal: bench.signal });
    const lists = agent.pinnedMap(MULTICAST_MAPS.listIds);
    bench.finally(() => lists.close());
    const found: Programmed[] = [];
    for (const version of [1, 2]) {
      found.push(await program(bench, { agent, neighbor, lists, netns }, version));
      bench.say(`programmed: ${GROUPS} lists after ${found.at(-1)!.lists.toFixed(0)} ms`);
      await delay(LINGER_MS, undefined, { signal: bench.signal });
    }
    const rss = rssMb(agent.pid);
    const bare = bareUpdates(bench);
    const bareRss = rssMb(await bareNode(bench));
    const row = (what: string, one: Programmed): Row => ({
      ...{ figure: this.name, what, unit: 'ms', measured: one.lists, target: '—', met: null },
      ...{ reference: 'bare map updates', referenceValue: bare, ratio: one.lists / bare },
      note:
        `the agent's main thread ran ${one.ran.toFixed(0)} ms and waited ${one.waited.toFixed(0)} ms for a processor; ` +
        `the last route into a tree after ${one.routes.toFixed(0)} ms, settle time included`,
    });
    return [
      row(`last LSP → ${GROUPS} lists of ${RECEIVERS} branches, all new`, found[0]!),
      row('the same, every receiver with another Queue Pair', found.at(-1)!),
      {
        ...{ figure: this.name, what: `memory with ${GROUPS * RECEIVERS} receivers`, unit: 'MB', measured: rss },
        ...{ reference: 'Node.js that does nothing', referenceValue: bareRss, ratio: rss / bareRss },
        ...{ target: '—', met: null, note: `${empty.toFixed(0)} MB with the sources alone` },
      },
    ];
  },
};
