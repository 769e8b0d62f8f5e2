// From a request to an agent's API that changes the members of a group to the moment at which every router of the tree
// has its new list in the kernel: edges the new receivers, root and transit routers the new branches. Real FRR floods
// what the agents advertise (containerlab/rdma-multicast). The edge that was asked has its own list first: that time is
// the reference. Each change makes members that there were not before, so that no list is there already. The root uses
// the new tree a settle time later (`srv6.multicast.settle-time`), which is not in the figure.
import { setTimeout as delay } from 'node:timers/promises';
import { EDGES, GROUP, ROOT, ROUTERS } from '../../demo/multicast/scene.ts';
import { type Bench, type Figure, until } from '../support/bench.ts';
import { type MulticastLab, keysOf, multicastLab } from '../support/network/multicast-lab.ts';
import type { Row } from '../support/report.ts';
import { quantile, summary } from '../support/statistics.ts';

const CHANGES = 50;
/** Between two changes, ms: as long, and up to as much more. */
const PAUSE_MS = 200;
const POLL_MS = 1;
const LIMIT_MS = 10_000;
/** n5 has a single branch, so it is no node of the tree. */
const NODES = ROUTERS.filter((node) => node !== 'n5');
const EDGE_NODES = Object.keys(EDGES);
const SUBNET: Readonly<Record<string, number>> = { n1: 11, n2: 13, n3: 14 };

/** Receivers that join and leave at an edge; nobody is there. */
const receiver = (edge: string, n: number): string => `2001:db8:${SUBNET[edge]}::${(0x100 + n).toString(16)}`;

/** How long after the request, ms. */
interface Change {
  readonly answered: number;
  /** By node. */
  readonly programmed: ReadonlyMap<string, number>;
  readonly edge: string;
}

/** Asks one agent, and watches all for a list that was not there. */
async function change(bench: Bench, { agents }: MulticastLab, edge: string, n: number): Promise<Change> {
  const before = new Map(NODES.map((node) => [node, keysOf(agents.get(node)!.lists)]));
  const programmed = new Map<string, number>();
  const look = (): void => {
    for (const node of NODES) {
      if (programmed.has(node)) continue;
      const [now, known] = [keysOf(agents.get(node)!.lists), before.get(node)!];
      if ([...now].some((key) => !known.has(key))) programmed.set(node, performance.now() - start);
    }
  };
  // Receivers come in turns at each edge: every second time the one before the last leaves.
  const [turn, place] = [Math.floor(n / EDGE_NODES.length), Math.floor(n / EDGE_NODES.length / 2)];
  const isJoin = turn % 2 === 0;
  const member = { role: 'receiver', address: receiver(edge, isJoin ? place + 1 : place) };
  const { client } = agents.get(edge)!;
  const start = performance.now();
  const asked = client.set(
    isJoin
      ? { update: [{ group: GROUP.proxyAddress, member, value: { qpn: 0x1000 + n } }] }
      : { delete: [{ group: GROUP.proxyAddress, member }] },
  );
  let answered = 0;
  void asked.then(
    () => (answered = performance.now() - start),
    () => {},
  );
  await Promise.all([
    asked,
    until(
      'the list at every router',
      async () => {
        look();
        if (programmed.size < NODES.length) await delay(POLL_MS);
        return programmed.size === NODES.length;
      },
      bench.signal,
      LIMIT_MS,
    ),
  ]);
  return { answered, programmed, edge };
}

const later = (changes: readonly Change[], node: string): number =>
  quantile(
    changes.map(({ programmed }) => programmed.get(node)!),
    0.5,
  );

export const multicastChanges: Figure = {
  name: 'multicast-changes',
  title: `${CHANGES} changes of the members of a group: until every router of the tree has programmed it`,
  async measure(bench) {
    const scene = await multicastLab(bench);
    // A receiver that the first leave can take, at each edge.
    for (const edge of EDGE_NODES)
      await scene.agents.get(edge)!.client.set({
        update: [
          {
            group: GROUP.proxyAddress,
            member: { role: 'receiver', address: receiver(edge, 0) },
            value: { qpn: 0x800 },
          },
        ],
      });
    await delay(2000, undefined, { signal: bench.signal });
    const changes: Change[] = [];
    for (let n = 0; n < CHANGES; n++) {
      changes.push(await change(bench, scene, EDGE_NODES[n % EDGE_NODES.length]!, n));
      await delay(PAUSE_MS * (1 + Math.random()), undefined, { signal: bench.signal });
    }
    const all = changes.map(({ programmed }) => Math.max(...programmed.values()));
    const own = changes.map(({ programmed, edge }) => programmed.get(edge)!);
    const answered = changes.map((one) => one.answered);
    const perNode = NODES.map((node) => `${node}${node === ROOT ? ' (root)' : ''} ${later(changes, node).toFixed(0)}`);
    const row = (what: string, q: number, target: string, met: boolean | null): Row => ({
      ...{ figure: this.name, what, unit: 'ms', measured: quantile(all, q), spread: summary(all), target, met },
      ...{ reference: 'the list of the edge that was asked', referenceValue: quantile(own, q) },
      ...{ referenceSpread: summary(own), ratio: quantile(all, q) / quantile(own, q) },
    });
    return [
      {
        ...row("request → every router's list, p99", 0.99, '≤ 200 ms', quantile(all, 0.99) <= 200),
        note:
          `${CHANGES} joins and leaves at ${EDGE_NODES.join(', ')}; p50 of the routers, ms: ${perNode.join(', ')}; ` +
          `of the API's answer: ${quantile(answered, 0.5).toFixed(0)}`,
      },
      row("request → every router's list, p50", 0.5, '—', null),
    ];
  },
};
