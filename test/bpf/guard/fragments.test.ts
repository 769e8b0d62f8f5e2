// The border guard and what follows a packet's end. Ethernet pads short frames and lets a sender put more behind
// a packet than its IP length says; no receiver keeps any of it. A first fragment that ends before its BTH therefore
// must not be judged by what follows it in the frame: the BTH comes in the second fragment.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { concat, put16, u16 } from '../../../src/packet/bytes.ts';
import { fragment, ipv4, ipv6, options, srh, udp } from '../../../src/packet/ip/packets.fixture.ts';
import {
  ALL_KINDS,
  type Direction,
  GuardUnderTest,
  NODE,
  NODE4,
  fastCnp,
  longHaulIcmpv6,
  longHaulRoce,
  longHaulRoce4,
  protocolOf,
} from '../support/guard-under-test.ts';
import { DROP, H1, H1V4, H2, data, frame } from '../support/packets.ts';

let guard: GuardUnderTest;
beforeAll(() => void (guard = new GuardUnderTest()));
afterAll(() => guard.close());
beforeEach(() => {
  guard.configure(ALL_KINDS);
  guard.clearCounters();
});

const count = (name: string): number => guard.count(name);
const run = (direction: Direction, bytes: Uint8Array): number => guard.verdict(direction, bytes);

const ends = [NODE, H1] as const;
const ends4 = [NODE4, H1V4] as const;
const fast = fastCnp();

/** The first fragment of an IPv6 packet: `size` bytes of what follows its header, whose protocol is `next`. */
const first6 = (next: number, upper: Uint8Array, size: number): Uint8Array =>
  ipv6(ends, 44, fragment(next, 0, true, upper.subarray(0, size)));
/** The same of an IPv4 packet. */
function first4(protocol: number, upper: Uint8Array, size: number): Uint8Array {
  const packet = ipv4(ends4, protocol, upper.subarray(0, size));
  put16(packet, 6, 0x2000);
  return packet;
}
const behindOptions = (packet: Uint8Array): Uint8Array => options(packet[6]!, 2, packet.subarray(40));

