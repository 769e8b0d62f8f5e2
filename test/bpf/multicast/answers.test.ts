// Answers on their way up: receivers' ACKs, NAKs and CNPs arrive at an edge, children's at a branching node, and what
// goes up is compared byte for byte, ICRC included.
import { describe, expect, test } from 'vitest';
import { multicastStateIndex, type MulticastRole } from '../../../src/kernel/dataplane/multicast-lists.ts';
import { multicastWindowPacket } from '../../../src/kernel/dataplane/multicast-state.ts';
import { MULTICAST_PROGRAMS } from '../../../src/kernel/dataplane/multicast.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { CORE_HOST, EPOCH, SOURCE_QPN, answer, cnp, inTunnel } from '../support/multicast-answers.ts';
import { childSid, child, receiver, receiverAddress } from '../support/multicast-branches.ts';
import {
  DESIGNATED,
  EDGE,
  PARENT,
  PROXY,
  REPLICATION,
  changed,
  inner,
  treeTlv,
  tunnel,
} from '../support/multicast-packets.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

let router: MulticastRouter;
withMulticastRouter((created) => (router = created));

/** The router has replicated these PSNs, to receivers 0, 2, 4 … of psnDelta 0. */
async function edgeOf(count: number, psns: readonly number[], delta = 0): Promise<void> {
  router.members(
    Array.from({ length: count }, (_, i) => receiver(2 * i, { psnDelta: delta })),
    { joined: true },
  );
  await router.exchange(() => {
    for (const psn of psns) router.arrive('p', tunnel(inner({ psn })));
  });
}
const up = async (...packets: Uint8Array[]): Promise<Uint8Array[]> =>
  (await router.exchange(() => packets.forEach((packet) => router.arrive('h1', packet)))).p;

