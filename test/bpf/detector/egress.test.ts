// The egress program on a real port with a real queue: what it marks, what it triggers on, what it counts, and that it
// never harms a packet.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import {
  EGRESS_CONFIG_SIZE,
  EGRESS_MAPS,
  EGRESS_PORT_SIZE,
  SENDER_PROXY_SIZE,
  encodeEgressPort,
} from '../../../src/kernel/dataplane/egress.ts';
import { FLOW_SETS, FLOW_SET_SIZE } from '../../../src/kernel/dataplane/flows.ts';
import { u32Key } from '../../../src/kernel/dataplane/layout.ts';
import { put16 } from '../../../src/packet/bytes.ts';
import { fragment, ipv6, options, srh, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { walkHeaders } from '../../../src/packet/ip/walk.ts';
import { ipv4ChecksumValid } from '../../../src/packet/ip/ipv4.ts';
import { OPCODE, OPCODES } from '../../../src/packet/roce/opcodes.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { CongestedRouter, PROXY6 } from '../support/congested-router.ts';
import { H1, H1V4, H2, H2V4, NEXT, context, data, ecnOf, frame } from '../support/packets.ts';

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
});
afterAll(() => r.close());
beforeEach(() => {
  r.senders();
  r.configure({});
  r.port();
  r.clear();
});

const V4 = { source: H1V4, destination: H2V4 };

/** The same frame, but its IP header says that only `size` bytes follow it. */
function shortened(packet: Uint8Array, size: number): Uint8Array {
  const short = packet.slice();
  if (short[0]! >> 4 === 6) put16(short, 4, size);
  else put16(short, 2, 20 + size);
  return short;
}
const behindOptions = (): Uint8Array => ipv6([H1, H2], 60, options(17, 2, data().subarray(40)));

describe('the maps', () => {
  test('have the sizes that the agent writes', () => {
    const sizes = (name: string): [number, number] => [
      r.egress.map(name).info.keySize,
      r.egress.map(name).info.valueSize,
    ];
    expect(sizes(EGRESS_MAPS.ports)).toEqual([4, EGRESS_PORT_SIZE]);
    expect(sizes(EGRESS_MAPS.config)).toEqual([4, EGRESS_CONFIG_SIZE]);
    expect(sizes(EGRESS_MAPS.senderProxies)).toEqual([20, SENDER_PROXY_SIZE]);
    expect(sizes(EGRESS_MAPS.flows)).toEqual([4, FLOW_SET_SIZE]);
    expect(r.egress.map(EGRESS_MAPS.flows).info.maxEntries).toBe(FLOW_SETS);
  });
});

describe('queue depth', () => {
  test('LHCNP-5.3.1-a: is read from the port itself, and its peak kept', async () => {
    for (const depth of [12_345, 700_000, 33_000]) {
      await r.fill(depth);
      expect(await r.depth()).toBe(depth);
      r.send(frame(data()));
      expect(r.ports.peakQueueBytes(r.portIfindex)).toBe(Math.max(depth, depth === 33_000 ? 700_000 : 0));
    }
    r.ports.resetPeak(r.portIfindex);
    r.send(frame(data()));
    expect(r.ports.peakQueueBytes(r.portIfindex)).toBe(33_000);
  });

  test('LHCNP-5.3.1-a: of an HTB root is read as well', async () => {
    const { spawnSync } = await import('node:child_process');
    const tc = (line: string): void => {
      const result = r.router.run(() => spawnSync('tc', line.split(' '), { encoding: 'utf8' }));
      if (result.status !== 0) throw new Error(`tc ${line}: ${result.stderr}`);
    };
    await r.fill(0);
    await r.rtnl.deleteRootQdisc(r.portIfindex);
    tc('qdisc add dev t-bpf-port root handle 1: htb default 1');
    tc('class add dev t-bpf-port parent 1: classid 1:1 htb rate 8bit burst 2000');
    const socket = r.capture('t-bpf-port', r.router, []);
    for (let i = 0; i < 30; i++) socket.send(frame(ipv6([H2, H1], 17, udp(9, 9, new Uint8Array(1000)))));
    const htb = (await r.rtnl.qdiscs(r.portIfindex)).find((q) => q.kind === 'htb')!;
    expect(htb.stats.backlogBytes).toBeGreaterThan(10_000);
    r.send(frame(data()));
    expect(r.ports.peakQueueBytes(r.portIfindex)).toBe(htb.stats.backlogBytes);
  });
});

