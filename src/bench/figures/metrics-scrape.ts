// A scrape of metrics: 10,000 series of a made-up router, and a real cnpd with as many ports as a file may have. Beside
// it a server that has the same bytes ready. How long others wait for their turn meanwhile is the second half.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Netns } from '../../kernel/netns.ts';
import { Rtnetlink } from '../../kernel/netlink/rtnetlink.ts';
import { Agent, routerNamespace } from '../support/agent/agent.ts';
import { type LoopReport, longestTurn, watched } from '../support/agent/loop-report.ts';
import { type Bench, type Figure, dist } from '../support/bench.ts';
import { type Scrape, scrapes } from '../support/metrics/scrapes.ts';
import type { Row } from '../support/report.ts';
import { type Summary, summary } from '../support/statistics.ts';

const SERIES = 10_000;
const ROUNDS = 20;
const MOST_MS = 50;
const MOST_TURN_MS = 20;
/** The limit of cnpd.yaml. */
const PORTS = 128;
const AGENT_PORT = 9464;
const QUIET_MS = 5000;
/** Whatever the agent does again and again is done once: full passes a minute, facts every half. */
const STEADY_MS = 65_000;

interface Measured {
  readonly found: readonly Scrape[];
  readonly loop: LoopReport;
  readonly reference: string;
  readonly bare: Summary;
  /** The same process without scrapes. */
  readonly quiet: LoopReport;
  /** The first one of the process. */
  readonly first?: Scrape;
}

const turnText = (loop: LoopReport): string => {
  const { wall, main, cpu } = longestTurn([loop]);
  return `${wall.toFixed(1)} ms, processor time ${main.toFixed(1)} of its thread and ${cpu.toFixed(1)} of all`;
};

function row(what: string, { found, loop, quiet, first, reference, bare }: Measured): Row {
  const spread = summary(found.map(({ ms }) => ms));
  const turns = longestTurn([loop, quiet]);
  return {
    figure: 'metrics-scrape',
    what: `${what}, ${found[0]!.series.toLocaleString('en-US')} series`,
    unit: 'ms',
    measured: spread.median,
    spread,
    reference,
    referenceValue: bare.median,
    referenceSpread: bare,
    ratio: spread.median / bare.median,
    target: `≤ ${MOST_MS} ms, turns ≤ ${MOST_TURN_MS} ms of the main thread`,
    met: spread.median <= MOST_MS && turns.main <= MOST_TURN_MS,
    note:
      `${found[0]!.bytes.toLocaleString('en-US')} bytes; longest turn ${turnText(loop)}; without scrapes ` +
      `${turnText(quiet)}; ${first ? `the first scrape ${first.ms.toFixed(1)} ms; ` : ''}` +
      `met if the median and the thread's time in any turn are`,
  };
}

async function madeUp(bench: Bench): Promise<Row> {
  const argv = ['--import', join(dist(), 'loop-watch.js')];
  const child = fork(join(dist(), 'metrics-server.js'), [String(SERIES)], { execArgv: argv });
  bench.finally(() => void child.kill());
  const [at] = (await once(child, 'message')) as [{ port: number; plain: number }];
  const order = async (text: 'start' | 'stop'): Promise<void> => void child.send(text);
  const quiet = await watched({ child, order }, () => delay(QUIET_MS));
  let found: Scrape[] = [];
  const loop = await watched({ child, order }, async () => {
    found = await scrapes(`http://127.0.0.1:${at.port}/metrics`, ROUNDS);
  });
  const bare = summary((await scrapes(`http://127.0.0.1:${at.plain}/`, ROUNDS)).map(({ ms }) => ms));
  return row('scrape of a made-up router', { found, loop, quiet, reference: 'the same bytes, ready-made', bare });
}

/** Ports with a queue to watch, and the lines of cnpd.yaml that watch them. */
async function ports(bench: Bench, netns: Netns): Promise<string> {
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  const names: string[] = [];
  for (let i = 0; i < PORTS / 2; i++) {
    const [name, peer] = [`t-m${i}a`, `t-m${i}b`];
    await rtnetlink.createVeth({ name, peer: { name: peer } });
    names.push(name, peer);
  }
  for (const name of names) {
    await rtnetlink.setLink(name, { up: true });
    const { ifindex } = (await rtnetlink.link(name))!;
    await rtnetlink.setTbf({ ifindex, rate: 5_000_000n, burst: 20_000, limit: 2_000_000 });
  }
  rtnetlink.close();
  return `ports:\n${names.map((name) => `  - { interface: ${name}, k-min: 50kB, k-max: 100kB }\n`).join('')}`;
}

async function real(bench: Bench): Promise<Row> {
  const netns = await routerNamespace(bench);
  const role = `metrics: { address: 127.0.0.1:${AGENT_PORT} }\n${await ports(bench, netns)}`;
  const agent = Agent.spawn(bench, { netns, role, watchLoop: true });
  await agent.running(bench);
  const url = `http://127.0.0.1:${AGENT_PORT}`;
  const quiet = await watched(agent, () => delay(STEADY_MS));
  let found: Scrape[] = [];
  let first: Scrape | undefined;
  const loop = await watched(agent, async () => {
    [first] = await scrapes(`${url}/metrics`, 1, netns, 0);
    found = await scrapes(`${url}/metrics`, ROUNDS, netns);
  });
  const bare = summary((await scrapes(`${url}/livez`, ROUNDS, netns)).map(({ ms }) => ms));
  return row(`scrape of cnpd with ${PORTS} ports`, {
    ...{ found, loop, quiet, reference: 'its /livez', bare },
    ...(first && { first }),
  });
}

export const metricsScrape: Figure = {
  name: 'metrics-scrape',
  title: `scrapes of metrics, ${SERIES} series and ${PORTS} ports`,
  measure: async (bench) => [await madeUp(bench), await real(bench)],
};
