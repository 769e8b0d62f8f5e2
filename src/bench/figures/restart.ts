// A restart of cnpd with ten thousand objects in the kernel: how long until it runs again, which system calls that
// change the kernel's state it makes until then, and whether the kernel's objects are the same ones afterwards. It has
// declared senders (an entry for the proxy and one for the own ports each), learned ones, and SIDs, which are routes.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Netns } from '../../kernel/netns.ts';
import { SidRoutes } from '../../kernel/netlink/sid-routes.ts';
import { close } from '../../kernel/ffi/libc.ts';
import { objectInfo, openPinned } from '../../kernel/bpf/syscall.ts';
import { address, formatAddress } from '../../model/address.ts';
import { formatPrefix, prefix } from '../../model/prefix.ts';
import { Agent, ISIS_LINK, CONGESTED_NODE, mainThread, proxyFor, routerNamespace } from '../support/agent/agent.ts';
import { TRACE, stateChanges, tally } from '../support/agent/system-calls.ts';
import { type Bench, type Figure, until } from '../support/bench.ts';
import { Neighbor } from '../support/network/isis-neighbor.ts';
import { SENDERS_A_FRAGMENT, neighborLsp, senderLsps } from '../support/network/isis-network.ts';
import type { Row } from '../support/report.ts';
import { inTurns, quantile, summary } from '../support/statistics.ts';

const [DECLARED, LEARNED, SIDS] = [4000, 2000, 16] as const;
const ROUNDS = 5;
const MOST_MS = 1000;
/** After it runs: what the network advertises again comes in, and the agent's first passes are over. */
const AFTER_MS = 3000;

const declared = (): string[] =>
  Array.from({ length: DECLARED }, (_, i) =>
    formatPrefix(prefix(`2001:db8:4${(i >> 8).toString(16).padStart(2, '0')}:${(i & 255).toString(16)}::/64`)),
  );

const role = (): string =>
  CONGESTED_NODE +
  proxyFor(declared()) +
  'srv6:\n  core-ports: [t-bench-wan]\n  end-con:\n' +
  Array.from(
    { length: SIDS },
    (_, i) =>
      `    - { sid: 2001:db8:c::${(i + 1).toString(16)}, locator: 2001:db8:c::/48, table: ${1000 + i}, ` +
      `senders: [2001:db8:e${i.toString(16)}::/48] }\n`,
  ).join('');

interface Router {
  readonly netns: Netns;
  agent: Agent;
  /** How long the main thread ran in each start, ms. */
  readonly ran: number[];
}

const senders = (agent: Agent): number => {
  const map = agent.pinnedMap('sender_proxies');
  try {
    return [...map.keys()].length;
  } finally {
    map.close();
  }
};

/** From the start of the process until its log says that it runs. */
async function startAfter(bench: Bench, router: Router, signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  await router.agent.end(signal);
  const start = performance.now();
  router.agent = Agent.spawn(bench, { netns: router.netns, role: role(), after: router.agent });
  await until('cnpd runs', () => router.agent.logged('started') > 0, bench.signal);
  const took = performance.now() - start;
  router.ran.push(mainThread(router.agent.pid).ran);
  return took;
}

/** A new neighbor at the agent's new link, with the same LSPs. */
async function teach(bench: Bench, { agent, netns }: Router, sequence: number): Promise<void> {
  const neighbor = new Neighbor();
  await neighbor.join(bench, netns, ISIS_LINK);
  const fragments = senderLsps(sequence, address('2001:db8:ffff::10')).slice(0, LEARNED / SENDERS_A_FRAGMENT);
  neighbor.flood([neighborLsp(sequence, false), ...fragments]);
  await until('all senders', () => senders(agent) === DECLARED + LEARNED, bench.signal);
  await delay(AFTER_MS, undefined, { signal: bench.signal });
}

/** The kernel's numbers of all that cnpd has pinned, and of the programs of its links; and the routes of its SIDs. */
function inKernel({ agent, netns }: Router): string {
  const pins = readdirSync(agent.bpfDir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.debug'),
  );
  const numbers = pins.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const fd = openPinned(path);
    try {
      // struct bpf_map_info, bpf_prog_info and bpf_link_info: type, id; of a link the program's id follows.
      const info = objectInfo(path, fd, 16);
      return [path, info.getUint32(4, true), parentPath.endsWith('/links') ? info.getUint32(8, true) : 0];
    } finally {
      close(fd);
    }
  });
  return JSON.stringify([numbers.sort(), routesOf(netns)]);
}

function routesOf(netns: Netns): string[] {
  const routes = SidRoutes.open({ netns });
  try {
    return routes.own().map(({ sid, table }) => `${formatAddress(sid)} ${table}`);
  } finally {
    routes.close();
  }
}

/** One restart under strace, which makes it slower. */
async function traced(bench: Bench, router: Router): Promise<string> {
  const trace = join(bench.directory, 'trace');
  await router.agent.end('SIGTERM');
  router.agent = Agent.spawn(bench, { ...router, role: role(), after: router.agent, under: [...TRACE, trace] });
  await router.agent.running(bench);
  const runs = Date.now() / 1000;
  await teach(bench, router, ROUNDS * 2 + 2);
  await router.agent.end('SIGTERM');
  const calls = stateChanges(readFileSync(trace, 'utf8'));
  const [until_, later] = [calls.filter(({ at }) => at <= runs), calls.filter(({ at }) => at > runs)];
  return `until it runs: ${tally(until_)}; later: ${tally(later)}`;
}

export const restart: Figure = {
  name: 'restart',
  title: 'a restart with 10,000 objects in the kernel, nothing changed',
  async measure(bench) {
    const netns = await routerNamespace(bench);
    const router: Router = { netns, ran: [], agent: Agent.spawn(bench, { netns, role: role() }) };
    await router.agent.running(bench);
    await teach(bench, router, 1);
    const objects = 2 * DECLARED + LEARNED + routesOf(netns).length;
    const before = inKernel(router);
    let sequence = 1;
    const timed = (signal: 'SIGTERM' | 'SIGKILL') => async (): Promise<number> => {
      const ms = await startAfter(bench, router, signal);
      await teach(bench, router, ++sequence);
      return ms;
    };
    const node = (): number => {
      const start = performance.now();
      spawnSync(process.execPath, ['-e', '0'], { stdio: 'ignore' });
      return performance.now() - start;
    };
    const measured = await inTurns(ROUNDS, { term: timed('SIGTERM'), kill: timed('SIGKILL'), node });
    const isSame = inKernel(router) === before;
    const changes = await traced(bench, router);
    const bare = summary(measured.node);
    return (['term', 'kill'] as const).map((how): Row => {
      const took = summary(measured[how]);
      return {
        figure: this.name,
        what: `restart after SIG${how.toUpperCase()}, ${objects.toLocaleString('en-US')} objects, until it runs`,
        unit: 'ms',
        measured: took.median,
        spread: took,
        reference: 'node -e 0',
        referenceValue: bare.median,
        referenceSpread: bare,
        ratio: took.median / bare.median,
        target: `≤ ${MOST_MS} ms`,
        met: took.median <= MOST_MS,
        note:
          `the main thread ran ${quantile(router.ran, 0.5).toFixed(0)} ms of it (median), the rest is other threads and ` +
          `the wait for a processor; maps, programs, links and routes are ${isSame ? 'the same' : 'NOT the same'} after all restarts; ` +
          `calls that change the kernel's state, ${changes}`,
      };
    });
  },
};
