// The notice that a congested port sends: its bytes, its destination, its size, whatever the families of flow and proxy
// are.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { CB_TAG, EGRESS_PROGRAMS, MARK_NOTICE, MARK_TRIGGER } from '../../../src/kernel/dataplane/egress.ts';
import { concat, put16 } from '../../../src/packet/bytes.ts';
import { ipv4, ipv6, options, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { buildNoticePacket, invokingBth } from '../../../src/packet/notice/pnc.ts';
import { CongestedRouter, LOOPBACK4, LOOPBACK6, PNC_PORT, PROXY4, PROXY6 } from '../support/congested-router.ts';
import { DEPTH, KMAX, noticeAbout, nothingCame, settled } from '../support/notice-about.ts';
import { notices } from '../support/received-notices.ts';
import { H1, H1V4, H2, H2V4, NEXT, QPN, cbOf, context, data, frame, markOf } from '../support/packets.ts';
import { is, until } from '../../support/until.ts';

const V4 = { source: H1V4, destination: H2V4 };

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
  await r.fill(DEPTH);
});
afterAll(() => r.close());
beforeEach(() => {
  r.configure({});
  r.port({ kMax: KMAX });
  r.senders(['2001:db8:1::/48', PROXY6], ['10.1.0.0/16', PROXY4]);
  r.clear();
});

afterEach(() => settled(r));

const outer = [address('2001:db8:a::1'), address('2001:db8:a::2')] as const;
const segment = address('2001:db8:a::3');

