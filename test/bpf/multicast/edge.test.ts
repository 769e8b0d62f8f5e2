// End.MT at an edge (RMC §5.2, §6.2): what leaves for the receivers is compared, byte for byte, with a model that
// computes every checksum anew.
import { describe, expect, test } from 'vitest';
import { toHex } from '../../../src/packet/hex.ts';
import { address } from '../../../src/model/address.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import {
  DESIGNATED,
  type Inner,
  MEMBERS,
  SOURCE,
  TREE,
  changed,
  copyFor,
  inner,
  treeTlv,
  tunnel,
} from '../support/multicast-packets.ts';
import { receiver, receivers } from '../support/multicast-branches.ts';
import { type Left, sorted } from '../support/multicast-network.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

let router: MulticastRouter;
withMulticastRouter((created) => (router = created));

const atHosts = (left: Left): string[] => sorted([...left.h1, ...left.h2]);
/** The same octets of each copy, as text. */
const octets = (left: Left, from: number, to: number): string[] =>
  [...left.h1, ...left.h2].map((copy) => toHex(copy.subarray(from, to))).sort();
const arriveAll = (packets: readonly Uint8Array[]): Promise<Left> =>
  router.exchange(() => {
    for (const packet of packets) router.arrive('p', packet);
  });

describe('A20: copies differ from the packet inside in nothing but what RMC §6.2 changes', () => {
  test.each([1, 2, 3, 4, 16, 63, 64])('RMC-6.2-e: RMC-5.2-f: %i receivers, each gets one copy', async (count) => {
    const all = receivers(count);
    router.members(all);
    const packet = inner();
    const left = await arriveAll([tunnel(packet)]);
    expect(atHosts(left)).toEqual(sorted(all.map((one) => copyFor(packet, one))));
    expect(left.p).toEqual([]);
    expect(router.counts()).toEqual({ 'edge.packets': 1, 'edge.copies': count });
  });

  test('RMC-5.2-g: RMC-6.2-f: octets 24 to 39 of each copy are the address of its receiver', async () => {
    router.members(receivers(4));
    expect(octets(await arriveAll([tunnel(inner())]), 24, 40)).toEqual([
      '20010db8000100000000000000010000',
      '20010db8000100000000000000010002',
      '20010db8000200000000000000010001',
      '20010db8000200000000000000010003',
    ]);
  });

  test('RMC-5.2-h: RMC-6.2-g: octets 53 to 55 of each copy are the Queue Pair of its receiver, and 52 is left alone', async () => {
    router.members(receivers(4));
    const left = await arriveAll([tunnel(changed(inner(), 52, 0x40))]);
    // The end of the address beside them: no copy has the Queue Pair of another receiver.
    const ends = [...left.h1, ...left.h2].map((copy) => toHex(copy.subarray(38, 40)) + toHex(copy.subarray(52, 56)));
    expect(ends.sort()).toEqual(['00004000a100', '00014001a303', '00024002a506', '00034003a709']);
  });

  test('RMC-6.2-i: RMC-5.2-j: the route of each receiver picks its port', async () => {
    router.members(receivers(5));
    const left = await arriveAll([tunnel(inner())]);
    expect([left.h1.length, left.h2.length]).toEqual([3, 2]);
  });

  // One receiver's ICRC is multiplied, those of several are looked up.
  test.each([
    [1, false],
    [3, false],
    [3, true],
  ])(
    'RMC-6.2-h: RMC-5.2-i: the ICRC is right at all lengths from 0 to 4096; receivers: %i, UDP checksum: %s',
    async (count, checksum) => {
      const all = receivers(count);
      router.members(all);
      // Every length of a packet, with 0 to 3 octets of padding.
      const packets = Array.from({ length: 1025 }, (_, i) =>
        inner({ size: Math.max(0, i * 4 - (i % 4)), psn: (0xfffe00 + i) & 0xffffff, checksum }),
      );
      for (let from = 0; from < packets.length; from += 128) {
        const some = packets.slice(from, from + 128);
        const left = await arriveAll(some.map((packet) => tunnel(packet)));
        expect(atHosts(left)).toEqual(sorted(some.flatMap((packet) => all.map((one) => copyFor(packet, one)))));
      }
    },
    120_000,
  );

  test('the model and the programs agree with the parser of RoCEv2 about what a receiver sees', async () => {
    router.members([receiver(0, { psnDelta: 0xffffff })]);
    const left = await arriveAll([tunnel(inner({ psn: 0 }))]);
    const parsed = parseRocePacket(left.h1[0]!);
    expect(parsed).toMatchObject({ ok: true, value: { icrcValid: true, udpChecksum: 0, hopLimit: 61 } });
    expect(parsed.ok && parsed.value.bth).toMatchObject({ destQpn: receiver(0).qpn, psn: 0xffffff, ackRequest: true });
  });

  test('a source that copies keep', async () => {
    router.group({ keepSource: true });
    router.members(receivers(2));
    const packet = inner({ checksum: true });
    const left = await arriveAll([tunnel(packet)]);
    expect(atHosts(left)).toEqual(sorted(receivers(2).map((one) => copyFor(packet, one, { keepSource: true }))));
  });

  test('what is kept of sources and lengths is not taken for that of others', async () => {
    router.members(receivers(2));
    const sources = [1, 2, 3].map((n) => address(`2001:db8:5::${n}`));
    // Lengths that share the place in which their products are kept, and others.
    const packets = Array.from({ length: 48 }, (_, i) =>
      inner({ source: sources[i % 3]!, size: [0, 20, 52, 1024, 72][i % 5]!, psn: i, checksum: i % 2 === 0 }),
    );
    const left = await arriveAll(packets.map((packet) => tunnel(packet)));
    expect(atHosts(left)).toEqual(sorted(packets.flatMap((packet) => receivers(2).map((one) => copyFor(packet, one)))));
  });

  test('damage stays visible: a wrong ICRC is wrong in every copy, a wrong UDP checksum too', async () => {
    router.members(receivers(2));
    const packet = inner({ checksum: true });
    const damaged = changed(packet, 80, packet[80]! ^ 0x10);
    const left = await arriveAll([tunnel(damaged)]);
    const expected = receivers(2).map((one) => changed(copyFor(packet, one), 80, damaged[80]!));
    expect(atHosts(left)).toEqual(sorted(expected));
    for (const copy of [...left.h1, ...left.h2])
      expect(parseRocePacket(copy)).toMatchObject({ ok: true, value: { icrcValid: false } });
  });
});

