// A notice about a flow whose Queue Pair is known becomes the standard CNP, byte for byte.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address, addressBytes } from '../../../src/model/address.ts';
import { fromHex, toHex } from '../../../src/packet/hex.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { PROXY_MAPS, decodeLatency, latencyQuantile } from '../../../src/kernel/dataplane/proxy.ts';
import { icrcByHand, scapyIcrc } from '../support/icrc-judges.ts';
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
  NOTICE_PORT,
  PROXY,
  PROXY4,
  ProxyUnderTest,
  compileProxy,
  data,
  notice,
  toProxy,
} from '../support/proxy-under-test.ts';

let compiled: { path: string; remove(): void };
let proxy: ProxyUnderTest;
beforeAll(() => void (compiled = compileProxy()));
afterAll(() => compiled.remove());
beforeEach(() => void (proxy = ProxyUnderTest.reused(compiled.path).configure()));
afterEach(() => proxy.close());

/** Hop limit of a CNP as it leaves the program: 64 when the kernel has routed it. */
const BEFORE_ROUTING = 65;

describe('a notice becomes a CNP', () => {
  test.each([
    [PROXY, PROXY4],
    [PROXY4, PROXY],
  ])('PNC-3-a: to either address of a proxy that has one of each family, about senders of both', (first, second) => {
    proxy.configure({ address: first, otherAddress: second });
    for (const [sender, receiver] of [
      [A, B],
      [A4, B4],
    ] as const) {
      proxy.teach({ sender, receiver, senderQpn: 0x64, receiverQpn: 0xc8 });
      for (const [source, destination] of [
        [CONGESTED, PROXY],
        [CONGESTED4, PROXY4],
      ] as const) {
        const { verdict, packet, counted } = proxy.send(
          notice(data({ from: sender, to: receiver, qpn: 0xc8, psn: 9 }), { source, destination }),
        );
        expect({ verdict, counted }).toEqual({
          verdict: NEXT,
          counted: { 'proxy.notice.received': 1, 'proxy.cnp.sent': 1 },
        });
        expect(parseRocePacket(packet)).toMatchObject({
          ok: true,
          value: { source: receiver, destination: sender, icrcValid: true, bth: { opcode: 0x81, destQpn: 0x64 } },
        });
      }
    }
  });

  test('PNC-3-a, FCNP-3-c: over IPv6, the CNP that cnpd itself would build: source the receiver, destination the sender, source port and P_Key of the data', () => {
    proxy.teach({ sender: A, receiver: B, senderQpn: 0x64, receiverQpn: 0xc8 });
    const { verdict, packet, counted } = proxy.send(
      notice(data({ from: A, to: B, qpn: 0xc8, psn: 9, size: 1024, pkey: 0x8001 })),
    );
    expect(verdict).toBe(NEXT);
    expect(toHex(packet)).toBe(
      toHex(
        buildCnp({
          source: B,
          destination: A,
          destQpn: 0x64,
          sourcePort: DATA_SPORT,
          pkey: 0x8001,
          hopLimit: BEFORE_ROUTING,
        }),
      ),
    );
    expect(counted).toEqual({ 'proxy.notice.received': 1, 'proxy.cnp.sent': 1 });
  });

  test('PNC-1-d: with the addresses, port and Queue Pair of the recorded vector it is that vector, but for DSCP CS6 and the hop that routing takes off', () => {
    const vector = fromHex(
      '688000000028114020010db8000b0000000000000000000120010db8000a00000000000000000001c00012b700280000' +
        '8100ffff400000640000000000000000000000000000000000000000bcbdaadf',
    );
    proxy.teach({ sender: A, receiver: B, senderQpn: 0x64, receiverQpn: 0xc8 });
    const invoking = data({ from: A, to: B, qpn: 0xc8, psn: 0x123 });
    invoking.set([0xc0, 0x00], 40);
    const { packet } = proxy.send(notice(invoking));
    expect(toHex(packet.subarray(0, 4))).toBe('6c000000');
    packet.set(vector.subarray(0, 4));
    packet[7]!--;
    expect(toHex(packet)).toBe(toHex(vector));
  });

  test('over IPv4: 60 bytes with a header checksum, from an IPv4 notice', () => {
    proxy
      .configure({ address: PROXY4 })
      .teach({ sender: A4, receiver: B4, senderQpn: 0x123456, receiverQpn: 0xfedcba });
    const { verdict, packet } = proxy.send(
      notice(data({ from: A4, to: B4, qpn: 0xfedcba, psn: 9, size: 1000 }), {
        source: CONGESTED4,
        destination: PROXY4,
      }),
    );
    expect(verdict).toBe(NEXT);
    expect(packet.length).toBe(60);
    const expected = parseRocePacket(packet);
    expect(expected).toMatchObject({
      ok: true,
      value: {
        family: 4,
        source: B4,
        destination: A4,
        trafficClass: 0xc0,
        hopLimit: BEFORE_ROUTING,
        sourcePort: DATA_SPORT,
        udpChecksum: 0,
        icrcValid: true,
        bth: { opcode: 0x81, becn: true, fecn: false, destQpn: 0x123456, psn: 0, pkey: 0xffff },
      },
    });
    expect(ipv4HeaderSum(packet)).toBe(0xffff);
  });

  test.each([
    ['IPv4 flow, IPv6 notice', A4, B4, CONGESTED, undefined, '0800', 60],
    ['IPv6 flow, IPv4 notice', A, B, CONGESTED4, PROXY4, '86dd', 80],
  ])('%s: the CNP is of the flow’s family, and so is its EtherType', (_, from, to, source, at, type, size) => {
    proxy.configure(at ? { address: at } : {}).teach({ sender: from, receiver: to, senderQpn: 7, receiverQpn: 8 });
    const { verdict, packet, frame } = proxy.send(
      notice(data({ from, to, qpn: 8, psn: 1 }), at ? { source, destination: at } : {}),
    );
    expect(verdict).toBe(NEXT);
    expect(toHex(frame.subarray(12, 14))).toBe(type);
    expect(packet.length).toBe(size);
    expect(parseRocePacket(packet)).toMatchObject({
      ok: true,
      value: { source: to, destination: from, icrcValid: true, bth: { opcode: 0x81, destQpn: 7 } },
    });
  });

  test('PNC-3-a: scapy computes the same ICRC over IPv4, and the definition, bit by bit, over IPv6', () => {
    proxy
      .teach({ sender: A, receiver: B, senderQpn: 0xabcdef, receiverQpn: 8 })
      .teach({ sender: A4, receiver: B4, senderQpn: 0xabcdef, receiverQpn: 8 });
    const packets = [data({ from: A, to: B, qpn: 8, psn: 1 }), data({ from: A4, to: B4, qpn: 8, psn: 1 })].map(
      (invoking) => toHex(proxy.send(notice(invoking)).packet),
    );
    expect(scapyIcrc(packets[1]!)).toBe(packets[1]!.slice(-8));
    expect(icrcByHand(packets[0]!)).toBe(packets[0]!.slice(-8));
  });

  test('PNC-4-d: the smallest notice, whose invoking packet ends with its BTH, grows into a CNP', () => {
    proxy.teach({ sender: A4, receiver: B4, senderQpn: 7, receiverQpn: 8 });
    const invoking = data({ from: A4, to: B4, qpn: 8, psn: 1 }).subarray(0, 40);
    const { verdict, packet } = proxy.send(
      notice(invoking, {
        tuple: { source: A4, destination: B4, protocol: 17, sourcePort: DATA_SPORT, destinationPort: 4791 },
      }),
    );
    expect(verdict).toBe(NEXT);
    expect(parseRocePacket(packet)).toMatchObject({ ok: true, value: { icrcValid: true, bth: { destQpn: 7 } } });
  });

  test('PNC-4-d, PNC-4-e: the flow is found below an SRv6 encapsulation, and a segment routing header that still has segments names its destination', () => {
    proxy.teach({ sender: A, receiver: B, senderQpn: 7, receiverQpn: 8 });
    const inner = data({ from: A, to: B, qpn: 8, psn: 1, size: 1024 });
    const { verdict, packet } = proxy.send(
      notice(encapsulated(inner), {
        tuple: { source: A, destination: B, protocol: 17, sourcePort: DATA_SPORT, destinationPort: 4791 },
      }),
    );
    expect(verdict).toBe(NEXT);
    expect(parseRocePacket(packet)).toMatchObject({
      ok: true,
      value: { source: B, destination: A, bth: { destQpn: 7 } },
    });
  });

  test('everything that is no notice passes unchanged: other ports, other addresses, other protocols, short and odd frames', () => {
    const others = [
      data({ from: A, to: B, qpn: 8, psn: 1 }),
      toProxy(new Uint8Array(60), { destination: address('2001:db8:ffff::9') }),
      toProxy(new Uint8Array(60), { destinationPort: NOTICE_PORT + 1 }),
      Uint8Array.of(0x60, 0, 0, 0, 0, 0, 58, 1, ...new Uint8Array(32)),
      new Uint8Array(46),
    ];
    for (const packet of others) {
      const outcome = proxy.send(packet);
      expect(outcome.verdict).toBe(NEXT);
      expect(toHex(outcome.packet)).toBe(toHex(packet));
      expect(outcome.counted).toEqual({});
    }
    expect(proxy.send(notice(others[0]!)).verdict).toBe(DROP);
  });

  test('the time from the notice’s arrival to its CNP is kept by CPU, in four buckets an octave', () => {
    proxy.teach({ sender: A, receiver: B, senderQpn: 7, receiverQpn: 8 });
    const packet = notice(data({ from: A, to: B, qpn: 8, psn: 1, size: 1024 }));
    const began = process.hrtime.bigint();
    for (let i = 0; i < 200; i++) proxy.send(packet);
    const latency = decodeLatency(proxy.object.map(PROXY_MAPS.latency).entries());
    expect(latency.reduce((sum, { count }) => sum + count, 0n)).toBe(200n);
    // None took longer than all of them; a bucket is a quarter wide.
    expect(latencyQuantile(latency, 1)).toBeLessThanOrEqual(Number(process.hrtime.bigint() - began) * 1.25);
  });
});

/** The packet in an outer IPv6 header with an SRH of two segments, the first of which is left. */
function encapsulated(inner: Uint8Array): Uint8Array {
  const srh = Uint8Array.of(
    41,
    4,
    4,
    1,
    1,
    0,
    0,
    0,
    ...addressBytes(address('fc00::1')),
    ...addressBytes(address('fc00::2')),
  );
  const length = srh.length + inner.length;
  return Uint8Array.of(
    0x60,
    0,
    0,
    0,
    length >> 8,
    length & 255,
    43,
    64,
    ...addressBytes(address('fc00::9')),
    ...addressBytes(address('fc00::2')),
    ...srh,
    ...inner,
  );
}

function ipv4HeaderSum(packet: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < 20; i += 2) sum += (packet[i]! << 8) | packet[i + 1]!;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum;
}