describe('CE marking', () => {
  test.each([
    ['IPv6', {}],
    ['IPv4', V4],
  ])('LHCNP-5.4-a: %s: above K_min ECT becomes CE and Not-ECT stays, at K_min nothing does', async (_, flow) => {
    await r.fill(50_000);
    const marked = (kMin: number, ecn: number): number => {
      r.port({ kMin });
      const { retval, data: after } = r.send(frame(data({ ...flow, ecn })));
      expect(retval).toBe(NEXT);
      expect(after.length).toBe(frame(data({ ...flow, ecn })).length);
      return ecnOf(after);
    };
    for (const ecn of [0, 1, 2, 3]) expect(marked(50_000, ecn)).toBe(ecn);
    for (const ecn of [1, 2, 3]) expect(marked(49_999, ecn)).toBe(3);
    expect(marked(49_999, 0)).toBe(0);
    expect(r.count('egress.ecn.marked')).toBe(2);
    expect(r.count('egress.ecn.already-ce')).toBe(1);
    expect(r.count('egress.ecn.not-ect')).toBe(1);
    expect(r.stats().ceMarked).toBe(2n);
  });

  test('LHCNP-5.4-a: a marked packet still has a valid IPv4 header checksum and a valid ICRC', async () => {
    await r.fill(50_000);
    r.port({ kMin: 1000 });
    for (const flow of [{}, V4]) {
      const packet = r.send(frame(data(flow))).data.subarray(14);
      const parsed = parseRocePacket(packet);
      expect(parsed.ok && parsed.value.icrcValid && parsed.value.trafficClass & 3).toBe(3);
      if (flow === V4) expect(ipv4ChecksumValid(packet, 0, 20)).toBe(true);
    }
  });

  test.each([
    ['IPv6', {}],
    ['IPv4', V4],
  ])(
    'LHCNP-5.4-a: %s: is done behind VLAN tags in the packet too, and leaves the tags alone, whatever their bits',
    async (_, flow) => {
      await r.fill(50_000);
      r.port({ kMin: 1000 });
      for (const vlan of [0x008, 0x016, 0x021, 0x02f]) {
        for (const tags of [
          [[0x8100, vlan]],
          [
            [0x88a8, vlan],
            [0x8100, 0x012],
          ],
        ] as const) {
          const { data: after } = r.send(frame(data(flow), { tags }));
          const at = 14 + 4 * tags.length;
          expect(after.subarray(0, at)).toEqual(frame(data(flow), { tags }).subarray(0, at));
          const packet = after.subarray(at);
          const parsed = parseRocePacket(packet);
          expect(parsed.ok && parsed.value.icrcValid && parsed.value.trafficClass & 3).toBe(3);
          if (flow === V4) expect(ipv4ChecksumValid(packet, 0, 20)).toBe(true);
        }
      }
      expect(r.count('egress.ecn.marked')).toBe(8);
      expect(r.count('egress.ecn.failed')).toBe(0);
    },
  );

  test('LHCNP-5.4-a: is done on the outer header of SRv6 and leaves the inner one alone', async () => {
    await r.fill(50_000);
    r.port({ kMin: 1000 });
    const inner = data();
    const before = frame(
      ipv6([address('2001:db8:a::1'), address('2001:db8:a::2')], 43, srh(41, 1, [address('2001:db8:a::3')], inner)),
    );
    const { data: after } = r.send(before);
    const expected = before.slice();
    expected[15] = expected[15]! | 0x30;
    expect(after).toEqual(expected);
  });

  test('LHCNP-5.4-b: marking alone sends nothing', async () => {
    await r.fill(50_000);
    r.port({ kMin: 1000 });
    r.senders(['::/0', PROXY6]);
    r.send(frame(data()), { repeat: 1000 });
    expect(r.stats()).toMatchObject({ triggers: 0n, notifications: 0n });
    expect(r.count('notice.built')).toBe(0);
  });

  test('with K_min off nothing is marked at any depth', async () => {
    await r.fill(3_000_000);
    expect(ecnOf(r.send(frame(data())).data)).toBe(2);
  });
});

describe('the trigger', () => {
  test('LHCNP-5.4-c: is the first byte above K_max', async () => {
    await r.fill(100_000);
    r.port({ kMax: 100_000 });
    r.send(frame(data()));
    expect(r.stats().triggers).toBe(0n);
    r.port({ kMax: 99_999 });
    r.send(frame(data()));
    expect(r.stats().triggers).toBe(1n);
  });

  test('PNC-3-a: comes from every packet that carries data, and from no other', async () => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    const silent = new Set<number>();
    for (const opcode of OPCODES.keys()) {
      const before = r.stats().triggers;
      r.send(frame(data({ opcode, size: 256 })));
      if (r.stats().triggers === before) silent.add(opcode);
    }
    const names = [...silent].map((opcode) => OPCODES.get(opcode)!.name).sort();
    // READ requests, acknowledgements and atomics of RC and XRC, and the CNP. "ALL" of them, so that a new opcode must
    // be thought about.
    for (const name of names) expect(name).toMatch(/READ_REQUEST|ACKNOWLEDGE|COMPARE_SWAP|FETCH_ADD|CNP/);
    for (const opcode of [OPCODE.cnp, OPCODE.acknowledge, OPCODE.readRequest]) expect(silent).toContain(opcode);
    for (const opcode of [OPCODE.sendOnly, OPCODE.writeMiddle, OPCODE.readResponseMiddle, OPCODE.udSendOnly])
      expect(silent.has(opcode)).toBe(false);
  });

  test.each([0, 1])('does not come from management traffic on Queue Pair %i', async (qpn) => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    r.send(frame(data({ opcode: OPCODE.udSendOnly, qpn })));
    expect(r.stats()).toMatchObject({ packets: 0n, triggers: 0n });
  });
});

