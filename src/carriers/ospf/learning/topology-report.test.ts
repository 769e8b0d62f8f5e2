// The topology that the carrier reports of each of its areas, in both versions.
import { describe, expect, test } from 'vitest';
import { topologyText } from '../../../model/topology.fixture.ts';
import type { AreaTopology } from '../../../model/topology.ts';
import type { LsaBody } from '../../../packet/ospf/lsa/types.ts';
import { OPTION_V3 } from '../../../packet/ospf/numbers.ts';
import { type AnyVersion, ContentAgent, ContentNet, contentConfig } from '../content.fixture.ts';
import type { ContentConfig } from '../content-state.ts';
import type { OwnLsa } from '../version.ts';

const [SELF, HUB, OTHER, THIRD] = [1, 10, 2, 3] as const;
const LAN_INTERFACE = 7;
const NO_TOS = new Uint8Array();

interface Ends {
  readonly routers?: readonly (readonly [router: number, cost: number])[];
  /** The LAN of HUB. */
  readonly lan?: number;
  readonly options?: number;
  readonly lsId?: number;
}

function routerLsa(version: AnyVersion, router: number, { routers = [], lan, options, lsId = 0 }: Ends): OwnLsa {
  if (version === 2) {
    const links = [
      ...routers.map(([linkId, metric]) => ({ type: 1, linkId, linkData: 0, metric, tosMetrics: NO_TOS })),
      ...(lan === undefined ? [] : [{ type: 2, linkId: HUB, linkData: 0, metric: lan, tosMetrics: NO_TOS }]),
      { type: 3, linkId: 0x0a000000 + router, linkData: 0xffffffff, metric: 1, tosMetrics: NO_TOS },
    ];
    return { type: 1, lsId: router, body: { kind: 'router-v2', flags: 0, links } };
  }
  const end = { interfaceId: 1, neighborInterfaceId: LAN_INTERFACE };
  const links = [
    ...routers.map(([neighborRouterId, metric]) => ({ type: 1, metric, neighborRouterId, ...end })),
    ...(lan === undefined ? [] : [{ type: 2, metric: lan, neighborRouterId: HUB, ...end }]),
  ];
  const flags = options ?? OPTION_V3.v6 | OPTION_V3.router;
  return { type: 0x2001, lsId, body: { kind: 'router-v3', flags: 0, options: flags, links } };
}

function networkLsa(version: AnyVersion, attachedRouters: readonly number[]): OwnLsa {
  const body: LsaBody =
    version === 2
      ? { kind: 'network-v2', mask: 0xffffff00, attachedRouters }
      : { kind: 'network-v3', options: 0x13, attachedRouters };
  return { type: version === 2 ? 2 : 0x2002, lsId: version === 2 ? HUB : LAN_INTERFACE, body };
}

const latest = (agent: ContentAgent, index = 0): AreaTopology => agent.topologies.at(-1)![index]!;
const shown = (agent: ContentAgent, index?: number): string[] => topologyText(latest(agent, index));

function agentOf(version: AnyVersion, rest: Partial<ContentConfig> = {}) {
  const agent = new ContentAgent(contentConfig(version, SELF, [0], { reportsTopology: true, ...rest }));
  const hears = (router: number, ends: Ends): void => {
    agent.hears(0, router, routerLsa(version, router, ends));
    agent.pass(1000);
  };
  agent.event({ type: 'adjacency', areaId: 0, neighbor: HUB });
  return { agent, hears };
}

/** self – HUB – OTHER */
function line(version: AnyVersion, rest?: Partial<ContentConfig>) {
  const scene = agentOf(version, rest);
  scene.hears(HUB, { routers: [[SELF, 11], [OTHER, 12]] }); // oxfmt-ignore
  scene.hears(OTHER, { routers: [[HUB, 21]] });
  return scene;
}
const LINE = [
  'r10 (0.0.0.0 0.0.0.10): r1 11, r2 12',
  'r2 (0.0.0.0 0.0.0.2): r10 21',
  'stub r1 (0.0.0.0 0.0.0.1): r10 65535',
];

