// Replication at branching nodes and at the root (RMC §5.2): what leaves for the children is compared byte for byte.
import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../../src/model/address.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import {
  EDGE,
  MEMBERS,
  OTHER_EDGE,
  REPLICATION,
  ROOT,
  SOURCE,
  TREE,
  changed,
  copyFor,
  copyToChild,
  endMtTlv,
  inner,
  treeTlv,
  tunnel,
} from '../support/multicast-packets.ts';
import { childSid, children, receiver } from '../support/multicast-branches.ts';
import { type Left, sorted } from '../support/multicast-network.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

let router: MulticastRouter;
withMulticastRouter((created) => (router = created));

const NOTHING: Left = { p: [], h1: [], h2: [] };
const toBranching = (inside = inner(), of: Parameters<typeof tunnel>[1] = {}): Uint8Array =>
  tunnel(inside, { destination: REPLICATION, ...of });
const arrive = (packet: Uint8Array): Promise<Left> => router.exchange(() => router.arrive('p', packet));

describe('a branching node', () => {
  test.each([1, 2, 5, 63, 64])(
    'RMC-1.1-a: RMC-5.2-c: sends each of %i children a copy, from its replication SID',
    async (count) => {
      router.children(children(count));
      const packet = toBranching();
      const left = await arrive(packet);
      expect(sorted(left.p)).toEqual(sorted(children(count).map((_, n) => copyToChild(packet, childSid(n)))));
      expect(left).toMatchObject({ h1: [], h2: [] });
      expect(router.counts()).toEqual({ 'branching.packets': 1, 'branching.copies': count });
      expect(router.state('branching')).toMatchObject({ packets: 1n, current: { epoch: 1, list: 12, parent: 2 } });
      expect(router.record(12 * 64 + count - 1).copies).toBe(1n);
    },
  );

  test.each([0, 1, 4, 100, 1000, 4096])('leaves a packet of %i octets of data as it is', async (size) => {
    router.children(children(2));
    const packet = toBranching(inner({ size, checksum: true }), {
      trafficClass: 0xab,
      tlvs: [treeTlv(), endMtTlv(OTHER_EDGE, [receiver(0)])],
    });
    const left = await arrive(packet);
    expect(sorted(left.p)).toEqual(sorted([0, 1].map((n) => copyToChild(packet, childSid(n)))));
  });

  test('RMC-5.2-d: its own edge role is a branch too', async () => {
    router.children(children(2), { local: true });
    router.members([receiver(0), receiver(1)]);
    const inside = inner({ checksum: true });
    const packet = toBranching(inside, { tlvs: [treeTlv(), endMtTlv(EDGE, [receiver(0), receiver(1)])] });
    const left = await arrive(packet);
    expect(sorted(left.p)).toEqual(sorted([0, 1].map((n) => copyToChild(packet, childSid(n)))));
    expect(sorted([...left.h1, ...left.h2])).toEqual(sorted([0, 1].map((n) => copyFor(inside, receiver(n)))));
    expect(router.record(12 * 64).copies).toBe(1n);
  });

  test('a copy that exceeds the MTU of its port is counted and noted; the others leave', async () => {
    router.children(children(2));
    router.ip(`route add ${formatAddress(childSid(1))}/128 via 2001:db8:9::10 dev t-mc-core mtu lock 1400`);
    try {
      expect((await arrive(toBranching(inner({ size: 2000 })))).p).toHaveLength(1);
      expect(router.counts()).toEqual({ 'branching.packets': 1, 'branching.copies': 1, 'copy.too-big': 1 });
      expect(router.tooBig('branching')).toEqual({ mtu: 1400, epoch: 1, membersDigest: MEMBERS, treeDigest: TREE });
    } finally {
      router.ip(`route del ${formatAddress(childSid(1))}/128`);
    }
  });

  test('the children get theirs when this router does not know the members', async () => {
    router.children(children(2), { local: true });
    expect((await arrive(toBranching())).p).toHaveLength(2);
    expect(router.counts()).toMatchObject({ 'members-unknown': 1 });
  });

  test.each<[string, Uint8Array, string]>([
    [
      'of a tree that it does not know',
      toBranching(inner(), { tlvs: [treeTlv({ tree: new Uint8Array(8) })] }),
      'tree-unknown',
    ],
    ['from a router that is not the parent', toBranching(inner(), { source: ROOT }), 'not-parent'],
    ['from itself', toBranching(inner(), { source: REPLICATION }), 'not-parent'],
    ['from a host', toBranching(inner(), { source: SOURCE }), 'router-unknown'],
    ['whose hops are used up', toBranching(inner(), { hopLimit: 1 }), 'hop-limit'],
    [
      'with an operation that groups do not have',
      toBranching(inner({ opcode: OPCODE.readRequest, size: 0 })),
      'inner.opcode',
    ],
  ])('drops a packet %s', async (_, packet, counter) => {
    router.router(ROOT, 4);
    router.children(children(2));
    expect(await arrive(packet)).toEqual(NOTHING);
    expect(router.counts()).toEqual({ [counter]: 1 });
  });

  test('drops a packet at the SID that the group does not use here', async () => {
    router.group({ replication: ROOT });
    router.children(children(2));
    expect(await arrive(toBranching())).toEqual(NOTHING);
    expect(router.counts()).toEqual({ 'sid-other': 1 });
  });

  test('a packet with two hops left reaches the children with one', async () => {
    router.children(children(1));
    expect((await arrive(toBranching(inner(), { hopLimit: 2 }))).p[0]![7]).toBe(1);
  });

  test('lets the kernel resolve the neighbor', async () => {
    router.children(children(2));
    router.ip('-6 neigh del 2001:db8:9::10 dev t-mc-core');
    const packet = toBranching();
    // The packets behind it wait for the same neighbor.
    const left = await router.exchange(() => {
      router.arrive('p', packet);
      router.ip('-6 neigh replace 2001:db8:9::10 dev t-mc-core lladdr 02:00:00:00:06:02');
    });
    expect(sorted(left.p)).toEqual(sorted([0, 1].map((n) => copyToChild(packet, childSid(n)))));
    expect(router.counts()).toMatchObject({ 'copy.resolve': 2 });
  });

  test('copies per second', async () => {
    router.group({ copiesPerSecond: 1, copiesBurst: 3 });
    router.children(children(2));
    const left = await router.exchange(() => {
      for (const psn of [1, 2, 3]) router.arrive('p', toBranching(inner({ psn })));
    });
    expect(left.p).toHaveLength(2);
    expect(router.counts()).toMatchObject({ 'copy.limit': 2 });
  });
});