describe('at an edge', () => {
  test('RMC-5.3-a: RMC-5.3.1-c: RMC-5.3.1-d: the ACK that goes up has the minimum, and reaches the parent in a tunnel', async () => {
    await edgeOf(2, [100, 101, 102]);
    expect(await up(answer({ psn: 102, msn: 7 }))).toEqual([]);
    expect(await up(answer({ psn: 101, msn: 6, source: receiverAddress(2) }))).toEqual([
      inTunnel(answer({ psn: 101, msn: 6, source: receiverAddress(2) }), EDGE, PARENT),
    ]);
    expect(router.counts()).toMatchObject({ 'answers.host': 2, 'answers.waiting': 1, 'up.ack': 1 });
  });

  test('RMC-5.3.2-d: RMC-5.3.2-c: a NAK goes up with the minimum of what all have, once', async () => {
    await edgeOf(2, [0xfffffe, 0xffffff, 0]);
    expect(await up(answer({ psn: 0xfffffe }))).toEqual([]);
    const nak = answer({ psn: 0, kind: 'nak', source: receiverAddress(2) });
    const [first, ...more] = await up(nak, nak);
    expect(first).toEqual(inTunnel(answer({ psn: 0xffffff, kind: 'nak', source: receiverAddress(2) }), EDGE, PARENT));
    expect(more).toEqual([]);
    expect(router.count('up.nak')).toBe(1);
  });

  test('RMC-5.3.2-d: RMC-9-d: however often the source repeats what is before it, a NAK goes up once until its packet is repeated', async () => {
    const [one, two] = [receiverAddress(0), receiverAddress(2)];
    const nak = answer({ psn: 6, kind: 'nak', source: two });
    const naks = async (...packets: Uint8Array[]): Promise<number> => {
      const before = router.count('up.nak');
      await up(...packets);
      return router.count('up.nak') - before;
    };
    const repeat = (psn: number): Promise<unknown> => router.exchange(() => router.arrive('p', tunnel(inner({ psn }))));
    await edgeOf(2, [4, 5, 6, 7]);
    expect(await naks(answer({ psn: 7, source: one }), nak)).toBe(1);
    for (const psn of [4, 5]) {
      await repeat(psn);
      expect(await naks(answer({ psn: 7, source: one }), answer({ psn: 5, source: two }))).toBe(0);
    }
    await repeat(6);
    expect(await naks(nak)).toBe(1);
  });

  test('RMC-5.3.2-d: a source that goes back before a gap comes to it by itself: the NAK does not go up again', async () => {
    await edgeOf(2, [1, 2, 3, 4, 5, 6, 7, 8]);
    const ahead = receiverAddress(2);
    expect(await up(answer({ psn: 1 }))).toEqual([]);
    expect(await up(answer({ psn: 6, kind: 'nak', source: ahead }))).toHaveLength(1);
    for (const psn of [2, 3]) {
      await router.exchange(() => router.arrive('p', tunnel(inner({ psn }))));
      // Of its duplicate.
      expect(await up(answer({ psn: 5, source: ahead }))).toEqual([]);
    }
    expect(router.count('up.nak')).toBe(1);
  });

  test('RMC-5.3.2-d: however the minimum grows, a NAK goes up once: the source has gone back before the gap', async () => {
    await edgeOf(2, [1, 2, 3, 4, 5, 6, 7, 8]);
    const [behind, ahead] = [receiverAddress(0), receiverAddress(2)];
    await up(answer({ psn: 1, source: behind }), answer({ psn: 6, kind: 'nak', source: ahead }));
    const acks = await up(...[2, 3, 4, 5, 6, 7].map((psn) => answer({ psn, source: behind })));
    expect(acks.map((packet) => packet[40 + 60]! & 0x60)).toEqual([0, 0, 0, 0]);
    expect(router.counts()).toMatchObject({ 'up.nak': 1, 'up.ack': 4 });
  });

  test('RMC-5.3.2-d: NAKs of several branches: one goes up for those that wait, and a later one when the minimum has grown', async () => {
    await edgeOf(3, [1, 2, 3, 4, 5, 6, 7, 8]);
    const nak = (psn: number, n: number) => answer({ psn, kind: 'nak', source: receiverAddress(n) });
    expect(await up(nak(6, 0), nak(4, 2))).toEqual([]);
    const [first, ...more] = await up(answer({ psn: 1, source: receiverAddress(4) }));
    expect([first!.subarray(40 + 56, 40 + 60)[3]! & 0xff, more]).toEqual([2, []]);
    // One more gap while NAK(2) is on its way: not before the minimum has grown.
    expect(await up(nak(5, 2))).toEqual([]);
    const last = await up(answer({ psn: 7, source: receiverAddress(4) }));
    expect(last.map((packet) => [packet[40 + 59], packet[40 + 60]])).toEqual([[5, 0x60]]);
    expect(router.count('up.nak')).toBe(2);
  });

  test('decision C11: a fatal NAK goes up again when the source repeats a packet: it has not heard of it', async () => {
    await edgeOf(2, [1, 2, 3]);
    const fatal = answer({ psn: 3, kind: 'nak', value: 2, source: receiverAddress(2) });
    expect(await up(answer({ psn: 2 }), fatal)).toHaveLength(1);
    await router.exchange(() => router.arrive('p', tunnel(inner({ psn: 3 }))));
    const again = await up(answer({ psn: 3 }));
    expect(again.map((packet) => [packet[40 + 59], packet[40 + 60]])).toEqual([[3, 0x62]]);
  });

  test('RMC-5.3.1-a: a stream that begins anew in the next epoch, at a lower PSN, is confirmed from there on', async () => {
    await edgeOf(2, [4998, 4999]);
    const both = (psn: number) => [answer({ psn }), answer({ psn, source: receiverAddress(2) })];
    expect(await up(...both(4999))).toHaveLength(1);
    await router.exchange(() =>
      router.arrive('p', tunnel(inner({ psn: 0 }), { tlvs: [treeTlv({ epoch: EPOCH + 1 })] })),
    );
    expect(router.state('edge').high).toMatchObject({ value: 1 });
    expect(await up(answer({ psn: 0 }))).toEqual([]);
    expect(await up(answer({ psn: 1, kind: 'nak', source: receiverAddress(2) }))).toHaveLength(1);
    expect(await up(answer({ psn: 3, kind: 'nak' }))).toEqual([]);
    expect(router.counts()).toMatchObject({ 'up.ack': 1, 'up.nak': 1, 'answers.never-sent': 1 });
  });

  test('decision C11: of several RNR NAKs the longest timer goes up (code 0), and a fatal NAK before all', async () => {
    await edgeOf(3, [5, 6]);
    const [, two, three] = [0, 2, 4].map(receiverAddress);
    const kinds = await up(
      answer({ psn: 5, kind: 'rnr-nak', value: 31 }),
      answer({ psn: 5, kind: 'rnr-nak', value: 0, source: two! }),
      answer({ psn: 5, kind: 'rnr-nak', value: 1, source: three! }),
      answer({ psn: 5, kind: 'nak', value: 2, source: three! }),
    );
    expect(kinds.map((p) => p[40 + 60])).toEqual([0x20, 0x62]);
  });

  test('decision C7: a PSN delta is taken off', async () => {
    await edgeOf(1, [0xfffff0], 0x20);
    expect(await up(answer({ psn: 0x10 }))).toEqual([inTunnel(answer({ psn: 0xfffff0 }), EDGE, PARENT)]);
  });

  test.each<[string, string, () => Uint8Array]>([
    ['a stranger', 'stranger', () => answer({ psn: 1, source: receiverAddress(30) })],
    ['a receiver that is routed elsewhere', 'wrong-port', () => answer({ psn: 1, source: receiverAddress(1) })],
    ['a wrong ICRC', 'icrc', () => changed(answer({ psn: 1 }), 67, 0xff)],
    ['another Queue Pair', 'malformed', () => answer({ psn: 1, destQpn: 9 })],
    ['a reserved syndrome', 'malformed', () => answer({ psn: 1, kind: 'nak', value: 9 })],
    ['a byte too many', 'malformed', () => changed(answer({ psn: 1 }), 5, 29)],
    ['a PSN that was never sent', 'never-sent', () => answer({ psn: 0x400000 })],
    ['a NAK of what was never sent', 'never-sent', () => answer({ psn: 3, kind: 'nak' })],
  ])('RMC-9-b: %s is dropped and counted', async (_, counter, packet) => {
    router.members([receiver(0, { psnDelta: 0 }), receiver(1, { psnDelta: 0 })], { joined: true });
    await router.exchange(() => router.arrive('p', tunnel(inner({ psn: 1 }))));
    expect(await up(packet())).toEqual([]);
    expect(router.count(`answers.${counter}`)).toBe(1);
    expect(router.record(11 * 64).progress).toBeNull();
  });
});

