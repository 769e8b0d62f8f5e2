// Ten thousand sender prefixes by OSPFv2 and OSPFv3: how long after the last Link State Update the last map entry is in
// the kernel. As isis-senders.ts for IS-IS.
import { setTimeout as delay } from 'node:timers/promises';
import { parseId } from '../../packet/ospf/router-id.ts';
import { MIN_LS_ARRIVAL_MS } from '../../carriers/ospf/constants.ts';
import { type Figure, runFigure } from '../support/bench.ts';
import { SENDERS } from '../support/network/isis-network.ts';
import { type Teacher, latencyRows, learn } from '../support/learn-senders.ts';
import { OSPF_AGENT, OSPF_VERSIONS, SenderLsas, ospfProxy, ospfSenderPrefix } from '../support/network/ospf-network.ts';
import { OspfNeighbor, ospfSection } from '../support/network/ospf-neighbor.ts';

const NEIGHBOR = parseId('192.0.2.1')!;

function teacher(version: 2 | 3): Teacher {
  const neighbor = new OspfNeighbor(OSPF_VERSIONS[version], NEIGHBOR);
  const lsas = new SenderLsas(version, NEIGHBOR);
  return {
    carrier: ospfSection(version, OSPF_AGENT),
    async join(bench, netns) {
      await neighbor.attach(bench, netns);
      await neighbor.join(bench, netns);
    },
    prefix: (i) => ospfSenderPrefix(version, i),
    proxy: (n) => ospfProxy(version, n),
    messages: (n) => neighbor.frames(lsas.version(n, ospfProxy(version, n))),
    flood: (frames) => neighbor.flood(frames),
    // The agent takes no new instance of an LSA before (RFC 2328 §13 step 5a).
    settled: (bench) => delay(1.1 * MIN_LS_ARRIVAL_MS, undefined, { signal: bench.signal }),
  };
}

export const ospfSenders: Figure = {
  name: 'ospf-senders',
  title: `${SENDERS} sender prefixes by OSPF: learning them`,
  async measure(bench) {
    const rows = [];
    for (const version of [2, 3] as const) {
      bench.say(`OSPFv${version}`);
      // A figure of its own, so that the one agent is gone before the next comes.
      rows.push(
        ...(await runFigure(
          {
            name: this.name,
            title: this.title,
            measure: async (own) =>
              latencyRows(this.name, `OSPFv${version} update`, await learn(own, teacher(version))),
          },
          bench,
        )),
      );
    }
    return rows;
  },
};
