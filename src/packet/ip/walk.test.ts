import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { innermostTuple } from './five-tuple.ts';
import { fragment, ipv4, ipv6, options, srh, udp } from './packets.fixture.ts';
import { MAX_HEADERS, walkHeaders } from './walk.ts';

const FLOW6 = [address('2001:db8:a::1'), address('2001:db8:b::1')] as const;
const FLOW4 = [address('10.1.0.1'), address('10.2.0.1')] as const;
const PE = [address('2001:db8:ffff::1'), address('fc00:2:1::')] as const;
const PE4 = [address('192.0.2.1'), address('192.0.2.2')] as const;
const UDP = udp(0xc000, 4791);
const ROCE6 = ipv6(FLOW6, 17, UDP);
const ROCE4 = ipv4(FLOW4, 17, UDP);

const shape = (packet: Uint8Array): unknown => {
  const { layers, end } = walkHeaders(packet);
  return [layers.map((l) => [l.family, l.offset, l.protocol, l.transportOffset]), end];
};

test('a plain packet has one layer', () => {
  expect(shape(ROCE6)).toEqual([[[6, 0, 17, 40]], 'transport']);
  expect(shape(ROCE4)).toEqual([[[4, 0, 17, 20]], 'transport']);
});

test('extension headers are passed: options, segment routing, fragment, authentication', () => {
  expect(shape(ipv6(FLOW6, 0, options(60, 1, options(17, 0, UDP))))).toEqual([[[6, 0, 17, 64]], 'transport']);
  expect(shape(ipv6(FLOW6, 43, srh(17, 0, [FLOW6[1]], UDP)))).toEqual([[[6, 0, 17, 64]], 'transport']);
  const ah = concat(Uint8Array.of(17, 4), new Uint8Array(22), UDP);
  expect(shape(ipv6(FLOW6, 51, ah))).toEqual([[[6, 0, 17, 64]], 'transport']);
  expect(shape(ipv4(FLOW4, 51, ah))).toEqual([[[4, 0, 17, 44]], 'transport']);
});

test('PNC-4-c: the flow below a VPN encapsulation is found in every pair of families', () => {
  expect(shape(ipv6(PE, 41, ROCE6))).toEqual([
    [
      [6, 0, 41, 40],
      [6, 40, 17, 80],
    ],
    'transport',
  ]);
  expect(shape(ipv6(PE, 4, ROCE4))).toEqual([
    [
      [6, 0, 4, 40],
      [4, 40, 17, 60],
    ],
    'transport',
  ]);
  expect(shape(ipv4(PE4, 41, ROCE6))).toEqual([
    [
      [4, 0, 41, 20],
      [6, 20, 17, 60],
    ],
    'transport',
  ]);
  expect(shape(ipv4(PE4, 4, ROCE4))).toEqual([
    [
      [4, 0, 4, 20],
      [4, 20, 17, 40],
    ],
    'transport',
  ]);
  expect(shape(ipv6(PE, 43, srh(41, 1, [FLOW6[1], PE[1]], ROCE6)))).toEqual([
    [
      [6, 0, 41, 80],
      [6, 80, 17, 120],
    ],
    'transport',
  ]);
  for (const packet of [ipv6(PE, 41, ROCE6), ipv6(PE, 43, srh(41, 0, [PE[1]], ROCE6)), ipv4(PE4, 41, ROCE6)]) {
    expect(innermostTuple(packet)).toEqual({
      ok: true,
      value: { source: FLOW6[0], destination: FLOW6[1], protocol: 17, sourcePort: 0xc000, destinationPort: 4791 },
    });
  }
});

test('segments left: the last segment is the final destination', () => {
  const last = address('2001:db8:c::1');
  expect(walkHeaders(ipv6(FLOW6, 43, srh(17, 1, [last, FLOW6[1]], UDP))).layers[0]!.finalDestination).toEqual(last);
  expect(innermostTuple(ipv6(FLOW6, 43, srh(17, 1, [last, FLOW6[1]], UDP)))).toMatchObject({
    ok: true,
    value: { destination: last },
  });
  expect(walkHeaders(ipv6(FLOW6, 43, srh(17, 0, [last, FLOW6[1]], UDP))).layers[0]!.finalDestination).toBeUndefined();
});