/** First fragments that end before what identifies the notification; the rest would come in the second. */
const CUT: readonly (readonly [string, Uint8Array])[] = [
  ['Long-haul CNP in RoCEv2, behind the UDP header', first6(17, longHaulRoce.subarray(40), 8)],
  ['Long-haul CNP in RoCEv2 over IPv4, behind the UDP header', first4(17, longHaulRoce4.subarray(20), 8)],
  ['Long-haul CNP in RoCEv2, within the BTH', first6(17, longHaulRoce.subarray(40), 16)],
  ['Long-haul CNP in RoCEv2 over IPv4, within the BTH', first4(17, longHaulRoce4.subarray(20), 16)],
  ['Long-haul CNP in RoCEv2, behind its options', first6(60, behindOptions(longHaulRoce), 24)],
  ['Fast CNP, behind the UDP header', first6(60, fast.subarray(40), 32)],
  ['Fast CNP, behind the options', first6(60, fast.subarray(40), 24)],
  ['Fast CNP, within the options', first6(60, fast.subarray(40), 8)],
  ['Long-haul CNP in ICMPv6, behind its options', first6(60, behindOptions(longHaulIcmpv6), 24)],
  ['Long-haul CNP in ICMPv6, within its options', first6(60, behindOptions(longHaulIcmpv6), 8)],
  ['Long-haul CNP in ICMPv6, within an SRH', first6(43, srh(58, 0, [H1], longHaulIcmpv6.subarray(40)), 8)],
];
/** Header chains around a first fragment. */
const WAYS: readonly (readonly [string, (packet: Uint8Array) => Uint8Array])[] = [
  ['plain', (p) => frame(p)],
  ['behind a VLAN tag', (p) => frame(p, { tags: [[0x8100, 100]] })],
  ['behind hop-by-hop options', (p) => frame(p[0]! >> 4 === 6 ? ipv6(ends, 0, options(p[6]!, 0, p.subarray(40))) : p)],
  ['behind an SRH', (p) => frame(p[0]! >> 4 === 6 ? ipv6(ends, 43, srh(p[6]!, 1, [H1, H2], p.subarray(40))) : p)],
  ['in an IPv6 tunnel', (p) => frame(ipv6(ends, protocolOf(p), p))],
  ['in SRv6', (p) => frame(ipv6(ends, 43, srh(protocolOf(p), 1, [H2, H1], p)))],
  ['in an IPv4 tunnel', (p) => frame(ipv4(ends4, protocolOf(p), p))],
];
/** First fragments of tunnels, cut within the packet inside. */
const CUT_TUNNELS: readonly (readonly [string, Uint8Array])[] = [
  ['IPv6 in IPv6, behind the UDP header inside', frame(first6(41, longHaulRoce, 48))],
  ['IPv6 in IPv6, before the packet inside', frame(first6(60, options(41, 0, longHaulRoce), 8))],
  ['IPv6 in IPv6, within the header inside', frame(first6(41, longHaulRoce, 16))],
  ['IPv4 in IPv6, within the UDP header inside', frame(first6(4, longHaulRoce4, 24))],
  ['IPv4 in IPv6, before the packet inside', frame(first6(60, options(4, 0, longHaulRoce4), 8))],
  ['IPv6 in IPv4, behind the UDP header inside', frame(first4(41, longHaulRoce, 48))],
  ['IPv4 in IPv4, within the UDP header inside', frame(first4(4, longHaulRoce4, 24))],
  ['SRv6, within the SRH', frame(first6(43, srh(41, 1, [H2, H1], longHaulRoce), 16))],
  ['SRv6, behind the UDP header inside', frame(first6(43, srh(41, 1, [H2, H1], longHaulRoce), 40 + 48))],
  ['SRv6, Fast CNP inside, behind its options', frame(first6(43, srh(41, 1, [H2, H1], fast), 40 + 64))],
];
/** The other way round: the tunnel is whole and says that more is inside than the packet's own length. */
const SHORT_INSIDE: readonly (readonly [string, Uint8Array])[] = [
  [
    'IPv6 in IPv6, the BTH between the two ends',
    frame(ipv6(ends, 41, concat(first6(17, longHaulRoce.subarray(40), 8), data().subarray(48)))),
  ],
  [
    'IPv4 in IPv6, the BTH between the two ends',
    frame(ipv6(ends, 4, concat(first4(17, longHaulRoce4.subarray(20), 8), data().subarray(48)))),
  ],
  [
    'IPv4 in IPv4, the BTH between the two ends',
    frame(ipv4(ends4, 4, concat(first4(17, longHaulRoce4.subarray(20), 8), data().subarray(48)))),
  ],
];
const zeros = (length: number) => new Uint8Array(length);
/** What follows the packet in the frame. */
const BEHIND: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array])[] = [
  ['nothing', (f) => f],
  ['padding to 60 octets', (f) => concat(f, zeros(Math.max(0, 60 - f.length)))],
  ['18 octets of padding', (f) => concat(f, zeros(18))],
  ['a BTH of data', (f) => concat(f, Uint8Array.of(4, 0, 0xff, 0xff, 0, 0, 0, 0x77, 0, 0, 0, 1), zeros(40))],
  ['an echo request', (f) => concat(f, Uint8Array.of(128, 0, 0, 0, 0, 1, 0, 1), zeros(64))],
  ['a UDP header to another port', (f) => concat(f, udp(9, 9, zeros(64)))],
  ['an IPv6 header of a later fragment', (f) => concat(f, ipv6(ends, 44, fragment(17, 9, false, zeros(64))))],
  [
    'an IPv4 header of a later fragment',
    (f) => {
      const later = ipv4(ends4, 17, zeros(64));
      put16(later, 6, 9);
      return concat(f, later);
    },
  ],
];

