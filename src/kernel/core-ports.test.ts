import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { CorePorts } from './core-ports.ts';

const link = (ifindex: number, fields = {}) => ({
  name: `eth${ifindex}`,
  ifindex,
  up: true,
  kind: 'veth',
  etherLike: true,
  ...fields,
});

function world() {
  const gateways = new Set<number>();
  const asked: number[] = [];
  const clock = manualClock();
  const ports = new CorePorts({
    ask: (ifindex) => {
      asked.push(ifindex);
      if (ifindex === 99) throw new Error('ENOBUFS');
      return gateways.has(ifindex);
    },
    clock,
    log: silentLog,
  });
  return { gateways, asked, clock, ports };
}

test('each port is queried when it appears, and not again without a doubt', () => {
  const w = world();
  w.gateways.add(2);
  for (let i = 0; i < 3; i++)
    expect([...w.ports.among([link(1), link(2), link(3, { up: false }), link(4, { etherLike: false })])]).toEqual([2]);
  expect(w.asked).toEqual([1, 2]);
});

test('a port that became a core port after its query is found when its packets are doubted, and is not queried repeatedly', () => {
  const w = world();
  w.ports.among([link(1), link(2)]);
  w.gateways.add(1);
  expect(w.ports.doubted([1])).toBe(false);
  w.clock.advance(60_000);
  expect(w.ports.doubted([1, 2, 77])).toBe(true);
  expect(w.ports.doubted([1, 2, 77])).toBe(false);
  expect(w.asked).toEqual([1, 2, 1, 2]);
  expect([...w.ports.among([link(1), link(2)])]).toEqual([1]);
});

test('PNC-6-b: a port whose last route through a gateway has gone is no longer a core port, though none of its packets were refused', () => {
  const w = world();
  w.gateways.add(1);
  w.gateways.add(2);
  expect([...w.ports.among([link(1), link(2), link(3)])]).toEqual([1, 2]);
  w.gateways.delete(1);
  w.clock.advance(30_000);
  expect([...w.ports.among([link(1), link(2), link(3)])]).toEqual([2]);
  // A burst of announcements queries nothing twice, and a port outside the core waits for a doubt.
  expect([...w.ports.among([link(1), link(2), link(3)])]).toEqual([2]);
  expect(w.asked).toEqual([1, 2, 3, 1, 2]);
});

test('a removed port is forgotten: its number may be reused', () => {
  const w = world();
  w.gateways.add(1);
  w.ports.among([link(1)]);
  expect([...w.ports.among([link(2)])]).toEqual([]);
  w.gateways.delete(1);
  expect([...w.ports.among([link(1)])]).toEqual([]);
});

test('a failed query keeps the known answers, and throws nothing', () => {
  const w = world();
  expect([...w.ports.among([link(99), link(1)])]).toEqual([]);
  expect(w.asked).toEqual([99, 1]);
});
