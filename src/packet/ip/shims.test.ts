// What is between two packets, written by hand: a tunnel's headers, and what only looks like one.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex } from '../hex.ts';
import { fragment, ipv4, ipv6, udp } from './packets.fixture.ts';
import { walkHeaders } from './walk.ts';

const FLOW6 = [address('2001:db8:a::1'), address('2001:db8:b::1')] as const;
const FLOW4 = [address('10.1.0.1'), address('10.2.0.1')] as const;
const PE = [address('2001:db8:ffff::1'), address('2001:db8:ffff::2')] as const;
const ROCE6 = ipv6(FLOW6, 17, udp(0xc000, 4791));
const ROCE4 = ipv4(FLOW4, 17, udp(0xc000, 4791));

const GRE = 47;
const MPLS = 137;
const ETHERNET = 143;
const OUTER = 40;

/** Where the innermost IP header is behind the outer one, and its family; undefined: nothing was recognized. */
function inside(protocol: number, shims: Uint8Array | string, inner: Uint8Array = ROCE6): string | undefined {
  const head = typeof shims === 'string' ? fromHex(shims) : shims;
  const [, layer] = walkHeaders(ipv6(PE, protocol, concat(head, inner))).layers;
  return layer && `${layer.family} at ${layer.offset - OUTER}`;
}
const MACS = '020000000001' + '020000000002';
const label = (bottom: boolean): string => (bottom ? '000101ff' : '000100ff');
const labels = (count: number): string => label(false).repeat(count - 1) + label(true);

describe('GRE', () => {
  test.each([
    ['IPv4', '00000800', ROCE4, '4 at 4'],
    ['IPv6', '000086dd', ROCE6, '6 at 4'],
    ['with a checksum', '800086dd' + '00000000', ROCE6, '6 at 8'],
    ['with a key', '200086dd' + '00000007', ROCE6, '6 at 8'],
    ['with a sequence number', '100086dd' + '00000001', ROCE6, '6 at 8'],
    ['with all three', 'b00086dd' + '000000000000000700000001', ROCE6, '6 at 16'],
    ['MPLS inside', '00008847' + label(true), ROCE6, '6 at 8'],
    ['MPLS of a multicast tree inside', '00008848' + label(true), ROCE6, '6 at 8'],
    ['Ethernet inside', '00006558' + MACS + '86dd', ROCE6, '6 at 18'],
  ])('%s is followed', (_, head, inner, found) => {
    expect(inside(GRE, head, inner)).toBe(found);
  });

  test.each([
    ['a routing field', '400086dd'],
    ['a version that is not 0', '000186dd'],
    ['reserved bits', '080086dd'],
    ['another protocol', '00000806'],
  ])('%s ends the walk', (_, head) => {
    expect(inside(GRE, head)).toBeUndefined();
  });

  test('a header that is cut ends the walk', () => {
    expect(inside(GRE, '0000', new Uint8Array())).toBeUndefined();
    expect(walkHeaders(concat(ipv6(PE, GRE, fromHex('000086')), Uint8Array.of(0xdd), ROCE6)).layers).toHaveLength(1);
  });
});

describe('a label stack', () => {
  test.each([1, 2, 16])('of %d labels is followed, whatever the family', (count) => {
    expect({ ipv6: inside(MPLS, labels(count)), ipv4: inside(MPLS, labels(count), ROCE4) }).toEqual({
      ipv6: `6 at ${4 * count}`,
      ipv4: `4 at ${4 * count}`,
    });
  });

  test('of more than 16 labels is not, nor one without an end', () => {
    expect(inside(MPLS, labels(17))).toBeUndefined();
    expect(inside(MPLS, label(false).repeat(3), new Uint8Array())).toBeUndefined();
  });

  test('carries an IP header only if it can be one: a hop limit, a length, over IPv4 a checksum', () => {
    const v4 = (at: number, value: number): string | undefined => inside(MPLS, labels(1), ROCE4.with(at, value));
    expect(inside(MPLS, labels(1), ROCE6.with(7, 0))).toBeUndefined();
    expect(inside(MPLS, labels(1), ROCE6.with(0, 0x50))).toBeUndefined();
    expect(v4(0, 0x44)).toBeUndefined();
    expect(v4(10, ROCE4[10]! ^ 1)).toBeUndefined();
    // A time to live of 0, with the checksum that belongs to it.
    const [high, low] = [ROCE4[10]!, ROCE4[11]!];
    const sum = ((high << 8) | low) + 0x4000;
    const dead = ROCE4.with(8, 0)
      .with(10, ((sum & 0xffff) + (sum >>> 16)) >>> 8)
      .with(11, (sum & 0xffff) + (sum >>> 16));
    expect(inside(MPLS, labels(1), dead)).toBeUndefined();
  });

  test('an IPv4 header with options is taken by its lengths: they may not all be there to be summed', () => {
    const inner = concat(ROCE4.subarray(0, 20).with(0, 0x46), fromHex('01010101'), ROCE4.subarray(20));
    expect(inside(MPLS, labels(1), inner)).toBe('4 at 4');
  });

  test('of a packet that is cut within the inner header ends the walk', () => {
    expect(inside(MPLS, labels(1), ROCE4.subarray(0, 19))).toBeUndefined();
    expect(inside(MPLS, labels(1), ROCE4.subarray(0, 20))).toBe('4 at 4');
  });
});

