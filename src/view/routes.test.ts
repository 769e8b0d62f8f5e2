import { expect, test } from 'vitest';
import { Routes } from './routes.ts';

const link = (a: string, aInterface: string, b: string, bInterface: string) => ({
  ...{ a, aInterface, b, bInterface },
  delayMs: 0,
});
/** p1 and leaf1 share a link, and there is a detour over x. */
const LINKS = [
  link('h1', 'eth1', 'leaf1', 'eth1'),
  link('leaf1', 'eth2', 'p1', 'eth1'),
  link('p1', 'eth3', 'x', 'eth1'),
  link('x', 'eth2', 'leaf1', 'eth3'),
];
const HOST = '2001:db8:1::2';

function routes(table: Readonly<Record<string, string>>, ask = async (node: string) => table[node]) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const known = new Routes({
    links: LINKS,
    ask: (node) => (asked.push(node), ask(node)),
    now: () => clock.now,
  });
  return { asked, clock, way: (from: string, to = HOST, owner = 'h1') => known.way(from, to, owner) };
}

test('the way follows the routes of the nodes on it, though there is a shorter one', async () => {
  const { way } = routes({ p1: 'eth3', x: 'eth2', leaf1: 'eth1' });
  expect(await way('p1')).toEqual(['p1', 'x', 'leaf1', 'h1']);
  expect(await way('h1')).toEqual(['h1']);
});

test('from a node without an answer on, or where routes go round in a circle, the way has the fewest links', async () => {
  expect(await routes({ p1: 'eth3' }).way('p1')).toEqual(['p1', 'x', 'leaf1', 'h1']);
  expect(await routes({}).way('p1')).toEqual(['p1', 'leaf1', 'h1']);
  expect(await routes({ p1: 'lo' }).way('p1')).toEqual(['p1', 'leaf1', 'h1']);
  expect(await routes({ p1: 'eth3', x: 'eth1' }).way('p1')).toEqual(['p1', 'x', 'leaf1', 'h1']);
  expect(await routes({}).way('p1', HOST, 'nobody')).toEqual(['p1']);
});

test('a kernel is asked once in two seconds, one question after the other, and few questions wait', async () => {
  let running = 0;
  let most = 0;
  const { asked, clock, way } = routes({}, async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    return 'eth1';
  });
  await Promise.all(Array.from({ length: 5 }, () => way('p1')));
  expect(asked).toEqual(['p1', 'leaf1']);
  clock.now = 2000;
  await way('p1');
  expect(asked).toEqual(['p1', 'leaf1', 'p1', 'leaf1']);
  await Promise.all(Array.from({ length: 200 }, (_, i) => way('leaf1', `2001:db8::${i}`)));
  expect([asked.length, most]).toEqual([4 + 64, 1]);
});
