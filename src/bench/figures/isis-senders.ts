// Ten thousand sender prefixes: how long after the last LSP the last map entry is in the kernel, how much is flooded
// when one of them changes, how much memory the agent takes. A real cnpd learns them from the router beside it; another
// one declares them itself.
import { setTimeout as delay } from 'node:timers/promises';
import { type IpAddress, address } from '../../model/address.ts';
import { formatPrefix } from '../../model/prefix.ts';
import { Agent, ISIS_LINK, bareNode, proxyFor, routerNamespace, rssMb } from '../support/agent/agent.ts';
import { type Bench, type Figure, until } from '../support/bench.ts';
import {
  NEIGHBOR_SYSTEM,
  SENDERS,
  SENDER_FRAGMENTS,
  neighborLsp,
  senderLsps,
  senderPrefix,
} from '../support/network/isis-network.ts';
import { REPETITIONS, SETTLE_MS, type Teacher, latencyRows, learn } from '../support/learn-senders.ts';
import { Neighbor } from '../support/network/isis-neighbor.ts';
import type { Row } from '../support/report.ts';
import { quantile, summary } from '../support/statistics.ts';

const CHANGES = 3;
/** Nothing more is flooded after a change when nothing came for so long. */
const QUIET_MS = 1500;

/** IS-IS. */
function teacher(): Teacher {
  const neighbor = new Neighbor();
  const proxy = (version: number): IpAddress => address(`2001:db8:ffff::${(version + 0x10).toString(16)}`);
  const last = `${NEIGHBOR_SYSTEM}.00-${SENDER_FRAGMENTS.toString(16).padStart(2, '0')}`;
  return {
    async join(bench, netns) {
      await neighbor.join(bench, netns, ISIS_LINK);
      neighbor.flood([neighborLsp(1, false)]);
    },
    prefix: senderPrefix,
    proxy,
    messages: (version) => senderLsps(version, proxy(version)),
    flood: (messages) => neighbor.flood(messages),
    settled: (bench, version) =>
      until('acknowledgements', () => neighbor.acknowledged.get(last) === version, bench.signal),
  };
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
  const neighbor = new Neighbor();
  await neighbor.join(bench, netns, ISIS_LINK);
  const quiet = (): boolean => performance.now() - (neighbor.flooded.at(-1)?.at ?? performance.now()) > QUIET_MS;
  const ids = (): Set<string> => new Set(neighbor.flooded.map((l) => l.id));
  await until('all fragments', () => ids().size > SENDERS / 50 && quiet(), bench.signal, 60_000);
  const fragments = [...ids()].filter((id) => !id.endsWith('-00')).length;
  const [touched, ms]: [number[], number[]] = [[], []];
  for (let change = 0; change < 2 * CHANGES; change++) {
    const gone = 1234 + 1000 * (change >> 1);
    neighbor.flooded.length = 0;
    agent.configure(proxyFor(change % 2 === 0 ? prefixes.filter((_, i) => i !== gone) : prefixes));
    const start = performance.now();
    agent.child.kill('SIGHUP');
    await until('the changed LSP', () => neighbor.flooded.length > 0 && quiet(), bench.signal);
    touched.push(new Set(neighbor.flooded.map((l) => `${l.id} ${l.sequence}`)).size);
    ms.push(neighbor.flooded[0]!.at - start);
  }
  const last = rssMb(agent.pid);
  await delay(SETTLE_MS, undefined, { signal: bench.signal });
  const settled = rssMb(agent.pid);
  await agent.stop();
  return { fragments, touched, ms, rss: { last, settled } };
}

export const isisSenders: Figure = {
  name: 'isis-senders',
  title: `${SENDERS} sender prefixes: learning them, changing one, memory`,
  async measure(bench) {
    const learned = await learn(bench, teacher());
    bench.say('learned; now a proxy that declares them');
    const declared = await declare(bench);
    const most = Math.max(...declared.touched);
    const bareRss = rssMb(await bareNode(bench));
    const memory = (what: string, rss: number, note?: string): Row => ({
      figure: this.name,
      what,
      unit: 'MB',
      measured: rss,
      reference: 'Node.js that does nothing',
      referenceValue: bareRss,
      ratio: rss / bareRss,
      target: '≤ 120 MB',
      met: rss <= 120,
      ...(note !== undefined && { note }),
    });
    return [
      ...latencyRows(this.name, 'LSP', learned),
      {
        figure: this.name,
        what: 'LSPs flooded when one prefix changes',
        unit: 'LSPs',
        measured: most,
        spread: summary(declared.touched),
        reference: 'fragments with prefixes',
        referenceValue: declared.fragments,
        ratio: most / declared.fragments,
        target: '1',
        met: most === 1,
        note:
          `SIGHUP to LSP on the wire: ${quantile(declared.ms, 0.5).toFixed(0)} ms, ` +
          `the file's ${SENDERS} prefixes read again included`,
      },
      memory(
        'memory, learned once, then quiet',
        learned.rss.first,
        `${learned.rss.empty.toFixed(0)} MB before the first LSP`,
      ),
      memory(
        `memory, learned ${2 * REPETITIONS} times more, then quiet`,
        learned.rss.settled,
        `${learned.rss.last.toFixed(0)} MB before ${SETTLE_MS / 1000} s of quiet`,
      ),
      memory(
        'memory, declared and changed, then quiet',
        declared.rss.settled,
        `${declared.rss.last.toFixed(0)} MB before ${SETTLE_MS / 1000} s of quiet`,
      ),
    ];
  },
};
