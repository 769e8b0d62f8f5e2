// Ten thousand sender prefixes: how long after the last LSP the last map entry is in the kernel, how much is flooded when one of them changes, how much memory the agent
// takes. A real cnpd learns them from the router beside it; another one declares them itself.
import type { BpfMap, MapEntry } from '../kernel/bpf/map.ts';
import { openBpfObject } from '../kernel/bpf/object.ts';
import { EGRESS_MAPS, encodeSenderProxy } from '../kernel/dataplane/egress.ts';
import { prefixKey } from '../kernel/dataplane/layout.ts';
import { type IpAddress, address } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import { Agent, CONGESTED_NODE, ISIS_LINK, bareNode, proxyFor, routerNamespace, rssMb } from './agent.ts';
import { type Bench, type Figure, bpfObject, until } from './bench.ts';
import { SENDERS, neighbourLsp, senderLsps, senderPrefix } from './isis-network.ts';
import { Neighbour } from './neighbour.ts';
import type { Row } from './report.ts';
import { quantile, summary } from './statistics.ts';

const REPETITIONS = 40;
const CHANGES = 3;
const LEARN_LIMIT_MS = 10_000;
/** Nothing more is flooded after a change when nothing came for so long. */
const QUIET_MS = 1500;
const POLL_MS = 0.2;

const proxyOf = (repetition: number): IpAddress => address(`2001:db8:ffff::${(repetition + 0x10).toString(16)}`);
const entriesOf = (proxy: IpAddress): MapEntry[] =>
  Array.from({ length: SENDERS }, (_, i) => [prefixKey(senderPrefix(i)), encodeSenderProxy({ prefix: senderPrefix(i), proxy })] as const);

/** Waits without letting the event loop turn until every entry is in the map; returns when, ms of performance.now(). */
function watch(map: BpfMap, entries: readonly MapEntry[]): number {
  const end = performance.now() + LEARN_LIMIT_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let next = 0;
  while (next < entries.length) {
    const [key, value] = entries[next]!;
    const found = map.lookup(key);
    if (found && Buffer.compare(found, value) === 0) next++;
    else if (performance.now() > end) throw new Error(`after ${LEARN_LIMIT_MS / 1000} s only ${next} of ${entries.length} entries are in the map`);
    else Atomics.wait(pause, 0, 0, POLL_MS);
  }
  return performance.now();
}

interface Learned {
  readonly ms: number[];
  readonly floorMs: number[];
  readonly rssFirst: number;
  readonly rss: number;
}

/** A congested node that learns all prefixes, again and again with another proxy. In turns: the bare map update of the same entries. */
async function learn(bench: Bench): Promise<Learned> {
  const netns = await routerNamespace(bench);
  const agent = Agent.spawn(bench, { netns, role: CONGESTED_NODE });
  await agent.running(bench);
  const neighbour = new Neighbour();
  await neighbour.join(bench, netns, ISIS_LINK);
  neighbour.flood([neighbourLsp(1, false)]);
  const map = agent.pinnedMap(EGRESS_MAPS.senderProxies);
  bench.finally(() => map.close());
  const floorObject = openBpfObject(bpfObject('egress'));
  bench.finally(() => floorObject.close());
  const [ms, floorMs]: [number[], number[]] = [[], []];
  let rssFirst = 0;
  for (let repetition = 0; repetition <= REPETITIONS; repetition++) {
    bench.signal.throwIfAborted();
    const [lsps, entries] = [senderLsps(repetition + 1, proxyOf(repetition)), entriesOf(proxyOf(repetition))];
    const arrived = neighbour.flood(lsps);
    const done = watch(map, entries);
    const start = performance.now();
    floorObject.map(EGRESS_MAPS.senderProxies).updateBatch(entries);
    const floor = performance.now() - start;
    // The first time everything is new on both sides: the adjacency settles, the code is cold.
    if (repetition > 0) {
      ms.push(done - arrived);
      floorMs.push(floor);
    } else rssFirst = rssMb(agent.pid);
    await until('acknowledgements', () => neighbour.acknowledged.get(`0000.0000.0001.00-${lsps.length.toString(16).padStart(2, '0')}`) === repetition + 1, bench.signal);
  }
  const rss = rssMb(agent.pid);
  await agent.stop();
  return { ms, floorMs, rssFirst, rss };
}

