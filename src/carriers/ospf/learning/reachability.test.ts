// The graph of an area as LSAs change and go, and how long routers that were lost are held.
import { describe, expect, test } from 'vitest';
import { ContentAgent, contentConfig, routerLsa } from '../content.fixture.ts';
import { GRAPH_BATCH, GRAPH_DELAY_MS } from '../constants.ts';
import type { AreaContent, Content, ReadLsa } from '../content-state.ts';
import { forgetDue, topologyChanged, walkDue } from './reachability.ts';
import { isAlive, newGraph } from './graph.ts';
import type { GraphNode, Topology } from './topology.ts';

const SELF = 0x01010101;
const HUB = 0x0a0a0a0a;
const OTHER = 0x02020202;
const THIRD = 0x03030303;

const read = (id: string, topology: Topology): ReadLsa => ({
  id,
  key: { type: 1, lsId: 0, advertisingRouter: HUB },
  content: { topology, entries: [] },
});
const node = (...links: string[]): { node: GraphNode } => ({
  node: { name: 'r1', links: links.map((to) => ({ to, cost: 1 })), transit: true },
});

describe('an LSA that says something about the topology', () => {
  const scene = () => {
    const area = { graph: newGraph() };
    const change = (before: ReadLsa | undefined, after: ReadLsa | undefined): number => {
      area.graph.walkAt = Infinity;
      topologyChanged({ now: 1000 } as Content, area as AreaContent, before, after);
      return area.graph.walkAt;
    };
    return { graph: area.graph, change };
  };
  const SOON = 1000 + GRAPH_DELAY_MS;

  test('adds its links to those of the router’s other LSAs, and takes its own away when it goes', () => {
    const { graph, change } = scene();
    const [a, b] = [read('a', node('r2')), read('b', node('r3'))];
    expect({ a: change(undefined, a), b: change(undefined, b) }).toEqual({ a: SOON, b: SOON });
    expect([...graph.nodes.get('r1')!.values()].map(({ links }) => links.map(({ to }) => to))).toEqual([
      ['r2'],
      ['r3'],
    ]);
    expect(change(a, undefined)).toBe(SOON);
    expect([...graph.nodes.get('r1')!.keys()]).toEqual(['b']);
    change(b, undefined);
    expect(graph.nodes.size).toBe(0);
  });

  test('replaces its previous content, under another name too', () => {
    const { graph, change } = scene();
    const [before, after] = [read('a', node('r2')), read('a', node('r4'))];
    change(undefined, before);
    change(before, after);
    expect([...graph.nodes.get('r1')!.values()].map(({ links }) => links.map(({ to }) => to))).toEqual([['r4']]);
    const renamed = read('a', { node: { name: 'n9', links: [], transit: true } });
    change(after, renamed);
    expect([...graph.nodes.keys()]).toEqual(['n9']);
  });

  test('of a border router names whom it reaches, for as long as it advertises it', () => {
    const { graph, change } = scene();
    const [other, third] = [read('a', { reaches: OTHER }), read('a', { reaches: THIRD })];
    expect(change(undefined, other)).toBe(SOON);
    expect([...graph.beyond.values()]).toEqual([{ by: HUB, reaches: OTHER }]);
    expect(change(other, third)).toBe(SOON);
    expect([...graph.beyond.values()]).toEqual([{ by: HUB, reaches: THIRD }]);
    expect(change(third, undefined)).toBe(SOON);
    expect(graph.beyond.size).toBe(0);
  });

  test('and any other one asks for no walk', () => {
    const { change } = scene();
    expect({ added: change(undefined, read('a', {})), removed: change(read('a', {}), undefined) }).toEqual({
      added: Infinity,
      removed: Infinity,
    });
    const same = read('a', { reaches: OTHER });
    expect(change(same, read('a', { reaches: OTHER }))).toBe(Infinity);
  });
});

describe('a router that is lost', () => {
  const HOLD_MS = 120_000;
  const alive = ({ content }: ContentAgent, router: number, now: number): boolean => {
    content.now = now;
    return isAlive(content, content.areas.get(0)!, router);
  };
  /** OTHER is lost first, THIRD later; both after they were reached. */
  function lost(): { agent: ContentAgent; at: number[] } {
    const agent = new ContentAgent(contentConfig(2, SELF, [0]));
    const hub = (...others: number[]): void => agent.hears(0, HUB, routerLsa(2, HUB, [SELF, ...others]));
    hub(OTHER, THIRD);
    for (const router of [OTHER, THIRD]) agent.hears(0, router, routerLsa(2, router, [HUB]));
    agent.event({ type: 'adjacency', areaId: 0, neighbor: HUB });
    agent.pass(1000);
    hub(THIRD);
    agent.pass(5000);
    hub();
    agent.pass(5000);
    const { lostAt } = agent.content.areas.get(0)!.graph;
    return { agent, at: [OTHER, THIRD].map((router) => lostAt.get(router)!) };
  }

  test('is alive until the hold time is over, to the millisecond, and one that never was reached is not', () => {
    const { agent, at } = lost();
    expect({
      beforeHold: alive(agent, OTHER, at[0]! + HOLD_MS - 1),
      afterHold: alive(agent, OTHER, at[0]! + HOLD_MS),
    }).toEqual({ beforeHold: true, afterHold: false });
    expect({ hub: alive(agent, HUB, 10 * HOLD_MS), unknown: alive(agent, 0x09090909, 0) }).toEqual({
      hub: true,
      unknown: false,
    });
  });

  test('is forgotten then, and the next one at its own time', () => {
    const { agent, at } = lost();
    const { content } = agent;
    const area = content.areas.get(0)!;
    expect(area.graph.forgetAt).toBe(at[0]! + HOLD_MS);
    content.now = at[0]! + HOLD_MS - 1;
    forgetDue(content, area);
    expect({ lostAtSize: area.graph.lostAt.size, forgetAt: area.graph.forgetAt }).toEqual({
      lostAtSize: 2,
      forgetAt: at[0]! + HOLD_MS,
    });
    content.now = at[0]! + HOLD_MS;
    forgetDue(content, area);
    expect({ lostAt: [...area.graph.lostAt.keys()], forgetAt: area.graph.forgetAt }).toEqual({
      lostAt: [THIRD],
      forgetAt: at[1]! + HOLD_MS,
    });
    content.now = at[1]! + HOLD_MS;
    forgetDue(content, area);
    expect({ lostAtSize: area.graph.lostAt.size, forgetAt: area.graph.forgetAt }).toEqual({
      lostAtSize: 0,
      forgetAt: Infinity,
    });
  });

  test('that comes back is not lost any more', () => {
    const { agent } = lost();
    agent.hears(0, HUB, routerLsa(2, HUB, [SELF, OTHER]));
    agent.pass(1000);
    expect([...agent.content.areas.get(0)!.graph.lostAt.keys()]).toEqual([THIRD]);
  });
});