test('a routing header that is no SRH, or has no segment, names no final destination', () => {
  const routing = (type: number, left: number, units: number): Uint8Array =>
    ipv6(
      FLOW6,
      43,
      concat(Uint8Array.of(17, units, type, left, 0, 0, 0, 0), new Uint8Array(8 * units).fill(0xfc), UDP),
    );
  const final = (packet: Uint8Array): unknown => {
    const { layers, end } = walkHeaders(packet);
    expect({ end, protocol: layers[0]!.protocol }).toEqual({ end: 'transport', protocol: 17 });
    return layers[0]!.finalDestination;
  };
  for (const type of [0, 2, 3, 5, 253]) expect(final(routing(type, 1, 2))).toBeUndefined();
  for (const units of [0, 1]) expect(final(routing(4, 1, units))).toBeUndefined();
  expect(final(routing(4, 0, 2))).toBeUndefined();
  expect(final(routing(4, 1, 2))).toEqual({ family: 6, value: BigInt(`0x${'fc'.repeat(16)}`) });
  // Other extension headers have no segments, whatever they hold.
  expect(final(ipv6(FLOW6, 60, concat(Uint8Array.of(17, 2, 4, 1), new Uint8Array(20), UDP)))).toBeUndefined();
});

test('an extension header may end where the packet ends, and no later', () => {
  const of = (...header: number[]): Uint8Array => ipv6(FLOW6, 60, Uint8Array.from(header));
  expect(shape(of(17, 0, 1, 4, 0, 0, 0, 0))).toEqual([[[6, 0, 17, 48]], 'transport']);
  expect(shape(of(17, 0, 1, 4, 0, 0, 0))).toEqual([[], 'truncated']);
  expect(shape(of(17, 1, 1, 4, 0, 0, 0, 0))).toEqual([[], 'truncated']);
  // It is the packet that counts, not what the buffer holds behind it.
  const padded = (packet: Uint8Array): Uint8Array => concat(packet, new Uint8Array(16));
  expect(shape(padded(of(17, 1, 1, 4, 0, 0, 0, 0)))).toEqual([[], 'truncated']);
  expect(walkHeaders(padded(ROCE6)).layers[0]!.end).toBe(ROCE6.length);
  expect(walkHeaders(padded(ROCE4)).layers[0]!.end).toBe(ROCE4.length);
});

test('a fragment that is the whole datagram is none (RFC 6946); a first one is', () => {
  const of = (offset: number, more: boolean): unknown => {
    const [layer] = walkHeaders(ipv6(FLOW6, 44, fragment(17, offset, more, UDP))).layers;
    return [layer!.fragment, layer!.laterFragment];
  };
  expect([of(0, false), of(0, true), of(1, false), of(0x1fff, true)]).toEqual([
    [false, false],
    [true, false],
    [true, true],
    [true, true],
  ]);
  const first = ROCE4.with(6, 0x20);
  expect(walkHeaders(first).layers).toMatchObject([{ fragment: true, laterFragment: false }]);
  expect(walkHeaders(ROCE4).layers).toMatchObject([{ fragment: false, laterFragment: false }]);
});

test('a later fragment has no transport header; a first one has', () => {
  expect(shape(ipv6(FLOW6, 44, fragment(17, 1, true, UDP)))).toEqual([[[6, 0, 17, 48]], 'fragment']);
  expect(shape(ipv6(FLOW6, 44, fragment(17, 0, true, UDP)))).toEqual([[[6, 0, 17, 48]], 'transport']);
  expect(walkHeaders(ipv6(FLOW6, 44, fragment(17, 0, true, UDP))).layers[0]!.fragment).toBe(true);
  const later = new Uint8Array(ROCE4);
  later[7] = 1;
  expect(shape(later)).toEqual([[[4, 0, 17, 20]], 'fragment']);
  expect(innermostTuple(later)).toMatchObject({ ok: false, error: { code: 'fragment', offset: 20 } });
  expect(innermostTuple(new Uint8Array())).toMatchObject({ ok: false, error: { code: 'truncated', offset: 0 } });
});