interface Declared {
  readonly fragments: number;
  /** LSPs on the wire for each change of one prefix. */
  readonly touched: number[];
  /** From SIGHUP to the LSP. */
  readonly ms: number[];
  readonly rss: number;
}

/** A proxy that declares all prefixes; one of them is taken away and comes back. */
async function declare(bench: Bench): Promise<Declared> {
  const netns = await routerNamespace(bench);
  const prefixes = Array.from({ length: SENDERS }, (_, i) => formatPrefix(senderPrefix(i)));
  const agent = Agent.spawn(bench, { netns, role: proxyFor(prefixes) });
  await agent.running(bench);
  const neighbour = new Neighbour();
  await neighbour.join(bench, netns, ISIS_LINK);
  const quiet = (): boolean => performance.now() - (neighbour.flooded.at(-1)?.at ?? performance.now()) > QUIET_MS;
  const ids = (): Set<string> => new Set(neighbour.flooded.map((l) => l.id));
  await until('all fragments', () => ids().size > SENDERS / 50 && quiet(), bench.signal, 60_000);
  const fragments = [...ids()].filter((id) => !id.endsWith('-00')).length;
  const [touched, ms]: [number[], number[]] = [[], []];
  for (let change = 0; change < 2 * CHANGES; change++) {
    const gone = 1234 + 1000 * (change >> 1);
    neighbour.flooded.length = 0;
    agent.configure(proxyFor(change % 2 === 0 ? prefixes.filter((_, i) => i !== gone) : prefixes));
    const start = performance.now();
    agent.child.kill('SIGHUP');
    await until('the changed LSP', () => neighbour.flooded.length > 0 && quiet(), bench.signal);
    touched.push(new Set(neighbour.flooded.map((l) => `${l.id} ${l.sequence}`)).size);
    ms.push(neighbour.flooded[0]!.at - start);
  }
  const rss = rssMb(agent.pid);
  await agent.stop();
  return { fragments, touched, ms, rss };
}

export const tenThousand: Figure = {
  name: 'ten-thousand',
  title: `${SENDERS} sender prefixes: learning them, changing one, memory`,
  async measure(bench) {
    const learned = await learn(bench);
    bench.say('learned; now a proxy that declares them');
    const declared = await declare(bench);
    const [spread, floor] = [summary(learned.ms), summary(learned.floorMs)];
    const [p50, p99, most] = [quantile(learned.ms, 0.5), quantile(learned.ms, 0.99), Math.max(...declared.touched)];
    const reference = { reference: 'the same entries, bare map update', referenceValue: floor.median, referenceSpread: floor };
    const bareRss = rssMb(await bareNode(bench));
    const memory = (what: string, rss: number, note?: string): Row => ({
      figure: this.name, what, unit: 'MB', measured: rss, reference: 'Node.js that does nothing', referenceValue: bareRss, ratio: rss / bareRss, target: '≤ 120 MB', met: rss <= 120, ...(note !== undefined && { note }),
    });
    return [
      { figure: this.name, what: 'last LSP → last map entry, p50', unit: 'ms', measured: p50, spread, ...reference, ratio: p50 / floor.median, target: '—', met: null },
      {
        figure: this.name, what: 'last LSP → last map entry, p99', unit: 'ms', measured: p99, ...reference, ratio: p99 / floor.median, target: '≤ 100 ms', met: p99 <= 100,
        note: `${learned.ms.length} repetitions; all 250 LSPs arrive in one burst, and every entry changes`,
      },
      {
        figure: this.name, what: 'LSPs flooded when one prefix changes', unit: 'LSPs', measured: most, spread: summary(declared.touched), reference: 'fragments with prefixes', referenceValue: declared.fragments,
        ratio: most / declared.fragments, target: '1', met: most === 1, note: `SIGHUP to LSP on the wire: ${quantile(declared.ms, 0.5).toFixed(0)} ms, the file's ${SENDERS} prefixes read again included`,
      },
      memory('memory of the agent that learned them', learned.rss, `${learned.rssFirst.toFixed(0)} MB after learning once`),
      memory('memory of the agent that declares them', declared.rss),
    ];
  },
};
