// Hostile routers somewhere in the area: what their LSAs cost is in proportion to how long they are, not to its square.
import type { TopologyLink } from '../../model/topology.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import {
  type AnyVersion,
  ContentAgent,
  contentConfig,
  declaration,
  encoded,
  proxyAddress,
  routerLsa,
  senderPrefix,
} from './content.fixture.ts';
import type { OwnLsa } from './version.ts';

const AREA = 0;
const SELF = 0x01010101;
const HUB = 0x0a0a0a0a;
const OTHER = 0x02020202;
const VERSIONS: readonly AnyVersion[] = [2, 3];

/** The same prefixes, naming no proxy. */
function withoutAddresses(lsa: OwnLsa): OwnLsa {
  const { body } = lsa;
  if (body.kind !== 'extended-prefix-lsa' && body.kind !== 'e-intra-area-prefix') throw new Error(body.kind);
  const tlvs = body.tlvs.map((tlv) =>
    tlv.kind === 'unknown'
      ? tlv
      : { ...tlv, subTlvs: tlv.subTlvs.filter(({ kind }) => kind !== 'source-router-address') },
  );
  return { ...lsa, body: { ...body, tlvs } as OwnLsa['body'] };
}

const agentOf = (version: AnyVersion, routerId: number): ContentAgent =>
  new ContentAgent(contentConfig(version, routerId, [AREA]));

/** What OTHER would say of its sender prefix, under the n-th link-state ID. */
function saying(version: AnyVersion): (n: number) => OwnLsa {
  const other = agentOf(version, OTHER);
  other.event({ type: 'declare', origination: declaration(version, [1]) });
  const [lsa] = other.advertised.get(AREA)!;
  return (n) => ({ ...lsa!, lsId: lsa!.lsId + n });
}

describe.each(VERSIONS)('OSPFv%d', (version) => {
  test('a router that lists a prefix in more and more LSAs costs a report for each, not one for all of them each time', () => {
    const agent = agentOf(version, SELF);
    agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF, OTHER]));
    agent.hears(AREA, OTHER, routerLsa(version, OTHER, [HUB]));
    agent.event({ type: 'adjacency', areaId: AREA, neighbor: HUB });
    agent.pass(1000);
    const lsa = saying(version);
    let reports = 0;
    for (let n = 1; n <= 50; n++) {
      const effects = agent.event({ type: 'database', areaId: AREA, ...encoded(version, OTHER, lsa(n)) });
      reports += effects.filter(({ type }) => type === 'learned').length;
    }
    expect(reports).toBe(50);
    // The one that counts goes: the next one has to say it.
    agent.loses(AREA, OTHER, lsa(1));
    expect(agent.learned(senderPrefix(version, 1))).toHaveLength(1);
  });

  test('D6: an address is looked for once, however many prefixes name none; when it changes, they are reported again a batch at a time', () => {
    const agent = agentOf(version, SELF);
    agent.hears(AREA, HUB, routerLsa(version, HUB, [SELF, OTHER]));
    agent.hears(AREA, OTHER, routerLsa(version, OTHER, [HUB]));
    agent.event({ type: 'adjacency', areaId: AREA, neighbor: HUB });
    agent.pass(1000);
    const area = agent.content.areas.get(AREA)!;
    const other = agentOf(version, OTHER);
    const many = 300;
    for (let n = 1; n <= many; n++) {
      other.declares(declaration(version, [n], 1, { routerAddresses: [address(proxyAddress(version, 9))] }));
      const [lsa] = other.advertised.get(AREA)!;
      agent.hears(AREA, OTHER, { ...withoutAddresses(lsa!), lsId: lsa!.lsId + n });
    }
    let looked = 0;
    const lsas = area.routers.get(OTHER)!;
    const values = lsas.values.bind(lsas);
    lsas.values = () => (looked++, values());
    const routerAddress = other.advertised.get(AREA)!.at(-1)!;
    const effects = agent.event({ type: 'database', areaId: AREA, ...encoded(version, OTHER, routerAddress) });
    expect(effects.filter(({ type }) => type === 'learned').length).toBeLessThan(many / 2);
    agent.pass(0);
    for (const n of [1, many])
      expect(agent.learned(senderPrefix(version, n))).toEqual([expect.stringContaining(proxyAddress(version, 9))]);
    // Once for the prefixes that need it, once for the address.
    expect(looked).toBeLessThan(5);
  });

  test('a walk over the topology reads every list of links once, however often others name the router', () => {
    const agent = agentOf(version, SELF);
    const { nodes } = agent.content.areas.get(AREA)!.graph;
    let read = 0;
    const counted = (links: TopologyLink[]): TopologyLink[] =>
      new Proxy(links, {
        get: (target, at) =>
          typeof at === 'string' && /^\d+$/.test(at)
            ? (read++, target[Number(at)])
            : (Reflect.get(target, at) as unknown),
      });
    const [many, hub] = [300, `r${HUB}`];
    const links = (n: number, end: (i: number) => string): TopologyLink[] =>
      counted(Array.from({ length: n }, (_, i) => ({ to: end(i), cost: 1 })));
    nodes.set(hub, new Map([['1', { name: hub, links: links(many, () => 'r7'), transit: true }]]));
    nodes.set('r7', new Map([['1', { name: 'r7', links: links(many, (i) => `r${1000 + i}`), transit: true }]]));
    agent.event({ type: 'adjacency', areaId: AREA, neighbor: HUB });
    agent.pass(1000);
    expect(read).toBe(2 * many);
  });
});
