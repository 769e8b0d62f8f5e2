// Answers on their way up: receivers' ACKs, NAKs and CNPs arrive at an edge, children's at a branching node, and what
// goes up is compared byte for byte, ICRC included.
import { describe, expect, test } from 'vitest';
import { multicastStateIndex, type MulticastRole } from '../../../src/kernel/dataplane/multicast-lists.ts';
import { multicastWindowPacket } from '../../../src/kernel/dataplane/multicast-state.ts';
import { MULTICAST_MAPS, MULTICAST_PROGRAMS } from '../../../src/kernel/dataplane/multicast.ts';
import { address, addressBytes } from '../../../src/model/address.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { CORE_HOST, EPOCH, SOURCE_QPN, answer, cnp, inTunnel } from '../support/multicast-answers.ts';
import { childSid, child, receiver, receiverAddress } from '../support/multicast-branches.ts';
import {
  DESIGNATED,
  EDGE,
  PARENT,
  PROXY,
  REPLICATION,
  ROOT,
  changed,
  copyFor,
  copyToChild,
  endMtTlv,
  inner,
  treeTlv,
  tunnel,
} from '../support/multicast-packets.ts';
import { sorted } from '../support/multicast-network.ts';
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

/** What the record in a slot has of a branch: everything before `next` is confirmed, `nak` is what it asks for. */
function kept(slot: number): { next: number | null; nak: number | null; cnps: bigint } {
  const { progress, nak, cnps } = router.record(slot);
  return { next: progress?.value.nextPsn ?? null, nak: nak?.value.psn ?? null, cnps };
}

