// Option 2 of a Fast CNP: the IOAM trace of the data packet, copied as it is, or option 1 where it cannot be (decision
// B4).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { encodeIpv6 } from '../../../src/packet/ip/ipv6.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { findIoamTrace } from '../../../src/packet/ip/ioam.ts';
import { buildFastCnp, parseFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { BEFORE_ROUTING, CODES, LOOPBACK, NoticeBuilder, invokingPackets } from '../support/builder-under-test.ts';

const SENDER = address('2001:db8:a::1');
const RECEIVER = address('2001:db8:b::1');
const END_CON = address('2001:db8:c::1');
const PE2 = address('2001:db8:d::1');
const UDP = 17;
const IPV6 = 41;

let builder: NoticeBuilder;
beforeAll(() => void (builder = NoticeBuilder.compiled()));
afterAll(() => builder.close());
beforeEach(() => void builder.configure({}));

const { v6: DATA } = invokingPackets(256);

/** An IOAM option with `size` bytes of node data, distinct ones. */
function ioam(size: number, { type = 0, fill = 1 } = {}): Uint8Array {
  const trace = Uint8Array.of(0x12, 0x34, 0x10 | (size >> 12), 0x05, 0x80, 0x40, 0, 0);
  const nodes = Uint8Array.from({ length: size }, (_, i) => (i * 7 + fill) & 255);
  return concat(Uint8Array.of(0x31, 2 + trace.length + size, 0, type), trace, nodes);
}

/** A Hop-by-Hop header with these options, padded to 8. */
function hopByHop(nextHeader: number, ...list: readonly Uint8Array[]): Uint8Array {
  const content = concat(...list);
  const size = Math.ceil((2 + content.length) / 8) * 8;
  const pad = size - 2 - content.length;
  return concat(
    Uint8Array.of(nextHeader, size / 8 - 1),
    content,
    pad === 1
      ? Uint8Array.of(0)
      : pad > 1
        ? concat(Uint8Array.of(1, pad - 2), new Uint8Array(pad - 2))
        : new Uint8Array(),
  );
}

/** The data packet with that header. */
const withOptions = (...list: readonly Uint8Array[]): Uint8Array =>
  ipv6([SENDER, RECEIVER], 0, concat(hopByHop(UDP, ...list), DATA.subarray(40)));

const fastCnp = (
  packet: Uint8Array | undefined,
  { hopLimit = BEFORE_ROUTING, icrc = 'cover' as 'cover' | 'skip', at = 0 } = {},
): Uint8Array =>
  buildFastCnp({
    source: LOOPBACK,
    destination: SENDER,
    sourcePort: 0xc000,
    destQpn: 0xc8,
    originalDestination: RECEIVER,
    hopLimit,
    codes: { ...CODES, icrc },
    trace: packet && findIoamTrace(packet, at),
  });

/** Longest trace that fits: 228 bytes of node data. */
const SIZES = [0, 4, 8, 12, 64, 100, 224, 228];

describe('a packet with an IOAM trace', () => {
  test.each(SIZES)(
    'FCNP-4-o, FCNP-4-p, FCNP-4-q, FCNP-4-r, FCNP-4-s: of %i bytes of node data: option 2 carries it whole, then the address',
    (size) => {
      const packet = withOptions(Uint8Array.of(1, 0), ioam(size));
      const built = builder.build(packet, { format: 'fast-cnp' });
      expect(toHex(built.packet)).toBe(toHex(fastCnp(packet)));
      expect(built.packet.length).toBe(40 + Math.ceil((32 + size) / 8) * 8 + 40);
      expect({ optionTypeHighBits: built.packet[44]! & 0xe0 }).toEqual({ optionTypeHighBits: 0x80 });
      expect(built.counted).toEqual({ 'notice.built': 1, 'notice.built.fast-cnp': 1, 'notice.ioam.copied': 1 });
      const parsed = parseFastCnp(built.packet, CODES);
      expect(parsed.ok && parsed.value).toMatchObject({
        originalDestination: RECEIVER,
        trace: { namespace: 0x1234, kind: 0 },
      });
    },
  );

  test.each([
    ['of the incremental type', ioam(16, { type: 1 })],
    ['behind Pad1', concat(new Uint8Array(3), ioam(16))],
    ['behind PadN', concat(Uint8Array.of(1, 4, 0, 0, 0, 0), ioam(16))],
    ['behind an unknown option', concat(Uint8Array.of(0x1e, 6, 1, 2, 3, 4, 5, 6), ioam(16))],
    ['behind an IOAM option that is no trace', concat(ioam(8, { type: 3 }), ioam(16, { fill: 99 }))],
    ['in front of another option', concat(ioam(16), Uint8Array.of(0x1e, 4, 1, 2, 3, 4))],
    ['in front of a second trace', concat(ioam(16), ioam(16, { fill: 99 }))],
  ])('FCNP-4-s: %s: it is found', (_, list) => {
    const packet = withOptions(list);
    expect(toHex(builder.build(packet, { format: 'fast-cnp' }).packet)).toBe(toHex(fastCnp(packet)));
    expect(findIoamTrace(packet)).toBeDefined();
  });

  test('with ICRC "skip" the CNP is covered as if the option were not there (decision B2)', () => {
    builder.configure({ fastCnp: { ...CODES, icrc: 'skip' } });
    const packet = withOptions(ioam(20));
    expect(toHex(builder.build(packet, { format: 'fast-cnp' }).packet)).toBe(toHex(fastCnp(packet, { icrc: 'skip' })));
  });

  test('option 2 has its own code point', () => {
    builder.configure({ fastCnp: { ...CODES, ioamOption: 0x9c } });
    const typeOfOption2 = builder.build(withOptions(ioam(20)), { format: 'fast-cnp' }).packet[44];
    const typeOfOption1 = builder.build(DATA, { format: 'fast-cnp' }).packet[42];
    expect({ typeOfOption1, typeOfOption2 }).toEqual({ typeOfOption1: 0x9e, typeOfOption2: 0x9c });
  });
});

describe('in a tunnel', () => {
  const tunnel = [END_CON, PE2] as const;
  /** The notification inside the outer header. */
  const inner = (packet: Uint8Array): string =>
    toHex(builder.build(packet, { format: 'fast-cnp' }).packet.subarray(40));

  test('FCNP-4-s: the innermost packet’s trace goes before the tunnel’s', () => {
    const packet = ipv6(tunnel, 0, concat(hopByHop(IPV6, ioam(8, { fill: 77 })), withOptions(ioam(16))));
    expect(inner(packet)).toBe(toHex(fastCnp(withOptions(ioam(16)), { hopLimit: 64 })));
  });

  test('FCNP-4-s: else the tunnel’s trace serves', () => {
    const packet = ipv6(tunnel, 0, concat(hopByHop(43, ioam(8, { fill: 77 })), srh(IPV6, 0, [PE2], DATA)));
    expect(inner(packet)).toBe(toHex(fastCnp(packet, { hopLimit: 64 })));
  });
});

describe('a trace that option 2 cannot carry leaves option 1, and is counted', () => {
  const broken = (change: (packet: Uint8Array) => void, size = 16): Uint8Array => {
    const packet = withOptions(Uint8Array.of(1, 0), ioam(size));
    change(packet);
    return packet;
  };
  /** Of the option, behind the PadN. */
  const OPTION = 40 + 4;

  test.each([
    ['232 bytes of node data, which IOAM itself allows', withOptions(ioam(232))],
    ['244 bytes of node data, the most that IOAM allows', withOptions(ioam(244))],
    ['a length that is no whole trace', broken((p) => void (p[OPTION + 1] = 11))],
    ['a length shorter than a trace header', broken((p) => void (p[OPTION + 1] = 6))],
    ['a length beyond the end of its header', broken((p) => void (p[OPTION + 1] = 238))],
  ])('FCNP-4-i: B4: %s', (_, packet) => {
    const built = builder.build(packet, { format: 'fast-cnp' });
    expect(toHex(built.packet)).toBe(toHex(fastCnp(undefined)));
    expect(built.counted).toEqual({ 'notice.built': 1, 'notice.built.fast-cnp': 1, 'notice.ioam.unusable': 1 });
  });

  test.each([
    ['options without IOAM', withOptions(Uint8Array.of(0x1e, 6, 1, 2, 3, 4, 5, 6))],
    ['an IOAM option that is no trace', withOptions(ioam(16, { type: 3 }))],
    ['an option that reaches beyond the header', withOptions(Uint8Array.of(0x1e, 200, 1, 2), ioam(16))],
    ['more options than are looked at', withOptions(...Array.from({ length: 40 }, () => new Uint8Array(1)), ioam(16))],
    [
      'IOAM in a Destination Options header, which is no trace of the path',
      concat(
        encodeIpv6({
          source: SENDER,
          destination: RECEIVER,
          trafficClass: 0,
          flowLabel: 0,
          hopLimit: 64,
          payloadLength: hopByHop(UDP, ioam(16)).length + DATA.length - 40,
          nextHeader: 60,
        }),
        hopByHop(UDP, ioam(16)),
        DATA.subarray(40),
      ),
    ],
  ])('FCNP-4-i: %s: is no trace at all', (_, packet) => {
    const built = builder.build(packet, { format: 'fast-cnp' });
    expect(toHex(built.packet)).toBe(toHex(fastCnp(undefined)));
    expect(built.counted).toEqual({ 'notice.built': 1, 'notice.built.fast-cnp': 1 });
  });
});
