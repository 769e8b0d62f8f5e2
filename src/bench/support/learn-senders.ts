// How long after the last message of a flood the last of ten thousand map entries is in the kernel: a real cnpd, a
// congested node, learns all sender prefixes from the router beside it, again and again with another proxy. Which
// protocol that router speaks is its own business.
import { setTimeout as delay } from 'node:timers/promises';
import type { BpfMap } from '../../kernel/bpf/map.ts';
import type { MapEntry } from '../../kernel/bpf/map-batch.ts';
import { openBpfObject } from '../../kernel/bpf/object.ts';
import { EGRESS_MAPS, encodeSenderProxy } from '../../kernel/dataplane/egress.ts';
import { prefixKey } from '../../kernel/dataplane/layout.ts';
import type { Netns } from '../../kernel/netns.ts';
import type { IpAddress } from '../../model/address.ts';
import type { Prefix } from '../../model/prefix.ts';
import { Agent, CONGESTED_NODE, mainThread, routerNamespace, rssMb } from './agent/agent.ts';
import { type Bench, bpfObject } from './bench.ts';
import { SENDERS } from './network/isis-network.ts';
import type { Row } from './report.ts';
import { inTurns, quantile, summary } from './statistics.ts';

/** Of each way to arrive. */
export const REPETITIONS = 30;
/** 1,000 messages a second, which is how fast cnpd itself floods. */
const PACED = { batch: 10, gapMs: 10 } as const;
const LEARN_LIMIT_MS = 10_000;
/** V8 gives memory back when nothing has happened for some seconds. */
export const SETTLE_MS = 8000;
const POLL_MS = 0.2;

/** The router beside the agent. */
export interface Teacher {
  /** The agent's carrier, as cnpd.yaml has it; default: IS-IS. */
  readonly carrier?: string;
  join(bench: Bench, netns: Netns): Promise<void>;
  prefix(i: number): Prefix;
  /** @param version counts from 1 */
  proxy(version: number): IpAddress;
  /** The messages that say that all prefixes have the proxy of this version. */
  messages(version: number): readonly Uint8Array[];
  /** Sends messages one behind the other. Returns when the last has arrived, ms of performance.now(). */
  flood(messages: readonly Uint8Array[]): number;
  /** Until the next version may come. */
  settled(bench: Bench, version: number): Promise<void>;
}

interface Learned {
  /** All messages at once, and one after another at the pace of flooding. */
  readonly burstMs: number[];
  readonly pacedMs: number[];
  readonly floorMs: number[];
  /**
   * Of the slowest burst, ms: what the agent's main thread ran from the first message on, and what it waited for a
   * processor.
   */
  readonly slowest: { readonly took: number; readonly ran: number; readonly waited: number };
  readonly messages: number;
  readonly rss: { readonly empty: number; readonly first: number; readonly last: number; readonly settled: number };
}

/** Waits without letting the event loop turn until every entry is in the map; returns when, ms of performance.now(). */
function watch(map: BpfMap, entries: readonly MapEntry[]): number {
  const end = performance.now() + LEARN_LIMIT_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let next = 0;
  while (next < entries.length) {
    const [key, value] = entries[next]!;
    const found = map.lookup(key);
    if (found && Buffer.compare(found, value) === 0) next++;
    else if (performance.now() > end)
      throw new Error(`after ${LEARN_LIMIT_MS / 1000} s only ${next} of ${entries.length} entries are in the map`);
    else Atomics.wait(pause, 0, 0, POLL_MS);
  }
  return performance.now();
}

async function flood(teacher: Teacher, messages: readonly Uint8Array[], paced: boolean): Promise<number> {
  if (!paced) return teacher.flood(messages);
  let arrived = 0;
  for (let i = 0; i < messages.length; i += PACED.batch) {
    await delay(PACED.gapMs);
    arrived = teacher.flood(messages.slice(i, i + PACED.batch));
  }
  return arrived;
}

/** In turns: both ways to arrive, and the bare map update of the same entries. */
export async function learn(bench: Bench, teacher: Teacher): Promise<Learned> {
  const netns = await routerNamespace(bench);
  const agent = Agent.spawn(bench, {
    netns,
    role: CONGESTED_NODE,
    ...(teacher.carrier !== undefined && { carrier: teacher.carrier }),
  });
  await agent.running(bench);
  const empty = rssMb(agent.pid);
  await teacher.join(bench, netns);
  const map = agent.pinnedMap(EGRESS_MAPS.senderProxies);
  bench.finally(() => map.close());
  const floorObject = openBpfObject(bpfObject('egress'));
  bench.finally(() => floorObject.close());
  const entriesOf = (version: number): MapEntry[] =>
    Array.from(
      { length: SENDERS },
      (_, i) =>
        [
          prefixKey(teacher.prefix(i)),
          encodeSenderProxy({ prefix: teacher.prefix(i), proxy: teacher.proxy(version) }),
        ] as const,
    );
  let version = 0;
  let count = 0;
  let slowest = { took: 0, ran: 0, waited: 0 };
  const learnOnce = async (paced: boolean): Promise<number> => {
    bench.signal.throwIfAborted();
    version++;
    const [messages, entries] = [teacher.messages(version), entriesOf(version)];
    count = messages.length;
    const before = mainThread(agent.pid);
    const arrived = await flood(teacher, messages, paced);
    const took = watch(map, entries) - arrived;
    const after = mainThread(agent.pid);
    if (!paced && took > slowest.took)
      slowest = { took, ran: after.ran - before.ran, waited: after.waited - before.waited };
    await teacher.settled(bench, version);
    return took;
  };
  const floor = (): number => {
    const entries = entriesOf(version);
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
  return {
    burstMs: measured.burst,
    pacedMs: measured.paced,
    floorMs: measured.floor,
    slowest,
    messages: count,
    rss: { empty, first, last, settled },
  };
}

/** @param message what the protocol calls it, in the singular */
export function latencyRows(figure: string, message: string, learned: Learned): Row[] {
  const floor = summary(learned.floorMs);
  const row = (how: string, ms: readonly number[], note: string): Row => {
    const p99 = quantile(ms, 0.99);
    return {
      figure,
      what: `last ${message} → last map entry, p99, ${how}`,
      unit: 'ms',
      measured: p99,
      spread: summary(ms),
      reference: 'the same entries, bare map update',
      referenceValue: floor.median,
      referenceSpread: floor,
      ratio: p99 / floor.median,
      target: '≤ 100 ms',
      met: p99 <= 100,
      note: `p50 ${quantile(ms, 0.5).toFixed(1)} ms of ${ms.length} repetitions; every entry changes; ${note}`,
    };
  };
  const { slowest, messages, burstMs, pacedMs } = learned;
  return [
    row(`${message}s at 1,000/s`, pacedMs, 'the pace at which cnpd floods'),
    row(
      `${message}s in one burst`,
      burstMs,
      `all ${messages} ${message}s wait in the socket when the last has arrived; in the slowest the agent ran ` +
        `${slowest.ran.toFixed(0)} ms and waited ${slowest.waited.toFixed(0)} ms for a processor`,
    ),
  ];
}
