// Who is asked to pause.
import { beforeEach, expect, test } from 'vitest';
import { type IpAddress, address } from '../model/address.ts';
import { INGRESS, NEIGHBOR, OTHER_NEIGHBOR, filled } from './flow-control.fixture.ts';
import { UpstreamNeighbors } from './upstream.ts';

let now: number;
let counts: Record<string, number>;
let routers: readonly IpAddress[];
let byMac: readonly IpAddress[];
let asked: string[];
let fails: boolean;
let upstream: UpstreamNeighbors;
beforeEach(() => {
  now = 0;
  counts = {};
  [routers, byMac, asked, fails] = [[NEIGHBOR], [OTHER_NEIGHBOR], [], false];
  upstream = new UpstreamNeighbors({
    routersTo: (_, ifindex) => {
      asked.push(`route ${ifindex}`);
      if (fails) throw new Error('no');
      return routers;
    },
    routerWith: (_, ifindex) => {
      asked.push(`mac ${ifindex}`);
      return byMac;
    },
    now: () => now,
    count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
  });
});
const found = (): IpAddress[] => upstream.of(filled()).map(({ address: of }) => of);

test('the router behind the ingress interface to which the route back leads', () => {
  expect(upstream.of(filled())).toEqual([{ address: NEIGHBOR, ifindex: INGRESS }]);
  expect(asked).toEqual([`route ${INGRESS}`]);
});
test('the declared neighbor instead, without a question to the kernel', () => {
  upstream.configure([{ ifindex: INGRESS, address: OTHER_NEIGHBOR }]);
  expect(found()).toEqual([OTHER_NEIGHBOR]);
  expect(asked).toEqual([]);
});
test('where the route back leads elsewhere, the router with the hardware address of the frame', () => {
  routers = [];
  expect(found()).toEqual([OTHER_NEIGHBOR]);
});
test('an IPv4 next hop is none for ARNs', () => {
  routers = [address('192.0.2.1')];
  expect(found()).toEqual([OTHER_NEIGHBOR]);
});
test('nobody', () => {
  [routers, byMac] = [[], []];
  expect(found()).toEqual([]);
});
test('of many routers at most four', () => {
  routers = Array.from({ length: 9 }, (_, i) => ({ family: 6, value: BigInt(i) }));
  expect(found()).toHaveLength(4);
});
test('an answer is used for a second, and not after a new configuration', () => {
  found();
  now = 999;
  found();
  expect(asked).toHaveLength(1);
  now = 1000;
  found();
  expect(asked).toHaveLength(2);
  upstream.configure([]);
  found();
  expect(asked).toHaveLength(3);
});
test('a storm of sources is remembered up to a limit', () => {
  for (let i = 0; i < 3000; i++) upstream.of(filled({ cameFrom: { family: 6, value: BigInt(i) } }));
  asked = [];
  upstream.of(filled({ cameFrom: { family: 6, value: 0n } }));
  upstream.of(filled({ cameFrom: { family: 6, value: 2999n } }));
  expect(asked).toEqual([`route ${INGRESS}`]);
});
test('a kernel that cannot be asked is counted', () => {
  fails = true;
  expect(found()).toEqual([]);
  expect(counts).toEqual({ 'flow-control.upstream.unreadable': 1 });
});