describe('at an edge', () => {
  test('RMC-5.3-a: RMC-5.3.1-c: RMC-5.3.1-d: the ACK that goes up has the minimum, and reaches the parent in a tunnel', async () => {
    await edgeOf(2, [100, 101, 102]);
    expect(await up(answer({ psn: 102, msn: 7 }))).toEqual([]);
    expect(await up(answer({ psn: 101, msn: 6, source: receiverAddress(2) }))).toEqual([
      inTunnel(answer({ psn: 101, msn: 6, source: receiverAddress(2) }), EDGE, PARENT),
    ]);
    expect(router.counts()).toMatchObject({ 'answers.host': 2, 'answers.waiting': 1, 'up.ack': 1 });
  });

  test('RMC-5.3.2-d: RMC-5.3.2-c: RMC-8-c: a NAK goes up once, with the minimum ePSN; of a branch without NAK that is AckPSN + 1', async () => {
    await edgeOf(2, [0xfffffe, 0xffffff, 0]);
    expect(await up(answer({ psn: 0xfffffe }))).toEqual([]);
    const nak = answer({ psn: 0, kind: 'nak', source: receiverAddress(2) });
    const [first, ...more] = await up(nak, nak);
    expect(first).toEqual(inTunnel(answer({ psn: 0xffffff, kind: 'nak', source: receiverAddress(2) }), EDGE, PARENT));
    expect(more).toEqual([]);
    expect(router.count('up.nak')).toBe(1);
  });

  test('RMC-3-d: RMC-4.1-a: each receiver gets copies of its own connection, and the answers of all become one', async () => {
    const all = [receiver(0), receiver(2), receiver(4)];
    router.members(all, { joined: true });
    const packet = inner({ psn: 0xfffffe });
    const { h1 } = await router.exchange(() => router.arrive('p', tunnel(packet)));
    expect(sorted(h1)).toEqual(sorted(all.map((one) => copyFor(packet, one))));
    // Each in PSNs of its own.
    const [first, ...others] = all.map(({ address: source, psnDelta }) =>
      answer({ psn: (0xfffffe + psnDelta) & 0xffffff, source: source! }),
    );
    expect(await up(first!, others[0]!)).toEqual([]);
    const source = receiverAddress(4);
    expect(await up(others[1]!)).toEqual([inTunnel(answer({ psn: 0xfffffe, source }), EDGE, PARENT)]);
  });

  test('RMC-5.3.1-b: RMC-5.3.2-b: the record of each branch has its most recent AckPSN and ePSN', async () => {
    await edgeOf(2, [100, 101, 102, 103, 104]);
    const nak = (psn: number) => answer({ psn, kind: 'nak', source: receiverAddress(2) });
    const records = () => [0, 1].map((i) => kept(11 * 64 + i));
    await up(answer({ psn: 101 }), nak(101));
    expect(records()).toEqual([
      { next: 102, nak: null, cnps: 0n },
      { next: 101, nak: 101, cnps: 0n },
    ]);
    // The older ones come late.
    await up(answer({ psn: 103 }), answer({ psn: 102 }), nak(104), nak(103));
    expect(records()).toEqual([
      { next: 104, nak: null, cnps: 0n },
      { next: 104, nak: 104, cnps: 0n },
    ]);
  });

  test('RMC-8-a: AckPSN, ePSN and count of CNPs are of one branch of one group', async () => {
    const other = address('2001:db8:f::2');
    router.group({ cnpWindowNs: 4_000_000_000 });
    router.group({ cnpWindowNs: 4_000_000_000, proxy: other }, 6);
    await edgeOf(2, [100, 101]);
    const both = [0, 2].map((n) => receiver(n, { psnDelta: 0 }));
    router.list('edge', both, { group: 6, index: 13, joined: true });
    const toOther = (psn: number) => tunnel(inner({ psn, destination: other }), { segments: [other, ROOT] });
    await router.exchange(() => [7, 8].forEach((psn) => router.arrive('p', toOther(psn))));
    await up(
      answer({ psn: 101 }),
      cnp(receiverAddress(0)),
      answer({ psn: 8, kind: 'nak', destination: other }),
      answer({ psn: 7, destination: other, source: receiverAddress(2) }),
      ...[1, 2].map(() => cnp(receiverAddress(2), DESIGNATED, other)),
    );
    expect([11 * 64, 11 * 64 + 1, 13 * 64, 13 * 64 + 1].map(kept)).toEqual([
      { next: 102, nak: null, cnps: 1n },
      { next: null, nak: null, cnps: 0n },
      { next: 8, nak: 8, cnps: 0n },
      { next: 8, nak: null, cnps: 2n },
    ]);
  });

  // With 0 in its place, one receiver alone would confirm streams in the upper half of the PSNs.
  test.each([0, 1, 0x7fffff, 0x800001, 0xfffff0])(
    'RMC-8-b: decision C9: who has not answered has confirmed nothing, not PSN 0: a stream from PSN %i on waits',
    async (psn) => {
      await edgeOf(2, [psn, psn + 1]);
      expect(await up(answer({ psn: psn + 1 }))).toEqual([]);
      expect([0, 1].map((i) => kept(11 * 64 + i).next)).toEqual([psn + 2, null]);
      expect(router.count('answers.waiting')).toBe(1);
      const source = receiverAddress(2);
      expect(await up(answer({ psn, source }))).toEqual([inTunnel(answer({ psn, source }), EDGE, PARENT)]);
    },
  );

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

const WRITTEN = ['states', 'records'] as const;
const HASHES = ['destinations', 'ports', 'routers', 'notifiers', 'listIds', 'members', 'tooBig'] as const;

describe('at a branching node', () => {
  type Entries = ReadonlyMap<string, readonly Uint8Array[]>;
  /** The values of all maps that programs write, and of those to which they could add. */
  const entries = (): Entries =>
    new Map(
      [...WRITTEN, ...HASHES].map((key) => {
        const name = MULTICAST_MAPS[key];
        return [name, [...router.bpf.map(name).entries()].map(([, value]) => value)];
      }),
    );
  /** Octets of the values that are not as they were, by map. */
  const octetsSince = (before: Entries): Record<string, number> =>
    Object.fromEntries(
      [...entries()].flatMap(([name, now]) => {
        const were = before.get(name)!;
        const written = now.filter((value, i) => !were[i] || Buffer.compare(value, were[i]) !== 0);
        return written.length > 0 ? [[name, written.reduce((sum, value) => sum + value.length, 0)]] : [];
      }),
    );
  const fromChildren = async (...packets: Uint8Array[]): Promise<Uint8Array[]> =>
    (await router.exchange(() => packets.forEach((packet) => router.arrive('p', packet)))).p;
  const toReplicate = (psn: number, tlvs = [treeTlv()]): Uint8Array =>
    tunnel(inner({ psn }), { destination: REPLICATION, tlvs });

  test('RMC-4.1-b: RMC-5.3.1-d: each child gets copies, and the minimum of the children goes up; an answer of another epoch does not count', async () => {
    router.children([child(1), child(2)]);
    const packets = [7, 8, 9].map((psn) => toReplicate(psn));
    expect(sorted(await fromChildren(...packets))).toEqual(
      sorted(packets.flatMap((packet) => [1, 2].map((n) => copyToChild(packet, childSid(n))))),
    );
    const said = (n: number, psn: number, epoch = EPOCH): Uint8Array =>
      inTunnel(answer({ psn }), childSid(n), REPLICATION, epoch);
    expect(await fromChildren(said(1, 9), said(2, 9, EPOCH + 1), said(3, 9))).toEqual([]);
    expect(await fromChildren(said(2, 8))).toEqual([inTunnel(answer({ psn: 8 }), REPLICATION, PARENT)]);
    expect(router.counts()).toMatchObject({ 'answers.stale': 1, 'answers.stranger': 1, 'up.ack': 1 });
  });

  test.each([
    [1, 66],
    [64, 0],
  ])(
    'RMC-8-e: with %i branches and %i receivers behind them: 104 octets, and 56 a branch',
    async (count, receivers) => {
      router.children(Array.from({ length: count }, (_, n) => child(n)));
      const tlvs = Array.from({ length: receivers / 11 }, (_, edge) =>
        endMtTlv(
          childSid(edge),
          Array.from({ length: 11 }, (_, i) => receiver(edge * 11 + i)),
        ),
      );
      const before = entries();
      await fromChildren(...[7, 8, 9].map((psn) => toReplicate(psn, [treeTlv(), ...tlvs])));
      const saidBy = (n: number): Uint8Array[] =>
        [answer({ psn: 8 }), answer({ psn: 9, kind: 'nak' }), cnp(receiverAddress(n))].map((inside) =>
          inTunnel(inside, childSid(n), REPLICATION),
        );
      await fromChildren(...Array.from({ length: count }, (_, n) => saidBy(n)).flat());
      expect([router.count('answers.child'), router.count('up.nak')]).toEqual([3 * count, 1]);
      expect(octetsSince(before)).toEqual({ multicast_states: 104, multicast_records: 56 * count });
    },
  );
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

  test('RMC-8-d: counts begin at 0 in the next window: who had the most before does not win for that', async () => {
    await edgeOf(2, [1]);
    const [one, two] = [cnp(receiverAddress(0)), cnp(receiverAddress(2))];
    const winner = async (...cnps: Uint8Array[]): Promise<unknown> => {
      router.group({ cnpWindowNs: 4_000_000_000 });
      expect(await up(...cnps)).toEqual([]);
      router.group({ cnpWindowNs: 0 });
      const { p } = await router.exchange(() => void close('edge'));
      return p.map((packet) => packet.subarray(40 + 8, 40 + 24));
    };
    expect(await winner(two, one, two, two)).toEqual([addressBytes(receiverAddress(2))]);
    expect(await winner(two, one, one)).toEqual([addressBytes(receiverAddress(0))]);
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
