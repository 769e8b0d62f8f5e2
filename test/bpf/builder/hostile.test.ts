// Clones that are cut, lie about their lengths, or are fragments: a notice that is whole in itself, or none and a
// counter that says why. Never a crash, never more than one of the two.
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CB_TAG } from '../../../src/kernel/dataplane/egress.ts';
import { address } from '../../../src/model/address.ts';
import type { NotificationFormat } from '../../../src/model/notification.ts';
import { concat, put16 } from '../../../src/packet/bytes.ts';
import { decodeLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import { fragment, ipv6, options, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { parseFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { readLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { decapsulate } from '../../../src/packet/srv6/encapsulation.ts';
import {
  A2,
  type Built,
  CODES,
  NoticeBuilder,
  TC_REDIRECT,
  TRACE,
  invokingPackets,
  orderWords,
} from '../support/builder-under-test.ts';
import { DROP, frame } from '../support/packets.ts';

let builder: NoticeBuilder;
beforeAll(() => void (builder = NoticeBuilder.compiled()));
afterAll(() => builder.close());
beforeEach(() => void builder.configure({}));

const { v6: V6, v4: V4 } = invokingPackets(64);
const TUNNEL = [address('2001:db8:c::1'), address('2001:db8:d::1')] as const;
const SEGMENT = address('2001:db8:e::1');

const FORMATS: readonly NotificationFormat[] = ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'];
const order = (format: NotificationFormat) => orderWords({ format, ...A2 });

/** Whether a finished notice is one that its receiver accepts. */
function accepted(packet: Uint8Array, format: NotificationFormat, wrapped: boolean): boolean {
  const unwrapped = wrapped ? decapsulate(packet) : undefined;
  if (unwrapped && !unwrapped.ok) return false;
  const inner = unwrapped?.ok ? unwrapped.value.inner : packet;
  if (format === 'fast-cnp') return parseFastCnp(inner, CODES).ok;
  if (format === 'long-haul-icmpv6') {
    const icmp = parseIcmpv6(inner);
    return icmp.ok && decodeLongHaulIcmpv6(icmp.value.message, { type: 200, objectClass: 247 }).ok;
  }
  const roce = parseRocePacket(inner);
  return roce.ok && readLongHaulRoce(roce.value, 247).ok;
}

/** The rule of this file. Returns whether a notice was built. */
function whole(built: Built, format: NotificationFormat): boolean {
  if (built.verdict === DROP) {
    expect(Object.values(built.counted)).toEqual([1]);
    expect(built.finished).toBe(false);
    return false;
  }
  expect(built.verdict).toBe(TC_REDIRECT);
  expect(built.counted).toMatchObject({ 'notice.built': 1, [`notice.built.${format}`]: 1 });
  expect(built.packet.length).toBeLessThanOrEqual(1280);
  expect(accepted(built.packet, format, 'notice.wrapped' in built.counted)).toBe(true);
  return true;
}

/** The kernel runs no program on less than an IPv6 header. */
const SHORTEST = 40;
const ROCE_ONLY = ['long-haul-roce'] as const;
/** With the formats that are possible for them. */
const SHAPES: readonly (readonly [string, Uint8Array, readonly NotificationFormat[]])[] = [
  ['plain IPv6', V6, FORMATS],
  ['plain IPv4', V4, ROCE_ONLY],
  ['SRv6', ipv6(TUNNEL, 43, srh(41, 1, [SEGMENT, SEGMENT], V6)), FORMATS],
  ['SRv6 with IPv4', ipv6(TUNNEL, 43, srh(4, 0, [SEGMENT], V4)), ROCE_ONLY],
  [
    'IPv6 with an IOAM trace',
    ipv6([address('2001:db8:a::1'), address('2001:db8:b::1')], 0, concat(TRACE, V6.subarray(40))),
    FORMATS,
  ],
  ['options within options', ipv6(TUNNEL, 0, options(60, 2, options(41, 1, V6))), FORMATS],
];

describe.each(FORMATS)('%s', (format) => {
  test.each(SHAPES)(
    'of %s cut at every length: a notice once the BTH is there, and none before',
    (_, packet, possible) => {
      const cut = (length: number): Uint8Array => concat(frame(packet).subarray(0, 14), packet.subarray(0, length));
      const lengths = Array.from({ length: packet.length - SHORTEST }, (_, i) => SHORTEST + 1 + i);
      const built = lengths.map((length) => whole(builder.run(cut(length), order(format)), format));
      // All but 64 bytes of payload and the ICRC.
      const bthEnds = packet.length - 68;
      expect(built).toEqual(lengths.map((length) => length >= bthEnds && possible.includes(format)));
    },
  );

  test('of mutated clones', () => {
    const seeds = fc.constantFrom(...SHAPES.map(([, packet]) => frame(packet)));
    const flips = fc.array(fc.tuple(fc.nat(160), fc.nat(255)), { minLength: 1, maxLength: 6 });
    let builtOnes = 0;
    fc.assert(
      fc.property(seeds, flips, fc.nat(400), (seed, list, length) => {
        const clone = seed.slice(0, Math.min(seed.length, 14 + SHORTEST + length));
        for (const [at, value] of list) clone[at % clone.length] = value;
        if (whole(builder.run(clone, order(format)), format)) builtOnes++;
      }),
      { numRuns: 1500 },
    );
    expect(builtOnes).toBeGreaterThan(50);
  });

  test('of random bytes behind an IP version', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: SHORTEST, maxLength: 300 }), fc.constantFrom(4, 6), (bytes, version) => {
        bytes[0] = (version << 4) | (version === 4 ? 5 : 0);
        whole(builder.run(frame(bytes), order(format)), format);
      }),
      { numRuns: 800 },
    );
  });
});

