// Packets to a Proxy Address and ICMPv6 messages to SIDs: the source's go into the tree by the kernel's route, and what
// groups do not have is dropped and counted.
import { beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address, addressBytes } from '../../../src/model/address.ts';
import { concat, put32 } from '../../../src/packet/bytes.ts';
import { ipv6, options, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import {
  EDGE,
  MEMBERS,
  PARENT,
  PROXY,
  REPLICATION,
  SOURCE,
  TREE,
  changed,
  copyFor,
  inner,
  tunnel,
} from '../support/multicast-packets.ts';
import { child, receiver } from '../support/multicast-branches.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

let router: MulticastRouter;
withMulticastRouter((created) => {
  router = created;
  // What passes the program leaves by the kernel's routing.
  router.ip('-6 route add 2001:db8:f::1/128 via 2001:db8:9::10 dev t-mc-core');
  router.ip('-6 route add 2001:db8:5::/64 via 2001:db8:1::10 dev t-mc-c1');
});

const fromHost = async (packet: Uint8Array): Promise<number> =>
  (await router.exchange(() => router.arrive('h1', packet))).p.length;
const PLAIN = inner();

describe('at the root', () => {
  beforeEach(() => router.group({ isRoot: true, source: SOURCE, edge: null }));

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b])('operation %i of the source passes', async (opcode) => {
    expect(await fromHost(changed(PLAIN, 48, opcode))).toBe(1);
    expect(router.counts()).toEqual({ 'proxy.source': 1 });
  });

  test.each<[string, Uint8Array, string]>([
    ['READ', changed(PLAIN, 48, OPCODE.readRequest), 'proxy.opcode'],
    ['compare and swap', changed(PLAIN, 48, 0x13), 'proxy.opcode'],
    ['fetch and add', changed(PLAIN, 48, 0x14), 'proxy.opcode'],
    ['SEND with Invalidate', changed(PLAIN, 48, 0x17), 'proxy.opcode'],
    ['SEND of UD', changed(PLAIN, 48, 0x64), 'proxy.opcode'],
    ['another Queue Pair', inner({ qpn: 9 }), 'proxy.qpn'],
    ['connection management', inner({ qpn: 1 }), 'proxy.cm'],
    ['a source that is not declared', inner({ source: receiver(0).address! }), 'proxy.foreign'],
    ['an ACK of a host', changed(inner({ source: receiver(0).address! }), 48, OPCODE.acknowledge), 'proxy.opcode'],
    ['a Destination Options header', ipv6([SOURCE, PROXY], 60, options(17, 0, PLAIN.subarray(40))), 'proxy.malformed'],
    ['another UDP port', changed(PLAIN, 42, 0x12, 0xb5), 'proxy.malformed'],
    ['a datagram without BTH', ipv6([SOURCE, PROXY], 17, udp(1, 4791)), 'proxy.malformed'],
  ])('%s is dropped', async (_, packet, counter) => {
    expect(await fromHost(packet)).toBe(0);
    expect(router.counts()).toEqual({ [counter]: 1 });
  });
});

describe('RMC-9-b: the source at the root is believed where it is routed', () => {
  /** Routed to the core, as SOURCE is to h1. */
  const FAR = address('2001:db8:c00::77');
  const from = async (port: 'p' | 'h1', packet: Uint8Array): Promise<number> =>
    (await router.exchange(() => router.arrive(port, packet))).p.length;

  test('its address at another port is not enough, also if it was believed at its own just before', async () => {
    router.group({ isRoot: true, source: SOURCE, edge: null });
    expect([await from('p', PLAIN), await from('h1', PLAIN), await from('p', PLAIN)]).toEqual([0, 1, 0]);
    expect(router.counts()).toEqual({ 'proxy.wrong-port': 2, 'proxy.source': 1 });
  });

  test('one behind the core comes by a core port, and what was believed of another source there does not count', async () => {
    router.group({ isRoot: true, source: FAR, edge: null });
    const packet = inner({ source: FAR });
    expect([await from('h1', packet), await from('p', packet)]).toEqual([0, 1]);
    router.group({ isRoot: true, source: SOURCE, edge: null });
    expect(await from('p', PLAIN)).toBe(0);
    expect(router.counts()).toEqual({ 'proxy.wrong-port': 2, 'proxy.source': 1 });
  });

  test('one without a route is believed nowhere: nothing could answer it', async () => {
    const nowhere = address('2001:db8:77::1');
    router.group({ isRoot: true, source: nowhere, edge: null });
    expect([await from('h1', inner({ source: nowhere })), await from('p', inner({ source: nowhere }))]).toEqual([0, 0]);
    expect(router.counts()).toEqual({ 'proxy.wrong-port': 2 });
  });
});

