// The entry of a root's trees, behind the kernel's route to the Proxy Address: what has not come from the source by the
// source's port gets no further, whichever way it took around the program at the ports.
import { beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { inNetns } from '../../support/netns.ts';
import { receiver } from '../support/multicast-branches.ts';
import { SOURCE, inner } from '../support/multicast-packets.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

/** Into a SID of the router that decapsulates. */
const TUNNEL = [address('2001:db8:c00::7'), address('2001:db8:9::77')] as const;

let router: MulticastRouter;
withMulticastRouter((created) => {
  router = created;
  router.attachEntry();
  router.ip('-6 route add 2001:db8:f::1/128 via 2001:db8:2::10 dev t-mc-c2');
  router.ip('-6 route add 2001:db8:5::/64 via 2001:db8:1::10 dev t-mc-c1');
  router.ip('-6 route add 2001:db8:9::77/128 encap seg6local action End.DT6 table 254 dev t-mc-core');
});
beforeEach(() => router.group({ isRoot: true, source: SOURCE, edge: null }));

const PLAIN = inner();
const entered = async (send: () => void): Promise<number> => (await router.exchange(send)).h2.length;

/** As a user without any right: IPV6_FREEBIND (78) and UDP_NO_CHECK6_TX (101) need none. */
const sendLocally = (packet: Uint8Array): void =>
  void inNetns(
    router.netns,
    'python3',
    '-c',
    `import os, socket
os.setuid(65534)
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(41, 78, 1)
s.setsockopt(17, 101, 1)
s.bind(('2001:db8:5::10', 0xc001))
s.sendto(bytes.fromhex('${toHex(packet.subarray(48))}'), ('2001:db8:f::1', 4791))`,
  );

describe('RMC-9-b: the entry of a tree', () => {
  test('lets packets of the source pass that came from where it is routed', async () => {
    expect(await entered(() => router.arrive('h1', PLAIN))).toBe(1);
    expect(router.counts()).toEqual({ 'proxy.source': 1 });
  });

  test('is closed to local users, who may choose any source', async () => {
    expect(await entered(() => sendLocally(PLAIN))).toBe(0);
    expect(router.counts()).toEqual({ 'root.local': 1 });
  });

  test('is closed to what is in a tunnel that ends at this router', async () => {
    expect(await entered(() => router.arrive('p', ipv6(TUNNEL, 41, PLAIN)))).toBe(0);
    expect(router.counts()).toEqual({ 'proxy.wrong-port': 1 });
  });

  test('leaves to the program behind it what is not of the source', async () => {
    router.group({ isRoot: true, source: receiver(0).address, edge: null });
    expect(await entered(() => router.arrive('p', ipv6(TUNNEL, 41, PLAIN)))).toBe(1);
    router.group({ isRoot: false, source: SOURCE, edge: null });
    expect(await entered(() => sendLocally(PLAIN))).toBe(1);
    expect(router.counts()).toEqual({});
  });
});