describe('lengths that lie', () => {
  const refused = (packet: Uint8Array): void => {
    const built = builder.build(packet, { format: 'fast-cnp' });
    expect(built.verdict).toBe(DROP);
    expect(built.counted).toEqual({ 'notice.unparseable': 1 });
  };
  const lying = (packet: Uint8Array, at: number, length: number): Uint8Array => {
    const out = packet.slice();
    put16(out, at, length);
    return out;
  };

  test('an IPv6 packet that says that it ends within its BTH', () => refused(lying(V6, 4, 19)));

  test('A6: an IPv6 packet that says that it ends with its BTH, which its datagram does not', () =>
    refused(lying(V6, 4, 20)));

  test('a tunnel that is long enough around a packet that is not', () => refused(ipv6(TUNNEL, 41, lying(V6, 4, 19))));

  test('a tunnel that is too short around a packet that is long enough', () =>
    refused(lying(ipv6(TUNNEL, 41, V6), 4, 59)));

  test('an IPv4 packet whose total length ends within its BTH', () => {
    const built = builder.run(frame(lying(V4, 2, 39)), order('long-haul-roce'));
    expect(built.counted).toEqual({ 'notice.unparseable': 1 });
  });

  test('an options header longer than the packet', () => {
    const packet = ipv6([address('2001:db8:a::1'), address('2001:db8:b::1')], 0, options(17, 0, V6.subarray(40)));
    packet[41] = 255;
    refused(packet);
  });
});

describe('fragments', () => {
  const ends = [address('2001:db8:a::1'), address('2001:db8:b::1')] as const;

  test('A6: the first has the BTH, and is no RoCEv2 packet all the same: its datagram ends in another one', () => {
    const built = builder.run(frame(ipv6(ends, 44, fragment(17, 0, true, V6.subarray(40)))), order('fast-cnp'));
    expect(built.counted).toEqual({ 'notice.unparseable': 1 });
  });

  test('a later one has none: refused and counted', () => {
    const built = builder.run(frame(ipv6(ends, 44, fragment(17, 4, true, V6.subarray(40)))), order('fast-cnp'));
    expect(built.counted).toEqual({ 'notice.unparseable': 1 });
  });
});

describe('orders that cannot be carried out', () => {
  test.each([
    ['no format', 0],
    ['a format that does not exist', 7],
  ])('%s', (_, format) => {
    expect(builder.run(frame(V6), [CB_TAG, 1, format, 0, 0]).counted).toEqual({ 'notice.format-off': 1 });
  });

  test('FCNP-5-g: a format that is not configured is not built', () => {
    builder.forget();
    for (const format of FORMATS)
      expect(builder.run(frame(V6), order(format)).counted).toEqual({ 'notice.format-off': 1 });
  });

  test('LHCNP-5.5-c: without the sender’s Queue Pair there is no Long-haul CNP', () => {
    for (const format of ['long-haul-icmpv6', 'long-haul-roce'] as const) {
      expect(builder.run(frame(V6), orderWords({ format, level: 1, action: 'notify' })).counted).toEqual({
        'notice.no-queue-pair': 1,
      });
    }
  });

  test('FCNP-3-d, LHCNP-4-a: Fast CNP and ICMPv6 are no way to tell an IPv4 sender', () => {
    for (const format of ['fast-cnp', 'long-haul-icmpv6'] as const)
      expect(builder.run(frame(V4), order(format)).counted).toEqual({ 'notice.family': 1 });
  });

  test('in a family without a loopback address no sender is notified, nor through a tunnel without the other', () => {
    builder.configure({ source6: null });
    for (const format of FORMATS) expect(builder.run(frame(V6), order(format)).counted).toEqual({ 'notice.family': 1 });
    expect(builder.run(frame(ipv6(TUNNEL, 4, V4)), order('long-haul-roce')).counted).toEqual({ 'notice.family': 1 });
    expect(whole(builder.run(frame(V4), order('long-haul-roce')), 'long-haul-roce')).toBe(true);
    builder.configure({ source4: null });
    expect(builder.run(frame(V4), order('long-haul-roce')).counted).toEqual({ 'notice.family': 1 });
  });

  test('a clone that is not RoCEv2', () => {
    const packet = V6.slice();
    put16(packet, 42, 4792);
    expect(builder.run(frame(packet), order('fast-cnp')).counted).toEqual({ 'notice.unparseable': 1 });
  });
});