describe('the bytes of a notice', () => {
  test.each([
    ['IPv6 flow, IPv6 proxy', {}, '2001:db8:1::/48', PROXY6, LOOPBACK6],
    ['IPv4 flow, IPv4 proxy', V4, '10.1.0.0/16', PROXY4, LOOPBACK4],
    ['IPv4 flow, IPv6 proxy', V4, '10.1.0.0/16', PROXY6, LOOPBACK6],
    ['IPv6 flow, IPv4 proxy', {}, '2001:db8:1::/48', PROXY4, LOOPBACK4],
  ] as const)('PNC-4-b: %s: is what the codec would build', async (_, flow, sender, proxy, loopback) => {
    r.senders([sender, proxy]);
    const packet = data({ ...flow, size: 3000 });
    const got = await noticeAbout(r, packet);
    const source = 'source' in flow ? flow.source : H1;
    const destination = 'destination' in flow ? flow.destination : H2;
    expect(got.notice.tuple).toEqual({ source, destination, protocol: 17, sourcePort: 0xc001, destinationPort: 4791 });
    const expected = buildNoticePacket({
      tuple: got.notice.tuple,
      level: got.notice.level,
      invoking: packet,
      source: loopback,
      destination: proxy,
      sourcePort: got.udp.sourcePort,
      destinationPort: PNC_PORT,
      trafficClass: 48 << 2,
      hopLimit: 64,
    });
    if (proxy.family === 6) expected.set(got.packet.subarray(1, 4), 1); // flow label, for equal-cost paths
    else expected.set(got.packet.subarray(4, 12), 4); // identification, flags, TTL and header checksum: checked below
    expect(got.packet).toEqual(expected);
    expect(got.trafficClass).toBe(48 << 2);
    expect(got.hopLimit).toBe(64);
    expect(got.checksum).toBe('valid');
    expect(got.headerChecksumValid).toBe(true);
  });

  test('PNC-4-a: goes to the configured UDP port', async () => {
    r.configure({ udpPort: 47000 });
    r.send(frame(data()));
    await until('a notice to port 47000', () => notices(r.collected, 47000).length, is(1));
    expect(notices(r.collected, PNC_PORT)).toEqual([]);
  });

  test('PNC-4-e: the Queue Pair can be read from its invoking packet', async () => {
    const bth = invokingBth((await noticeAbout(r, data())).notice);
    expect(bth.ok && bth.value.destQpn).toBe(QPN);
  });

  test.each([
    ['every IPv6 packet size', {}, PROXY6, 1280],
    ['every IPv4 packet size', V4, PROXY4, 576],
  ] as const)(
    'PNC-4-g: A14: of %s it carries as much as fits, never more, never padding',
    async (_, flow, proxy, limit) => {
      r.senders(['::/0', proxy], ['0.0.0.0/0', proxy]);
      const overhead = limit === 1280 ? 40 + 8 + 38 : 20 + 8 + 14;
      const sizes = Array.from({ length: limit + 200 }, (_, i) => i).filter(
        (i) => i < 40 || i % 7 === 0 || Math.abs(i - limit) < 120,
      );
      const packets = sizes.map((size) => data({ ...flow, size, qpn: 100 + size }));
      for (const packet of packets) r.send(concat(frame(packet), new Uint8Array(9))); // nine bytes of Ethernet padding
      await until('all notices', () => notices(r.collected).length, is(packets.length));
      for (const [i, got] of notices(r.collected).entries()) {
        const room = Math.min(packets[i]!.length, limit - overhead);
        expect(got.packet.length).toBe(overhead + room);
        expect(got.notice.invoking).toEqual(packets[i]!.subarray(0, room));
        expect(got.checksum).toBe('valid');
      }
    },
  );

  test.each([
    ['SRv6', ipv6(outer, 43, srh(41, 0, [segment], data())), H1, H2],
    ['SRv6 with an IPv4 flow', ipv6(outer, 43, srh(4, 0, [segment], data(V4))), H1V4, H2V4],
    [
      'options, SRH and a second tunnel',
      ipv6(outer, 0, options(43, 2, srh(41, 1, [segment, segment], ipv6(outer, 4, data(V4))))),
      H1V4,
      H2V4,
    ],
    ['IPv4', ipv4([address('172.16.0.1'), address('172.16.0.2')], 41, data()), H1, H2],
  ])(
    'PNC-4-c: in %s: names the innermost flow and carries the packet from its outermost header',
    async (_, packet, source, destination) => {
      const got = await noticeAbout(r, packet);
      expect(got.notice.tuple).toEqual({
        source,
        destination,
        protocol: 17,
        sourcePort: 0xc001,
        destinationPort: 4791,
      });
      expect(got.notice.invoking).toEqual(packet.subarray(0, got.notice.invoking.length));
      expect(got.checksum).toBe('valid');
      const bth = invokingBth(got.notice);
      expect(bth.ok && bth.value.destQpn).toBe(QPN);
    },
  );

  test('VLAN tags are not part of it', async () => {
    const packet = data();
    const got = await noticeAbout(r, packet, [
      [0x88a8, 7],
      [0x8100, 9],
    ]);
    expect(got.notice.invoking).toEqual(packet.subarray(0, got.notice.invoking.length));
    expect(got.frame.length).toBe(14 + got.packet.length);
  });

  test('carries the packet as it came, before CE was marked on it', async () => {
    r.port({ kMin: 1000, kMax: KMAX });
    r.send(frame(data({ ecn: 1 })));
    await until('a notice', () => notices(r.collected).length, is(1));
    expect(notices(r.collected)[0]!.notice.invoking[1]! >> 4).toBe(1);
    expect(r.stats().ceMarked).toBe(1n);
  });

  test('spreads over source ports by flow, and keeps to one for a flow', async () => {
    for (let i = 0; i < 64; i++) r.send(frame(data({ qpn: 100 + i, sourcePort: 0xc000 + i })));
    for (let i = 0; i < 8; i++) r.send(frame(data({ qpn: 100, psn: i })));
    await until('all notices', () => notices(r.collected).length, is(72));
    const ports = notices(r.collected).map((n) => n.udp.sourcePort);
    expect(new Set(ports.slice(0, 64)).size).toBeGreaterThan(48);
    expect(Math.min(...ports)).toBeGreaterThanOrEqual(0xc000);
    expect(
      new Set(
        notices(r.collected)
          .slice(64)
          .map((n) => n.udp.sourcePort),
      ).size,
    ).toBe(1);
  });

  test('PNC-4-a: tshark agrees: UDP checksum good, destination port, length', async () => {
    r.senders(['2001:db8:1::/48', PROXY6], ['10.1.0.0/16', PROXY4]);
    for (const packet of [
      data(),
      data(V4),
      data({ size: 1 }),
      data({ ...V4, size: 333 }),
      ipv6(outer, 43, srh(4, 0, [segment], data(V4))),
    ])
      r.send(frame(packet));
    await until('all notices', () => notices(r.collected).length, is(5));
    const directory = mkdtempSync(join(tmpdir(), 't-bpf-'));
    try {
      const file = join(directory, 'notices.pcap');
      writeFileSync(file, pcap(notices(r.collected).map((n) => n.frame)));
      const fields = [
        '-e',
        'udp.dstport',
        '-e',
        'udp.checksum.status',
        '-e',
        'ip.checksum.status',
        '-e',
        'ipv6.tclass.dscp',
        '-e',
        'ip.dsfield.dscp',
      ];
      const shown = spawnSync(
        'tshark',
        [
          '-r',
          file,
          '-o',
          'udp.check_checksum:TRUE',
          '-o',
          'ip.check_checksum:TRUE',
          '-T',
          'fields',
          '-E',
          'occurrence=f',
          ...fields,
        ],
        { encoding: 'utf8' },
      );
      expect(
        shown.stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.split('\t')),
      ).toEqual(
        notices(r.collected).map((n) =>
          n.source.family === 6 ? ['1021', '1', '', '48', ''] : ['1021', '1', '1', '', '48'],
        ),
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

/** Ethernet frames as a pcap file. */
function pcap(frames: readonly Uint8Array[]): Uint8Array {
  const header = new Uint8Array(new Uint32Array([0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1]).buffer);
  return concat(
    header,
    ...frames.flatMap((f) => [new Uint8Array(new Uint32Array([0, 0, f.length, f.length]).buffer), f]),
  );
}

describe('the congestion level', () => {
  test('PNC-4-f: level n is reported from its own threshold upwards, 0 to 7', async () => {
    await r.fill(DEPTH);
    const levelOf = async (levelBytes: readonly number[]): Promise<number> => {
      r.port({ kMax: 1000, levelBytes });
      r.clear();
      return (await noticeAbout(r, data())).notice.level;
    };
    for (let level = 0; level < 8; level++) {
      const steps = (at: number): number[] =>
        Array.from({ length: 8 }, (_, n) =>
          n <= level ? 1001 + ((at - 1001) * (n + 1)) / (level + 1) : 4_000_000_000,
        );
      expect(await levelOf(steps(DEPTH))).toBe(level);
      if (level > 0) expect(await levelOf(steps(DEPTH + 1))).toBe(level - 1);
    }
  });
});

describe('what must not be noticed or harmed', () => {
  test('PNC-3-a: a notice that leaves by a congested port is not notified about', async () => {
    const notice = buildNoticePacket({
      tuple: { source: H1, destination: H2, protocol: 17, sourcePort: 1, destinationPort: 4791 },
      level: 7,
      invoking: data(),
      source: H1,
      destination: PROXY6,
      sourcePort: 5,
      destinationPort: PNC_PORT,
    });
    r.send(frame(notice), { repeat: 100 });
    expect(r.stats()).toMatchObject({ packets: 0n, triggers: 0n });
  });

  test('mark and control block of the packet are what they were', () => {
    const result = r.send(frame(data()), { mark: 0xfeed, cb: [1, 2, 3, 4, 5] });
    expect(r.stats().notifications).toBe(1n);
    expect(markOf(result.ctx!)).toBe(0xfeed);
    expect(cbOf(result.ctx!)).toEqual([1, 2, 3, 4, 5]);
  });

  test('a packet on the loopback interface that only has our mark passes, and is counted', () => {
    const builder = r.egress.program(EGRESS_PROGRAMS.notice);
    for (const mark of [MARK_TRIGGER, MARK_NOTICE]) {
      const result = builder.testRun({ data: frame(data()), ctx: context({ mark }), netns: r.router });
      expect(result.retval).toBe(NEXT);
      expect(result.data).toEqual(frame(data()));
    }
    expect(r.count('notice.foreign-mark')).toBe(2);
  });

  test('a clone that the builder cannot read is dropped and counted', () => {
    const builder = r.egress.program(EGRESS_PROGRAMS.notice);
    const broken = frame(data());
    put16(broken, 12, 0x0806);
    const result = builder.testRun({
      data: broken,
      ctx: context({ mark: MARK_TRIGGER, cb: [CB_TAG] }),
      netns: r.router,
    });
    expect(result.retval).toBe(2);
    expect(r.count('notice.unparseable')).toBe(1);
  });

  test('lengths that lie do not make a notice longer than its packet', async () => {
    const packet = data();
    put16(packet, 4, 0xffff);
    expect((await noticeAbout(r, packet)).notice.invoking).toEqual(packet.subarray(0, 1280 - 86));
    r.clear();
    const short = data({ size: 64 });
    put16(short, 4, 0xffff);
    expect((await noticeAbout(r, short)).notice.invoking).toEqual(short);
  });

  test('a packet whose length ends before its own headers makes no notice', async () => {
    const packet = data();
    put16(packet, 4, 4);
    r.send(frame(packet));
    expect(r.count('egress.triggers')).toBe(0);
    await nothingCame(r);
  });
});