test('protocols without ports have ports 0, and end the walk', () => {
  expect(innermostTuple(ipv6(FLOW6, 58, new Uint8Array(4).fill(1)))).toEqual({
    ok: true,
    value: { source: FLOW6[0], destination: FLOW6[1], protocol: 58, sourcePort: 0, destinationPort: 0 },
  });
  expect(shape(ipv6(FLOW6, 50, UDP))).toEqual([[[6, 0, 50, 40]], 'transport']);
});

test('tunnels and extension headers are bounded', () => {
  const nested = (depth: number): Uint8Array => (depth === 0 ? ROCE6 : ipv6(PE, 41, nested(depth - 1)));
  expect(walkHeaders(nested(MAX_HEADERS - 1)).end).toBe('transport');
  expect(walkHeaders(nested(MAX_HEADERS)).end).toBe('too-deep');
  const chained = (count: number): Uint8Array =>
    count === 0 ? UDP : options(count === 1 ? 17 : 60, 0, chained(count - 1));
  expect(walkHeaders(ipv6(FLOW6, 60, chained(MAX_HEADERS - 1))).end).toBe('transport');
  expect(walkHeaders(ipv6(FLOW6, 60, chained(MAX_HEADERS))).end).toBe('too-deep');
  // The budget is the packet's, not each layer's.
  expect(walkHeaders(ipv6(PE, 60, options(41, 0, ipv6(FLOW6, 60, chained(MAX_HEADERS - 3))))).end).toBe('transport');
  expect(walkHeaders(ipv6(PE, 60, options(41, 0, ipv6(FLOW6, 60, chained(MAX_HEADERS - 2))))).end).toBe('too-deep');
});

test('a cut or contradictory packet ends the walk where it is cut', () => {
  expect(shape(new Uint8Array())).toEqual([[], 'truncated']);
  expect(shape(ROCE6.subarray(0, 39))).toEqual([[], 'truncated']);
  expect(shape(ROCE6.subarray(0, 40))).toEqual([[[6, 0, 17, 40]], 'transport']);
  expect(innermostTuple(ROCE6.subarray(0, 43))).toMatchObject({ ok: false, error: { code: 'truncated' } });
  expect(shape(ipv6(PE, 41, ROCE6).subarray(0, 70))).toEqual([[[6, 0, 41, 40]], 'truncated']);
  expect(shape(ipv6(PE, 4, ROCE6))).toEqual([[[6, 0, 4, 40]], 'malformed']);
  expect(shape(Uint8Array.of(0x50, 0))).toEqual([[], 'malformed']);
  expect(shape(ipv6(FLOW6, 43, Uint8Array.of(17, 200, 4, 1, 0, 0, 0, 0)))).toEqual([[], 'truncated']);
});

test('an inner packet does not reach beyond its outer one', () => {
  const outer = ipv6(PE, 41, ROCE6);
  outer[5] = 40 + 8 + 2;
  expect(walkHeaders(outer).layers[1]!.end).toBe(40 + 50);
});

test('no packet harms the walker, and it stays within its bounds', () => {
  const seeds = [
    ipv6(PE, 43, srh(41, 1, [FLOW6[1], PE[1]], ipv6(FLOW6, 0, options(44, 0, fragment(17, 0, false, UDP))))),
    ipv4(PE4, 41, ipv6(PE, 4, ROCE4)),
  ];
  fuzzDecoder(
    (packet) => {
      const chain = walkHeaders(packet);
      let at = -1;
      for (const layer of chain.layers) {
        if (layer.offset <= at || layer.end > packet.length)
          throw new Error('a layer that does not advance, or leaves the packet');
        at = layer.offset;
      }
      return [chain, innermostTuple(packet)];
    },
    seeds,
    { runs: 5000 },
  );
});
