// The agent's event loop while it takes over the database of a large area from a neighbor that has just started, each
// time another version of every LSA: full exchange as master and as slave, loading, and what follows from it in the
// learned table and in the maps.
import { setTimeout as delay } from 'node:timers/promises';
import { parseId } from '../../packet/ospf/router-id.ts';
import { Agent, CONGESTED_NODE, mainThread, routerNamespace } from '../support/agent/agent.ts';
import { type Bench, type Figure, runFigure, until } from '../support/bench.ts';
import { type LoopReport, longestTurn, waitQuantile, watched } from '../support/agent/loop-report.ts';
import { AREA_LSAS, OSPF_AGENT, OSPF_VERSIONS, areaLsas, withArea } from '../support/network/ospf-network.ts';
import { OspfNeighbor, ospfSection } from '../support/network/ospf-neighbor.ts';
import type { Row } from '../support/report.ts';
import { summary } from '../support/statistics.ts';

const ROUNDS = 3;
/** Lower and higher than the agent's: the higher one is master. */
const NEIGHBORS = { master: parseId('192.0.2.1')!, slave: parseId('203.0.113.1')! } as const;
type Role = keyof typeof NEIGHBORS;
/** For what follows the last LSA: reachability, the learned table, maps. */
const AFTERMATH_MS = 1000;

interface Exchanged {
  readonly quiet: LoopReport[];
  readonly exchange: LoopReport[];
  /** From the neighbor's first hello until the agent is Full, ms; what its main thread ran in it. */
  readonly ms: number[];
  readonly ran: number[];
}

async function exchange(bench: Bench, version: 2 | 3, role: Role): Promise<Exchanged> {
  const netns = await routerNamespace(bench);
  const agent = Agent.spawn(bench, {
    netns,
    role: CONGESTED_NODE,
    carrier: ospfSection(version, OSPF_AGENT),
    watchLoop: true,
  });
  await agent.running(bench);
  const routerId = NEIGHBORS[role];
  const neighbor = new OspfNeighbor(withArea(OSPF_VERSIONS[version]), routerId);
  await neighbor.attach(bench, netns);
  const full = (): number => agent.logged('OSPF neighbor', { to: 'full' });
  const measured: Exchanged = { quiet: [], exchange: [], ms: [], ran: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const lsas = areaLsas(version, routerId, round);
    measured.quiet.push(await watched(agent, () => delay(2000)));
    measured.exchange.push(
      await watched(agent, async () => {
        const [start, before, fullBefore] = [performance.now(), mainThread(agent.pid), full()];
        await neighbor.join(bench, netns, lsas);
        await until('the agent is Full', () => full() > fullBefore, bench.signal, 60_000);
        measured.ms.push(performance.now() - start);
        measured.ran.push(mainThread(agent.pid).ran - before.ran);
        await delay(AFTERMATH_MS);
      }),
    );
  }
  await agent.stop();
  return measured;
}

const longest = (reports: readonly LoopReport[]): number[] => reports.map(({ gaps }) => Math.max(...gaps));

function row(figure: string, what: string, { quiet, exchange: during, ms, ran }: Exchanged): Row {
  const [spread, reference] = [summary(longest(during)), summary(longest(quiet))];
  const p99 = summary(during.map(({ gaps }) => waitQuantile(gaps, 0.99)));
  return {
    figure,
    what,
    unit: 'ms',
    measured: spread.max,
    spread,
    reference: 'the same, quiet',
    referenceValue: reference.max,
    referenceSpread: reference,
    ratio: spread.max / reference.max,
    target: '≤ 20 ms',
    met: spread.max <= 20,
    note:
      `at most ${longestTurn(during).cpu.toFixed(1)} ms of processor time in one; ` +
      `p99 ${p99.median.toFixed(1)} ms; Full after ${summary(ms).median.toFixed(0)} ms, ` +
      `in which the agent ran ${summary(ran).median.toFixed(0)} ms`,
  };
}

export const ospfExchange: Figure = {
  name: 'ospf-exchange',
  title: `the event loop during a full exchange of ${AREA_LSAS} LSAs`,
  async measure(bench) {
    const rows: Row[] = [];
    for (const version of [2, 3] as const) {
      for (const role of ['master', 'slave'] as const) {
        bench.say(`OSPFv${version}, the agent is ${role}`);
        const what = `OSPFv${version}, longest turn, ${AREA_LSAS} LSAs, as ${role}`;
        // A figure of its own, so that the one agent is gone before the next comes.
        rows.push(
          ...(await runFigure(
            {
              name: this.name,
              title: this.title,
              measure: async (own) => [row(this.name, what, await exchange(own, version, role))],
            },
            bench,
          )),
        );
      }
    }
    return rows;
  },
};