describe('at an edge', () => {
  test.each<[string, Uint8Array, string]>([
    ['data', inner({ source: receiver(0).address! }), 'proxy.foreign'],
    ['READ', changed(PLAIN, 48, OPCODE.readRequest), 'proxy.opcode'],
    ['an ATOMIC response', changed(PLAIN, 48, 0x12), 'proxy.opcode'],
    ['connection management', inner({ qpn: 1 }), 'proxy.cm'],
    ['an echo request', ipv6([SOURCE, PROXY], 58, Uint8Array.of(128, 0, 0, 0, 0, 0, 0, 0)), 'icmpv6'],
  ])('%s of a host is dropped', async (_, packet, counter) => {
    expect(await fromHost(packet)).toBe(0);
    expect(router.counts()).toEqual({ [counter]: 1 });
  });
});

test('a router that is neither root nor edge of the group forwards like any other', async () => {
  router.group({ edge: null });
  expect(await fromHost(PLAIN)).toBe(1);
  expect(await fromHost(changed(PLAIN, 48, OPCODE.readRequest))).toBe(1);
  expect(router.counts()).toEqual({});
});

test('packets to other addresses pass, also between VLAN tags', async () => {
  const before = await router.exchange(() => {
    router.arrive('h1', inner({ destination: PARENT }));
    router.arrive('h1', PLAIN, [[0x8100, 7]]);
  });
  expect(before.p).toHaveLength(1);
  expect(router.counts()).toEqual({});
});

describe('VLAN 0, which carries a priority and is no VLAN', () => {
  const PRIORITY = [[0x8100, 0x6000]] as const;
  const tagged = (port: 'p' | 'h1', packet: Uint8Array) => router.exchange(() => router.arrive(port, packet, PRIORITY));

  test('RMC-9-b: is no way around the checks at the root', async () => {
    router.group({ isRoot: true, source: SOURCE, edge: null });
    expect((await tagged('p', PLAIN)).p).toEqual([]);
    expect((await tagged('h1', changed(PLAIN, 48, OPCODE.readRequest))).p).toEqual([]);
    expect((await tagged('h1', PLAIN)).p).toHaveLength(1);
    expect(router.counts()).toEqual({ 'proxy.wrong-port': 1, 'proxy.opcode': 1, 'proxy.source': 1 });
  });

  test('an edge serves tagged data; the copies have no tag', async () => {
    router.members([receiver(0)]);
    const { h1 } = await tagged('p', tunnel(PLAIN, { destination: EDGE }));
    expect(h1).toEqual([copyFor(PLAIN, receiver(0))]);
    expect(router.counts()).toMatchObject({ 'edge.packets': 1, 'edge.copies': 1 });
  });
});

const icmpv6Error = (of: readonly [IpAddress, IpAddress], type: number, mtu: number, about: Uint8Array): Uint8Array => {
  const header = Uint8Array.of(type, 0, 0, 0, 0, 0, 0, 0);
  put32(header, 4, mtu);
  return ipv6(of, 58, concat(header, about.subarray(0, 1180)));
};
const BIG = inner({ size: 2000 });

describe('ICMPv6 messages to a SID', () => {
  const error = (type: number, mtu: number, about: Uint8Array): Uint8Array =>
    icmpv6Error([PARENT, REPLICATION], type, mtu, about);
  const sent = (inside = BIG): Uint8Array => {
    const packet = tunnel(inside, { destination: PARENT });
    packet.set(addressBytes(REPLICATION), 8);
    return packet;
  };
  /** Returns the MTU that is noted. */
  const arrive = async (...packets: Uint8Array[]): Promise<number | undefined> => {
    const left = await router.exchange(() => packets.forEach((packet) => router.arrive('p', packet)));
    expect(left).toEqual({ p: [], h1: [], h2: [] });
    return router.tooBig('branching')?.mtu;
  };
  beforeEach(() => router.children([child(0)]));

  test('Packet Too Big: the smallest MTU is noted for the agent, with the name of the tree', async () => {
    expect(await arrive(error(2, 1500, sent()))).toBe(1500);
    expect(await arrive(error(2, 1400, sent()), error(2, 1450, sent()))).toBe(1400);
    expect(router.tooBig('branching')).toEqual({ mtu: 1400, epoch: 1, membersDigest: MEMBERS, treeDigest: TREE });
    expect(await arrive(error(2, 1399, sent()))).toBe(1399);
    expect(router.counts()).toEqual({ icmpv6: 4, 'packet-too-big': 4 });
  });

  test('Packet Too Big from a port of hosts is dropped', async () => {
    await router.exchange(() => router.arrive('h1', error(2, 1400, sent())));
    expect(router.tooBig('branching')).toBeUndefined();
    expect(router.counts()).toEqual({ 'not-core': 1 });
  });

  test.each<[string, Uint8Array]>([
    ['another error', error(1, 1400, sent())],
    ['an MTU that IPv6 does not have', error(2, 1279, sent())],
    ['an MTU that lets the packet pass', error(2, sent().length, sent())],
    ['the largest MTU', error(2, 0xffff_ffff, sent())],
    ['a packet that another router sent', error(2, 1400, changed(sent(), 8 + 15, 0x77))],
    ['a packet of no group', error(2, 1400, changed(sent(), 48 + 15, 0x77))],
    ['a packet without SRH', error(2, 1400, changed(sent(), 6, 41))],
    ['a packet of a tree that is not known', error(2, 1400, changed(sent(), 80 + 16 + 7, 0x77))],
    ['a packet that is cut', error(2, 1400, sent().subarray(0, 63))],
    ['a packet that is cut before its tree TLV', error(2, 1400, sent().subarray(0, 103))],
  ])('is consumed and changes nothing: %s', async (_, packet) => {
    expect(await arrive(packet)).toBeUndefined();
    expect(router.counts()).toEqual({ icmpv6: 1 });
  });

  test('are consumed at the End.MT SID as well', async () => {
    expect(await arrive(ipv6([PARENT, EDGE], 58, Uint8Array.of(128, 0, 0, 0, 0, 0, 0, 0)))).toBeUndefined();
    expect(router.counts()).toEqual({ icmpv6: 1 });
  });
});