describe('WRITE', () => {
  const write = { vaDelta: 0x0000_000f_0000_0020n, rKey: 0xcafebabe };
  const all = [
    receiver(0, { write }),
    receiver(1),
    receiver(2, { write: { vaDelta: -1n & 0xffff_ffff_ffff_ffffn, rKey: 1 } }),
  ];

  test.each<[string, Inner]>([
    ['First', { opcode: OPCODE.writeFirst }],
    ['Only', { opcode: OPCODE.writeOnly }],
    ['Only with a UDP checksum', { opcode: OPCODE.writeOnly, checksum: true }],
    ['Only with immediate data', { opcode: 0x0b, checksum: true }],
    ['First at the end of the address space', { opcode: OPCODE.writeFirst, va: 0xffff_ffff_ffff_ffffn }],
    ['Only without data', { opcode: OPCODE.writeOnly, size: 0 }],
    ['Middle, which has no RETH', { opcode: OPCODE.writeMiddle }],
    ['Last, which has no RETH', { opcode: OPCODE.writeLast, checksum: true }],
  ])('the memory region of each receiver: %s', async (_, of) => {
    router.members(all, { joined: true });
    const packet = inner(of);
    const left = await arriveAll([tunnel(packet)]);
    expect(atHosts(left)).toEqual(sorted(all.map((one) => copyFor(packet, one))));
  });
});

describe('RFC 6040: the congestion field leaves the tree', () => {
  const cells = [0, 1, 2, 3].flatMap((inside) => [0, 1, 2, 3].map((outside) => [inside, outside] as const));
  // Figure 4: rows are the field inside, columns that outside, in the order of their numbers; null: dropped.
  const FIGURE = [
    [0, 0, 0, null],
    [1, 1, 1, 3],
    [2, 1, 2, 3],
    [3, 3, 3, 3],
  ];
  test.each(cells)('%i inside, %i outside', async (inside, outside) => {
    router.members(receivers(2));
    const packet = inner({ trafficClass: 0x68 | inside, checksum: true });
    const left = await arriveAll([tunnel(packet, { trafficClass: 0x40 | outside })]);
    const ecn = FIGURE[inside]![outside]!;
    expect(atHosts(left)).toEqual(ecn === null ? [] : sorted(receivers(2).map((one) => copyFor(packet, one, { ecn }))));
    if (ecn === null) expect(router.counts()).toEqual({ 'edge.ecn.dropped': 1 });
  });
});

describe('a receiver joins at the begin of a message', () => {
  const MESSAGE = [OPCODE.sendMiddle, OPCODE.sendLast, OPCODE.sendFirst, OPCODE.sendMiddle, OPCODE.sendLast];
  test('it has no packet before, and all from there on, beside receivers that are there already', async () => {
    const [digest, index] = [Uint8Array.of(9, 9, 9, 9, 9, 9, 9, 9), 12];
    router.members(receivers(1));
    await arriveAll([tunnel(inner({ opcode: OPCODE.sendFirst }))]);
    router.members(receivers(2), { digest, index });
    const packets = MESSAGE.map((opcode, psn) => inner({ opcode, psn: 10 + psn }));
    const tlvs = [treeTlv({ epoch: 2, members: digest })];
    const left = await arriveAll(packets.map((packet) => tunnel(packet, { tlvs })));
    expect(atHosts(left)).toEqual(
      sorted([
        ...packets.map((packet) => copyFor(packet, receiver(0))),
        ...packets.slice(2).map((packet) => copyFor(packet, receiver(1))),
      ]),
    );
    expect(router.counts()).toMatchObject({ 'copy.waiting': 2, 'edge.packets': 6 });
  });

  test('all join with the first packet of an edge that is new, or has restarted amid a message', async () => {
    router.members(receivers(2));
    const packets = MESSAGE.map((opcode, psn) => inner({ opcode, psn }));
    const left = await arriveAll(packets.map((packet) => tunnel(packet)));
    expect(atHosts(left)).toEqual(sorted(packets.flatMap((packet) => receivers(2).map((one) => copyFor(packet, one)))));
  });

  test.each([OPCODE.sendFirst, OPCODE.sendOnly, 0x05, OPCODE.writeFirst, OPCODE.writeOnly, 0x0b])(
    'operation %i begins a message',
    async (opcode) => {
      router.members(receivers(1));
      expect((await arriveAll([tunnel(inner({ opcode }))])).h1).toHaveLength(1);
      expect(router.record(11 * 64)).toMatchObject({ joined: true, copies: 1n });
    },
  );

  test('one that had joined in another list needs no new begin', async () => {
    router.members(receivers(1), { joined: true });
    expect((await arriveAll([tunnel(inner({ opcode: OPCODE.sendMiddle }))])).h1).toHaveLength(1);
  });
});

