// Notices that must not become CNPs: each is dropped, counted under its own name, and changes nothing.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CB_TAG, MARK_NOTICE, MARK_TRIGGER } from '../../../src/kernel/dataplane/egress.ts';
import { address } from '../../../src/model/address.ts';
import { ipv6 as ipv6Packet } from '../../../src/packet/ip/packets.fixture.ts';
import { encodeUdpPacket } from '../../../src/packet/ip/udp.ts';
import { type FiveTuple } from '../../../src/packet/ip/five-tuple.ts';
import { MAX_NOTICE_PACKET, decodeNotice, encodeNotice } from '../../../src/packet/notice/pnc.ts';
import {
  A,
  A4,
  B,
  B4,
  CONGESTED,
  CONGESTED4,
  DATA_SPORT,
  DROP,
  NEXT,
  PROXY,
  PROXY4,
  ProxyUnderTest,
  compileProxy,
  context,
  data,
  ethernet,
  notice,
  toProxy,
  tupleOf,
} from '../support/proxy-under-test.ts';

let compiled: { path: string; remove(): void };
let proxy: ProxyUnderTest;
beforeAll(() => void (compiled = compileProxy()));
afterAll(() => compiled.remove());
beforeEach(() => {
  proxy = ProxyUnderTest.reused(compiled.path).configure();
  proxy
    .teach({ sender: A, receiver: B, senderQpn: 0x64, receiverQpn: 0xc8 })
    .teach({ sender: A4, receiver: B4, senderQpn: 0x64, receiverQpn: 0xc8 });
});
afterEach(() => proxy.close());

const invoking = data({ from: A, to: B, qpn: 0xc8, psn: 1, size: 64 });
const invoking4 = data({ from: A4, to: B4, qpn: 0xc8, psn: 1, size: 64 });
const tuple = tupleOf(invoking);
const good = notice(invoking);

/** Changes bytes and mends nothing. */
function changed(packet: Uint8Array, ...changes: [at: number, value: number][]): Uint8Array {
  const out = packet.slice();
  for (const [at, value] of changes) out[at] = value;
  return out;
}

/** The only effect is the counter. */
function refused(packet: Uint8Array, reason: string): void {
  const { verdict, counted } = proxy.send(packet);
  expect(counted).toEqual({ 'proxy.notice.received': 1, [reason]: 1 });
  expect(verdict).toBe(DROP);
}

/** Not even counted: it is not the proxy's. */
function leftAlone(packet: Uint8Array, at = proxy, opts: Parameters<ProxyUnderTest['send']>[1] = {}): void {
  const { verdict, counted, packet: after } = at.send(packet, opts);
  expect({ verdict, counted, after }).toEqual({ verdict: NEXT, counted: {}, after: packet });
}

/** An IPv6 packet around a payload. */
const ipv6 = (next: number, payload: Uint8Array, source = CONGESTED, destination = PROXY): Uint8Array =>
  ipv6Packet([source, destination], next, payload);