describe.each([2, 3] as const)('the topology of an OSPFv%i area', (version) => {
  test('has routers, their costs and originators, and this cnpd as a stub beside its neighbor', () => {
    const { agent } = line(version);
    expect(shown(agent)).toEqual(LINE);
    expect(latest(agent)).toMatchObject({ area: '0.0.0.0', self: 'r1' });
  });

  test('is not reported unless it is required; a reload starts it and ends it', () => {
    const { agent } = line(version, { reportsTopology: false });
    expect(agent.topologies).toEqual([]);
    const configure = (reportsTopology: boolean): void => {
      agent.event({ type: 'configure', holdUnreachableMs: 1000, reportsTopology });
      agent.pass(1000);
    };
    configure(true);
    expect(shown(agent)).toEqual(LINE);
    configure(true);
    expect(agent.topologies).toHaveLength(1);
    configure(false);
    expect(agent.topologies.at(-1)).toEqual([]);
    configure(true);
    expect(shown(agent)).toEqual(LINE);
  });

  test('has a LAN as a node without originator, whose links cost nothing', () => {
    const { agent, hears } = line(version);
    const lan = version === 2 ? 'n10' : 'n10.7';
    agent.hears(0, HUB, networkLsa(version, [HUB, THIRD]));
    hears(HUB, { routers: [[SELF, 11], [OTHER, 12]], lan: 33 }); // oxfmt-ignore
    hears(THIRD, { lan: 34 });
    expect(shown(agent)).toEqual(
      [
        ...LINE.slice(1),
        `${lan} (): r10 0, r3 0`,
        `r10 (0.0.0.0 0.0.0.10): ${lan} 33, r1 11, r2 12`,
        `r3 (0.0.0.0 0.0.0.3): ${lan} 34`,
      ].sort(),
    );
  });

  test('has a router whose links all have the largest metric as a stub (RFC 6987), and one with a single such link not', () => {
    const { agent, hears } = line(version);
    hears(OTHER, { routers: [[HUB, 0xffff]] });
    hears(HUB, { routers: [[SELF, 0xffff], [OTHER, 12]] }); // oxfmt-ignore
    expect(shown(agent)).toEqual([
      'r10 (0.0.0.0 0.0.0.10): r1 65535, r2 12',
      LINE[2],
      'stub r2 (0.0.0.0 0.0.0.2): r10 65535',
    ]);
  });

  test('of links to the same router has the cheapest', () => {
    const { agent, hears } = line(version);
    hears(OTHER, { routers: [[HUB, 21], [HUB, 5], [HUB, 9]] }); // oxfmt-ignore
    expect(shown(agent)).toContain('r2 (0.0.0.0 0.0.0.2): r10 5');
  });

  test('is reported again when a cost changes, and nodes that have not changed are the same objects', () => {
    const { agent, hears } = line(version);
    const before = latest(agent);
    const { length } = agent.topologies;
    hears(OTHER, { routers: [[HUB, 22]] });
    const after = latest(agent);
    expect(agent.topologies).toHaveLength(length + 1);
    const changed = [...after.nodes].filter(([name, node]) => before.nodes.get(name) !== node);
    expect(changed.map(([name]) => name)).toEqual(['r2']);
  });

  test('is not reported again when something else of a Router-LSA changes, or is back before the walk', () => {
    const { agent, hears } = line(version);
    const { length } = agent.topologies;
    const { body, ...lsa } = routerLsa(version, OTHER, { routers: [[HUB, 21]] });
    agent.hears(0, OTHER, { ...lsa, body: { ...body, flags: 1 } as LsaBody });
    agent.pass(1000);
    agent.hears(0, OTHER, routerLsa(version, OTHER, { routers: [[HUB, 99]] }));
    hears(OTHER, { routers: [[HUB, 21]] });
    expect(agent.topologies).toHaveLength(length);
  });

  test('loses a router that is no longer listed; without an adjacency there is no `self` and no node', () => {
    const { agent, hears } = line(version);
    hears(HUB, { routers: [[SELF, 11]] });
    expect(shown(agent)).toEqual(['r10 (0.0.0.0 0.0.0.10): r1 11', LINE[2]]);
    agent.event({ type: 'adjacency', areaId: 0 });
    agent.pass(1000);
    expect(agent.topologies.at(-1)).toEqual([{ area: '0.0.0.0', nodes: new Map() }]);
  });

  test('is not reported before the first adjacency, and begins with this cnpd alone', () => {
    const agent = new ContentAgent(contentConfig(version, SELF, [0], { reportsTopology: true }));
    agent.event({ type: 'adjacency', areaId: 0 });
    agent.pass(1000);
    expect(agent.topologies).toEqual([]);
    agent.event({ type: 'adjacency', areaId: 0, neighbor: HUB });
    agent.pass(1000);
    expect(shown(agent)).toEqual([LINE[2]]);
  });

  test('ignores an LSA of ours from an earlier run', () => {
    const { agent, hears } = line(version);
    hears(SELF, { routers: [[HUB, 1], [OTHER, 1]] }); // oxfmt-ignore
    expect(shown(agent)).toEqual(LINE);
  });

  test('is one of each area, with the same node for a cnpd as that cnpd reports of itself', () => {
    const net = new ContentNet(version);
    const asked = { reportsTopology: true };
    const [border, inner] = [net.agent(SELF, [0, 5], asked), net.agent(OTHER, [5], asked)];
    net.run(10_000);
    expect(border.topologies.at(-1)!.map(({ area, self }) => [area, self])).toEqual([
      ['0.0.0.0', 'r1'],
      ['0.0.0.5', 'r1'],
    ]);
    expect(shown(border, 0).map((text) => text.replace(/:.*/, ''))).toEqual([
      `r${0x0a000000} (0.0.0.0 10.0.0.0)`,
      'stub r1 (0.0.0.0 0.0.0.1)',
    ]);
    const nodes = (agent: ContentAgent, index: number): unknown[] =>
      [...latest(agent, index).nodes].map(([name, node]) => [name, node.originator]).sort();
    expect(nodes(border, 1)).toEqual(nodes(inner, 0));
    expect(nodes(inner, 0)).toHaveLength(3);
  });
});

describe('an OSPFv3 router', () => {
  test.each([
    ['R and V6', OPTION_V3.router | OPTION_V3.v6, true],
    ['no R', OPTION_V3.v6, false],
    ['no V6', OPTION_V3.router, false],
  ])('with these bits: %s (RFC 5340 §A.2)', (_, options, isTransit) => {
    const { agent, hears } = line(3);
    hears(OTHER, { routers: [[HUB, 21]], options });
    expect(latest(agent).nodes.get('r2')!.isTransit).toBe(isTransit);
  });

  test('with several Router-LSAs has the links of all', () => {
    const { agent, hears } = line(3);
    hears(OTHER, { routers: [[THIRD, 4]], lsId: 1 });
    expect(shown(agent)).toContain('r2 (0.0.0.0 0.0.0.2): r10 21, r3 4');
  });
});
