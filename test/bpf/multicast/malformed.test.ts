// What End.MT refuses: every packet of the table is dropped, counted by its reason, and nothing leaves at any port.
import { beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { fragment, ipv4, ipv6, options, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import {
  EDGE,
  OTHER_EDGE,
  PARENT,
  PROXY,
  REPLICATION,
  ROOT,
  SOURCE,
  changed,
  copyFor,
  endMtTlv,
  inner,
  pad,
  treeTlv,
  tunnel,
} from '../support/multicast-packets.ts';
import { receiver, receivers } from '../support/multicast-branches.ts';
import { type MulticastRouter, withMulticastRouter } from '../support/multicast-scene.ts';

let router: MulticastRouter;
withMulticastRouter((created) => (router = created));
beforeEach(() => router.members(receivers(12)));

/** Offsets in an IPv6 packet with an SRH. */
const SRH = 40,
  TREE = SRH + 40,
  TLVS = SRH + 64,
  INNER = SRH + 64;
const PLAIN = inner();
const withTlvs = (...tlvs: readonly Uint8Array[]): Uint8Array => tunnel(PLAIN, { tlvs: [treeTlv(), ...tlvs] });
const inPlaceOfInner = (protocol: number, inside: Uint8Array): Uint8Array =>
  ipv6([SOURCE, PROXY], protocol, concat(inside, new Uint8Array(24)));
const unpadded = (tlv: Uint8Array): Uint8Array => {
  // An SRH of exactly these TLVs: the length of the last one leads out of it.
  expect((tlv.length + 64) % 8).toBe(0);
  return withTlvs(tlv);
};

type Refused = readonly [what: string, packet: Uint8Array, counter: string];
const REFUSED: readonly Refused[] = [
  ['Last Entry beyond the list', tunnel(PLAIN, { lastEntry: 2 }), 'srh.malformed'],
  ['Last Entry of the only segment', tunnel(PLAIN, { lastEntry: 0 }), 'srh.malformed'],
  ['three segments', tunnel(PLAIN, { segments: [PROXY, EDGE, ROOT] }), 'srh.malformed'],
  ['an SRH shorter than its segments', changed(tunnel(PLAIN), SRH + 1, 3), 'srh.malformed'],
  ['an SRH that ends behind the segments', tunnel(PLAIN, { tlvs: [] }), 'srh.tree-tlv'],
  ['an SRH that exceeds the packet', changed(tunnel(PLAIN), SRH + 1, 255), 'inner.length'],
  ['no tree TLV', tunnel(PLAIN, { tlvs: [pad(24)] }), 'srh.tree-tlv'],
  ['a tree TLV behind another', tunnel(PLAIN, { tlvs: [pad(8), treeTlv()] }), 'srh.tree-tlv'],
  ['a tree TLV of another length', changed(tunnel(PLAIN), TREE + 1, 21), 'srh.tree-tlv'],
  ['a TLV that exceeds the SRH by one octet', unpadded(changed(pad(8), 1, 7)), 'srh.tlv-overrun'],
  ['a TLV without length octet', unpadded(concat(pad(7), Uint8Array.of(9))), 'srh.tlv-overrun'],
  [
    'End.MT: a length that is one receiver too short',
    withTlvs(endMtTlv(EDGE, receivers(2), { length: 42 })),
    'srh.tlv-length',
  ],
  [
    'End.MT: a length that is one octet too long',
    withTlvs(endMtTlv(EDGE, receivers(2), { length: 63 }), pad(8)),
    'srh.tlv-length',
  ],
  [
    'End.MT: a length that leads out of the SRH',
    withTlvs(endMtTlv(EDGE, receivers(2), { length: 242, count: 11 })),
    'srh.tlv-overrun',
  ],
  ['End.MT: no receiver', withTlvs(endMtTlv(EDGE, [])), 'srh.tlv-length'],
  ['End.MT: no receiver by its number', withTlvs(endMtTlv(EDGE, receivers(1), { count: 0 })), 'srh.tlv-length'],
  [
    'End.MT: twelve receivers by their number',
    withTlvs(endMtTlv(EDGE, receivers(11), { count: 12 })),
    'srh.tlv-length',
  ],
  ['End.MT: a length of 0', withTlvs(endMtTlv(EDGE, receivers(1), { length: 0 })), 'srh.tlv-length'],
  ["End.MT: another edge's, malformed", withTlvs(endMtTlv(OTHER_EDGE, receivers(2), { count: 3 })), 'srh.tlv-length'],
  ['33 TLVs', withTlvs(...Array.from({ length: 33 }, () => pad(8))), 'srh.tlv-many'],
  ['IPv4 inside that calls itself IPv6', tunnel(changed(PLAIN, 0, 0x45)), 'inner.protocol'],
  ['two tunnels: IPv6 inside IPv6', tunnel(ipv6([SOURCE, PROXY], 41, PLAIN)), 'inner.nested'],
  [
    'two tunnels: IPv4 inside IPv6',
    tunnel(inPlaceOfInner(4, ipv4([address('10.0.0.1'), address('10.0.0.2')], 17, udp(1, 2)))),
    'inner.nested',
  ],
  ['two tunnels: GRE', tunnel(inPlaceOfInner(47, new Uint8Array(40))), 'inner.nested'],
  ['two tunnels: ESP', tunnel(inPlaceOfInner(50, new Uint8Array(40))), 'inner.nested'],
  ['a first fragment inside', tunnel(inPlaceOfInner(44, fragment(17, 0, true, udp(1, 4791)))), 'inner.fragment'],
  ['a later fragment inside', tunnel(inPlaceOfInner(44, fragment(17, 9, false, udp(1, 4791)))), 'inner.fragment'],
  ['an atomic fragment inside', tunnel(inPlaceOfInner(44, fragment(17, 0, false, udp(1, 4791)))), 'inner.fragment'],
  ['extension headers inside', tunnel(inPlaceOfInner(60, options(17, 0, udp(1, 4791)))), 'inner.extension'],
  ['a second SRH inside', tunnel(inPlaceOfInner(43, new Uint8Array(40))), 'inner.extension'],
  ['UDP to another port inside', tunnel(changed(PLAIN, 42, 0x12, 0xb8)), 'inner.not-roce'],
  ['VXLAN inside', tunnel(changed(PLAIN, 42, 0x12, 0xb5)), 'inner.not-roce'],
  ['a fragment of the tunnel', ipv6([PARENT, EDGE], 44, fragment(43, 0, true, tunnel(PLAIN).subarray(40))), 'fragment'],
  ['octets behind the packet inside', concatLength(tunnel(PLAIN), 8), 'inner.length'],
  ['an inner payload length that is too long', changed(tunnel(PLAIN), INNER + 4, 0, 200), 'inner.length'],
  ['an inner payload length that is too short', changed(tunnel(PLAIN), INNER + 4, 0, 40), 'inner.length'],
  ['a UDP length that differs', changed(tunnel(PLAIN), INNER + 44, 0, 40), 'inner.length'],
  ['an outer payload length that is too short', changed(tunnel(PLAIN), 4, 0, 80), 'inner.length'],
  ['an ICRC that is not at a word', tunnel(oddLength(PLAIN)), 'inner.length'],
  ['less than a BTH', tunnel(ipv6([SOURCE, PROXY], 17, udp(0xc001, 4791, new Uint8Array(8)))), 'inner.length'],
  ['a BTH without ICRC', tunnel(ipv6([SOURCE, PROXY], 17, udp(0xc001, 4791, new Uint8Array(12)))), 'inner.length'],
  [
    'WRITE Only without RETH',
    tunnel(ipv6([SOURCE, PROXY], 17, udp(0xc001, 4791, changed(new Uint8Array(28), 0, 10)))),
    'inner.length',
  ],
  ['READ request', tunnel(inner({ opcode: OPCODE.readRequest, size: 0 })), 'inner.opcode'],
  ['READ response', tunnel(inner({ opcode: OPCODE.readResponseMiddle })), 'inner.opcode'],
  ['ACK', tunnel(changed(PLAIN, 48, OPCODE.acknowledge)), 'inner.opcode'],
  ['compare and swap', tunnel(changed(PLAIN, 48, 0x13)), 'inner.opcode'],
  ['fetch and add', tunnel(changed(PLAIN, 48, 0x14)), 'inner.opcode'],
  ['SEND with Invalidate', tunnel(changed(PLAIN, 48, 0x17)), 'inner.opcode'],
  ['a CNP', tunnel(changed(PLAIN, 48, 0x81)), 'inner.opcode'],
  ['another version of the BTH', tunnel(changed(PLAIN, 49, 1)), 'inner.opcode'],
  ['another group', tunnel(inner({ destination: OTHER_EDGE }), { segments: [OTHER_EDGE, ROOT] }), 'group-unknown'],
  [
    'a SID of this router as the group',
    tunnel(inner({ destination: REPLICATION }), { segments: [REPLICATION, ROOT] }),
    'group-unknown',
  ],
  ['another Queue Pair', tunnel(inner({ qpn: 0x123457 })), 'inner.qpn'],
  ['a source that is no router', tunnel(PLAIN, { source: SOURCE }), 'router-unknown'],
  [
    'members that this router does not know',
    tunnel(PLAIN, { tlvs: [treeTlv({ members: new Uint8Array(8) })] }),
    'members-unknown',
  ],
];

function concatLength(packet: Uint8Array, more: number): Uint8Array {
  return concat(packet, new Uint8Array(more));
}
/** One octet of payload more, with the lengths that belong to it. */
function oddLength(packet: Uint8Array): Uint8Array {
  const longer = concat(packet, Uint8Array.of(0));
  longer[5]!++;
  longer[45]!++;
  return longer;
}

describe('is dropped and counted', () => {
  const isRefused = async (_: string, packet: Uint8Array, counter: string): Promise<void> => {
    const left = await router.exchange(() => router.arrive('p', packet));
    expect(left).toEqual({ p: [], h1: [], h2: [] });
    expect(router.counts()).toEqual({ [counter]: 1 });
    // The router still works, and what was refused has left nothing behind.
    expect((await router.exchange(() => router.arrive('p', tunnel(PLAIN)))).h1).toHaveLength(6);
  };
  test.each<Refused>([
    ['RMC-6.2-j: S14: no SRH: the packet inside follows', ipv6([PARENT, EDGE], 41, PLAIN), 'no-srh'],
    ['RMC-6.2-j: S14: no SRH: another protocol', ipv6([PARENT, EDGE], 17, udp(1, 4791)), 'no-srh'],
    ['RMC-6.2-j: S14: no SRH: options first', ipv6([PARENT, EDGE], 60, options(43, 0, PLAIN)), 'no-srh'],
    ['RMC-6.2-j: S14: a routing header of another type', tunnel(PLAIN, { routingType: 3 }), 'no-srh'],
    ['RMC-6.2-a: S01: no segments left', tunnel(PLAIN, { segmentsLeft: 0 }), 'no-segments-left'],
    ['RMC-6.2-b: more segments left than there are', tunnel(PLAIN, { segmentsLeft: 2 }), 'srh.malformed'],
    ['RMC-6.2-c: S03: the last segment is another address', tunnel(PLAIN, { segments: [SOURCE, ROOT] }), 'srh.segment'],
    [
      'RMC-6.2-c: S03: the last segment differs in its last octet',
      changed(tunnel(PLAIN), SRH + 8 + 15, 2),
      'srh.segment',
    ],
    [
      'RMC-3-a: IPv4 inside',
      tunnel(ipv4([address('10.0.0.1'), address('10.0.0.2')], 17, udp(1, 4791)), { nextHeader: 4 }),
      'inner.protocol',
    ],
    ['RMC-3-a: TCP inside', tunnel(inPlaceOfInner(6, new Uint8Array(40))), 'inner.not-roce'],
    ['RMC-3-a: SEND of UC', tunnel(changed(PLAIN, 48, 0x24)), 'inner.opcode'],
    ['RMC-3-a: SEND of UD', tunnel(changed(PLAIN, 48, 0x64)), 'inner.opcode'],
  ])('%s', isRefused);
  test.each(REFUSED)('%s', isRefused);

  test('anything to a SID of this router that does not come through a core port', async () => {
    const packets = [tunnel(PLAIN), tunnel(PLAIN, { destination: REPLICATION }), ipv6([PARENT, EDGE], 58, udp(1, 2))];
    const left = await router.exchange(() => packets.forEach((packet) => router.arrive('h1', packet)));
    expect(left).toEqual({ p: [], h1: [], h2: [] });
    expect(router.counts()).toEqual({ 'not-core': 3 });
  });

  test('every beginning of a packet', async () => {
    const packet = tunnel(inner({ opcode: OPCODE.writeOnly }), {
      tlvs: [treeTlv(), endMtTlv(EDGE, receivers(2))],
    });
    const left = await router.exchange(() => {
      for (let length = 40; length < packet.length; length++) {
        router.arrive('p', packet.subarray(0, length));
        // With lengths that agree.
        const cut = packet.slice(0, length);
        cut[4] = (length - 40) >> 8;
        cut[5] = (length - 40) & 255;
        router.arrive('p', cut);
      }
    });
    expect(left).toEqual({ p: [], h1: [], h2: [] });
  });
});

describe('TLVs', () => {
  const receiversOf = (left: { h1: Uint8Array[]; h2: Uint8Array[] }): string[] =>
    [...left.h1, ...left.h2].map((p) => Buffer.from(p.subarray(24, 40)).toString('hex')).sort();
  const addressesOf = (...numbers: number[]): string[] =>
    numbers.map((n) => Buffer.from(copyFor(PLAIN, receiver(n)).subarray(24, 40)).toString('hex')).sort();
  const all = Array.from({ length: 12 }, (_, n) => n);

  test.each<readonly [what: string, tlvs: readonly Uint8Array[], numbers: readonly number[]]>([
    ['RMC-8-f: none: the members', [], all],
    ['RMC-6.2-d: RMC-5.2-e: one for this edge', [endMtTlv(EDGE, [receiver(3), receiver(4)])], [3, 4]],
    ["RMC-7.2-g: another edge's only: the members", [endMtTlv(OTHER_EDGE, [receiver(3)]), pad(4)], all],
    [
      "RMC-7.2-f: several, this edge's and others'",
      [
        endMtTlv(OTHER_EDGE, [receiver(1)]),
        pad(4),
        endMtTlv(EDGE, receivers(2)),
        endMtTlv(EDGE, [receiver(7)]),
        pad(4),
      ],
      [0, 1, 7],
    ],
    ['RMC-7.2-b: eleven receivers', [endMtTlv(EDGE, receivers(11)), pad(4)], all.slice(0, 11)],
    ['RMC-7.2-e: reserved fields are ignored', [endMtTlv(EDGE, receivers(2), { reserved: 0xff })], [0, 1]],
    ['Pad1 and PadN before it', [pad(1), pad(1), pad(2), endMtTlv(EDGE, receivers(2)), pad(4)], [0, 1]],
    ['unknown TLVs are skipped (RFC 8754 §2.1)', [changed(pad(8), 0, 252), endMtTlv(EDGE, receivers(2))], [0, 1]],
    ['a receiver twice: one copy', [endMtTlv(EDGE, [receiver(2), receiver(2)])], [2]],
    ['no member: no copy', [endMtTlv(EDGE, [receiver(2), receiver(40)])], [2]],
    ['a member with another Queue Pair: no copy', [endMtTlv(EDGE, [receiver(2), { ...receiver(3), qpn: 9 }])], [2]],
    ['nothing but strangers: no copy', [endMtTlv(EDGE, [receiver(40), receiver(41)])], []],
    ['32 of them', Array.from({ length: 32 }, () => pad(8)), all],
  ])('%s', async (_, tlvs, numbers) => {
    const left = await router.exchange(() => router.arrive('p', withTlvs(...tlvs)));
    expect(receiversOf(left)).toEqual(addressesOf(...numbers));
  });

  test('RMC-7.2-a: the type is the configured one', async () => {
    const other = changed(endMtTlv(EDGE, receivers(2)), 0, 126);
    const left = await router.exchange(() => router.arrive('p', withTlvs(other)));
    expect(receiversOf(left)).toEqual(addressesOf(...all));
  });

  test('RMC-7.1-a: eleven receivers in each of seven TLVs fit an SRH', async () => {
    const left = await router.exchange(() =>
      router.arrive(
        'p',
        withTlvs(
          ...Array.from({ length: 6 }, () => endMtTlv(OTHER_EDGE, receivers(11))),
          endMtTlv(EDGE, receivers(11)),
          pad(4),
        ),
      ),
    );
    expect(receiversOf(left)).toEqual(addressesOf(...all.slice(0, 11)));
    expect(TLVS).toBe(INNER);
  });
});
