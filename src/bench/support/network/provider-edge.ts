// A provider edge in a network namespace: a core port, a customer port whose neighbor is known, and an End.DT6 SID.
import { writeFileSync } from 'node:fs';
import { Netns } from '../../../kernel/netns.ts';
import { Rtnetlink } from '../../../kernel/netlink/rtnetlink.ts';
import { SidRoutes } from '../../../kernel/netlink/sid-routes.ts';
import { address } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import type { Bench } from '../bench.ts';

export const CORE_MAC = Uint8Array.of(2, 0, 0, 0, 9, 1);
export const CORE_PEER_MAC = Uint8Array.of(2, 0, 0, 0, 9, 2);
export const SID = '2001:db8:f4::1';
export const MAIN_TABLE = 254;
/** A prefix behind the customer's neighbor, and the offset and value of its last byte in an IPv6 header. */
export const BEHIND = { prefix: '2001:db8:4::/64', at: 29, byte: 4 } as const;

/** `core` and `customer` are interface indices. */
export interface Edge {
  readonly netns: Netns;
  readonly core: number;
  readonly customer: number;
}

/** The namespace and its interfaces are removed when the figure ends. */
export async function providerEdge(bench: Bench): Promise<Edge> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  netns.run(() => writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1'));
  await rtnetlink.createVeth({
    name: 't-bench-core',
    mac: CORE_MAC,
    mtu: 1500,
    peer: { name: 't-bench-p', mac: CORE_PEER_MAC, mtu: 1500 },
  });
  await rtnetlink.createVeth({ name: 't-bench-host', mtu: 1500, peer: { name: 't-bench-h', mtu: 1500 } });
  for (const name of ['lo', 't-bench-core', 't-bench-p', 't-bench-host', 't-bench-h'])
    await rtnetlink.setLink(name, { up: true });
  await rtnetlink.addAddress('t-bench-host', address('2001:db8:2::1'), 64, { nodad: true });
  await rtnetlink.setNeighbor('t-bench-host', address('2001:db8:2::2'), Uint8Array.of(2, 0, 0, 0, 9, 9));
  await rtnetlink.addRoute({ destination: prefix(BEHIND.prefix), gateway: address('2001:db8:2::2'), protocol: 4 });
  const [core, customer] = [
    (await rtnetlink.link('t-bench-core'))!.ifindex,
    (await rtnetlink.link('t-bench-host'))!.ifindex,
  ];
  const routes = SidRoutes.open({ netns });
  bench.finally(() => routes.close());
  routes.add({ sid: address(SID), action: 'end.dt6', table: MAIN_TABLE, ifindex: core });
  await rtnetlink.addRoute({ destination: prefix('2001:db8:1::/64'), ifindex: core, protocol: 4 });
  return { netns, core, customer };
}
