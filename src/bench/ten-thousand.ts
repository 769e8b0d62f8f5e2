// Ten thousand sender prefixes: how long after the last LSP the last map entry is in the kernel, how much is flooded when one of them changes, how much memory the agent
// takes. A real cnpd learns them from the router beside it; another one declares them itself.
import { setTimeout as delay } from 'node:timers/promises';
import type { BpfMap, MapEntry } from '../kernel/bpf/map.ts';
import { openBpfObject } from '../kernel/bpf/object.ts';
import { EGRESS_MAPS, encodeSenderProxy } from '../kernel/dataplane/egress.ts';
import { prefixKey } from '../kernel/dataplane/layout.ts';
import { type IpAddress, address } from '../model/address.ts';
import { formatPrefix } from '../model/prefix.ts';
import { Agent, CONGESTED_NODE, ISIS_LINK, bareNode, mainThread, proxyFor, routerNamespace, rssMb } from './agent.ts';
import { type Bench, type Figure, bpfObject, until } from './bench.ts';
import { NEIGHBOUR_SYSTEM, SENDERS, neighbourLsp, senderLsps, senderPrefix } from './isis-network.ts';
import { Neighbour } from './neighbour.ts';
import type { Row } from './report.ts';
import { inTurns, quantile, summary } from './statistics.ts';

/** Of each way to arrive. */
const REPETITIONS = 30;
/** 1,000 LSPs a second, which is how fast cnpd itself floods. */
const PACED = { batch: 10, gapMs: 10 } as const;
const CHANGES = 3;
const LEARN_LIMIT_MS = 10_000;
/** Nothing more is flooded after a change when nothing came for so long. */
const QUIET_MS = 1500;
/** V8 gives memory back when nothing has happened for some seconds. */
const SETTLE_MS = 8000;
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
  /** All LSPs at once, and one after another at the pace of flooding. */
  readonly burstMs: number[];
  readonly pacedMs: number[];
  readonly floorMs: number[];
  /** Of the slowest burst, ms: what the agent's main thread ran from the first LSP on, and what it waited for a processor. */
  readonly slowest: { readonly took: number; readonly ran: number; readonly waited: number };
  readonly rss: { readonly empty: number; readonly first: number; readonly last: number; readonly settled: number };
}

async function flood(neighbour: Neighbour, lsps: readonly Uint8Array[], paced: boolean): Promise<number> {
  if (!paced) return neighbour.flood(lsps);
  let arrived = 0;
  for (let i = 0; i < lsps.length; i += PACED.batch) {
    await delay(PACED.gapMs);
    arrived = neighbour.flood(lsps.slice(i, i + PACED.batch));
  }
  return arrived;
}

/** A congested node that learns all prefixes, again and again with another proxy. In turns: the bare map update of the same entries. */
async function learn(bench: Bench): Promise<Learned> {
  const netns = await routerNamespace(bench);
  const agent = Agent.spawn(bench, { netns, role: CONGESTED_NODE });
  await agent.running(bench);
  const neighbour = new Neighbour();
  await neighbour.join(bench, netns, ISIS_LINK);
  const empty = rssMb(agent.pid);
  neighbour.flood([neighbourLsp(1, false)]);
  const map = agent.pinnedMap(EGRESS_MAPS.senderProxies);
  bench.finally(() => map.close());
  const floorObject = openBpfObject(bpfObject('egress'));
  bench.finally(() => floorObject.close());
  let repetition = 0;
  let slowest = { took: 0, ran: 0, waited: 0 };
  const learnOnce = async (paced: boolean): Promise<number> => {
    bench.signal.throwIfAborted();
    const version = ++repetition;
    const [lsps, entries] = [senderLsps(version, proxyOf(version)), entriesOf(proxyOf(version))];
    const before = mainThread(agent.pid);
    const arrived = await flood(neighbour, lsps, paced);
    const took = watch(map, entries) - arrived;
    const after = mainThread(agent.pid);
    if (!paced && took > slowest.took) slowest = { took, ran: after.ran - before.ran, waited: after.waited - before.waited };
    const last = `${NEIGHBOUR_SYSTEM}.00-${lsps.length.toString(16).padStart(2, '0')}`;
    await until('acknowledgements', () => neighbour.acknowledged.get(last) === version, bench.signal);
    return took;
  };
  const floor = (): number => {
    const entries = entriesOf(proxyOf(repetition));
    const start = performance.now();
    floorObject.map(EGRESS_MAPS.senderProxies).updateBatch(entries);
    return performance.now() - start;
  };
  // The first time everything is new on both sides: the adjacency settles, the code is cold.
  await learnOnce(true);
  await delay(SETTLE_MS, undefined, { signal: bench.signal });
  const first = rssMb(agent.pid);
  const measured = await inTurns(REPETITIONS, { burst: () => learnOnce(false), paced: () => learnOnce(true), floor });
  const last = rssMb(agent.pid);
  await delay(SETTLE_MS, undefined, { signal: bench.signal });
  const settled = rssMb(agent.pid);
  await agent.stop();
  return { burstMs: measured.burst, pacedMs: measured.paced, floorMs: measured.floor, slowest, rss: { empty, first, last, settled } };
}