describe('packets that are no RoCEv2 data, or broken', () => {
  const deep = (levels: number): Uint8Array => {
    let packet = data();
    for (let i = 0; i < levels; i++) packet = ipv6([H1, H2], 41, packet);
    return packet;
  };
  const cut = (bytes: Uint8Array, length: number): Uint8Array => bytes.subarray(0, length);

  test('are passed on unchanged at every length to which a frame can be cut', async () => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    const frames = [
      frame(data({ size: 8 })),
      frame(data({ ...V4, size: 8 })),
      frame(ipv6([H1, H2], 43, srh(41, 0, [H1], data({ size: 8 }))), { tags: [[0x8100, 5]] }),
    ];
    for (const whole of frames) {
      // A test run takes no shorter IPv6 packet; shorter ones go over the wire in live.test.ts.
      for (let length = 14 + 40; length <= whole.length; length++) {
        const { retval, data: after } = r.send(cut(whole, length));
        expect(retval).toBe(NEXT);
        expect(after).toEqual(cut(whole, length));
      }
    }
  });

  test('are passed on unchanged whatever their bytes are', async () => {
    await r.fill(100_000);
    r.port({ kMax: 1000 });
    let state = 12345;
    const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8;
    const bases = [
      frame(data({ size: 64 })),
      frame(data({ ...V4, size: 64 })),
      frame(ipv6([H1, H2], 0, options(43, 0, srh(41, 1, [H1, H2], data({ size: 64 }))))),
    ];
    for (let i = 0; i < 5000; i++) {
      const mutated = bases[i % 3]!.slice();
      for (let n = random() % 6; n >= 0; n--) mutated[12 + (random() % (mutated.length - 12))] = random();
      const { retval, data: after } = r.send(mutated);
      expect(retval).toBe(NEXT);
      expect(after).toEqual(mutated);
    }
  });

  test.each([
    ['IPv6', shortened(data(), 8)],
    ['IPv4', shortened(data(V4), 8)],
    ['inside SRv6', ipv6([H1, H2], 41, shortened(data(), 8))],
    ['behind options', shortened(behindOptions(), 32)],
    ['within the BTH', shortened(data(), 19)],
  ])('that end before their BTH, %s: what follows in the frame is no BTH', (_, packet) => {
    r.port({ kMin: 0, kMax: 0 });
    expect(r.send(frame(packet))).toMatchObject({ retval: NEXT, data: frame(packet) });
    expect(r.flows()).toEqual([]);
    expect(r.count('egress.triggers')).toBe(0);
  });

  test('with more headers than are looked at are counted and passed', () => {
    expect(r.send(frame(deep(11))).retval).toBe(NEXT);
    expect(r.flows().length).toBe(1);
    expect(r.send(frame(deep(12))).retval).toBe(NEXT);
    expect(r.flows().length).toBe(1);
    expect(r.count('egress.unparseable')).toBe(1);
  });

  test.each([
    ['another UDP port', ipv6([H1, H2], 17, udp(0xc000, 4790, new Uint8Array(64)))],
    ['TCP', ipv6([H1, H2], 6, new Uint8Array(64))],
    ['a later fragment', ipv6([H1, H2], 44, fragment(17, 100, false, data().subarray(40)))],
    ['UDP inside ESP', ipv6([H1, H2], 50, data().subarray(40))],
  ])('%s makes no flow', (_, packet) => {
    expect(r.send(frame(packet)).retval).toBe(NEXT);
    expect(r.flows()).toEqual([]);
    expect(r.count('egress.unparseable')).toBe(0);
  });

  test('a port without configuration counts its packets and does nothing else', async () => {
    await r.fill(100_000);
    r.port({ kMin: 1000, kMax: 1000 });
    const other = r.egress
      .program('egress')
      .testRun({ data: frame(data()), ctx: context({ ifindex: r.upIfindex }), netns: r.router });
    expect(ecnOf(other.data)).toBe(2);
    expect(r.count('egress.unconfigured')).toBe(1);
    expect(r.flows()).toEqual([]);
  });

  test('a port is reconfigured by one map update while it works', async () => {
    await r.fill(50_000);
    r.port({ kMin: 60_000 });
    expect(ecnOf(r.send(frame(data())).data)).toBe(2);
    r.ports.update(
      u32Key(r.portIfindex),
      encodeEgressPort({
        ifindex: r.portIfindex,
        kMin: 40_000,
        kMax: null,
        levelBytes: new Array<number>(8).fill(0),
        perFlowIntervalNs: 0,
        noticesPerSecond: 1,
        burst: 1,
      }),
    );
    expect(ecnOf(r.send(frame(data())).data)).toBe(3);
    expect(walkHeaders(r.send(frame(data())).data.subarray(14)).end).toBe('transport');
  });
});