describe('a walk', () => {
  /** The neighbor HUB, and who is behind it, all of whom list it. */
  function star(others: readonly number[], version: 2 | 3 = 2): ContentAgent {
    const agent = new ContentAgent(contentConfig(version, SELF, [0]));
    agent.hears(0, HUB, routerLsa(version, HUB, [SELF, ...others]));
    for (const router of others) agent.hears(0, router, routerLsa(version, router, [HUB]));
    agent.event({ type: 'adjacency', areaId: 0, neighbor: HUB });
    return agent;
  }
  const graphOf = ({ content }: ContentAgent) => content.areas.get(0)!.graph;
  const many = (count: number): number[] => Array.from({ length: count }, (_, n) => 0x02000000 + n);

  test('looks at so many routers a turn', () => {
    const agent = star(many(GRAPH_BATCH + 1));
    const graph = graphOf(agent);
    const positions = [1, 2, 3].map(() => {
      walkDue(agent.content, agent.content.areas.get(0)!);
      return [graph.walk?.position, graph.reachable.size];
    });
    expect(positions).toEqual([
      [1, 0],
      [1 + GRAPH_BATCH, 0],
      [undefined, 1 + GRAPH_BATCH + 1],
    ]);
  });

  test('over a network finds the routers behind it, and counts it as none', () => {
    const { content } = new ContentAgent(contentConfig(2, SELF, [0]));
    const area = content.areas.get(0)!;
    const names = [`r${HUB}`, 'n7', `r${OTHER}`] as const;
    const links = { [names[0]]: ['n7'], n7: [names[0], names[2]], [names[2]]: ['n7'] };
    for (const [name, ends] of Object.entries(links))
      area.graph.nodes.set(
        name,
        new Map([['lsa', { name, links: ends.map((to) => ({ to, cost: 1 })), transit: true }]]),
      );
    area.graph.neighbor = HUB;
    do walkDue(content, area);
    while (area.graph.walk);
    expect([...area.graph.reachable]).toEqual([HUB, OTHER]);
  });

  test('does not begin at a neighbor whose LSA is not there yet', () => {
    const agent = new ContentAgent(contentConfig(2, SELF, [0]));
    agent.event({ type: 'adjacency', areaId: 0, neighbor: HUB });
    agent.pass(1000);
    expect([...graphOf(agent).reachable]).toEqual([]);
  });

  test('does not come back to us, although there is an LSA of ours from an earlier run', () => {
    const agent = star([OTHER]);
    agent.hears(0, SELF, routerLsa(2, SELF, [HUB]));
    agent.pass(1000);
    expect([...graphOf(agent).reachable].sort()).toEqual([OTHER, HUB].sort());
  });

  test('goes on through a router that is transit in any of its LSAs (RFC 5340 §A.4.3)', () => {
    const agent = star([OTHER], 3);
    agent.hears(0, HUB, { ...routerLsa(3, HUB, [THIRD], { transit: false }), lsId: 1 });
    agent.pass(1000);
    expect(graphOf(agent).reachable.has(OTHER)).toBe(true);
  });

  test('that finds nothing new is not reported', () => {
    const agent = star([OTHER]);
    agent.pass(1000);
    const { graph } = agent.content.areas.get(0)!;
    const before = agent.reachable;
    agent.hears(0, OTHER, routerLsa(2, OTHER, [HUB, 0x09090909]));
    agent.pass(1000);
    expect(graph.walkAt).toBe(Infinity);
    expect(agent.reachable).toBe(before);
  });

  test('that loses a router asks for a turn when its hold time is over', () => {
    const agent = star([OTHER]);
    agent.pass(1000);
    agent.hears(0, HUB, routerLsa(2, HUB, [SELF]));
    agent.content.now = 7000;
    do walkDue(agent.content, agent.content.areas.get(0)!);
    while (graphOf(agent).walk);
    expect({ forgetAt: graphOf(agent).forgetAt, lostAt: [...graphOf(agent).lostAt] }).toEqual({
      forgetAt: 7000 + 120_000,
      lostAt: [[OTHER, 7000]],
    });
  });
});
