// Every format of a notification to a sender, around every shape of data packet: packet in, packet out, byte for byte
// what the agent's own codec builds.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { concat, put16 } from '../../../src/packet/bytes.ts';
import { buildLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { encodeIpv6 } from '../../../src/packet/ip/ipv6.ts';
import { ipv4, ipv6, options, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { buildFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { buildRocePacket, parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { FAST_CNP6, LONG_HAUL_CNP4, LONG_HAUL_CNP6 } from '../../../src/packet/roce/vectors.fixture.ts';
import { wrapForEndCon } from '../../../src/packet/srv6/end-con.ts';
import { toHex } from '../../../src/packet/hex.ts';
import {
  A2,
  BEFORE_ROUTING,
  CODES,
  LONG_HAUL,
  LOOPBACK,
  LOOPBACK4,
  NoticeBuilder,
  type Order,
  TC_REDIRECT,
  invokingPacket,
} from '../support/builder-under-test.ts';

const SENDER = address('2001:db8:a::1');
const RECEIVER = address('2001:db8:b::1');
const SENDER4 = address('10.0.0.1');
const RECEIVER4 = address('10.0.1.1');
const END_CON = address('2001:db8:c::1');
const PE2 = address('2001:db8:d::1');
const SEGMENT = address('2001:db8:e::1');
const SPORT = 0xc000;
const RECEIVER_QPN = 0xc8;
const CS6 = 48 << 2;

let builder: NoticeBuilder;
beforeAll(() => void (builder = NoticeBuilder.compiled()));
afterAll(() => builder.close());
beforeEach(() => void builder.configure({}));

const roce = (source: IpAddress, destination: IpAddress, pkey?: number): Uint8Array =>
  invokingPacket(source, destination, 1024, pkey);
const v6 = roce(SENDER, RECEIVER);
const v4 = roce(SENDER4, RECEIVER4);
const tunnel = [END_CON, PE2] as const;

/** How a packet may come; `wrapped`: it is in a tunnel, so that the notice goes through its END.CON. */
const shapes = (
  inner: Uint8Array,
): readonly { what: string; packet: Uint8Array; tags?: readonly (readonly [number, number])[]; wrapped: boolean }[] => {
  const protocol = inner[0]! >> 4 === 4 ? 4 : 41;
  return [
    { what: 'plain', packet: inner, wrapped: false },
    { what: 'a VLAN tag', packet: inner, tags: [[0x8100, 9]], wrapped: false },
    {
      what: 'two VLAN tags',
      packet: inner,
      tags: [
        [0x88a8, 7],
        [0x8100, 9],
      ],
      wrapped: false,
    },
    { what: 'SRv6', packet: ipv6(tunnel, 43, srh(protocol, 1, [SEGMENT, SEGMENT], inner)), wrapped: true },
    { what: 'SRv6 at its last segment', packet: ipv6(tunnel, 43, srh(protocol, 0, [SEGMENT], inner)), wrapped: true },
    { what: 'SRv6 without a segment routing header', packet: ipv6(tunnel, protocol, inner), wrapped: true },
    {
      what: 'SRv6 behind a VLAN tag',
      packet: ipv6(tunnel, 43, srh(protocol, 0, [SEGMENT], inner)),
      tags: [[0x8100, 9]],
      wrapped: true,
    },
    {
      what: 'SRv6 with hop-by-hop options',
      packet: ipv6(tunnel, 0, options(43, 1, srh(protocol, 0, [SEGMENT], inner))),
      wrapped: true,
    },
  ];
};

const longHaul = (format: Order['format']): Order => ({ format, ...A2 });

/**
 * The tunnel's notice as the codec builds it. Its flow label is the builder's choice, its hop limit that before
 * routing.
 */
function wrap(notification: Uint8Array, built: Uint8Array): Uint8Array {
  const whole = wrapForEndCon({ source: LOOPBACK, endCon: END_CON, notification });
  whole[7] = BEFORE_ROUTING;
  whole[1] = (whole[1]! & 0xf0) | (built[1]! & 0x0f);
  whole.set(built.subarray(2, 4), 2);
  return whole;
}

const toSender = { source: LOOPBACK, destination: SENDER };
const fastCnp = (hopLimit: number, icrc: 'cover' | 'skip' = 'cover') =>
  buildFastCnp({
    ...toSender,
    sourcePort: SPORT,
    destQpn: RECEIVER_QPN,
    originalDestination: RECEIVER,
    trace: undefined,
    codes: { ...CODES, icrc },
    hopLimit,
  });
const longHaulIcmpv6 = (hopLimit: number) =>
  buildLongHaulIcmpv6({
    ...toSender,
    cnp: { ...A2, objects: [] },
    codes: { type: 200, objectClass: 247 },
    hopLimit,
    trafficClass: CS6,
  });
const longHaulRoce = (hopLimit: number, padToCnp = false) =>
  buildLongHaulRoce({
    ...toSender,
    sourcePort: SPORT,
    cnp: { ...A2, objects: [] },
    objectClass: 247,
    hopLimit,
    padToCnp,
  });

const longHaulRoce4 = () =>
  buildLongHaulRoce({
    source: LOOPBACK4,
    destination: SENDER4,
    sourcePort: SPORT,
    cnp: { ...A2, objects: [] },
    objectClass: 247,
    hopLimit: 64,
  });

describe.each([
  {
    name: 'Fast CNP',
    order: { format: 'fast-cnp' } as Order,
    packet: v6,
    expected: (hops: number) => fastCnp(hops),
    counter: 'notice.built.fast-cnp',
  },
  {
    name: 'Long-haul CNP in ICMPv6',
    order: longHaul('long-haul-icmpv6'),
    packet: v6,
    expected: longHaulIcmpv6,
    counter: 'notice.built.long-haul-icmpv6',
  },
  {
    name: 'Long-haul CNP in RoCEv2',
    order: longHaul('long-haul-roce'),
    packet: v6,
    expected: (hops: number) => longHaulRoce(hops),
    counter: 'notice.built.long-haul-roce',
  },
  {
    name: 'Long-haul CNP in RoCEv2 over IPv4',
    order: longHaul('long-haul-roce'),
    packet: v4,
    expected: longHaulRoce4,
    counter: 'notice.built.long-haul-roce',
  },
])('$name', ({ order, packet, expected, counter }) => {
  test.each(shapes(packet))(
    'FCNP-4-c, FCNP-4-d, FCNP-4-g, FCNP-4-m, LHCNP-5.5-e, LHCNP-5.5-f, LHCNP-6-a, LHCNP-6.1-a, LHCNP-6.2.3-a: about a packet with $what: is what the codec builds',
    ({ packet: shape, tags, wrapped }) => {
      const built = builder.build(shape, order, tags);
      const family = packet[0]! >> 4;
      const whole = wrapped ? wrap(expected(64), built.packet) : expected(family === 6 ? BEFORE_ROUTING : 64);
      expect(toHex(built.packet)).toBe(toHex(whole));
      expect(toHex(built.frame.subarray(0, 14))).toBe(
        `000000000000000000000000${wrapped || family === 6 ? '86dd' : '0800'}`,
      );
      expect(built).toMatchObject({ verdict: TC_REDIRECT, finished: true });
      expect(built.counted).toEqual({ 'notice.built': 1, [counter]: 1, ...(wrapped && { 'notice.wrapped': 1 }) });
    },
  );
});

describe('the vectors', () => {
  /** What routing makes of a notice, and the vectors' traffic class of 0. */
  const onTheWire = (packet: Uint8Array): Uint8Array => {
    const out = packet.slice();
    expect(toHex(out.subarray(0, 4))).toBe('6c000000');
    out.set([0x60, 0], 0);
    out[7]!--;
    return out;
  };
  const loopback = { source6: address('2001:db8:ffff::1'), source4: address('10.0.0.254') };

  test('A12, FCNP-3-c, FCNP-3-e, FCNP-4-h, FCNP-4-i, FCNP-4-l: V5: Fast CNP, option 1: 18 octets, type 0x9E, the header 24', () => {
    builder.configure(loopback);
    const { packet } = builder.build(v6, { format: 'fast-cnp' });
    expect(toHex(onTheWire(packet))).toBe(toHex(FAST_CNP6));
    expect(packet[40 + 2]! & 0xe0).toBe(0x80);
  });

  test('A2, A4: V6: Long-haul CNP in RoCEv2: its body is b480001e 00000064 0101fbd0, its BTH 8100ffff 60000064 00000000', () => {
    builder.configure(loopback);
    const { packet } = builder.build(v6, longHaul('long-haul-roce'));
    expect(toHex(onTheWire(packet))).toBe(toHex(LONG_HAUL_CNP6));
    expect(toHex(packet.subarray(48, 72))).toBe('8100ffff6000006400000000b480001e000000640101fbd0');
  });

  test('A2, A4: V9: the same over IPv4, but for DSCP CS6 and the header checksum that goes with it', () => {
    const { packet } = builder.build(v4, longHaul('long-haul-roce'));
    const vector = LONG_HAUL_CNP4.slice();
    vector[1] = CS6;
    put16(vector, 10, 0x25b7 - CS6);
    expect(toHex(packet)).toBe(toHex(vector));
  });

  test('LHCNP-6.2.3-b, LHCNP-6.2.3-c, LHCNP-6.2.3-d, LHCNP-6.2.3-e, LHCNP-6.2.3-f, LHCNP-6.2.3-h, LHCNP-6.2.3-i, LHCNP-6.2.3-j, LHCNP-6.2.3-k, LHCNP-6.2.3-l, LHCNP-6.2.3-m, LHCNP-6.2.3-n, LHCNP-6.2.3-o, LHCNP-6.2.1-b: each field of the BTH', () => {
    const parsed = parseRocePacket(builder.build(v6, longHaul('long-haul-roce')).packet);
    expect(parsed.ok && parsed.value.bth).toEqual({
      opcode: 0x81,
      solicited: false,
      migration: false,
      padCount: 0,
      version: 0,
      pkey: 0xffff,
      fecn: false,
      becn: true,
      reserved: 0x20,
      destQpn: 100,
      ackRequest: false,
      psn: 0,
    });
    // The reserved bits beside AckReq, which the codec does not tell.
    expect({ ackReqByte: builder.build(v6, longHaul('long-haul-roce')).packet[56] }).toEqual({ ackReqByte: 0 });
  });

  test('LHCNP-6.1-c, LHCNP-6.1-e, LHCNP-6.1-f, LHCNP-6.1-i, LHCNP-6.1-k, LHCNP-6.1-l, LHCNP-6.2.4-a: A2: in ICMPv6 the body is b480001e 00000064 0101fbd0 behind type 200, code 0', () => {
    const { packet } = builder.build(v6, longHaul('long-haul-icmpv6'));
    expect(toHex(packet.subarray(40, 42))).toBe('c800');
    expect(toHex(packet.subarray(44))).toBe('b480001e000000640101fbd0');
  });

  test('A3, LHCNP-5.5.1-h: Resume: 14c00032 00000064 01007530', () => {
    const { packet } = builder.build(v6, {
      format: 'long-haul-icmpv6',
      level: 20,
      action: 'resume',
      parameter: 50,
      sourceQpn: 100,
      metric: { type: 1, value: 30_000 },
    });
    expect(toHex(packet.subarray(44))).toBe('14c000320000006401007530');
  });
});

describe('what is configured', () => {
  test('FCNP-4-j, FCNP-4-k: the option type is the code point', () => {
    builder.configure({ fastCnp: { ...CODES, option: 0x9d } });
    expect({ optionType: builder.build(v6, { format: 'fast-cnp' }).packet[42] }).toEqual({ optionType: 0x9d });
  });

  test('with ICRC "skip" a Fast CNP has the ICRC of the packet without its options header (decision B2)', () => {
    builder.configure({ fastCnp: { ...CODES, icrc: 'skip' } });
    expect(toHex(builder.build(v6, { format: 'fast-cnp' }).packet)).toBe(toHex(fastCnp(BEFORE_ROUTING, 'skip')));
  });

  test('LHCNP-6.1-b: the ICMPv6 type is the code point', () => {
    builder.configure({ longHaul: { ...LONG_HAUL, icmpv6Type: 201 } });
    expect({ icmpv6Type: builder.build(v6, longHaul('long-haul-icmpv6')).packet[40] }).toEqual({ icmpv6Type: 201 });
  });

  test('padded, the RoCEv2 form is as long as a CNP', () => {
    builder.configure({ longHaul: { ...LONG_HAUL, padToCnp: true } });
    const { packet } = builder.build(v6, longHaul('long-haul-roce'));
    expect(toHex(packet)).toBe(toHex(longHaulRoce(BEFORE_ROUTING, true)));
    expect(packet.length).toBe(80);
  });

  test('LHCNP-6.2.3-g: P_Key is that of the flow, in Fast CNP and Long-haul CNP', () => {
    const packet = roce(SENDER, RECEIVER, 0x8123);
    expect(toHex(builder.build(packet, { format: 'fast-cnp' }).packet.subarray(72, 76))).toBe('81008123');
    expect(toHex(builder.build(packet, longHaul('long-haul-roce')).packet.subarray(48, 52))).toBe('81008123');
  });

  test('LHCNP-6.1-g, LHCNP-6.1-j, LHCNP-6.1-n: Notify has parameter 0, the lower six action bits are 0, and nothing is disclosed unless ordered', () => {
    const { packet } = builder.build(v6, {
      format: 'long-haul-icmpv6',
      level: 100,
      action: 'notify',
      parameter: 77,
      sourceQpn: 0xabcdef,
    });
    expect(toHex(packet.subarray(44))).toBe('6400000000abcdef00000000');
  });

  test('LHCNP-5.5.1-c: Pause carries all 16 bits of its microseconds', () => {
    const { packet } = builder.build(v6, {
      format: 'long-haul-icmpv6',
      level: 255,
      action: 'pause',
      parameter: 65_535,
      sourceQpn: 1,
    });
    expect(toHex(packet.subarray(44, 48))).toBe('ff40ffff');
  });
});

describe('a packet with a segment routing header but no tunnel', () => {
  test('FCNP-4-m: has its last segment as destination, and its sender is notified directly', () => {
    const packet = concat(
      encodeIpv6({
        source: SENDER,
        destination: SEGMENT,
        trafficClass: 0,
        flowLabel: 0,
        hopLimit: 9,
        payloadLength: v6.length,
        nextHeader: 43,
      }),
      srh(17, 1, [RECEIVER, SEGMENT], v6.subarray(40)),
    );
    put16(packet, 4, packet.length - 40);
    const built = builder.build(packet, { format: 'fast-cnp' });
    expect(toHex(built.packet)).toBe(toHex(fastCnp(BEFORE_ROUTING)));
    expect(built.counted).not.toHaveProperty('notice.wrapped');
  });
});

describe('back through a tunnel', () => {
  test('FCN-4.2.2-d: a flow keeps to one flow label, different flows get different ones', () => {
    const label = (source: IpAddress, qpn: number, size: number): string => {
      const inner = buildRocePacket({
        source,
        destination: RECEIVER,
        sourcePort: 0xc000 + qpn,
        trafficClass: 2,
        hopLimit: 60,
        bth: { opcode: 4, destQpn: qpn, psn: size },
        payload: new Uint8Array(size),
      });
      return toHex(builder.build(ipv6(tunnel, 41, inner), { format: 'fast-cnp' }).packet.subarray(1, 4)).slice(1);
    };
    const labels = Array.from({ length: 64 }, (_, i) => label(SENDER, 100 + i, 64));
    expect(new Set(labels).size).toBeGreaterThan(60);
    expect(label(SENDER, 100, 1024)).toBe(labels[0]);
  });

  test('the Queue Pair of the second tunnel’s flow, the END.CON of the first', () => {
    const built = builder.build(
      ipv6(tunnel, 43, srh(41, 0, [SEGMENT], ipv6([address('2001:db8:99::1'), PE2], 41, v6))),
      { format: 'fast-cnp' },
    );
    expect(toHex(built.packet)).toBe(toHex(wrap(fastCnp(64), built.packet)));
  });

  test('over IPv4 has no END.CON: refused and counted', () => {
    const built = builder.build(ipv4([address('172.16.0.1'), address('172.16.0.2')], 41, v6), { format: 'fast-cnp' });
    expect(built.verdict).toBe(2);
    expect(built.counted).toEqual({ 'notice.tunnel': 1 });
  });
});