describe('who may notify', () => {
  test('PNC-6-b: a source outside the allow-list is refused, over IPv6 and IPv4', () => {
    refused(notice(invoking, { source: address('2001:db8:c::1') }), 'proxy.notice.not-allowed');
    proxy.configure({ address: PROXY4 });
    refused(notice(invoking4, { source: address('198.51.100.1'), destination: PROXY4 }), 'proxy.notice.not-allowed');
  });

  test('an IPv6 default route in the allow-list does not admit IPv4', () => {
    proxy.configure({ address: PROXY4 }, undefined, ['::/0']);
    refused(notice(invoking4, { source: address('198.51.100.1'), destination: PROXY4 }), 'proxy.notice.not-allowed');
  });

  test('PNC-6-a: without configuration nothing is taken for a notice', () => {
    const blank = ProxyUnderTest.reused(compiled.path);
    try {
      leftAlone(good, blank);
    } finally {
      blank.close();
    }
  });

  test.each([
    ['2001:db8:ffff::3', CONGESTED],
    ['::', CONGESTED],
    ['192.0.2.3', CONGESTED4],
    ['0.0.0.0', CONGESTED4],
  ] as const)(
    'PNC-6-a: to %s, which is not the proxy, whether it has one address or two: left alone',
    (stranger, source) => {
      for (const otherAddress of [undefined, PROXY4]) {
        proxy.configure({ otherAddress });
        leftAlone(notice(invoking, { source, destination: address(stranger) }));
      }
      proxy.configure({ otherAddress: undefined });
      leftAlone(notice(invoking, { source: CONGESTED4, destination: PROXY4 }));
    },
  );

  test('PNC-4-a: the port is the configured one', () => {
    proxy.configure({ udpPort: 1022 });
    leftAlone(good);
    expect(proxy.send(notice(invoking, { destinationPort: 1022 })).counted).toMatchObject({ 'proxy.cnp.sent': 1 });
  });
});