describe('in UDP', () => {
  const VXLAN = '0800000000000700';

  test('MPLS and VXLAN are known by their ports', () => {
    expect(inside(17, concat(udp(0xc000, 6635, new Uint8Array()), fromHex(labels(2))))).toBe('6 at 16');
    expect(inside(17, concat(udp(0xc000, 4789, new Uint8Array()), fromHex(VXLAN + MACS + '86dd')))).toBe('6 at 30');
    expect(inside(17, concat(udp(4789, 0xc000, new Uint8Array()), fromHex(VXLAN + MACS + '86dd')))).toBeUndefined();
    expect(inside(17, concat(udp(0xc000, 4791, new Uint8Array()), fromHex(labels(2))))).toBeUndefined();
  });

  test('VXLAN without its I bit carries nothing that is known', () => {
    expect(
      inside(17, concat(udp(0xc000, 4789, new Uint8Array()), fromHex(VXLAN.replace('08', '00') + MACS + '86dd'))),
    ).toBeUndefined();
  });

  test('a datagram that is too short for either is the flow itself', () => {
    expect(inside(17, udp(0xc000, 6635, new Uint8Array(7)), new Uint8Array())).toBeUndefined();
    expect(walkHeaders(ipv6(PE, 17, udp(0xc000, 4789, fromHex(VXLAN))))).toMatchObject({
      layers: [{ protocol: 17 }],
      end: 'transport',
    });
  });

  test('a fragment is not looked into: its other headers may lie in another one', () => {
    const datagram = concat(udp(0xc000, 6635, new Uint8Array()), fromHex(labels(1)), ROCE6);
    expect(walkHeaders(ipv6(PE, 44, fragment(17, 0, true, datagram))).layers).toHaveLength(1);
  });
});

describe('Ethernet', () => {
  test.each([
    ['IPv4', '0800', ROCE4, '4 at 14'],
    ['IPv6', '86dd', ROCE6, '6 at 14'],
    ['a tag', '8100' + '0007' + '86dd', ROCE6, '6 at 18'],
    ['two tags', '88a8' + '0007' + '8100' + '0008' + '0800', ROCE4, '4 at 22'],
    ['a label', '8847' + label(true), ROCE6, '6 at 18'],
  ])('with %s is followed', (_, type, inner, found) => {
    expect(inside(ETHERNET, MACS + type, inner)).toBe(found);
  });

  test.each([
    ['three tags', '88a8' + '0007' + '8100' + '0008' + '8100' + '0009' + '86dd'],
    ['Ethernet', '6558' + MACS + '86dd'],
    ['ARP', '0806'],
  ])('with %s is not', (_, type) => {
    expect(inside(ETHERNET, MACS + type)).toBeUndefined();
  });

  test('that is cut before its type ends the walk', () => {
    expect(inside(ETHERNET, MACS + '86', new Uint8Array())).toBeUndefined();
    expect(inside(ETHERNET, MACS + '8100' + '0007' + '86', new Uint8Array())).toBeUndefined();
    expect(
      walkHeaders(concat(ipv6(PE, ETHERNET, fromHex(MACS + '86')), Uint8Array.of(0xdd), ROCE6)).layers,
    ).toHaveLength(1);
  });
});
