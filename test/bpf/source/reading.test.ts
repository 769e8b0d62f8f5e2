// What the source's program takes for a notification, compared with the codecs of src/packet: what these refuse, the
// program refuses, and the other way round. Each packet is one run of the program.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address, addressBytes } from '../../../src/model/address.ts';
import { concat, put16 } from '../../../src/packet/bytes.ts';
import { fromHex, toHex } from '../../../src/packet/hex.ts';
import { encodeExtensions } from '../../../src/packet/icmpv6/objects.ts';
import { decodeLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { buildIcmpv6, parseIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import { OBJECT_CLASS, REDUCE } from '../../../src/packet/long-haul/vectors.fixture.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { parseFastCnp } from '../../../src/packet/roce/fast-cnp.ts';
import { icrc, writeIcrc } from '../../../src/packet/roce/icrc.ts';
import { readLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { fragment, ipv6, options } from '../../../src/packet/ip/packets.fixture.ts';
import { A, B, CONGESTED, DATA_SPORT, DROP, NEXT, data } from '../support/proxy-under-test.ts';
import {
  FAST_CNP_CODES,
  ICMPV6_TYPE,
  RECEIVER_QPN,
  SENDER_QPN,
  SourceUnderTest,
  fastCnp,
  longHaulIcmpv6,
  longHaulRoce,
  longHaulRoce4,
} from '../support/source-under-test.ts';

let source: SourceUnderTest;
beforeAll(() => void (source = new SourceUnderTest().teach()));
afterAll(() => source.close());
beforeEach(() => void source.configure('enforce'));
afterEach(() => void source.records());

const OBJECTS = [
  { kind: 'timestamp', ntp: 0xe8d4a51012345678n },
  { kind: 'device-id', name: 'leaf1' },
  { kind: 'path-id', id: fromHex('00000007') },
] as const;
/** IOAM: preallocated trace, two nodes of 4 bytes. */
const TRACE = { kind: 0, bytes: fromHex('0000 0800 800000 00 00000001 00000002') };

const VALID: Readonly<Record<string, Uint8Array>> = {
  'a Fast CNP with option 1': fastCnp(),
  'a Fast CNP with option 2': fastCnp({ trace: TRACE }),
  'a Fast CNP of the receiver': fastCnp({ source: B }),
  'a Long-haul CNP in ICMPv6': longHaulIcmpv6(),
  'a Long-haul CNP in ICMPv6 with objects': longHaulIcmpv6({ objects: OBJECTS }),
  'a Long-haul CNP in RoCEv2': longHaulRoce(),
  'a Long-haul CNP in RoCEv2 with objects': longHaulRoce({ objects: OBJECTS }),
  'a Long-haul CNP in RoCEv2 as long as a CNP': longHaulRoce({}, { padToCnp: true }),
  'a Long-haul CNP in RoCEv2 over IPv4': longHaulRoce4({ objects: OBJECTS }),
};

/** What the agent's codecs make of a packet. */
function accepted(packet: Uint8Array): boolean {
  const next = packet[0]! >> 4 === 6 ? packet[6] : packet[9];
  if (next === 60) return parseFastCnp(packet, FAST_CNP_CODES).ok;
  if (next === 58) {
    const message = parseIcmpv6(packet);
    return (
      message.ok && decodeLongHaulIcmpv6(message.value.message, { type: ICMPV6_TYPE, objectClass: OBJECT_CLASS }).ok
    );
  }
  const roce = parseRocePacket(packet);
  return roce.ok && readLongHaulRoce(roce.value, OBJECT_CLASS).ok;
}
const dropsFor = (counted: Readonly<Record<string, number>>): string[] =>
  Object.keys(counted).filter((name) => name !== 'source.received');

/**
 * Whom a notification names, and who sent it, is no matter of the codecs. Nor do they check the length of an IPv6
 * packet against the frame, or the checksum of an IPv4 header, which kernels do.
 */
const notOfTheCodec = (packet: Uint8Array, at: number, reasons: readonly string[]): boolean =>
  reasons.some((reason) => ['source.not-allowed', 'source.qp-unknown'].includes(reason)) ||
  (packet[0]! >> 4 === 6 ? at === 4 || at === 5 : at < 20 && reasons.includes('source.bad-checksum'));

test.each(Object.entries(VALID))('LHCNP-5.6-c, FCNP-4-n: it takes %s', (_, packet) => {
  expect(accepted(packet)).toBe(true);
  expect(source.send(packet)).toMatchObject({
    verdict: DROP,
    counted: { 'source.received': 1, 'source.enforced': 1 },
  });
  const [record] = source.records();
  expect(record).toMatchObject({
    action: 'enforce',
    flow: { receiverQpn: RECEIVER_QPN },
    senderQpn: SENDER_QPN,
    instruction: packet[6] === 60 ? null : { level: 180, action: 'rate-reduce', parameter: 30 },
  });
});

test('FCNP-4-t: the agent gets the IOAM trace of a Fast CNP with option 2 as it came, and none of any other', () => {
  source.send(fastCnp({ trace: TRACE }));
  source.send(fastCnp());
  source.send(longHaulRoce());
  const [traced, ...others] = source.records();
  expect({ kind: traced!.trace!.kind, bytes: toHex(traced!.trace!.bytes) }).toEqual({
    kind: TRACE.kind,
    bytes: toHex(TRACE.bytes),
  });
  expect(others.map(({ trace }) => trace)).toEqual([null, null]);
});

test('LHCNP-5.6-c: the agent is told action, parameter, level and metric of a Long-haul CNP, and who sent it', () => {
  const metric = { type: 1, value: 130_000 };
  for (const build of [longHaulIcmpv6, longHaulRoce]) {
    source.send(build({ action: 'pause', parameter: 65_535, level: 255, metric }));
    source.send(build({ action: 'resume', parameter: 0, level: 0 }));
    source.send(build({ action: 'notify', parameter: 0, level: 7 }));
    const records = source.records();
    expect(records.map(({ instruction }) => instruction)).toEqual([
      { level: 255, action: 'pause', parameter: 65_535 },
      { level: 0, action: 'resume', parameter: 0 },
      { level: 7, action: 'notify', parameter: 0 },
    ]);
    expect(records[0]).toMatchObject({
      metric: 0x0101fbd0,
      node: CONGESTED,
      flow: { sender: A, receiver: B, receiverQpn: RECEIVER_QPN },
    });
  }
});

describe.each(Object.entries(VALID))('%s', (_, valid) => {
  test('is refused with any octet changed, unless the codec takes it still', () => {
    const wrong: string[] = [];
    for (let at = 0; at < valid.length; at++)
      for (const bit of [0x01, 0x10, 0x80]) {
        const packet = valid.with(at, valid[at]! ^ bit);
        const { verdict, counted } = source.send(packet);
        if (counted['source.received'] !== 1) continue; // of another protocol, or for another host
        const reasons = dropsFor(counted);
        const wronglyTaken = counted['source.enforced'] === 1 && !accepted(packet);
        const wronglyRefused =
          counted['source.enforced'] !== 1 && accepted(packet) && !notOfTheCodec(packet, at, reasons);
        if (wronglyTaken || wronglyRefused) wrong.push(`${at} ^ ${bit}: ${toHex(packet)} ${reasons.join()}`);
        if (verdict !== DROP) wrong.push(`${at} ^ ${bit}: passed`);
      }
    expect(wrong).toEqual([]);
  });

  test('is refused wherever it ends too early, and counted', () => {
    for (let length = valid.length - 1; length >= 60; length--) {
      const { verdict, counted } = source.send(valid.subarray(0, length));
      expect([length, verdict, dropsFor(counted)]).toEqual([length, DROP, ['source.malformed']]);
    }
  });
});

/** A Long-haul CNP in ICMPv6 whose body is changed and whose checksum is right. */
const withBody = (hex: string, more: Uint8Array = new Uint8Array()): Uint8Array =>
  buildIcmpv6({
    source: CONGESTED,
    destination: A,
    type: ICMPV6_TYPE,
    code: 0,
    body: concat(fromHex(hex), fromHex('b480001e 00000064 00000000').subarray(fromHex(hex).length), more),
  });

test('LHCNP-9-h: instructions that contradict themselves are refused: Notify with a parameter, Pause 0, Reduce 101, Resume 101, level 0', () => {
  for (const body of ['b4000001', 'b4400000', 'b4800065', 'b4c00065', '0080001e', '00400001', 'b480001e01000064']) {
    const packet = withBody(body);
    expect([body, accepted(packet)]).toEqual([body, false]);
    expect([body, dropsFor(source.send(packet).counted)]).toEqual([body, ['source.contradictory']]);
  }
  expect(dropsFor(source.send(withBody('b480001e 00000064 03000065')).counted)).toEqual(['source.contradictory']);
  expect(dropsFor(source.send(withBody('b4800064')).counted)).toEqual(['source.enforced']);
});

test('LHCNP-6.1.1-j: objects that do not add up, have another version or a wrong checksum are refused', () => {
  const [bare, many] = [withBody('b4'), Array.from({ length: 17 }, () => ({ kind: 'path-id', id: fromHex('00') }))];
  const objects = longHaulIcmpv6({ objects: OBJECTS }).subarray(56);
  for (const more of [
    new Uint8Array(4),
    fromHex('30000000 0004f701'),
    fromHex('20000000 0003f701'),
    fromHex('20000000 0010f701 00000000'),
    fromHex('20000000 0004f7'),
    fromHex('20000000 00'),
  ]) {
    const packet = withBody('b4', more);
    expect([toHex(more), accepted(packet)]).toEqual([toHex(more), false]);
    expect([toHex(more), dropsFor(source.send(packet).counted)]).toEqual([toHex(more), ['source.bad-objects']]);
  }
  expect(dropsFor(source.send(withBody('b4', objects.with(3, objects[3]! ^ 1))).counted)).toEqual([
    'source.bad-checksum',
  ]);
  expect(dropsFor(source.send(withBody('b4', fromHex('20000000 0006f70112340000'))).counted)).toEqual([
    'source.enforced',
  ]);
  // A limit of the program's own.
  const objectsMany = encodeExtensions(many.map(({ id }) => ({ classNum: 1, cType: 1, payload: id })));
  expect(accepted(withBody('b4', objectsMany))).toBe(true);
  expect(dropsFor(source.send(withBody('b4', objectsMany)).counted)).toEqual(['source.bad-objects']);
  expect(dropsFor(source.send(bare).counted)).toEqual(['source.enforced']);
});

test('a notification of more than 512 bytes is refused before it is read', () => {
  const long = withBody('b4', new Uint8Array(457));
  expect(long.length).toBe(513);
  expect(dropsFor(source.send(long).counted)).toEqual(['source.too-long']);
});

/** A Fast CNP whose options are these, with a right ICRC. */
function withOptions(bytes: string): Uint8Array {
  const plain = fastCnp();
  const header = concat(Uint8Array.of(17, fromHex(bytes).length / 8 - 0.75), fromHex(bytes));
  const packet = concat(plain.subarray(0, 40), header, plain.subarray(64));
  put16(packet, 4, packet.length - 40);
  const at = packet.length - 4;
  writeIcrc(packet, at, icrc(packet, 40 + header.length, at));
  return packet;
}
const OPTION = `9e10${toHex(addressBytes(B))}`;

test('FCNP-4-h: exactly one option besides padding, at any place of the header', () => {
  expect(toHex(withOptions(`${OPTION} 01020000`))).toBe(toHex(fastCnp()));
  for (const [bytes, expected] of [
    [`01020000 ${OPTION}`, 'source.enforced'],
    [`00000000 ${OPTION}`, 'source.enforced'],
    [`${OPTION} 0500 0500`, 'source.malformed'],
    [`0500 0000 ${OPTION}`, 'source.malformed'],
    [`${OPTION} 01030000`, 'source.malformed'],
    [`${OPTION} ${OPTION} 0000`, 'source.malformed'],
    ['9e0a00000000000000000000 0108 0000000000000000', 'source.malformed'],
  ] as const) {
    const packet = withOptions(bytes);
    expect([bytes, accepted(packet)]).toEqual([bytes, expected === 'source.enforced']);
    expect([bytes, dropsFor(source.send(packet).counted)]).toEqual([bytes, [expected]]);
  }
});

test('decision B2: where the ICRC skips the options, one that covers them is wrong, and the other way round', () => {
  const skipping = fastCnp({ codes: { ...FAST_CNP_CODES, icrc: 'skip' } });
  expect(dropsFor(source.send(skipping).counted)).toEqual(['source.bad-checksum']);
  source.configure('enforce', { icrc: 'skip' });
  expect(dropsFor(source.send(skipping).counted)).toEqual(['source.enforced']);
  expect(dropsFor(source.send(fastCnp()).counted)).toEqual(['source.bad-checksum']);
});

describe('what is no notification for a declared sender passes untouched and uncounted', () => {
  const other = address('2001:db8:77::1');
  test.each([
    ['data', data({ from: B, to: A, qpn: SENDER_QPN, psn: 1 })],
    ['a notification for another sender', fastCnp({ destination: other })],
    [
      'another ICMPv6 message',
      buildIcmpv6({ source: CONGESTED, destination: A, type: 128, code: 0, body: new Uint8Array(8) }),
    ],
    ['another option', withOptions(`1e10${toHex(addressBytes(B))} 01020000`)],
    ['a short packet', Uint8Array.of(0x60, ...new Uint8Array(45))],
  ])('%s', (_, packet) => {
    const { verdict, counted, packet: after } = source.send(packet);
    expect([verdict, counted, toHex(after.subarray(0, packet.length))]).toEqual([NEXT, {}, toHex(packet)]);
  });

  test('everything while the role is off', () => {
    source.object.map('source_config').update(new Uint8Array(4), new Uint8Array(32));
    for (const packet of Object.values(VALID))
      expect(source.send(packet)).toMatchObject({ verdict: NEXT, counted: {} });
  });
});

test('behind other extension headers, or in a fragment, a notification is dropped: it could reach a host unchecked', () => {
  const fast = fastCnp().subarray(40),
    icmp = longHaulIcmpv6().subarray(40),
    roce = longHaulRoce().subarray(40);
  const ends = [CONGESTED, A] as const;
  for (const [name, packet] of Object.entries({
    'hop-by-hop': ipv6(ends, 0, options(60, 0, fast)),
    'hop-by-hop, ICMPv6': ipv6(ends, 0, options(58, 0, icmp)),
    'hop-by-hop, RoCEv2': ipv6(ends, 0, options(17, 0, roce)),
    'destination options twice': ipv6(ends, 60, options(60, 0, fast)),
    'a first fragment': ipv6(ends, 44, fragment(60, 0, true, fast)),
    'a first fragment that ends early': ipv6(ends, 44, fragment(60, 0, true, fast.subarray(0, 16))),
  }))
    expect([name, source.send(packet)]).toMatchObject([
      name,
      { verdict: DROP, counted: { 'source.received': 1, 'source.evasive': 1 } },
    ]);
  for (const [name, packet] of Object.entries({
    'data behind hop-by-hop': ipv6(ends, 0, options(17, 0, data({ from: B, to: A, qpn: 1, psn: 1 }).subarray(40))),
    'a CNP behind hop-by-hop': ipv6(
      ends,
      0,
      options(17, 0, buildCnp({ source: B, destination: A, destQpn: 1, sourcePort: DATA_SPORT }).subarray(40)),
    ),
    'a later fragment': ipv6(ends, 44, fragment(60, 8, false, fast)),
  }))
    expect([name, source.send(packet)]).toMatchObject([name, { verdict: NEXT, counted: {} }]);
});

test('REDUCE of the example in LHCNP §7 is what the agent is told', () => {
  source.send(longHaulRoce(REDUCE));
  expect(source.records()).toMatchObject([{ instruction: { level: 180, action: 'rate-reduce', parameter: 30 } }]);
});