describe('an intact notice', () => {
  test('has a UDP checksum over IPv6', () =>
    refused(
      toProxy(encodeNotice({ tuple, level: 3, invoking, family: 6 }), { checksum: false }),
      'proxy.notice.no-checksum',
    ));

  test('any flipped bit behind the UDP header’s length is found by the checksum', () => {
    for (let at = 46; at < good.length; at++)
      refused(changed(good, [at, good[at]! ^ 0x01]), 'proxy.notice.bad-checksum');
    refused(changed(good, [40, good[40]! ^ 1]), 'proxy.notice.bad-checksum');
  });

  test('over IPv4 may have no UDP checksum, but never a wrong IP header checksum', () => {
    proxy.configure({ address: PROXY4 });
    const whole = notice(invoking4, { source: CONGESTED4, destination: PROXY4 });
    expect(proxy.send(changed(whole, [26, 0], [27, 0])).counted).toMatchObject({ 'proxy.cnp.sent': 1 });
    refused(changed(whole, [26, 0], [27, 0], [4, whole[4]! ^ 1]), 'proxy.notice.bad-checksum');
    refused(changed(whole, [27, whole[27]! ^ 1]), 'proxy.notice.bad-checksum');
  });

  test('PNC-4-d: over IPv4 without a UDP checksum its IPv6 tuple is its own, whatever the notice before had there', () => {
    proxy.configure({ address: PROXY4 });
    // Without a checksum the datagram is not read as a whole.
    const unsummed = (packet: Uint8Array): Uint8Array => changed(packet, [26, 0], [27, 0]);
    const over4 = { source: CONGESTED4, destination: PROXY4 };
    const whole = notice(invoking, over4);
    const otherPorts = { ...tuple, sourcePort: DATA_SPORT ^ 0xff, destinationPort: 0x0102 };
    for (const before of [
      notice(data({ from: A, to: B, qpn: 0xc8, psn: 1, size: 4096 }), { ...over4, tuple: otherPorts }),
      whole,
    ]) {
      proxy.send(before);
      expect(proxy.send(unsummed(whole)).counted).toMatchObject({ 'proxy.cnp.sent': 1 });
      proxy.send(before);
      refused(
        unsummed(notice(invoking, { ...over4, tuple: { ...otherPorts, sourcePort: DATA_SPORT ^ 1 } })),
        'proxy.notice.tuple-not-found',
      );
    }
  });

  test('is long enough for a tuple of either family: shorter, with or without a checksum, it is truncated', () => {
    proxy.configure({ address: PROXY4 });
    for (const checksum of [true, false]) {
      for (const [payload, reason] of [
        [37, 'proxy.notice.truncated'],
        [38, 'proxy.notice.tuple-not-found'],
      ] as const) {
        proxy.send(notice(invoking, { source: CONGESTED4, destination: PROXY4 }));
        refused(toProxy(new Uint8Array(payload), { source: CONGESTED4, destination: PROXY4, checksum }), reason);
      }
    }
  });

  test('truncated at each length it is dropped, never a CNP; the frame ends where it ends', () => {
    const reasons = new Set<string>();
    for (let length = 48; length < good.length; length++) {
      const { verdict, counted } = proxy.send(good.subarray(0, length));
      expect(verdict, `${length} bytes`).toBe(DROP);
      Object.keys(counted).forEach((name) => reasons.add(name));
    }
    expect([...reasons].sort()).toEqual(['proxy.notice.received', 'proxy.notice.truncated']);
    for (let length = 1; length < 48; length++) {
      const frame = ethernet(good.subarray(0, Math.max(length, 40)));
      expect(proxy.send(frame, { frame: true }).counted).toEqual({});
    }
  });

  test('A14: longer than 1280 bytes over IPv6, or 576 over IPv4, it is refused; with exactly that it is accepted', () => {
    const big = data({ from: A, to: B, qpn: 0xc8, psn: 1, size: 4096 });
    const full = notice(big);
    expect(full.length).toBe(MAX_NOTICE_PACKET[6]);
    expect(proxy.send(full).counted).toMatchObject({ 'proxy.cnp.sent': 1 });
    const payload = Uint8Array.of(
      ...encodeNotice({ tuple, level: 0, invoking: big, family: 6 }),
      ...new Uint8Array(60),
    );
    refused(toProxy(payload), 'proxy.notice.too-long');
    proxy.configure({ address: PROXY4 });
    const full4 = notice(data({ from: A4, to: B4, qpn: 0xc8, psn: 1, size: 4096 }), {
      source: CONGESTED4,
      destination: PROXY4,
    });
    expect(full4.length).toBe(MAX_NOTICE_PACKET[4]);
    expect(proxy.send(full4).counted).toMatchObject({ 'proxy.cnp.sent': 1 });
    const payload4 = Uint8Array.of(
      ...encodeNotice({
        tuple: tupleOf(invoking4),
        level: 0,
        invoking: data({ from: A4, to: B4, qpn: 0xc8, psn: 1, size: 4096 }),
        family: 4,
      }),
      ...new Uint8Array(60),
    );
    refused(toProxy(payload4, { source: CONGESTED4, destination: PROXY4 }), 'proxy.notice.too-long');
  });

  test('is no fragment and has no options or extension headers', () => {
    const udp = good.subarray(40);
    refused(ipv6(44, Uint8Array.of(17, 0, 0, 1, 0, 0, 0, 1, ...udp)), 'proxy.notice.fragment');
    for (const next of [0, 60])
      refused(ipv6(next, Uint8Array.of(17, 0, 1, 4, 0, 0, 0, 0, ...udp)), 'proxy.notice.extension-headers');
    refused(ipv6(43, Uint8Array.of(17, 0, 0, 0, 0, 0, 0, 0, ...udp)), 'proxy.notice.extension-headers');
    proxy.configure({ address: PROXY4 });
    const whole = notice(invoking4, { source: CONGESTED4, destination: PROXY4 });
    refused(changed(whole, [6, 0x20]), 'proxy.notice.fragment');
    refused(
      Uint8Array.of(0x46, ...whole.subarray(1, 20), 1, 1, 1, 1, ...whole.subarray(20)),
      'proxy.notice.extension-headers',
    );
    // A later fragment names no port: it may be anybody's, and is nothing without the first.
    expect(proxy.send(ipv6(44, Uint8Array.of(17, 0, 0, 9, 0, 0, 0, 1, ...udp))).counted).toEqual({});
  });

  test('a notice inside a tunnel is none, whoever the tunnel is for', () => {
    leftAlone(ipv6(41, good));
  });
});

