// Who is asked to pause.
import { beforeEach, expect, test } from 'vitest';
import { type IpAddress, address } from '../model/address.ts';
import { INGRESS, NEIGHBOR, OTHER_NEIGHBOR, filled } from './flow-control.fixture.ts';
import { UpstreamNeighbors } from './upstream.ts';

let now: number;
let counts: Record<string, number>;
let routers: readonly IpAddress[];
let present: readonly { address: IpAddress; mac: Uint8Array }[];
let asked: string[];
let fails: boolean;
let upstream: UpstreamNeighbors;
beforeEach(() => {
  now = 0;
  counts = {};
  present = [
    { address: NEIGHBOR, mac: Uint8Array.of(2, 0, 0, 0, 0, 9) },
    { address: OTHER_NEIGHBOR, mac: filled().sourceMac },
  ];
  [routers, asked, fails] = [[NEIGHBOR], [], false];
  upstream = new UpstreamNeighbors({
    routersTo: (_, ifindex) => {
      asked.push(`route ${ifindex}`);
      if (fails) throw new Error('no');
      return routers;
    },
    routersAt: (ifindex) => {
      asked.push(`routers ${ifindex}`);
      return present;
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
test('whatever sources and hardware addresses senders write, the routers of an interface are listed once a second', () => {
  routers = [];
  const write = (n: number): void => {
    const [cameFrom, sourceMac] = [
      { family: 6, value: BigInt(n) } as const,
      Uint8Array.of(2, 0, 0, 0, n >> 8, n & 255),
    ];
    upstream.of(filled({ cameFrom, sourceMac }));
  };
  for (let n = 0; n < 3000; n++) write(n);
  const listed = (): number => asked.filter((what) => what === `routers ${INGRESS}`).length;
  expect(listed()).toBe(1);
  now = 1000;
  write(1);
  expect(listed()).toBe(2);
});
test('an IPv4 next hop is none for ARNs', () => {
  routers = [address('192.0.2.1')];
  expect(found()).toEqual([OTHER_NEIGHBOR]);
});
test('nobody', () => {
  [routers, present] = [[], present.slice(0, 1)];
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
  expect(found()).toEqual([OTHER_NEIGHBOR]);
  expect(counts).toEqual({ 'flow-control.upstream.unreadable': 1 });
});
