// The way of a packet into a tree, on this kernel without any program: the source learns the MTU, the kernel
// encapsulates with cnpd's header, and nothing of it leaves when no program takes it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { type TreeDevice, TreeDevices } from '../../src/kernel/netlink/tree-device.ts';
import { TREE_DEVICE, TREE_DEVICE_PEER } from '../../src/model/tree-device.ts';
import { MAIN_TABLE, TREE_TABLE, type TreeRoute, TreeRoutes } from '../../src/kernel/netlink/tree-routes.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { address, addressFromBytes, formatAddress } from '../../src/model/address.ts';
import { type TreeSrh, encodeTreeSrh } from '../../src/packet/srv6/tree-srh.ts';
import type { DiscardPlan } from '../../src/plan/multicast-plan.ts';
import { discardOperations } from '../../src/reconcile/multicast/discards.ts';
import { OwnRoutes } from '../../src/reconcile/multicast/own-routes.ts';
import { inNetns, ip, untilCarried } from '../support/netns.ts';
import { contains, until } from '../support/until.ts';

const PROXY = address('2001:db8:99::1');
const ROOT = address('fc00:1::100');
const TYPES = { endMtTlv: 124, treeTlv: 125 };
const TREE: TreeSrh = {
  ...{ proxyAddress: PROXY, replicationSid: ROOT, epoch: 77 },
  ...{ membersDigest: new Uint8Array(8).fill(1), treeDigest: new Uint8Array(8).fill(2) },
  endMtTlvs: [
    { edge: address('fc00:2::200'), receivers: [{ address: address('2001:db8:2::2'), qpn: 17 }] },
    { edge: address('fc00:3::200'), receivers: [1, 2].map((n) => ({ address: address(`2001:db8:3::${n}`), qpn: n })) },
  ],
};
const MTU = 1400;

