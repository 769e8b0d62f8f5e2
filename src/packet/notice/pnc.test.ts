import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address, addressFromBytes } from '../../model/address.ts';
import { concat, u16 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { type FiveTuple, innermostTuple } from '../ip/five-tuple.ts';
import { ipv4, ipv6, srh, udp } from '../ip/packets.fixture.ts';
import { udpChecksum } from '../ip/udp.ts';
import { buildRocePacket } from '../roce/packet.ts';
import { type Notice, buildNoticePacket, decodeNotice, encodeNotice, invokingBth } from './pnc.ts';

const PORTS = { protocol: 17, sourcePort: 0xc000, destinationPort: 4791 };
const TUPLE6: FiveTuple = { source: address('2001:db8:a::1'), destination: address('2001:db8:b::1'), ...PORTS };
const TUPLE4: FiveTuple = { ...TUPLE6, source: address('10.1.0.1'), destination: address('10.2.0.1') };
const BTH = { opcode: 0x0a, destQpn: 0xc8, psn: 0x123 };
const roce = (tuple: FiveTuple, size = 1024): Uint8Array =>
  buildRocePacket({
    ...tuple,
    trafficClass: 3,
    bth: BTH,
    ext: { reth: { virtualAddress: 0n, rkey: 1, length: size } },
    payload: new Uint8Array(size),
  });
const ROCE6 = roce(TUPLE6);
const ROCE4 = roce(TUPLE4);
const PE = [address('2001:db8:ffff::2'), address('fc00:2:1::')] as const;

function decoded(payload: Uint8Array): Notice {
  const result = decodeNotice(payload);
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}

const code = (payload: Uint8Array): string => {
  const result = decodeNotice(payload);
  return result.ok ? 'ok' : result.error.code;
};

test('PNC-4-b: the five-tuple in the order of Figure 5, packed, then the level', () => {
  const v6 = encodeNotice({ tuple: TUPLE6, level: 5, invoking: ROCE6, family: 6 });
  expect(toHex(v6.subarray(0, 38))).toBe(
    '20010db8000a00000000000000000001' + '20010db8000b00000000000000000001' + '11' + 'c000' + '12b7' + 'a0',
  );
  expect(toHex(v6.subarray(38, 60))).toBe(toHex(ROCE6.subarray(0, 22)));
  const v4 = encodeNotice({ tuple: TUPLE4, level: 7, invoking: ROCE4, family: 4 });
  expect(toHex(v4.subarray(0, 14))).toBe('0a010001' + '0a020001' + '11' + 'c000' + '12b7' + 'e0');
  expect(decoded(v6)).toMatchObject({ tuple: TUPLE6, level: 5, layer: { offset: 0, family: 6 } });
  expect(decoded(v4)).toMatchObject({ tuple: TUPLE4, level: 7, layer: { offset: 0, family: 4 } });
});

test('PNC-4-f: the level is the upper three bits, 0 lowest to 7 highest; the other bits are ignored', () => {
  for (let level = 0; level <= 7; level++) {
    const payload = encodeNotice({ tuple: TUPLE6, level, invoking: ROCE6, family: 6 });
    expect({ levelByte: payload[37] }).toEqual({ levelByte: level * 32 });
    payload[37]! |= 0x1f;
    expect(decoded(payload).level).toBe(level);
  }
  for (const level of [-1, 8, 1.5])
    expect(() => encodeNotice({ tuple: TUPLE6, level, invoking: ROCE6, family: 6 })).toThrow(/congestion level/);
});

const ENDS6 = { source: address('2001:db8:ffff::3'), destination: address('2001:db8:ffff::1') };
const ENDS4 = { source: address('192.0.2.3'), destination: address('192.0.2.1') };

test('PNC-4-g: the whole packet is at most 1280 bytes on IPv6 and 576 on IPv4, and full when there is enough to say (A14)', () => {
  const build = (ends: typeof ENDS6, tuple: FiveTuple, invoking: Uint8Array): Uint8Array =>
    buildNoticePacket({ ...ends, sourcePort: 50000, destinationPort: 1021, tuple, level: 0, invoking });
  const long6 = roce(TUPLE6, 4096);
  const long4 = roce(TUPLE4, 4096);
  expect(build(ENDS6, TUPLE6, long6)).toHaveLength(1280);
  expect(build(ENDS4, TUPLE4, long4)).toHaveLength(576);
  expect(build(ENDS6, TUPLE4, long4)).toHaveLength(1280);
  expect(build(ENDS4, TUPLE6, long6)).toHaveLength(576);
  expect(build(ENDS6, TUPLE6, ROCE6.subarray(0, 200))).toHaveLength(40 + 8 + 38 + 200);
  // Exactly what fits is not cut, one more is.
  expect(build(ENDS6, TUPLE6, long6.subarray(0, 1280 - 86))).toHaveLength(1280);
  expect(build(ENDS6, TUPLE6, long6.subarray(0, 1280 - 85))).toHaveLength(1280);
});

test('PNC-4-a: the notice is UDP to the configured port, its checksum never absent', () => {
  for (const [ends, tuple, invoking, at] of [
    [ENDS6, TUPLE6, ROCE6, 40],
    [ENDS4, TUPLE4, ROCE4, 20],
  ] as const) {
    const packet = buildNoticePacket({ ...ends, sourcePort: 50000, destinationPort: 1021, tuple, level: 3, invoking });
    expect({
      sourcePort: u16(packet, at),
      destinationPort: u16(packet, at + 2),
      udpLength: u16(packet, at + 4),
    }).toEqual({ sourcePort: 50000, destinationPort: 1021, udpLength: packet.length - at });
    expect(udpChecksum(packet, at, packet.length - at, ends.source, ends.destination)).toBe('valid');
    expect(decoded(packet.subarray(at + 8))).toMatchObject({ tuple, level: 3 });
  }
});

test("PNC-4-c: from below a VPN encapsulation the tuple is the inner flow's, and the invoking packet is whole", () => {
  const pe4 = [address('192.0.2.2'), address('192.0.2.4')] as const;
  const packets = [ipv6(PE, 41, ROCE6), ipv6(PE, 43, srh(41, 1, [PE[1], PE[1]], ROCE6)), ipv4(pe4, 41, ROCE6)];
  for (const invoking of packets) {
    const tuple = innermostTuple(invoking);
    if (!tuple.ok) throw new Error(tuple.error.code);
    const notice = decoded(encodeNotice({ tuple: tuple.value, level: 1, invoking, family: 6 }));
    expect(notice.tuple).toEqual(TUPLE6);
    expect(notice.layer.offset).toBe(invoking.length - ROCE6.length);
    expect(toHex(notice.invoking.subarray(0, 40))).toBe(toHex(invoking.subarray(0, 40)));
    expect(invokingBth(notice)).toMatchObject({ ok: true, value: BTH });
  }
});

test('an IPv4 flow in an IPv6 VPN is distinguished from an IPv6 flow by the invoking packet', () => {
  const invoking = ipv6(PE, 4, ROCE4);
  expect(decoded(encodeNotice({ tuple: TUPLE4, level: 1, invoking, family: 6 }))).toMatchObject({
    tuple: TUPLE4,
    layer: { family: 4, offset: 40 },
  });
});

test('of a flow that is segment-routed itself, the last segment is the destination', () => {
  const last = address('2001:db8:c::1');
  const segment = address('2001:db8:d::1');
  const invoking = ipv6(
    [TUPLE6.source, TUPLE6.destination],
    43,
    srh(17, 2, [last, segment, TUPLE6.destination], ROCE6.subarray(40)),
  );
  const answer = (destination: FiveTuple['destination']): string =>
    code(encodeNotice({ tuple: { ...TUPLE6, destination }, level: 0, invoking, family: 6 }));
  expect(answer(last)).toBe('ok');
  expect(answer(TUPLE6.destination)).toBe('tuple-not-found');
  expect(answer(segment)).toBe('tuple-not-found');
});

test('PNC-4-c: the tuple of the encapsulation is refused, and one of a packet cut within its inner headers', () => {
  const invoking = ipv6(PE, 41, ROCE6);
  const outer: FiveTuple = { source: PE[0], destination: PE[1], protocol: 41, sourcePort: 0, destinationPort: 0 };
  expect(code(encodeNotice({ tuple: outer, level: 0, invoking, family: 6 }))).toBe('tuple-not-found');
  expect(code(encodeNotice({ tuple: TUPLE6, level: 0, invoking: invoking.subarray(0, 84), family: 6 }))).toBe('ok');
  expect(code(encodeNotice({ tuple: TUPLE6, level: 0, invoking: invoking.subarray(0, 83), family: 6 }))).toBe(
    'tuple-not-found',
  );
});

test('a tuple that is not in the invoking packet is refused, whichever field differs', () => {
  const other: Partial<FiveTuple>[] = [
    { source: address('2001:db8:a::2') },
    { destination: address('2001:db8:b::2') },
    { protocol: 6 },
    { sourcePort: 1 },
    { destinationPort: 4790 },
  ];
  for (const change of other) {
    expect(code(encodeNotice({ tuple: { ...TUPLE6, ...change }, level: 0, invoking: ROCE6, family: 6 }))).toBe(
      'tuple-not-found',
    );
  }
  expect(code(encodeNotice({ tuple: TUPLE6, level: 0, invoking: new Uint8Array(), family: 6 }))).toBe(
    'tuple-not-found',
  );
  expect(code(encodeNotice({ tuple: TUPLE6, level: 0, invoking: ROCE6.subarray(0, 43), family: 6 }))).toBe(
    'tuple-not-found',
  );
  expect(code(encodeNotice({ tuple: TUPLE4, level: 0, invoking: ROCE6, family: 6 }))).toBe('tuple-not-found');
  expect(code(new Uint8Array(13))).toBe('truncated');
});

test('a notice whose tuple is found in both readings is refused', () => {
  // Crafted: an ICMP packet to 10.2.58.0 whose bytes, 24 further on, are an IPv6 header with the bytes before it as
  // addresses. Read as IPv6, the tuple's protocol is the 58 of that address and its ports are the zeros after it.
  const tuple: FiveTuple = {
    source: address('10.1.0.1'),
    destination: address('10.2.58.0'),
    protocol: 1,
    sourcePort: 0,
    destinationPort: 0,
  };
  const crafted = (source: Uint8Array, destination: Uint8Array): Uint8Array => {
    const inner6 = ipv6([addressFromBytes(source), addressFromBytes(destination)], 58, new Uint8Array(8));
    const inner4 = ipv4([tuple.source, tuple.destination], 1, concat(new Uint8Array(4), inner6));
    return encodeNotice({ tuple, level: 0, invoking: inner4, family: 6 });
  };
  const draft = crafted(new Uint8Array(16), new Uint8Array(16));
  expect(code(draft)).toBe('ok');
  expect(code(crafted(draft.subarray(0, 16), draft.subarray(16, 32)))).toBe('tuple-ambiguous');
});

test('PNC-4-e: the Queue Pair comes from the invoking packet, unless that is no RoCEv2 or cut', () => {
  const notice = (invoking: Uint8Array, tuple = TUPLE6): Notice =>
    decoded(encodeNotice({ tuple, level: 0, invoking, family: 6 }));
  expect(invokingBth(notice(ROCE6))).toMatchObject({ ok: true, value: { destQpn: 0xc8, psn: 0x123 } });
  expect(invokingBth(notice(ROCE6.subarray(0, 59)))).toMatchObject({ ok: false, error: { code: 'truncated' } });
  expect(invokingBth(notice(ROCE6.subarray(0, 46)))).toMatchObject({ ok: false, error: { code: 'truncated' } });
  const web = ipv6([TUPLE6.source, TUPLE6.destination], 17, udp(1, 443));
  expect(invokingBth(notice(web, { ...TUPLE6, sourcePort: 1, destinationPort: 443 }))).toMatchObject({
    ok: false,
    error: { code: 'not-roce' },
  });
  const tcp = ipv6([TUPLE6.source, TUPLE6.destination], 6, new Uint8Array(20));
  const tcpTuple = { ...TUPLE6, protocol: 6, sourcePort: 0, destinationPort: 0 };
  expect(invokingBth(notice(tcp, tcpTuple))).toMatchObject({ ok: false, error: { code: 'not-roce' } });
});

test('every notice comes back as it was sent', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(TUPLE4, TUPLE6),
      fc.constantFrom(4 as const, 6 as const),
      fc.nat(7),
      fc.nat(65535),
      fc.nat(1500),
      (...drawn) => {
        const [base, family, level, sourcePort, size] = drawn;
        const tuple = { ...base, sourcePort };
        const invoking = roce(tuple, size);
        const notice = decoded(encodeNotice({ tuple, level, invoking, family }));
        expect({ tuple: notice.tuple, level: notice.level }).toEqual({ tuple, level });
        expect(toHex(invoking.subarray(0, notice.invoking.length))).toBe(toHex(notice.invoking));
      },
    ),
    { numRuns: 200 },
  );
});

test('a tuple of two families is refused when encoding', () => {
  expect(() =>
    encodeNotice({ tuple: { ...TUPLE6, source: TUPLE4.source }, level: 0, invoking: ROCE6, family: 6 }),
  ).toThrow(/two families/);
});

test('no notice harms the decoder', () => {
  const seeds = [
    encodeNotice({
      tuple: TUPLE6,
      level: 5,
      invoking: ipv6(PE, 43, srh(41, 1, [PE[1]], ROCE6.subarray(0, 120))),
      family: 6,
    }),
    encodeNotice({ tuple: TUPLE4, level: 5, invoking: ROCE4.subarray(0, 60), family: 4 }),
    fromHex('00'.repeat(38)),
  ];
  fuzzDecoder(
    (payload) => {
      const result = decodeNotice(payload);
      return result.ok ? [result, invokingBth(result.value)] : result;
    },
    seeds,
    { runs: 4000 },
  );
});