describe('the root', () => {
  const own = (): void => {
    router.group({ isRoot: true, source: SOURCE });
    router.router(ROOT, 4);
  };
  const leave = (packet: Uint8Array): Promise<Left> => router.exchange(() => router.leaveAtRoot(packet));

  test('RMC-5.2-b: replicates what its encapsulating route sends; the kernel has counted the hop', async () => {
    own();
    router.children(children(3), { parent: 0 });
    const packet = toBranching(inner(), { source: OTHER_EDGE, hopLimit: 1 });
    const left = await leave(packet);
    expect(sorted(left.p)).toEqual(sorted([0, 1, 2].map((n) => copyToChild(packet, childSid(n), 0))));
    expect(router.counts()).toEqual({ 'branching.packets': 1, 'branching.copies': 3, 'root.packets': 1 });
  });

  test('has receivers of its own', async () => {
    own();
    router.children([], { parent: 0, local: true });
    router.members([receiver(0), receiver(1)]);
    const inside = inner();
    const left = await leave(toBranching(inside));
    expect(sorted([...left.h1, ...left.h2])).toEqual(sorted([0, 1].map((n) => copyFor(inside, receiver(n)))));
  });

  test.each<[string, Uint8Array, string]>([
    ['from a host that is not the source', toBranching(inner({ source: receiver(0).address! })), 'root.foreign'],
    ['to another SID', toBranching(inner(), { destination: EDGE }), 'root.foreign'],
    ['without SRH', changed(toBranching(), 6, 59), 'root.foreign'],
    [
      'of a tree of another root',
      toBranching(inner(), { tlvs: [treeTlv({ tree: new Uint8Array(8) })] }),
      'tree-unknown',
    ],
  ])('drops a packet %s', async (_, packet, counter) => {
    own();
    router.children(children(2), { parent: 0 });
    expect(await leave(packet)).toEqual(NOTHING);
    expect(router.counts()).toEqual({ [counter]: 1 });
  });

  test('of another group than its own drops', async () => {
    router.group({ isRoot: false, source: SOURCE });
    router.children(children(2), { parent: 0 });
    expect(await leave(toBranching())).toEqual(NOTHING);
    expect(router.counts()).toEqual({ 'root.foreign': 1 });
  });

  test('of a tree takes no packets of that tree from others', async () => {
    own();
    router.children(children(2), { parent: 0 });
    expect(await arrive(toBranching(inner(), { source: ROOT }))).toEqual(NOTHING);
    expect(router.counts()).toEqual({ 'not-parent': 1 });
  });
});