let root: Netns, source: Netns;
let devices: TreeDevices, routes: TreeRoutes, device: TreeDevice;
beforeEach(() => {
  [root, source] = [Netns.create(), Netns.create()];
  devices = TreeDevices.open({ netns: root });
  routes = TreeRoutes.open({ netns: root });
  ip(root, 'link set lo up');
  inNetns(root, 'sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
  ip(root, `link add t-mh-r type veth peer name t-mh-s netns ${source.path}`);
  for (const [ns, name, host] of [
    [root, 't-mh-r', 1],
    [source, 't-mh-s', 2],
  ] as const) {
    ip(ns, `addr add 2001:db8:1::${host}/64 dev ${name} nodad`);
    ip(ns, `link set ${name} up mtu 9000`);
  }
  ip(source, 'route add default via 2001:db8:1::1');
  device = devices.ensure();
});
afterEach(() => {
  devices.close();
  routes.close();
  root.close();
  source.close();
});

const unicast = { mtu: undefined, srh: undefined };
const install = (tree: TreeSrh = TREE): void => {
  routes.addRule(TREE_DEVICE);
  const srh = encodeTreeSrh(tree, TYPES);
  for (const route of [
    { ...unicast, destination: ROOT, table: MAIN_TABLE, ifindex: undefined },
    { ...unicast, destination: ROOT, table: TREE_TABLE, ifindex: device.outer },
    { destination: PROXY, table: TREE_TABLE, ifindex: device.outer, mtu: undefined, srh },
    { destination: PROXY, table: MAIN_TABLE, ifindex: device.inner, mtu: MTU, srh: undefined },
  ] satisfies TreeRoute[])
    routes.replace(route);
};
const send = (octets: number, to = '2001:db8:99::1'): string =>
  inNetns(
    source,
    'python3',
    '-c',
    `import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\ns.setsockopt(41, 23, 2)\n` +
      `s.sendto(b'x' * ${octets - 48}, ('${to}', 4791))`,
  );
/** IPv6 packets that leave at an interface while `act` runs until `enough`. */
const leaving = async (name: string, act: () => void, enough: (frames: readonly Uint8Array[]) => boolean) => {
  const frames: Uint8Array[] = [];
  const errors: unknown[] = [];
  const poller = Poller.open({ onError: (error) => void errors.push(error) });
  const socket = openPacketSocket(
    { interface: name, netns: root, outgoing: true },
    {
      poller,
      // Not MLD reports, which have a hop-by-hop header.
      onFrame: (frame, outgoing) => {
        const isPacket = outgoing && frame[12] === 0x86 && frame[13] === 0xdd && frame[20] !== 0;
        if (isPacket) frames.push(frame.slice(14));
      },
      onError: (error) => void errors.push(error),
    },
  );
  try {
    act();
    await until(`packets at ${name}`, () => enough(frames));
  } finally {
    socket.close();
    poller.close();
  }
  expect(errors).toEqual([]);
  return frames;
};

describe('while no tree takes them', () => {
  const MARKER = '2001:db8:dead::1';
  const discard: DiscardPlan = { id: formatAddress(PROXY), address: PROXY };
  let own: OwnRoutes, discards: ReturnType<typeof discardOperations>;
  beforeEach(() => {
    ip(root, 'link add t-mh-o type veth peer name t-mh-far');
    for (const line of [
      'link set t-mh-o up',
      'link set t-mh-far up',
      '-6 route add default via fe80::99 dev t-mh-o',
      '-6 neigh add fe80::99 lladdr 02:00:00:00:00:99 dev t-mh-o nud permanent',
    ])
      ip(root, line);
    own = new OwnRoutes(routes);
    discards = discardOperations(own);
  });

  /** Destinations of what leaves by the default route when the source sends to the Proxy Address, then to another. */
  const leavingTheDomain = async (): Promise<string[]> => {
    const destinationsOf = (frames: readonly Uint8Array[]): string[] =>
      frames
        .map((packet) => formatAddress(addressFromBytes(packet.subarray(24, 40))))
        .filter((to) => !to.startsWith('ff'));
    const frames = await leaving(
      't-mh-o',
      () => {
        send(1000);
        send(1000, MARKER);
      },
      (seen) => destinationsOf(seen).includes(MARKER),
    );
    return destinationsOf(frames);
  };

  test('packets to the Proxy Address do not follow the default route out of the domain', async () => {
    await untilCarried(root, 't-mh-o');
    expect(await leavingTheDomain()).toEqual([formatAddress(PROXY), MARKER]);
    discards.update(discard);
    own.refresh();
    expect(discards.verify!(discard)).toBe(true);
    expect(await leavingTheDomain()).toEqual([MARKER]);

    install();
    expect(ip(root, `-6 route get ${formatAddress(PROXY)}`)).toContain(TREE_DEVICE_PEER);
    own.refresh();
    for (const table of [MAIN_TABLE, TREE_TABLE]) expect(own.remove({ table, destination: PROXY })).toBe(true);
    expect(await leavingTheDomain()).toEqual([MARKER]);

    expect([...discards.prune(new Set([discard.id]))]).toEqual([false]);
    expect([...discards.prune(new Set<string>())]).toEqual([true]);
    expect(discards.verify!(discard)).toBe(false);
    expect(await leavingTheDomain()).toEqual([formatAddress(PROXY), MARKER]);
  });

  test('another program may have a route to the Proxy Address; one with the same metric is not replaced', () => {
    ip(root, `-6 route add ${formatAddress(PROXY)}/128 dev t-mh-o metric 20`);
    discards.update(discard);
    expect(ip(root, `-6 route get ${formatAddress(PROXY)}`)).toContain('dev t-mh-o');
    discards.delete(discard.id);
    ip(root, `-6 route add ${formatAddress(PROXY)}/128 dev t-mh-o metric 2147483647`);
    expect(() => discards.update(discard)).toThrow(/EEXIST/);
  });
});

describe('a packet from a source to the Proxy Address', () => {
  test('leaves once at cnpd-mc, encapsulated with the header as given; no program there: it ends at the peer', async () => {
    install();
    const frames = await leaving(
      TREE_DEVICE,
      () => {
        send(1000);
        send(MTU);
      },
      (seen) => seen.length === 2,
    );
    const srh = encodeTreeSrh(TREE, TYPES);
    // The kernel fills in the next header.
    srh[0] = 41;
    for (const packet of frames) {
      expect(packet[6]).toBe(43);
      expect(Buffer.from(packet.subarray(24, 40)).toString('hex')).toBe('fc000001000000000000000000000100');
      expect(packet.subarray(40, 40 + srh.length)).toEqual(srh);
    }
    expect(frames.map((packet) => packet.length)).toEqual([1000, MTU].map((octets) => octets + 40 + srh.length));
  });

  test('that is larger than the MTU of its route: the source is notified of the MTU, and keeps to it', async () => {
    install();
    send(MTU + 1);
    await until('the source knows the MTU', () => ip(source, '-6 route get 2001:db8:99::1'), contains(`mtu ${MTU}`));
  });

  test('a route that would encapsulate at once notifies only the router itself', async () => {
    const srh = encodeTreeSrh(TREE, TYPES);
    routes.replace({ ...unicast, destination: ROOT, table: MAIN_TABLE, ifindex: device.outer });
    routes.replace({ destination: PROXY, table: MAIN_TABLE, ifindex: device.outer, mtu: MTU, srh });
    ip(root, `link set ${TREE_DEVICE} mtu 1300`);
    const [error] = await leaving(
      'lo',
      () => send(1400),
      (seen) => seen.length > 0,
    );
    expect([error![40], new DataView(error!.buffer).getUint32(44)]).toEqual([2, 1300]);
    expect(ip(source, '-6 route get 2001:db8:99::1')).not.toContain('mtu');
  });
});

describe('headers that this kernel takes (seg6_validate_srh)', () => {
  test('what it takes it returns unchanged', () => {
    install(TREE);
    const found = routes.own().find((r) => r.srh);
    expect(found?.srh).toEqual(encodeTreeSrh(TREE, TYPES));
  });

  test.each<[string, (srh: Uint8Array) => Uint8Array]>([
    ['a TLV beyond its end', (srh) => srh.with(41, 250)],
    ['a length that is not that of the attribute', (srh) => srh.with(1, srh[1]! - 1)],
    ['two segments left of two', (srh) => srh.with(3, 2)],
  ])('not with %s', (_what, change) => {
    const srh = change(encodeTreeSrh(TREE, TYPES));
    const route = { destination: PROXY, table: TREE_TABLE, ifindex: device.outer, mtu: undefined, srh };
    expect(() => routes.replace(route)).toThrow(/EINVAL/);
  });
});

describe('routes', () => {
  test('are found with what was installed, replaced in place and removed; routes of others stay', () => {
    install();
    ip(root, 'route add 2001:db8:77::1/128 dev lo');
    const before = routes.own();
    expect(before).toHaveLength(4);
    expect(before).toContainEqual({
      ...{ destination: PROXY, table: MAIN_TABLE, ifindex: device.inner, mtu: MTU },
      ...{ srh: undefined, protocol: 111 },
    });
    expect(before).toContainEqual({
      ...{ destination: ROOT, table: MAIN_TABLE, ifindex: undefined, mtu: undefined },
      ...{ srh: undefined, protocol: 111 },
    });
    const srh = encodeTreeSrh({ ...TREE, epoch: 78, endMtTlvs: [] }, TYPES);
    routes.replace({ destination: PROXY, table: TREE_TABLE, ifindex: device.outer, mtu: undefined, srh });
    expect(routes.own().filter((r) => r.srh)).toMatchObject([{ srh }]);
    for (const route of routes.own()) expect(routes.remove(route)).toBe(true);
    expect(routes.own()).toEqual([]);
    expect(routes.remove(before[0]!)).toBe(false);
    const theirs = { ...unicast, destination: address('2001:db8:77::1'), table: MAIN_TABLE, ifindex: device.inner };
    expect(() => routes.add(theirs)).toThrow(/EEXIST/);
    expect(ip(root, '-6 route show 2001:db8:77::1')).toContain('dev lo');
  });

  test('the rule is found, and removed once', () => {
    routes.addRule(TREE_DEVICE);
    expect(routes.hasRule(TREE_DEVICE)).toBe(true);
    expect(ip(root, '-6 rule show')).toContain(`iif ${TREE_DEVICE} lookup ${TREE_TABLE}`);
    expect([routes.removeRule(TREE_DEVICE), routes.removeRule(TREE_DEVICE)]).toEqual([true, false]);
    expect(routes.hasRule(TREE_DEVICE)).toBe(false);
  });
});

describe('the device', () => {
  const shown = (): string => ip(root, `-o -d link show dev ${TREE_DEVICE}`);

  test('has no ARP and no addresses, and is adopted by the next run', () => {
    expect(shown()).toMatch(/NOARP,UP.* mtu 65535 .*addrgenmode none/);
    expect(ip(root, `-6 addr show dev ${TREE_DEVICE}`) + ip(root, `-6 addr show dev ${TREE_DEVICE_PEER}`)).toBe('');
    expect(devices.ensure()).toEqual(device);
    expect(root.run(() => interfaceIndex(TREE_DEVICE))).toBe(device.outer);
  });

  test('that somebody has set down is made anew', () => {
    ip(root, `link set ${TREE_DEVICE_PEER} down`);
    expect(devices.find()).toBeUndefined();
    const made = devices.ensure();
    expect(devices.find()).toEqual(made);
  });

  test('of somebody else is left alone, and refused', () => {
    expect([devices.remove(), devices.remove()]).toEqual([true, false]);
    ip(root, `link add ${TREE_DEVICE} type veth peer name t-mh-x`);
    expect(() => devices.ensure()).toThrow(`the interface ${TREE_DEVICE} is not cnpd's`);
    expect(devices.remove()).toBe(false);
    expect(shown()).toContain('t-mh-x');
  });
});
