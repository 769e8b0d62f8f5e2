// Packets to a Proxy Address and ICMPv6 messages to SIDs: the source's go into the tree by the kernel's route, and what
// groups do not have is dropped and counted.
import { beforeEach, describe, expect, test } from 'vitest';
import { addressBytes } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
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

describe('at an edge', () => {
  test.each<[string, Uint8Array, string]>([
    ['data', inner({ source: receiver(0).address! }), 'proxy.foreign'],
    ['READ', changed(PLAIN, 48, OPCODE.readRequest), 'proxy.opcode'],
    ['an ATOMIC response', changed(PLAIN, 48, 0x12), 'proxy.opcode'],
    ['connection management', inner({ qpn: 1 }), 'proxy.cm'],
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

describe('ICMPv6 messages to a SID', () => {
  const error = (type: number, mtu: number, about: Uint8Array): Uint8Array =>
    ipv6(
      [PARENT, REPLICATION],
      58,
      concat(Uint8Array.of(type, 0, 0, 0, 0, 0, mtu >> 8, mtu & 255), about.subarray(0, 1180)),
    );
  const sent = (inside = PLAIN): Uint8Array => {
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
    expect(router.counts()).toEqual({ icmpv6: 3, 'packet-too-big': 3 });
  });

  test('Packet Too Big from a port of hosts is dropped', async () => {
    await router.exchange(() => router.arrive('h1', error(2, 1400, sent())));
    expect(router.tooBig('branching')).toBeUndefined();
    expect(router.counts()).toEqual({ 'not-core': 1 });
  });

  test.each<[string, Uint8Array]>([
    ['another error', error(1, 1400, sent())],
    ['an MTU that IPv6 does not have', error(2, 1279, sent())],
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