type Case = readonly [string, Uint8Array];
const PASSING: readonly Case[] = [
  ['the first fragment of RoCEv2 data with its BTH', frame(first6(17, data().subarray(40), 64))],
  ['the same in an IPv6 tunnel', frame(ipv6(ends, 41, first6(17, data().subarray(40), 64)))],
  ['the first fragment of a tunnel with the BTH inside', frame(first4(41, data(), 128))],
  ['the first fragment of an echo request', frame(first6(58, Uint8Array.of(128, 0, 0, 0, 0, 1, 0, 1), 8))],
  ['the first fragment of other UDP', frame(first4(17, udp(9, 9), 8))],
  ['the first fragment of TCP', frame(first6(6, udp(9, 9), 8))],
  ['a later fragment', frame(ipv6(ends, 44, fragment(17, 8, false, longHaulRoce.subarray(40))))],
  [
    'a later fragment in the first fragment of a tunnel',
    frame(first6(41, ipv6(ends, 44, fragment(17, 8, false, longHaulRoce.subarray(40, 88))), 96)),
  ],
  ['UDP to the RoCEv2 port that is shorter than a BTH', frame(ipv6(ends, 17, udp(9, 4791, zeros(4))))],
  ['the same over IPv4', frame(ipv4(ends4, 17, udp(9, 4791, zeros(4))))],
  ['RoCEv2 data', frame(data())],
];
const WHOLE: readonly Case[] = [
  ['long-haul-roce', frame(longHaulRoce)],
  ['long-haul-roce', frame(first6(17, longHaulRoce.subarray(40), 24))],
  ['long-haul-roce', frame(first4(17, longHaulRoce4.subarray(20), 24))],
  ['fast-cnp', frame(fast)],
  ['long-haul-icmpv6', frame(longHaulIcmpv6)],
];

describe.each(['ingress', 'egress'] as const)('PNC-6-c: PNC-6-d: FCNP-5-d: FCNP-5-e: LHCNP-9-a: %s', (direction) => {
  describe.each(BEHIND)('%s behind the packet', (_behind, add) => {
    const judged = (cases: readonly Case[]): string[] =>
      cases.map(([name, bytes]) => `${name}: ${run(direction, add(bytes)) === DROP ? 'dropped' : 'passed'}`);
    const all = (cases: readonly Case[], verdict: string): string[] => cases.map(([name]) => `${name}: ${verdict}`);
    const expectEvasive = (cases: readonly Case[]): void => {
      expect(judged(cases)).toEqual(all(cases, 'dropped'));
      expect(count(`guard.${direction}.evasive`)).toBe(cases.length);
    };

    test.each(WAYS)('a first fragment that ends before what identifies a notification, %s: dropped', (_, around) =>
      expectEvasive(CUT.map(([name, packet]) => [name, around(packet)])),
    );
    test('the first fragment of a tunnel that ends before what identifies a notification inside: dropped', () =>
      expectEvasive(CUT_TUNNELS));
    test('a first fragment that is shorter than the tunnel around it: dropped', () => expectEvasive(SHORT_INSIDE));
    test('other first fragments, later ones, and short UDP: passed', () =>
      expect(judged(PASSING)).toEqual(all(PASSING, 'passed')));
    test('a whole notification, or its first fragment with the BTH: dropped for what it is', () => {
      for (const [reason, bytes] of WHOLE) {
        const before = count(`guard.${direction}.${reason}.dropped`);
        expect(run(direction, add(bytes))).toBe(DROP);
        expect(count(`guard.${direction}.${reason}.dropped`)).toBe(before + 1);
      }
    });
  });
});

describe('a notification that is behind the end of a packet which is not a fragment', () => {
  test.each([
    ['IPv6', longHaulRoce, 4, 8],
    ['IPv4', longHaulRoce4, 2, 28],
  ] as const)('LHCNP-9-a: %s: dropped, though no receiver should look there', (_, notification, at, length) => {
    const short = notification.slice();
    expect(u16(short, at)).toBeGreaterThan(length);
    put16(short, at, length);
    expect(run('ingress', frame(short))).toBe(DROP);
    expect(count('guard.ingress.long-haul-roce.dropped')).toBe(1);
  });
});