describe('at a branching node', () => {
  const fromChildren = async (...packets: Uint8Array[]): Promise<Uint8Array[]> =>
    (await router.exchange(() => packets.forEach((packet) => router.arrive('p', packet)))).p;
  const replicate = async (...psns: number[]): Promise<void> => {
    await fromChildren(...psns.map((psn) => tunnel(inner({ psn }), { destination: REPLICATION })));
  };

  test('RMC-5.3.1-d: the minimum of the children goes up; an answer of another epoch does not count', async () => {
    router.children([child(1), child(2)]);
    await replicate(7, 8, 9);
    const said = (n: number, psn: number, epoch = EPOCH): Uint8Array =>
      inTunnel(answer({ psn }), childSid(n), REPLICATION, epoch);
    expect(await fromChildren(said(1, 9), said(2, 9, EPOCH + 1), said(3, 9))).toEqual([]);
    expect(await fromChildren(said(2, 8))).toEqual([inTunnel(answer({ psn: 8 }), REPLICATION, PARENT)]);
    expect(router.counts()).toMatchObject({ 'answers.stale': 1, 'answers.stranger': 1, 'up.ack': 1 });
  });
});

describe('CNPs', () => {
  const close = (role: MulticastRole): number =>
    router.bpf.program(MULTICAST_PROGRAMS.closeWindow).testRun({
      data: multicastWindowPacket(multicastStateIndex(5, role)),
      netns: router.netns,
    }).retval;

  test('A19: RMC-5.3.3-a: RMC-5.3.3-b: RMC-5.3.3-c: one goes up a window, for the branch with the highest count', async () => {
    router.group({ cnpWindowNs: 1_000_000_000 });
    await edgeOf(3, [1]);
    const [one, two] = [cnp(receiverAddress(0)), cnp(receiverAddress(2))];
    expect(await up(one, two, two, one, two)).toEqual([]);
    expect([0, 1, 2].map((i) => router.record(11 * 64 + i).cnps)).toEqual([2, 3, 0].map(BigInt));
    router.group({ cnpWindowNs: 0 });
    const left = await router.exchange(() => void close('edge'));
    expect(left.p.map((p) => parseRocePacket(p.subarray(40)))).toMatchObject([
      {
        ok: true,
        value: {
          source: receiverAddress(2),
          destination: PROXY,
          icrcValid: true,
          bth: { opcode: 0x81, destQpn: DESIGNATED },
        },
      },
    ]);
    expect([0, 1, 2].map((i) => router.record(11 * 64 + i).cnps)).toEqual([0n, 0n, 0n]);
    expect(close('edge')).toBe(2);
    expect(router.count('up.cnp')).toBe(1);
  });

  test('RMC-9-d: a branch counts 64 in a window', async () => {
    router.group({ cnpWindowNs: 4_000_000_000 });
    await edgeOf(1, [1]);
    await up(...Array.from({ length: 70 }, () => cnp(receiverAddress(0))));
    expect({ counted: router.count('cnps'), limited: router.count('cnps.limited') }).toEqual({
      counted: 64,
      limited: 6,
    });
  });
});

describe('at the root', () => {
  const asRoot = async (sourceQpn: number | null): Promise<void> => {
    router.group({ source: CORE_HOST, sourceQpn, isRoot: true, cnpWindowNs: 0 });
    router.children([child(1)], { parent: 0 });
    await router.exchange(() =>
      router.leaveAtRoot(
        tunnel(inner({ psn: 9, source: CORE_HOST }), { source: REPLICATION, destination: REPLICATION }),
      ),
    );
  };
  const said = (inside: Uint8Array): Uint8Array => inTunnel(inside, childSid(1), REPLICATION);
  const root = async (...packets: Uint8Array[]): Promise<Uint8Array[]> =>
    (await router.exchange(() => packets.forEach((packet) => router.arrive('p', packet)))).p;

  test('RMC-5.3.1-e: RMC-5.3.3-e: the source gets an ordinary ACK and a standard CNP of the Proxy Address', async () => {
    await asRoot(SOURCE_QPN);
    const own = { source: PROXY, destination: CORE_HOST, destQpn: SOURCE_QPN };
    expect(await root(said(answer({ psn: 9, msn: 3 })))).toEqual([answer({ psn: 9, msn: 3, ...own })]);
    const one = said(cnp(receiverAddress(0)));
    expect(await root(one, one)).toEqual([cnp(PROXY, SOURCE_QPN, CORE_HOST)]);
  });

  test('decision C8: without the Queue Pair of the source nothing goes to it', async () => {
    await asRoot(null);
    expect(await root(said(answer({ psn: 9 })))).toEqual([]);
    expect(router.count('up.no-source')).toBe(1);
  });
});
