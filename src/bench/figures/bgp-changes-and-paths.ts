// BGP beside a real gobgpd: how long after a change an entry is in the kernel's map at 1,000 changes a second; what
// 50,000 and 200,000 paths do to the event loop and to the memory of a real cnpd. How fast own paths are put in:
// bgp-origination.ts.
import { symlinkSync } from 'node:fs';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { v3 } from '../../carriers/bgp/gobgp/v3.ts';
import { EGRESS_MAPS, encodeSenderProxy } from '../../kernel/dataplane/egress.ts';
import { prefixKey } from '../../kernel/dataplane/layout.ts';
import { type IpAddress, address } from '../../model/address.ts';
import { Agent, CONGESTED_NODE, bareNode, routerNamespace, rssMb } from '../support/agent/agent.ts';
import type { Bench, Figure } from '../support/bench.ts';
import { BenchGobgpd, bgpPath, bgpPrefix, foreign, inMessages } from '../support/network/gobgp.ts';
import { type LoopReport, longestTurn, waitQuantile, watched } from '../support/agent/loop-report.ts';
import type { Row } from '../support/report.ts';
import { quantile, summary } from '../support/statistics.ts';

const CHANGES_A_SECOND = 1000;
const BATCH = 10;
const CHANGES = 10_000;
/** Each changes again after a second. */
const CHANGING = 1000;
const FIRST = 50_000;
const ALL = 200_000;
/** Of those, the ones that name a proxy. */
const WITH_PROXY = 10_000;
const SETTLE_MS = 8000;

const PROXY = address('2001:db8:ffff::1');
const carrierFor = (socket: string): string => `bgp:\n  gobgp: { target: "unix:${socket}" }\n`;

/** A change: a path of another client's, with another proxy than before. */
interface Change {
  readonly key: Uint8Array;
  /** How often its prefix has changed before. */
  readonly round: number;
  /** When it was handed to gobgpd's stream. */
  at: number;
}

/** Changes at a steady rate, each looked for in the map until it is there. @returns latencies, ms */
async function changes(bench: Bench, gobgpd: BenchGobgpd, agent: Agent): Promise<number[]> {
  const map = agent.pinnedMap(EGRESS_MAPS.senderProxies);
  bench.finally(() => map.close());
  const proxyOf = (round: number): IpAddress => address(`2001:db8:ffff::${(round + 0x10).toString(16)}`);
  const messages: Uint8Array[] = [];
  const due: Change[] = [];
  const roundOf = new Map<string, number>();
  for (let i = 0; i < CHANGES; i += BATCH) {
    const round = Math.floor(i / CHANGING);
    const proxy = proxyOf(round);
    const prefixes = Array.from({ length: BATCH }, (_, n) => bgpPrefix((i + n) % CHANGING));
    messages.push(foreign(prefixes.map((prefix) => bgpPath(prefix, proxy))));
    for (const prefix of prefixes) due.push({ key: prefixKey(prefix), round, at: 0 });
    roundOf.set(hex(encodeSenderProxy({ prefix: prefixes[0]!, proxy })), round);
  }
  // A later change of the same prefix is there: so was this one.
  const isIn = ({ key, round }: Change): boolean => (roundOf.get(hex(map.lookup(key))) ?? -1) >= round;
  const channel = await gobgpd.channel();
  const { call, end } = channel.upload(`/${v3.service}/AddPathStream`, 120_000);
  end.catch(() => {});
  const latencies: number[] = [];
  const start = performance.now();
  for (let sent = 0, seen = 0; seen < due.length;) {
    bench.signal.throwIfAborted();
    const now = performance.now();
    if (sent < messages.length && now >= start + (sent * BATCH * 1000) / CHANGES_A_SECOND) {
      call.write(messages[sent]!);
      for (const change of due.slice(sent * BATCH, ++sent * BATCH)) change.at = now;
    }
    while (seen < sent * BATCH && isIn(due[seen]!)) latencies.push(performance.now() - due[seen++]!.at);
    if (seen < sent * BATCH && now - due[seen]!.at > 30_000)
      throw new Error(`a change is not in the map after 30 s; ${seen} of ${due.length} are`);
    await turn();
  }
  call.end();
  await end;
  return latencies;
}

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

async function latency(bench: Bench): Promise<Row[]> {
  const netns = await routerNamespace(bench);
  const gobgpd = await BenchGobgpd.spawn(bench, netns);
  const agent = Agent.spawn(bench, { netns, role: CONGESTED_NODE, carrier: carrierFor(gobgpd.socket) });
  await agent.running(bench);
  await ready(bench, agent, 0);
  await changes(bench, gobgpd, agent);
  const measured = await changes(bench, gobgpd, agent);
  const idle = summary(await roundTrips(bench, gobgpd));
  const p99 = quantile(measured, 0.99);
  return [
    {
      figure: bgpChanges.name,
      what: `change in gobgpd → map entry, p99, ${CHANGES_A_SECOND}/s`,
      unit: 'ms',
      measured: p99,
      spread: summary(measured),
      reference: 'one path into gobgpd, its answer',
      referenceValue: idle.median,
      referenceSpread: idle,
      ratio: p99 / idle.median,
      target: '≤ 50 ms',
      met: p99 <= 50,
      note:
        `p50 ${quantile(measured, 0.5).toFixed(1)} ms of ${measured.length} changes, ${BATCH} at a time, each ` +
        `from when it is handed to gobgpd's stream; ${CHANGING} prefixes, each with another proxy a second later`,
    },
  ];
}

