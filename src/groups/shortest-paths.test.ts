import { describe, expect, test } from 'vitest';
import type { AreaTopology, TopologyNode } from '../model/topology.ts';
import { linkGraph, shortestPaths } from './shortest-paths.ts';

/** @param lines `a > b 3`: a lists a link to b. `a = b 3`: both list it. */
function area(lines: readonly string[], stubs: readonly string[] = []): AreaTopology {
  const nodes = new Map<string, TopologyNode & { links: { to: string; cost: number }[] }>();
  const link = (from: string, to: string, cost: number): void => {
    const node = nodes.get(from) ?? { isTransit: !stubs.includes(from), links: [] };
    node.links.push({ to, cost });
    nodes.set(from, node);
  };
  for (const line of lines) {
    const [from, kind, to, cost] = line.split(' ') as [string, string, string, string];
    link(from, to, Number(cost));
    if (kind === '=') link(to, from, Number(cost));
  }
  return { area: 'L2', nodes };
}

/** The path from a to each node, as it is walked back. */
function pathsFrom(start: string, topology: AreaTopology): Record<string, string> {
  const graph = linkGraph(topology);
  const { predecessor, distance } = shortestPaths(graph, graph.indexOf.get(start)!);
  const pathTo = (node: number): string[] => (node < 0 ? [] : [...pathTo(predecessor[node]!), graph.names[node]!]);
  return Object.fromEntries(
    graph.names.map((name, i) => [name, distance[i] === Infinity ? 'none' : `${pathTo(i).join(' ')}: ${distance[i]}`]),
  );
}

describe('a link counts', () => {
  test('only if both ends list it: one that its other end does not list is none', () => {
    const oneWay = area(['a > b 1', 'a = c 5', 'c = b 5']);
    expect(pathsFrom('a', oneWay)).toEqual({ a: 'a: 0', b: 'a c b: 10', c: 'a c: 5' });
    expect(pathsFrom('b', area(['b > a 1', 'a > c 1', 'c > b 1']))).toEqual({ a: 'none', b: 'b: 0', c: 'none' });
  });

  test('with the cost of its own direction, the cheapest of parallel ones', () => {
    const both = area(['a > b 2', 'b > a 7', 'a > b 3']);
    expect([pathsFrom('a', both)['b'], pathsFrom('b', both)['a']]).toEqual(['a b: 2', 'b a: 7']);
  });

  test.each(['-1', '0.5', 'NaN', '4294967296'])('not with a cost that no protocol has: %s', (cost) => {
    expect(pathsFrom('a', area([`a = b ${cost}`]))['b']).toBe('none');
  });

  test('not if it leads to the node itself, or out of the area', () => {
    expect(pathsFrom('a', area(['a > a 0', 'a > x 1', 'a = b 4']))).toEqual({ a: 'a: 0', b: 'a b: 4' });
  });
});

describe('a router with the overload bit', () => {
  const ring = ['a = b 1', 'b = c 1', 'a = d 5', 'd = c 5'];

  test('is the end of paths and no transit', () => {
    expect(pathsFrom('a', area(ring))).toMatchObject({ b: 'a b: 1', c: 'a b c: 2' });
    expect(pathsFrom('a', area(ring, ['b']))).toMatchObject({ b: 'a b: 1', c: 'a d c: 10' });
    expect(pathsFrom('a', area(ring, ['b', 'd']))).toMatchObject({ b: 'a b: 1', c: 'none', d: 'a d: 5' });
  });

  test('may be where they begin', () => {
    expect(pathsFrom('b', area(ring, ['b']))).toMatchObject({ a: 'b a: 1', c: 'b c: 1' });
  });
});

test('of equally long paths that with fewer hops counts, then that over the predecessor with the lowest name', () => {
  expect(pathsFrom('m', area(['m = z 2', 'm = b 1', 'b = z 1']))['z']).toBe('m z: 2');
  expect(pathsFrom('a', area(['a = c 1', 'a = b 1', 'c = z 1', 'b = z 1']))['z']).toBe('a b z: 2');
});