describe('Packet Too Big from a router between an edge and a receiver', () => {
  /** Behind the same port as the receiver. */
  const ROUTER = address('2001:db8:1::5');
  const copy = copyFor(BIG, receiver(2, { psnDelta: 0 }));
  const error = (mtu: number, about = copy, type = 2): Uint8Array => icmpv6Error([ROUTER, PROXY], type, mtu, about);
  /** Returns the MTU that is noted. */
  const arrive = async (port: 'h1' | 'h2' | 'p', packet: Uint8Array): Promise<number | undefined> => {
    expect(await router.exchange(() => router.arrive(port, packet))).toEqual({ p: [], h1: [], h2: [] });
    return router.tooBig('edge')?.mtu;
  };
  const flow = (): Promise<unknown> => router.exchange(() => router.arrive('p', tunnel(inner({ psn: 1 }))));
  beforeEach(async () => {
    router.members([receiver(0, { psnDelta: 0 }), receiver(2, { psnDelta: 0 })], { joined: true });
    await flow();
  });

  test('is noted as for a packet in the tree, with what was around it there', async () => {
    // IPv6 header, SRH with two segments and the tree TLV.
    expect(await arrive('h1', error(1500))).toBe(1500 + 40 + 64);
    expect(await arrive('h1', error(1400))).toBe(1400 + 40 + 64);
    expect(router.tooBig('edge')).toEqual({ mtu: 1504, epoch: 1, membersDigest: MEMBERS, treeDigest: TREE });
    expect(router.counts()).toMatchObject({ icmpv6: 2, 'packet-too-big': 2 });
  });

  test.each<[string, 'h1' | 'h2' | 'p', Uint8Array]>([
    ['at a port to which the receiver is not routed', 'p', error(1500)],
    ['about a stranger', 'h1', error(1500, copyFor(BIG, receiver(4, { psnDelta: 0 })))],
    ['about another Queue Pair', 'h1', error(1500, copyFor(BIG, receiver(2, { qpn: 9 })))],
    ['about a packet of another source', 'h1', error(1500, copyFor(BIG, receiver(2), { keepSource: true }))],
    ['about a packet to another UDP port', 'h1', error(1500, changed(copy, 42, 0x12, 0xb5))],
    ['about a packet with other headers', 'h1', error(1500, changed(copy, 6, 60))],
    ['about a packet that is cut', 'h1', error(1500, copy.subarray(0, 59))],
    ['with an MTU that IPv6 does not have', 'h1', error(1279)],
    ['with an MTU that lets the packet pass', 'h1', error(copy.length)],
    ['with the largest MTU', 'h1', error(0xffff_ffff)],
    ['with an MTU that no packet in a tree has', 'h1', error(0xffff, changed(copy, 4, 0xff, 0xff))],
    ['that is another error', 'h1', error(1500, copy, 1)],
  ])('is consumed, and changes nothing: %s', async (_, port, packet) => {
    expect(await arrive(port, packet)).toBeUndefined();
    expect(router.count('icmpv6')).toBe(1);
    expect(router.count('packet-too-big')).toBe(0);
  });

  test('about a group whose receivers have had no packet is of nobody who has seen one', async () => {
    router.reset();
    router.members([receiver(2)], { joined: true });
    expect(await arrive('h1', error(1500))).toBeUndefined();
    expect(router.counts()).toEqual({ icmpv6: 1 });
  });
});