/** What gobgpd's own part is: a stream with one path, to its answer. */
async function roundTrips(bench: Bench, gobgpd: BenchGobgpd): Promise<number[]> {
  const ms: number[] = [];
  for (let i = 0; i < 50; i++) {
    bench.signal.throwIfAborted();
    ms.push(await gobgpd.upload([foreign([bgpPath(bgpPrefix(i), PROXY)])]));
  }
  return ms;
}

const POLL_MS = 250;
const LEARN_LIMIT_MS = 400_000;

/** Until the agent has learned so many paths; asked seldom, because it counts them each time. */
async function ready(bench: Bench, agent: Agent, learned: number): Promise<void> {
  const end = performance.now() + LEARN_LIMIT_MS;
  for (;;) {
    const [session] =
      ((await agent.client.get(['cnpd', 'bgp', 'session'])) as
        | { state: string; learned: number | string }[]
        | undefined) ?? [];
    if (session?.state === 'ready' && Number(session.learned) >= learned) return;
    if (performance.now() > end)
      throw new Error(
        `after ${LEARN_LIMIT_MS / 1000} s gobgpd is ${session?.state} and ${session?.learned} of ${learned} ` +
          'paths are learned',
      );
    await delay(POLL_MS, undefined, { signal: bench.signal });
  }
}

/** cnpd runs before its gobgpd is to be found: the socket's name appears when the loop is watched. */
async function many(bench: Bench): Promise<Row[]> {
  const netns = await routerNamespace(bench);
  const gobgpd = await BenchGobgpd.spawn(bench, netns);
  const paths = (from: number, to: number): Iterable<Uint8Array> =>
    inMessages(
      Array.from({ length: to - from }, (_, n) =>
        bgpPath(bgpPrefix(from + n), (from + n) % (ALL / WITH_PROXY) === 0 ? PROXY : undefined),
      ),
      foreign,
    );
  await gobgpd.upload(paths(0, FIRST));
  const name = `${bench.directory}/later.sock`;
  const agent = Agent.spawn(bench, { netns, role: CONGESTED_NODE, carrier: carrierFor(name), watchLoop: true });
  await agent.running(bench);
  await delay(SETTLE_MS, undefined, { signal: bench.signal });
  const empty = rssMb(agent.pid);
  const quiet = await watched(agent, () => delay(2000));
  const start = performance.now();
  let took = 0;
  const listing = await watched(agent, async () => {
    symlinkSync(gobgpd.socket, name);
    await ready(bench, agent, FIRST);
    took = performance.now() - start;
    await delay(1000);
  });
  bench.say(`${FIRST} paths are learned; ${ALL - FIRST} more`);
  const watching = await watched(agent, async () => {
    await gobgpd.upload(paths(FIRST, ALL));
    await ready(bench, agent, ALL);
  });
  const last = rssMb(agent.pid);
  await delay(SETTLE_MS, undefined, { signal: bench.signal });
  const settled = rssMb(agent.pid);
  const bareRss = rssMb(await bareNode(bench));
  const stall = (what: string, report: LoopReport, note: string): Row => {
    const longest = longestTurn([report]);
    const still = longestTurn([quiet]);
    return {
      figure: bgpPaths.name,
      what,
      unit: 'ms',
      measured: longest.wall,
      reference: 'the same, quiet',
      referenceValue: still.wall,
      ratio: longest.wall / still.wall,
      target: '≤ 20 ms',
      met: longest.wall <= 20,
      note:
        `at most ${longest.cpu.toFixed(1)} ms of processor time in one; ` +
        `an event waits p99 ${waitQuantile(report.gaps, 0.99).toFixed(1)} ms; ${note}`,
    };
  };
  return [
    stall(
      `longest turn while ${FIRST} paths are listed`,
      listing,
      `listed, learned and in the map within ${(took / 1000).toFixed(1)} s, a retry of the connection included`,
    ),
    stall(`longest turn while ${ALL - FIRST} more come as changes`, watching, 'as fast as gobgpd takes them'),
    {
      figure: bgpPaths.name,
      what: `memory, ${ALL} paths learned, then quiet`,
      unit: 'MB',
      measured: settled,
      reference: 'Node.js that does nothing',
      referenceValue: bareRss,
      ratio: settled / bareRss,
      target: '≤ 250 MB',
      met: settled <= 250,
      note:
        `${empty.toFixed(0)} MB before the first path, ${last.toFixed(0)} MB after the last; ` +
        `${WITH_PROXY} of the paths name a proxy, all have attribute 39`,
    },
  ];
}

export const bgpChanges: Figure = {
  name: 'bgp-changes',
  title: `BGP: ${CHANGES_A_SECOND} changes a second, from gobgpd to the map`,
  measure: latency,
};
export const bgpPaths: Figure = { name: 'bgp-paths', title: `BGP: ${FIRST} and ${ALL} paths learned`, measure: many };
