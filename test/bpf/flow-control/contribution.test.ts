// Of what finds a queue filled, the neighbor of what fills it is asked, and no other.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { FlowControlUnderTest } from '../support/flow-control-under-test.ts';
import { data, frame } from '../support/packets.ts';

let router: FlowControlUnderTest;
beforeAll(async () => void (router = await FlowControlUnderTest.create()));
afterAll(() => router.close());
beforeEach(() => router.clear({ intervalNs: 60e9 }));

const [PE1, PE2, VIA] = [address('2001:db8:a::1'), address('2001:db8:b::1'), address('2001:db8:c::1')];
const heavy = frame(ipv6([PE1, PE2], 41, data()));
const light = frame(ipv6([PE1, VIA], 41, data()));
const out = (): number => router.ifindex['t-fc-out'];
const counts = (...names: string[]): number[] => names.map((name) => router.count(`flow-control.${name}`));
const flow = (sourcePort: number): Uint8Array => frame(data({ sourcePort }));
type Ingress = 't-fc-in' | 't-fc-beside';
/** Passes a packet of each flow from so many, and counts the flows whose neighbor is asked. */
function passEach(from: number, to: number, at: Ingress): number {
  for (let port = from; port <= to; port++) router.arrive(flow(port), at);
  for (let port = from; port <= to; port++) router.leave(flow(port), 't-fc-out', at);
  return router.reports().length;
}

test('less than half of the largest share is too little, as it has been while the queue filled', () => {
  // Below its threshold the queue has few packets of one service, and many of another.
  router.portTable.setWatched(new Map([[out(), 2 * router.queued - 1]]));
  for (let i = 0; i < 10; i++) router.pass(heavy);
  expect(router.pass(light)).toEqual([]);
  router.portTable.setWatched(new Map([[out(), router.queued - 1]]));
  expect(router.pass(light)).toEqual([]);
  expect(router.pass(heavy).length).toBe(1);
  expect(counts('not-contributing', 'recorded')).toEqual([1, 1]);
  for (let i = 0; i < 4; i++) router.pass(light);
  expect(counts('not-contributing', 'recorded')).toEqual([4, 2]);
});

test('who divides traffic into many small flows makes no other interface’s flow the largest', () => {
  router.configure({ mode: 'flow', intervalNs: 60e9 });
  router.portTable.setWatched(new Map([[out(), 2 * router.queued - 1]]));
  expect(passEach(0xc100, 0xc100 + 39, 't-fc-beside')).toBe(0);
  for (let i = 0; i < 8; i++) passEach(0xc001, 0xc001, 't-fc-in');
  router.portTable.setWatched(new Map([[out(), router.queued - 1]]));
  // The flow of the other interface has eight times as much as each of the small ones, and a fifth of all of them.
  expect(passEach(0xc001, 0xc001, 't-fc-in')).toBe(0);
  expect(passEach(0xc100, 0xc100 + 39, 't-fc-beside')).toBe(40);
});

test('of each interface that brings at least half of what the largest does, what is large among its own is asked for', () => {
  router.configure({ mode: 'flow', intervalNs: 60e9 });
  router.portTable.setWatched(new Map([[out(), 2 * router.queued - 1]]));
  for (let i = 0; i < 10; i++) passEach(0xc001, 0xc001, 't-fc-in');
  passEach(0xc002, 0xc002, 't-fc-in');
  for (let i = 0; i < 5; i++) passEach(0xc003, 0xc003, 't-fc-beside');
  passEach(0xc004, 0xc004, 't-fc-beside');
  router.portTable.setWatched(new Map([[out(), router.queued - 1]]));
  const asked = [0xc001, 0xc002, 0xc003, 0xc004].map((port) =>
    passEach(port, port, port < 0xc003 ? 't-fc-in' : 't-fc-beside'),
  );
  expect(asked).toEqual([1, 0, 1, 0]);
});