test('statistics of the group and of each receiver', async () => {
  router.members(receivers(2));
  await arriveAll([tunnel(inner()), tunnel(inner({ psn: 2 }))]);
  const state = router.state('edge');
  expect(state).toMatchObject({ packets: 2n, current: { epoch: 1, list: 11, parent: 2 } });
  expect(state.dataNs).toBeGreaterThan(0n);
  expect([router.record(11 * 64).copies, router.record(11 * 64 + 1).copies]).toEqual([2n, 2n]);
});

describe('copies per second', () => {
  test('what exceeds the bucket is dropped and counted', async () => {
    // One copy in 1,000 s: the bucket does not fill within the test.
    router.group({ copiesPerSecond: 1, copiesBurst: 5 });
    router.members(receivers(2));
    const left = await arriveAll([1, 2, 3, 4].map((psn) => tunnel(inner({ psn }))));
    expect(left.h1.length + left.h2.length).toBe(4);
    expect(router.counts()).toEqual({ 'edge.packets': 2, 'edge.copies': 4, 'copy.limit': 2 });
  });

  test('a packet with more copies than the bucket holds passes when it is full', async () => {
    router.group({ copiesPerSecond: 1, copiesBurst: 1 });
    router.members(receivers(3));
    const left = await arriveAll([tunnel(inner())]);
    expect(left.h1.length + left.h2.length).toBe(3);
  });
});

describe('when a copy cannot leave by itself', () => {
  test('the kernel resolves the neighbor and forwards the copy, no hop less than the others', async () => {
    router.members(receivers(3));
    router.ip('-6 neigh del 2001:db8:1::1:0 dev t-mc-c1');
    const packet = inner();
    const solicited = router.exchange(() => router.arrive('p', tunnel(packet)));
    await solicited;
    expect(router.counts()).toMatchObject({ 'copy.resolve': 1, 'edge.copies': 3 });
    const again = await router.exchange(() => {
      router.ip('-6 neigh replace 2001:db8:1::1:0 dev t-mc-c1 lladdr 02:00:00:00:07:02');
    });
    expect(again.h1.map(toHex)).toEqual([toHex(copyFor(packet, receiver(0)))]);
  });

  test('the others get theirs when one has no route, also when it is the last', async () => {
    const lost = receiver(1, { address: SOURCE });
    router.members([receiver(0), lost]);
    const packet = inner();
    expect(atHosts(await arriveAll([tunnel(packet)]))).toEqual(sorted([copyFor(packet, receiver(0))]));
    expect(router.counts()).toEqual({ 'edge.packets': 1, 'edge.copies': 1, 'copy.no-route': 1 });
  });

  test('a copy that exceeds the MTU of its port is counted, and what would pass in the tree is noted', async () => {
    router.members(receivers(1));
    router.ip('link set t-mc-c1 mtu 1400');
    try {
      expect(atHosts(await arriveAll([tunnel(inner({ size: 2000 }))]))).toEqual([]);
      expect(router.counts()).toMatchObject({ 'copy.too-big': 1 });
      // An IPv6 header, and an SRH of 64 octets.
      expect(router.tooBig('edge')).toEqual({ mtu: 1400 + 104, epoch: 1, membersDigest: MEMBERS, treeDigest: TREE });
    } finally {
      router.ip('link set t-mc-c1 mtu 9000');
    }
  });

  test('a packet whose hops are used up', async () => {
    router.members(receivers(1));
    expect(atHosts(await arriveAll([tunnel(inner({ hopLimit: 1 }))]))).toEqual([]);
    expect(router.counts()).toEqual({ 'hop-limit': 1 });
  });
});

test("RMC-5.2-a: only packets to the Designated QPN are the group's", async () => {
  router.members(receivers(1));
  expect(atHosts(await arriveAll([tunnel(inner({ qpn: DESIGNATED + 1 }))]))).toEqual([]);
  expect(router.counts()).toEqual({ 'inner.qpn': 1 });
});
