// Notifications against scapy: it builds the same packets from its own layers, and computes checksums and ICRCs with
// its own code.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpAddress, address } from '../../src/model/address.ts';
import { fromHex, toHex } from '../../src/packet/hex.ts';
import { buildLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { decodeTrace } from '../../src/packet/ip/ioam.ts';
import { type LongHaulCnp, UNDISCLOSED } from '../../src/packet/long-haul/body.ts';
import { OBJECT_CLASS, REDUCE } from '../../src/packet/long-haul/vectors.fixture.ts';
import { buildFastCnp, parseFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce, readLongHaulRoce } from '../../src/packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../src/packet/roce/packet.ts';
import { encapsulate } from '../../src/packet/srv6/encapsulation.ts';
import {
  type StampReply,
  decodeStampReply,
  decodeStampTest,
  encodeStampReply,
  encodeStampTest,
} from '../../src/packet/stamp/stamp.ts';
import { scapy } from '../support/scapy.ts';

const anAddress = (family: 4 | 6): fc.Arbitrary<IpAddress> =>
  fc.bigInt(1n, family === 4 ? 2n ** 32n - 1n : 2n ** 128n - 1n).map((value) => ({ family, value }));
const anOrder: fc.Arbitrary<LongHaulCnp> = fc.record({
  level: fc.integer({ min: 1, max: 255 }),
  action: fc.constantFrom('pause' as const, 'rate-reduce' as const, 'resume' as const),
  parameter: fc.integer({ min: 1, max: 100 }),
  sourceQpn: fc.nat(0xffffff),
  metric: fc.constantFrom(UNDISCLOSED, { type: 1, value: 130_000 }),
  objects: fc.array(
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((id) => ({ kind: 'path-id' as const, id })),
    { maxLength: 3 },
  ),
});
const ip = (
  family: 4 | 6,
): fc.Arbitrary<{
  source: IpAddress;
  destination: IpAddress;
  sourcePort: number;
  trafficClass: number;
  hopLimit: number;
}> =>
  fc.record({
    source: anAddress(family),
    destination: anAddress(family),
    sourcePort: fc.nat(65535),
    trafficClass: fc.nat(255),
    hopLimit: fc.nat(255),
  });
const SAMPLE = { seed: 26, numRuns: 100 };

test('LHCNP-6.1-d, LHCNP-6.1.1-e: scapy computes our ICMPv6 checksum, and Python that of the extension structure', () => {
  const sent = fc
    .sample(fc.tuple(ip(6), anOrder), SAMPLE)
    .map(([ends, cnp]) =>
      toHex(buildLongHaulIcmpv6({ ...ends, cnp, codes: { type: 200, objectClass: OBJECT_CLASS } })),
    );
  const computed = scapy<[string, boolean][]>(
    `from scapy.all import IPv6, ICMPv6Unknown, checksum
result = []
for text in data:
    raw = bytes.fromhex(text)
    head = IPv6(raw[:40])
    rebuilt = IPv6(src=head.src, dst=head.dst, tc=head.tc, hlim=head.hlim, nh=58) / ICMPv6Unknown(type=raw[40], code=raw[41], msgbody=raw[44:])
    extensions = raw[56:]
    result.append([bytes(rebuilt).hex(), extensions == b'' or checksum(extensions) == 0])`,
    sent,
  );
  expect(computed).toEqual(sent.map((text) => [text, true]));
});

test('LHCNP-6.2.4-c: scapy computes our ICRC on IPv4, extension fields and objects included', () => {
  const sent = fc
    .sample(fc.tuple(ip(4), anOrder, fc.nat(0xffff)), SAMPLE)
    .map(([ends, cnp, identification]) =>
      toHex(buildLongHaulRoce({ ...ends, cnp, objectClass: OBJECT_CLASS, identification })),
    );
  const computed = scapy<string[]>(
    `from scapy.all import IP, UDP, Raw
from scapy.contrib.roce import BTH
result = []
for text in data:
    raw = bytes.fromhex(text)
    head = IP(raw[:20])
    bth = BTH(opcode=0x81, becn=1, resv6=0x20, dqpn=int.from_bytes(raw[33:36], 'big'), psn=0)
    udp = UDP(sport=int.from_bytes(raw[20:22], 'big'), dport=4791, chksum=0)
    result.append(bytes(IP(tos=head.tos, id=head.id, ttl=head.ttl, flags='DF', src=head.src, dst=head.dst) / udp / bth / Raw(raw[40:-4])).hex())`,
    sent,
  );
  expect(computed).toEqual(sent);
});

/**
 * The ICRC over an IPv6 packet as scapy rebuilds it with the masks applied; the transport begins at the given offset.
 */
const ICRC6 = `import struct, zlib
from scapy.all import IPv6, UDP
def icrc6(raw, transport):
    packet = IPv6(raw)
    packet.tc, packet.fl, packet.hlim = 255, 0xfffff, 255
    masked = bytearray(bytes(packet)[:40] + raw[40:-4])
    masked[transport + 6:transport + 8] = b'\\xff\\xff'
    masked[transport + 12] = 0xff
    return struct.pack('<I', zlib.crc32(b'\\xff' * 8 + bytes(masked))).hex()
`;

test('LHCNP-6.2.4-c, LHCNP-6.2.5-a: the ICRC on IPv6', () => {
  const sent = fc
    .sample(fc.tuple(ip(6), anOrder), SAMPLE)
    .map(([ends, cnp]) => toHex(buildLongHaulRoce({ ...ends, cnp, objectClass: OBJECT_CLASS })));
  expect(scapy<string[]>(`${ICRC6}result = [icrc6(bytes.fromhex(text), 40) for text in data]`, sent)).toEqual(
    sent.map((text) => text.slice(-8)),
  );
});

test('LHCNP-6.2.1-b: scapy finds a CNP with the sixth reserved bit set, which we read back', () => {
  const [theirs] = scapy<string[]>(
    `from scapy.all import IP, UDP, Raw
from scapy.contrib.roce import BTH
body = bytes.fromhex('b480001e000000640101fbd0')
result = [bytes(IP(src='10.255.0.2', dst='10.1.0.1', id=7) / UDP(sport=49152, dport=4791, chksum=0) / BTH(opcode=0x81, becn=1, resv6=0x20, dqpn=100, psn=0) / Raw(body)).hex()]`,
    null,
  );
  const parsed = parseRocePacket(fromHex(theirs!));
  expect(parsed.ok && readLongHaulRoce(parsed.value, OBJECT_CLASS)).toEqual({ ok: true, value: REDUCE });
});

test('FCNP-4-h, FCNP-4-l, FCNP-4-m: scapy’s Destination Options header with our option is ours to the byte, and its ICRC over all of it is ours', () => {
  const traces = fc.option(fc.integer({ min: 0, max: 57 }), { nil: undefined }).map((words) => {
    const trace = words === undefined ? undefined : decodeTrace(0, new Uint8Array(8 + 4 * words).fill(0x5a));
    return trace?.ok ? trace.value : undefined;
  });
  const sent = fc
    .sample(
      fc.tuple(ip(6), anAddress(6), fc.nat(0xffffff), traces, fc.constantFrom('cover' as const, 'skip' as const)),
      SAMPLE,
    )
    .map(([ends, originalDestination, destQpn, trace, icrc]) => {
      const packet = buildFastCnp({
        ...ends,
        originalDestination,
        destQpn,
        trace,
        codes: { option: 0x9e, ioamOption: 0x9e, icrc },
      });
      expect(parseFastCnp(packet, { option: 0x9e, ioamOption: 0x9e, icrc })).toMatchObject({
        ok: true,
        value: { originalDestination, packet: { bth: { destQpn } } },
      });
      return { text: toHex(packet), icrc, option2: trace !== undefined };
    });
  const computed = scapy<{ header: string; icrc: string }[]>(
    `${ICRC6}
from scapy.all import IPv6ExtHdrDestOpt, HBHOptUnknown, PadN
result = []
for item in data:
    raw = bytes.fromhex(item['text'])
    length = 8 * (raw[41] + 1)
    at = 44 if item['option2'] else 42
    option = HBHOptUnknown(otype=raw[at], optlen=raw[at + 1], optdata=raw[at + 2:at + 2 + raw[at + 1]])
    # scapy drops padding when it pads by itself, so it is given the leading PadN explicitly and pads the end.
    lead = [PadN(optdata=b'')] if item['option2'] else []
    used = at - 40 + 2 + raw[at + 1]
    tail = -used % 8
    trail = [PadN(optdata=bytes(tail - 2))] if tail else []
    header = bytes(IPv6ExtHdrDestOpt(nh=17, autopad=0, options=lead + [option] + trail))
    if item['icrc'] == 'cover':
        crc = icrc6(raw, 40 + length)
    else:
        bare = IPv6(raw[:40])
        bare.nh, bare.plen = 17, len(raw) - 40 - length
        crc = icrc6(bytes(bare) + raw[40 + length:], 40)
    result.append({'header': header.hex(), 'icrc': crc})`,
    sent,
  );
  expect(computed).toEqual(
    sent.map(({ text }) => ({
      header: text.slice(80, 80 + 16 * (parseInt(text.slice(82, 84), 16) + 1)),
      icrc: text.slice(-8),
    })),
  );
});

test('scapy builds the same segment routing header', () => {
  const path = [address('fc00:2::'), address('2001:db8:c::1')];
  const inner = buildLongHaulIcmpv6({
    source: address('2001:db8:ffff::2'),
    destination: address('2001:db8:a::1'),
    cnp: REDUCE,
    codes: { type: 200, objectClass: OBJECT_CLASS },
  });
  const ours = encapsulate({ source: address('2001:db8:ffff::2'), destination: address('fc00:1::'), path, inner });
  const [theirs] = scapy<string[]>(
    `from scapy.all import IPv6, IPv6ExtHdrSegmentRouting
outer = IPv6(src='2001:db8:ffff::2', dst='fc00:1::', hlim=64)
srh = IPv6ExtHdrSegmentRouting(addresses=['2001:db8:c::1', 'fc00:2::', 'fc00:1::'], segleft=2, lastentry=2, nh=41)
result = [bytes(outer / srh / IPv6(bytes.fromhex(data))).hex()]`,
    toHex(inner),
  );
  expect(toHex(ours)).toBe(theirs);
});

test('STAMP: scapy’s unauthenticated packets are ours to the byte, in both roles', () => {
  const error = { synchronized: true, ptp: true, scale: 15, multiplier: 8 };
  const [theirTest, theirReply] = scapy<string[]>(
    `from scapy.packet import RawVal
from scapy.contrib.stamp import *
stamp = lambda value: RawVal(value.to_bytes(8, 'big'))
estimate = lambda: ErrorEstimate(S=1, Z=1, scale=15, multiplier=8)
result = [
    bytes(STAMPSessionSenderTestUnauthenticated(seq=77, ts=stamp(0x1122334455667788), err_estimate=estimate(), ssid=9)).hex(),
    bytes(STAMPSessionReflectorTestUnauthenticated(seq=78, ts=stamp(0x1122334455667799), err_estimate=estimate(), ssid=9, ts_rx=stamp(0x1122334455667790),
        seq_sender=77, ts_sender=stamp(0x1122334455667788), err_estimate_sender=estimate(), ttl_sender=61)).hex()]`,
    null,
  );
  const stampTest = { sequence: 77, timestamp: 0x1122334455667788n, error, ssid: 9 };
  const reply: StampReply = {
    ...stampTest,
    sequence: 78,
    timestamp: 0x1122334455667799n,
    received: 0x1122334455667790n,
    senderSequence: 77,
    senderTimestamp: stampTest.timestamp,
    senderError: error,
    senderTtl: 61,
  };
  expect({ test: toHex(encodeStampTest(stampTest)), reply: toHex(encodeStampReply(reply)) }).toEqual({
    test: theirTest,
    reply: theirReply,
  });
  expect(decodeStampTest(fromHex(theirTest!))).toEqual({ ok: true, value: stampTest });
  expect(decodeStampReply(fromHex(theirReply!))).toEqual({ ok: true, value: reply });
});