describe('a notice is true to the packet that it carries', () => {
  const wrong = (fields: Partial<FiveTuple>): Uint8Array => notice(invoking, { tuple: { ...tuple, ...fields } });

  test.each<[string, Partial<FiveTuple>]>([
    ['source', { source: address('2001:db8:a::2') }],
    ['destination', { destination: address('2001:db8:b::2') }],
    ['protocol', { protocol: 6 }],
    ['source port', { sourcePort: DATA_SPORT ^ 1 }],
    ['destination port', { destinationPort: 4792 }],
  ])('a tuple whose %s is not the packet’s is refused', (_, fields) =>
    refused(wrong(fields), 'proxy.notice.tuple-not-found'),
  );

  test('the tuple of an outer header is not the flow', () => {
    const outer = ipv6(41, invoking, address('fc00::1'), address('fc00::2'));
    refused(
      notice(outer, {
        tuple: {
          source: address('fc00::1'),
          destination: address('fc00::2'),
          protocol: 41,
          sourcePort: 0,
          destinationPort: 0,
        },
      }),
      'proxy.notice.tuple-not-found',
    );
  });

  test('a tuple that is found behind the end of the datagram is not found', () => {
    const cut = encodeNotice({ tuple, level: 3, invoking: invoking.subarray(0, 30), family: 6 });
    const frame = Uint8Array.of(...toProxy(cut), ...invoking.subarray(30));
    refused(frame, 'proxy.notice.tuple-not-found');
  });

  test('a payload that is right read as IPv4 and as IPv6 is refused', () => {
    const payload = bothReadings();
    expect(decodeNotice(payload)).toMatchObject({ ok: false, error: { code: 'tuple-ambiguous' } });
    refused(toProxy(payload), 'proxy.notice.tuple-ambiguous');
  });

  test('header chains without an end, loops of headers and lengths that lie are refused', () => {
    const bombs = [
      nested(20), // IPv6 in IPv6, too deep
      ipv6(0, new Uint8Array(1100)), // hop-by-hop headers that each name the next
      ipv6(43, Uint8Array.of(17, 255, 4, 255, 255, 0, 0, 0)), // an SRH far longer than the packet
      ipv6(51, Uint8Array.of(17, 255, 0, 0, 0, 0, 0, 0)),
      ipv6(44, Uint8Array.of(17, 0, 0xff, 0xf8, 0, 0, 0, 1, ...invoking.subarray(40))), // a later fragment
      Uint8Array.of(0x41, ...new Uint8Array(63)), // an IPv4 header shorter than one
      Uint8Array.of(0x4f, 0, 0, 20, 0, 0, 0, 0, 64, 4, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2),
      Uint8Array.of(0x00, ...new Uint8Array(63)),
      new Uint8Array(1200).fill(0xff),
      new Uint8Array(0),
    ];
    for (const bomb of bombs) refused(notice(bomb, { tuple }), 'proxy.notice.tuple-not-found');
  });

  test.each([
    [
      'another UDP port',
      encodeUdpPacket({
        source: A,
        destination: B,
        sourcePort: 5,
        destinationPort: 53,
        checksum: true,
        payload: new Uint8Array(20),
      }),
    ],
    [
      'a UDP packet that ends with its header',
      encodeUdpPacket({
        source: A,
        destination: B,
        sourcePort: 5,
        destinationPort: 53,
        checksum: true,
        payload: new Uint8Array(0),
      }),
    ],
    ['TCP', ipv6(6, new Uint8Array(20).fill(1), A, B)],
    ['ICMPv6', ipv6(58, new Uint8Array(20), A, B)],
  ])('PNC-1-e: %s is not RoCEv2, and no message but the CNP is defined: counted, nothing is sent', (_, packet) =>
    refused(notice(packet), 'proxy.notice.not-roce'),
  );

  test('an invoking packet cut within its BTH names no Queue Pair', () => {
    for (let length = 44; length < 60; length++)
      refused(notice(invoking.subarray(0, length), { tuple }), 'proxy.notice.bth-missing');
    for (let length = 0; length < 44; length++)
      refused(
        notice(invoking.subarray(0, length), { tuple }),
        length + 38 < 14 + 20 ? 'proxy.notice.truncated' : 'proxy.notice.tuple-not-found',
      );
  });

  test.each([
    ['a CNP', { opcode: 0x81 }],
    ['a management packet', { qpn: 1 }],
  ])('%s is no data', (_, fields) =>
    refused(notice(data({ from: A, to: B, qpn: 0xc8, psn: 1, ...fields })), 'proxy.notice.not-data'),
  );

  test('an unknown BTH version is no data', () =>
    refused(notice(changed(invoking, [49, 0x01])), 'proxy.notice.not-data'));
});

