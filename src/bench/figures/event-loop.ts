// The agent's event loop while 5,000 LSPs of foreign routers arrive, all at once and at 1,000 a second, and its
// processor time when nothing happens afterwards.
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, CONGESTED_NODE, ISIS_LINK, bareNode, cpuMs, routerNamespace } from '../support/agent/agent.ts';
import { type Bench, type Figure, until } from '../support/bench.ts';
import { neighborLsp, routerLsps } from '../support/network/isis-network.ts';
import { type LoopReport, longestTurn, waitQuantile, watched } from '../support/agent/loop-report.ts';
import { Neighbor } from '../support/network/isis-neighbor.ts';
import type { Row } from '../support/report.ts';
import { summary } from '../support/statistics.ts';

const LSPS = 5000;
const ROUNDS = 3;
const PACED_BATCH = 10;
const PACED_GAP_MS = 10;
/** For what follows the last LSP: reachability, the learned table. */
const AFTERMATH_MS = 300;
const IDLE_MS = 20_000;

async function flood(bench: Bench, neighbor: Neighbor, sequence: number, paced: boolean): Promise<void> {
  const lsps = routerLsps(LSPS, sequence, 10 + sequence);
  neighbor.acknowledged.clear();
  if (!paced) neighbor.flood(lsps);
  else {
    for (let i = 0; i < lsps.length; i += PACED_BATCH) {
      neighbor.flood(lsps.slice(i, i + PACED_BATCH));
      await delay(PACED_GAP_MS);
    }
  }
  await until('all acknowledgements', () => neighbor.acknowledged.size >= LSPS, bench.signal, 60_000);
  await delay(AFTERMATH_MS);
}

async function idle(bench: Bench, agent: Agent): Promise<Row> {
  const bare = await bareNode(bench);
  await delay(2000);
  const share = async (): Promise<number[]> => {
    const pids = [agent.pid, bare];
    const before = pids.map(cpuMs);
    await delay(IDLE_MS, undefined, { signal: bench.signal });
    return pids.map((pid, i) => ((cpuMs(pid) - before[i]!) / IDLE_MS) * 100);
  };
  // Some ten seconds after a flood V8 collects what it left, once: that is not idling, and is reported separately.
  const [aftermath] = (await share()) as [number, number];
  const [ours, reference] = (await share()) as [number, number];
  return {
    figure: 'event-loop',
    what: `idle, ${LSPS} LSPs in its database`,
    unit: '% CPU',
    measured: ours,
    reference: 'Node.js with one timer a second',
    referenceValue: reference,
    ratio: ours / reference,
    target: '< 0.5 %',
    met: ours < 0.5,
    note:
      `over ${IDLE_MS / 1000} s, all threads, ` +
      'hellos every second from the neighbor and every three from the agent; ' +
      `${aftermath.toPrecision(2)} % in the ${IDLE_MS / 1000} s before, in which V8 collects what the flood left`,
  };
}

export const eventLoop: Figure = {
  name: 'event-loop',
  title: `the event loop while ${LSPS} foreign LSPs arrive, and idle`,
  async measure(bench) {
    const netns = await routerNamespace(bench);
    const agent = Agent.spawn(bench, { netns, role: CONGESTED_NODE, watchLoop: true });
    await agent.running(bench);
    const neighbor = new Neighbor();
    await neighbor.join(bench, netns, ISIS_LINK);
    neighbor.flood([neighborLsp(1, true)]);
    await delay(1000);
    const rounds: Record<'quiet' | 'burst' | 'paced', LoopReport[]> = { quiet: [], burst: [], paced: [] };
    for (let round = 0; round < ROUNDS; round++) {
      rounds.quiet.push(await watched(agent, () => delay(2000)));
      rounds.burst.push(await watched(agent, () => flood(bench, neighbor, 2 * round + 1, false)));
      rounds.paced.push(await watched(agent, () => flood(bench, neighbor, 2 * round + 2, true)));
    }
    const p99 = (reports: readonly LoopReport[]) => summary(reports.map((r) => waitQuantile(r.gaps, 0.99)));
    const quiet = p99(rounds.quiet);
    const row = (what: string, reports: readonly LoopReport[]): Row => {
      const spread = p99(reports);
      const longest = longestTurn(reports);
      const perfHooks = Math.max(...reports.map((r) => r.perfHooksP99Ms));
      return {
        figure: this.name,
        what,
        unit: 'ms',
        measured: spread.median,
        spread,
        reference: 'the same, quiet',
        referenceValue: quiet.median,
        referenceSpread: quiet,
        ratio: spread.median / quiet.median,
        target: '< 20 ms',
        met: spread.max < 20,
        note:
          `longest turn ${longest.wall.toFixed(1)} ms, ${longest.cpu.toFixed(1)} ms of processor time at most in ` +
          `one; p99 of perf_hooks at most ${perfHooks.toFixed(1)} ms; met only if every round is`,
      };
    };
    const loop = [
      row(`event loop p99, ${LSPS} LSPs in one burst`, rounds.burst),
      row(`event loop p99, ${LSPS} LSPs at 1,000/s`, rounds.paced),
    ];
    return [...loop, await idle(bench, agent)];
  },
};
