// The carriers as a whole, on many seeds: the same events must keep having the same effects, to the byte and the
// millisecond. same-effects.json has digests of the recorded effects. They do not prove that the effects are right; the
// other tests do. After an intended change of effects, record them again:
// UPDATE_EFFECTS=1 npx vitest run --project unit src/carriers/same-effects.test.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { origination } from '../model/advertisement.fixture.ts';
import type { Origination } from '../model/advertisement.ts';
import { prefix } from '../model/prefix.ts';
import { Agent as BgpAgent, END_CON, container, nhc, path, pnc, route } from './bgp/content.fixture.ts';
import { Router as IsisRouter } from './isis/router.fixture.ts';
import { Agent as IsisAgent, Simulation, testConfig as isisConfig } from './isis/simulation.fixture.ts';
import { type AnyVersion, ContentNet, proxyAddress, senderPrefix } from './ospf/content.fixture.ts';
import { AREA, Link, Router, areaConfig, testConfig as ospfConfig } from './ospf/simulation.fixture.ts';
import { OSPFV2, OSPFV3 } from './ospf/version.ts';
import { type Digest, Transcript, randomFrom } from './transcript.fixture.ts';

const RECORD = new URL('./same-effects.json', import.meta.url);
const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Record<string, Digest>;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

type Random = () => number;
const below = (random: Random, n: number): number => Math.floor(random() * n);
const some = <T>(random: Random, most: number, make: (n: number) => T): T[] =>
  [...new Set(Array.from({ length: below(random, most + 1) }, () => below(random, 40)))].map(make);

/** A declaration of a random size, sometimes larger than one LSP or LSA. */
function declared(random: Random, version: AnyVersion): Origination {
  const many = random() < 0.2 ? 90 : 6;
  const proxy = address(proxyAddress(version, 1 + below(random, 3)));
  const numbers = [...new Set(Array.from({ length: below(random, many) }, () => below(random, 200)))];
  return origination({
    proxies: numbers.map((n) => ({ prefix: prefix(senderPrefix(version, n)), proxy })),
    sids:
      version === 2
        ? []
        : some(random, 2, (n) => ({
            sid: address(`2001:db8:5${n}::1`),
            locator: prefix(`2001:db8:5${n}::/48`),
            behavior: END_CON,
          })),
    routerAddresses: random() < 0.5 ? [address(proxyAddress(version, 9))] : [],
  });
}

function isis(seed: number): Digest {
  const [random, transcript, simulation] = [randomFrom(seed), new Transcript(), new Simulation()];
  class Recorded extends IsisAgent {
    protected override carryOut(effect: Parameters<IsisAgent['carryOut']>[0]): void {
      if (effect.type === 'send') transcript.add('send', simulation.now, this.speaker.system, hex(effect.pdu));
      else if (effect.type === 'learned') transcript.report(simulation.now, this.speaker.system, effect.report);
      else if (effect.type === 'reachability')
        transcript.add('reachable', simulation.now, this.speaker.system, ...[...effect.reachable].sort());
      super.carryOut(effect);
    }
  }
  const routers = ['0000.0000.1111', '0000.0000.2222'].map((system) => new IsisRouter(simulation, system));
  simulation.wire(routers[0]!.attach, routers[1]!.attach);
  const levels = [[1], [1, 2], [1, 2], [2]] as const;
  const agents = levels.map(
    (each, i) => new Recorded(simulation, isisConfig(`0000.0000.00a${i}`, { levels: each, seed: seed * 16 + i })),
  );
  for (const [i, agent] of agents.entries()) {
    // A PDU of an agent may be lost, because it retransmits. The routers do not.
    simulation.wire(agent.attach, routers[i % 2]!.attach).filter = (_, from) => from === 1 || random() > 0.05;
  }
  for (let step = 0; step < 12; step++) {
    const agent = agents[below(random, agents.length)]!;
    agent.event({ type: 'originate', origination: declared(random, random() < 0.3 ? 2 : 3) });
    simulation.run(100 + below(random, 30_000));
  }
  agents[below(random, agents.length)]!.event({ type: 'stop' });
  simulation.run(20_000);
  for (const agent of agents) transcript.counters(agent.speaker.system, agent.counters);
  return transcript.result;
}