describe('the sender and its Queue Pair', () => {
  test('PNC-4-d: a sender outside the declared prefixes is refused', () => {
    refused(notice(data({ from: B, to: A, qpn: 0x64, psn: 1 })), 'proxy.notice.sender-unknown');
    proxy.configure({}, ['::/0']);
    refused(notice(data({ from: address('10.9.0.1'), to: B4, qpn: 0x64, psn: 1 })), 'proxy.notice.sender-unknown');
  });

  test.each([
    ['Queue Pair', { qpn: 0xc9 }],
    ['receiver', { to: address('2001:db8:b::2') }],
    ['sender', { from: address('2001:db8:a::2') }],
  ])('PNC-1-c: another %s than the one that is known is unknown, never guessed', (_, fields) =>
    refused(notice(data({ from: A, to: B, qpn: 0xc8, psn: 1, ...fields })), 'proxy.notice.qp-unknown'),
  );
});

describe('notices on the loopback interface', () => {
  test('a clone on its way to the notice builder is left alone, even one that looks like a notice', () => {
    leftAlone(good, proxy, { ctx: context({ mark: MARK_TRIGGER, cb: [CB_TAG] }) });
  });

  test('a finished notice of this router is taken, in front of the builder’s program and behind it', () => {
    for (const mark of [MARK_NOTICE, 0])
      expect(proxy.send(good, { ctx: context({ mark, cb: [CB_TAG] }) }).counted).toMatchObject({ 'proxy.cnp.sent': 1 });
  });

  test('PNC-6-b: any other is a local user’s, whatever its mark', () => {
    for (const mark of [0, 7, MARK_TRIGGER, MARK_NOTICE])
      expect(proxy.send(good, { ctx: context({ mark, cb: [0] }) })).toMatchObject({
        verdict: DROP,
        counted: { 'proxy.notice.received': 1, 'proxy.notice.not-built-here': 1 },
      });
  });
});

/** `depth` IPv6 headers around the invoking packet. */
function nested(depth: number): Uint8Array {
  let packet = invoking;
  for (let i = 0; i < depth; i++) packet = ipv6(41, packet, A, B);
  return packet;
}

/**
 * A payload whose first 14 bytes are the tuple of the IPv4 packet behind them (UDP, 60 bytes of header), and whose
 * first 38 bytes are the tuple of the IPv6 packet behind those (protocol 1, no ports), which lies in the IPv4 options
 * and beyond.
 */
function bothReadings(): Uint8Array {
  const payload = new Uint8Array(128);
  const [ipv4, ipv6At] = [14, 38];
  payload.set([10, 0, 0, 1, 10, 0, 1, 0, 17, 0, 1, 10, 0, 3 << 5]); // ports 1 and 2560: see below
  payload.set([0x4f, 0, 0, 100, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 0], ipv4);
  payload.set([0x60, 0, 0, 0, 0, 32, payload[32]!, 64], ipv6At);
  payload.set(payload.slice(0, 16), ipv6At + 8);
  // The end of this address is the UDP header at 14 + 60: ports 0x0001 and 0x0a00.
  payload.set(payload.slice(16, 32), ipv6At + 24);
  return payload;
}