interface Declared {
  readonly fragments: number;
  /** LSPs on the wire for each change of one prefix. */
  readonly touched: number[];
  /** From SIGHUP to the LSP. */
  readonly ms: number[];
  readonly rss: { readonly last: number; readonly settled: number };
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
  const last = rssMb(agent.pid);
  await delay(SETTLE_MS, undefined, { signal: bench.signal });
  const settled = rssMb(agent.pid);
  await agent.stop();
  return { fragments, touched, ms, rss: { last, settled } };
}

export const tenThousand: Figure = {
  name: 'ten-thousand',
  title: `${SENDERS} sender prefixes: learning them, changing one, memory`,
  async measure(bench) {
    const learned = await learn(bench);
    bench.say('learned; now a proxy that declares them');
    const declared = await declare(bench);
    const [floor, most] = [summary(learned.floorMs), Math.max(...declared.touched)];
    const reference = { reference: 'the same entries, bare map update', referenceValue: floor.median, referenceSpread: floor };
    const latency = (how: string, ms: readonly number[], note: string): Row => {
      const p99 = quantile(ms, 0.99);
      return {
        figure: this.name, what: `last LSP → last map entry, p99, ${how}`, unit: 'ms', measured: p99, spread: summary(ms), ...reference, ratio: p99 / floor.median, target: '≤ 100 ms', met: p99 <= 100,
        note: `p50 ${quantile(ms, 0.5).toFixed(1)} ms of ${ms.length} repetitions; every entry changes; ${note}`,
      };
    };
    const bareRss = rssMb(await bareNode(bench));
    const memory = (what: string, rss: number, note?: string): Row => ({
      figure: this.name, what, unit: 'MB', measured: rss, reference: 'Node.js that does nothing', referenceValue: bareRss, ratio: rss / bareRss, target: '≤ 120 MB', met: rss <= 120, ...(note !== undefined && { note }),
    });
    return [
      latency('LSPs at 1,000/s', learned.pacedMs, 'the pace at which cnpd floods'),
      latency('LSPs in one burst', learned.burstMs,
        `all 250 LSPs wait in the socket when the last has arrived; in the slowest the agent ran ${learned.slowest.ran.toFixed(0)} ms and waited ${learned.slowest.waited.toFixed(0)} ms for a processor`),
      {
        figure: this.name, what: 'LSPs flooded when one prefix changes', unit: 'LSPs', measured: most, spread: summary(declared.touched), reference: 'fragments with prefixes', referenceValue: declared.fragments,
        ratio: most / declared.fragments, target: '1', met: most === 1, note: `SIGHUP to LSP on the wire: ${quantile(declared.ms, 0.5).toFixed(0)} ms, the file's ${SENDERS} prefixes read again included`,
      },
      memory('memory, learned once, then quiet', learned.rss.first, `${learned.rss.empty.toFixed(0)} MB before the first LSP`),
      memory(`memory, learned ${2 * REPETITIONS} times more, then quiet`, learned.rss.settled, `${learned.rss.last.toFixed(0)} MB before ${SETTLE_MS / 1000} s of quiet`),
      memory('memory, declared and changed, then quiet', declared.rss.settled, `${declared.rss.last.toFixed(0)} MB before ${SETTLE_MS / 1000} s of quiet`),
    ];
  },
};