function ospfLink(version: AnyVersion, seed: number): Digest {
  const [random, transcript] = [randomFrom(seed), new Transcript()];
  const ospf = version === 2 ? OSPFV2 : OSPFV3;
  class Recorded extends Router {
    override note(effect: Parameters<Router['note']>[0]): void {
      if (effect.type === 'send') transcript.add('send', this.config.routerId, hex(effect.payload));
      else if (effect.type === 'database')
        transcript.add(
          'database',
          this.config.routerId,
          JSON.stringify(effect.key),
          effect.lsa ? hex(effect.lsa.raw) : '-',
        );
      else if (effect.type === 'adjacency') transcript.add('adjacency', this.config.routerId, effect.neighbor);
      super.note(effect);
    }
  }
  const routers = [
    new Recorded(ospfConfig(0x01010101, ospf, areaConfig(), { seed })),
    new Recorded(ospfConfig(0x02020202, ospf, areaConfig(), { seed: seed + 100 })),
  ] as const;
  const link = new Link(routers[0], routers[1]);
  link.weather = () => (random() < 0.05 ? [] : random() < 0.05 ? [1, 40] : [1 + below(random, 3)]);
  for (let step = 0; step < 10; step++) {
    const side = random() < 0.5 ? 0 : 1;
    const agent = new ContentNet(version).agent(routers[side].config.routerId, [AREA]);
    agent.declares(declared(random, version));
    link.event(side, { type: 'originate', areaId: AREA, lsas: agent.advertised.get(AREA) ?? [] });
    link.run(100 + below(random, 20_000));
  }
  link.event(random() < 0.5 ? 0 : 1, { type: 'stop' });
  link.run(20_000);
  for (const router of routers) transcript.counters(`${router.config.routerId}`, router.counters);
  return transcript.result;
}

function ospfAreas(version: AnyVersion, seed: number): Digest {
  const [random, transcript, net] = [randomFrom(seed), new Transcript(), new ContentNet(version)];
  const areas = [[1], [0, 1], [0, 1], [0], [0, 2], [2]];
  const agents = areas.map((each, i) => net.agent(0x01010101 * (i + 1), each));
  const note = (): void => {
    for (const [i, agent] of agents.entries()) {
      for (const [areaId, lsas] of agent.advertised) transcript.add('originate', net.now, i, areaId, textOf(lsas));
      for (const report of agent.reports.values()) transcript.report(net.now, `${i}`, report);
      transcript.add('reachable', net.now, i, ...[...agent.reachable].sort());
    }
  };
  for (let step = 0; step < 12; step++) {
    net.declare(agents[below(random, agents.length)]!, declared(random, version));
    net.run(50 + below(random, 8000));
    note();
  }
  net.kill(agents[below(random, agents.length)]!);
  net.run(200_000);
  note();
  for (const [i, agent] of agents.entries()) transcript.counters(`${i}`, agent.counters);
  return transcript.result;
}
/** LSAs as text. */
const textOf = (lsas: readonly unknown[]): string =>
  JSON.stringify(lsas, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString(16) : value instanceof Uint8Array ? hex(value) : value,
  );

function bgp(seed: number): Digest {
  const [random, transcript] = [randomFrom(seed), new Transcript()];
  const agent = new BgpAgent();
  const hop = (): string => `2001:db8::${1 + below(random, 4)}`;
  const somePath = (_: unknown, i: number): ReturnType<typeof path> => {
    const nextHop = hop();
    const characteristics = [
      ...(random() < 0.7 ? [pnc(hop())] : []),
      ...(random() < 0.2 ? [container('2001:db8:51::1')] : []),
    ];
    const bytes = characteristics.length > 0 ? { nhc: nhc(random() < 0.9 ? nextHop : hop(), ...characteristics) } : {};
    return path(nextHop, {
      identifier: i,
      best: i === 0,
      med: below(random, 3),
      neighbor: `2001:db8::fff${i}`,
      ...bytes,
    });
  };
  const routes = (): ReturnType<typeof route>[] =>
    some(random, 8, (n) => route(senderPrefix(3, n), ...Array.from({ length: below(random, 3) }, somePath)));
  agent.connect(...routes());
  for (let step = 0; step < 40; step++) {
    const what = random();
    if (what < 0.6) agent.report(...routes());
    else if (what < 0.85) agent.declare(declared(random, 3));
    else if (what < 0.9) {
      agent.lose();
      agent.pass(1000 + below(random, 200_000));
      agent.connect(...routes());
    }
    for (const line of agent.answer(random() < 0.1 ? 'busy' : undefined)) transcript.add('asked', agent.now, line);
    agent.pass(below(random, 5000));
    for (const line of agent.lookUp() ?? []) transcript.add('looked', agent.now, line);
  }
  for (const effect of agent.effects) if (effect.type === 'learned') transcript.report(0, 'bgp', effect.report);
  transcript.counters('bgp', agent.counters);
  return transcript.result;
}

const SCENES: Readonly<Record<string, (seed: number) => Digest>> = {
  'isis levels': isis,
  'ospfv2 link': (seed) => ospfLink(2, seed),
  'ospfv3 link': (seed) => ospfLink(3, seed),
  'ospfv2 areas': (seed) => ospfAreas(2, seed),
  'ospfv3 areas': (seed) => ospfAreas(3, seed),
  bgp,
};
const rows = Object.entries(SCENES).flatMap(([name, run]) =>
  SEEDS.map((seed) => [`${name}, seed ${seed}`, () => run(seed)] as const),
);

if (process.env['UPDATE_EFFECTS'] !== undefined) {
  test('the effects are recorded', () => {
    writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(rows.map(([name, run]) => [name, run()])), null, 2)}\n`);
  });
} else {
  test.each(rows)('%s: the same effects as ever', (name, run) => expect(run()).toEqual(recorded[name]));
}
