// The border guard and the notifications that go to senders themselves, as the codecs of src/packet build them; the
// allow-lists; and END.CON SIDs seen from outside. Congestion Notifications to Proxy, and what hides them, are in
// guard.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { GUARDED_VALUE, GUARD_MAPS, encodeAllowed, guardedKey } from '../../../src/kernel/dataplane/guard.ts';
import { prefixKey } from '../../../src/kernel/dataplane/layout.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { fragment, ipv4, ipv6, options, srh, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { PNC_PORT } from '../support/congested-router.ts';
import {
  ALL_KINDS,
  type Direction,
  GuardUnderTest,
  NODE,
  NODE4,
  arn,
  arn4,
  arnDatagram,
  fastCnp,
  longHaulIcmpv6,
  longHaulRoce,
  longHaulRoce4,
  protocolOf,
} from '../support/guard-under-test.ts';
import { DROP, H1, H1V4, H2, H2V4, NEXT, data, frame } from '../support/packets.ts';

let guard: GuardUnderTest;
beforeAll(() => void (guard = new GuardUnderTest()));
afterAll(() => guard.close());
beforeEach(() => {
  guard.configure(ALL_KINDS);
  for (const name of [GUARD_MAPS.allowInbound, GUARD_MAPS.allowOutbound, GUARD_MAPS.guarded])
    for (const key of [...guard.object.map(name).keys()]) guard.object.map(name).delete(key);
  guard.clearCounters();
});

const count = (name: string): number => guard.count(name);
const run = (direction: Direction, bytes: Uint8Array) => guard.run(direction, bytes);
const verdict = (direction: Direction, packet: Uint8Array): number => guard.verdict(direction, frame(packet));

const CON = address('2001:db8:c0a::1');
const ends = [NODE, CON] as const;
const ends4 = [NODE4, H1V4] as const;

const fields = { source: NODE, destination: H1, destQpn: 0x77, sourcePort: 0xc001 };
const trace = {
  kind: 0,
  namespace: 1,
  nodeLength: 4,
  flags: 0,
  remaining: 0,
  traceType: 0,
  bytes: Uint8Array.from({ length: 16 }, (_, i) => i),
};
const fast = fastCnp();
const fastIoam = fastCnp(trace);

const FORMATS: readonly (readonly [string, string, Uint8Array])[] = [
  ['Fast CNP, option 1', 'fast-cnp', fast],
  ['Fast CNP, option 2', 'fast-cnp', fastIoam],
  ['Long-haul CNP in ICMPv6', 'long-haul-icmpv6', longHaulIcmpv6],
  ['Long-haul CNP in RoCEv2', 'long-haul-roce', longHaulRoce],
  ['Long-haul CNP in RoCEv2 over IPv4', 'long-haul-roce', longHaulRoce4],
  ['Adaptive Routing Notification', 'arn', arn],
  ['Adaptive Routing Notification over IPv4', 'arn', arn4],
];
/** Header chains around a notification. */
const WAYS: readonly (readonly [string, (packet: Uint8Array) => Uint8Array])[] = [
  ['plain', (p) => frame(p)],
  ['behind a VLAN tag', (p) => frame(p, { tags: [[0x8100, 100]] })],
  ['to END.CON', (p) => frame(ipv6(ends, protocolOf(p), p))],
  ['in SRv6', (p) => frame(ipv6(ends, 43, srh(protocolOf(p), 1, [H2, CON], p)))],
  ['in an IPv4 tunnel', (p) => frame(ipv4(ends4, protocolOf(p), p))],
  ['in two tunnels', (p) => frame(ipv6(ends, 41, ipv6(ends, protocolOf(p), p)))],
  [
    'behind hop-by-hop options',
    (p) => frame(p[0]! >> 4 === 6 ? ipv6([NODE, H1], 0, options(p[6]!, 0, p.subarray(40))) : p),
  ],
  [
    'in a first fragment',
    (p) => frame(p[0]! >> 4 === 6 ? ipv6([NODE, H1], 44, fragment(p[6]!, 0, true, p.subarray(40))) : p),
  ],
];
const REQUIREMENT = {
  ingress: 'FCNP-5-d: LHCNP-9-a: from outside',
  egress: 'FCNP-5-e: A13: leaving the domain',
} as const;

describe.each(['ingress', 'egress'] as const)('%s', (direction) => {
  describe.each(FORMATS)('%s', (_format, reason, packet) => {
    test.each(WAYS)(`${REQUIREMENT[direction]}: %s: dropped and counted`, (_, around) => {
      expect(run(direction, around(packet)).retval).toBe(DROP);
      expect(count(`guard.${direction}.${reason}.dropped`)).toBe(1);
    });
  });

  test.each([
    ['a standard CNP', buildCnp(fields)],
    ['a standard CNP over IPv4', buildCnp({ ...fields, source: H2V4, destination: H1V4 })],
    ['RoCEv2 data behind a Fast CNP option', ipv6([NODE, H1], 60, concat(fast.subarray(40, 64), data().subarray(40)))],
    ['another option in front of a CNP', ipv6([NODE, H1], 60, options(17, 0, buildCnp(fields).subarray(40)))],
    ['an ICMPv6 echo request', ipv6([NODE, H1], 58, Uint8Array.of(128, 0, 0, 0, 0, 1, 0, 1))],
    [
      'ICMPv6 of the next type',
      (() => {
        const p = longHaulIcmpv6.slice();
        p[40] = 201;
        return p;
      })(),
    ],
    [
      'RoCEv2 data whose BTH has that bit',
      (() => {
        const p = data();
        p[52] = p[52]! | 0x20;
        return p;
      })(),
    ],
    ['ICMPv4 of that type', ipv4(ends4, 58, longHaulIcmpv6.subarray(40))],
  ] as [string, Uint8Array][])('what is no notification, %s, passes unchanged', (_, packet) => {
    for (const bytes of [frame(packet), frame(ipv6([NODE, H2], protocolOf(packet), packet))])
      expect(run(direction, bytes)).toMatchObject({ retval: NEXT, data: bytes });
  });
});

describe('hiding places', () => {
  test('FCNP-5-d: the option is found behind others, in the second of two option headers, and after a routing header', () => {
    const udpPart = fast.subarray(64);
    const behind = concat(
      Uint8Array.of(17, 4, 1, 4, 0, 0, 0, 0),
      Uint8Array.of(0, 0, 0x1e, 1, 0),
      Uint8Array.of(0x9e, 16),
      new Uint8Array(16),
      Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0),
    );
    for (const chain of [behind, options(60, 0, fast.subarray(40, 64)), srh(60, 0, [H1], fast.subarray(40, 64))]) {
      const first = chain === behind ? 60 : chain[2] === 4 && chain[1] === 2 ? 43 : 60;
      expect(verdict('ingress', ipv6([NODE, H1], first, concat(chain, udpPart)))).toBe(DROP);
    }
    expect(count('guard.ingress.fast-cnp.dropped')).toBe(3);
  });

  test('FCNP-5-d: an option of an outer packet says nothing about the packet inside', () => {
    expect(
      verdict('ingress', ipv6([NODE, H1], 60, concat(Uint8Array.of(41), fast.subarray(41, 64), buildCnp(fields)))),
    ).toBe(NEXT);
  });

  test('FCNP-5-e: more options than any host takes, or a first fragment that ends before the BTH: dropped under a name of its own', () => {
    const flood = concat(Uint8Array.of(17, 5), new Uint8Array(6 + 40), fast.subarray(64));
    expect(verdict('egress', ipv6([NODE, H1], 60, flood))).toBe(DROP);
    expect(verdict('egress', ipv6([NODE, H1], 44, fragment(60, 0, true, fast.subarray(40, 64 + 8 + 8))))).toBe(DROP);
    expect(count('guard.egress.evasive')).toBe(2);
  });

  test('FCNP-5-d: whatever its bytes are, a packet is dropped or passed as it came', () => {
    let state = 99;
    const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8;
    const bases = [
      frame(fastIoam),
      frame(ipv6(ends, 43, srh(41, 1, [H2, CON], longHaulRoce))),
      frame(ipv4(ends4, 41, longHaulIcmpv6)),
    ];
    for (let i = 0; i < 5000; i++) {
      const mutated = bases[i % 3]!.slice();
      for (let n = random() % 6; n >= 0; n--) mutated[12 + (random() % (mutated.length - 12))] = random();
      const { retval, data: after } = run(i % 2 === 0 ? 'ingress' : 'egress', mutated);
      expect([NEXT, DROP]).toContain(retval);
      expect(after).toEqual(mutated);
    }
    for (const base of bases)
      for (let length = 14 + 40; length <= base.length; length++)
        expect([NEXT, DROP]).toContain(run('ingress', base.subarray(0, length)).retval);
  });
});

describe('ARNs at the border', () => {
  test.each(['ingress', 'egress'] as const)(
    'at %s they are dropped between neighbors as well, whatever their hop limit and content',
    (direction) => {
      for (const hopLimit of [255, 254, 1, 0]) {
        const onLink = ipv6([address('fe80::bad'), address('fe80::1')], 17, arnDatagram);
        onLink[7] = hopLimit;
        expect(verdict(direction, onLink)).toBe(DROP);
      }
      expect(verdict(direction, ipv6([NODE, H1], 17, udp(1, 1022, Uint8Array.of(9, 9))))).toBe(DROP);
      expect(count(`guard.${direction}.arn.dropped`)).toBe(5);
    },
  );

  test('at another port they are dropped there, and datagrams from that port or to port 0 are none', () => {
    guard.configure({ ...ALL_KINDS, arnUdpPort: 47_000 });
    expect(verdict('ingress', arn)).toBe(NEXT);
    expect(verdict('ingress', ipv6([NODE, H1], 17, udp(1, 47_000)))).toBe(DROP);
    expect(verdict('ingress', ipv6([NODE, H1], 17, udp(47_000, 1)))).toBe(NEXT);
    guard.configure({ udpPort: PNC_PORT });
    expect(verdict('ingress', ipv6([NODE, H1], 17, udp(1, 0)))).toBe(NEXT);
  });
});

describe('code points', () => {
  test('FCNP-5-f: a kind that is not configured passes; with other code points others are dropped', () => {
    guard.configure({ udpPort: PNC_PORT });
    for (const [, , packet] of FORMATS) expect(verdict('ingress', packet)).toBe(NEXT);
    guard.configure({ ...ALL_KINDS, fastCnpOption: 0x9d, longHaulIcmpv6Type: 201 });
    expect({
      fast: verdict('ingress', fast),
      fastIoam: verdict('ingress', fastIoam),
      longHaulIcmpv6: verdict('ingress', longHaulIcmpv6),
    }).toEqual({ fast: NEXT, fastIoam: DROP, longHaulIcmpv6: NEXT });
  });
});

describe('allow-lists', () => {
  const allow = (list: 'allowInbound' | 'allowOutbound', text: string): void => {
    const p = prefix(text);
    guard.object.map(GUARD_MAPS[list]).update(prefixKey(p), encodeAllowed(p));
  };

  test.each(FORMATS)(
    'FCNP-5-d: LHCNP-9-a: %s from outside passes by its source, plain and in a tunnel, and not by its destination',
    (_, _reason, packet) => {
      allow('allowInbound', '2001:db8:1::/48');
      allow('allowInbound', '10.0.0.0/8');
      expect(verdict('ingress', packet)).toBe(DROP);
      allow('allowInbound', '2001:db8:bad::/48');
      allow('allowInbound', '203.0.113.0/24');
      const tunneled = ipv6([H2, H1], protocolOf(packet), packet);
      expect({ plain: verdict('ingress', packet), tunneled: verdict('ingress', tunneled) }).toEqual({
        plain: NEXT,
        tunneled: NEXT,
      });
      expect(count('guard.ingress.allowed')).toBe(2);
      expect(verdict('egress', packet)).toBe(DROP);
    },
  );

  test.each(FORMATS)('FCNP-5-e: %s that leaves passes by its destination', (_, _reason, packet) => {
    allow('allowOutbound', '2001:db8:bad::/48');
    allow('allowOutbound', '203.0.113.0/24');
    expect(verdict('egress', packet)).toBe(DROP);
    allow('allowOutbound', '2001:db8:1::/48');
    allow('allowOutbound', '10.1.0.0/16');
    expect(verdict('egress', packet)).toBe(NEXT);
    expect(count('guard.egress.allowed')).toBe(1);
    expect(verdict('ingress', packet)).toBe(DROP);
  });

  test('an IPv6 default route on the list does not let IPv4 in', () => {
    allow('allowInbound', '::/0');
    expect({ ipv6: verdict('ingress', longHaulRoce), ipv4: verdict('ingress', longHaulRoce4) }).toEqual({
      ipv6: NEXT,
      ipv4: DROP,
    });
  });
});

describe('END.CON from outside', () => {
  const inside = data({ source: NODE, destination: H1 });
  beforeEach(() => guard.object.map(GUARD_MAPS.guarded).update(guardedKey(CON), GUARDED_VALUE));

  test.each([
    ['a tunnel', ipv6(ends, 41, inside)],
    ['a tunnel with an SRH', ipv6(ends, 43, srh(41, 0, [CON], inside))],
    ['a packet without a tunnel', data({ source: NODE, destination: CON })],
    ['a packet whose segments lead there', ipv6([NODE, H2], 43, srh(41, 1, [CON, H2], inside))],
    ['a tunnel within a tunnel', ipv6([NODE, H2], 41, ipv6(ends, 41, inside))],
    ['ICMPv6', ipv6(ends, 58, Uint8Array.of(2, 0, 0, 0, 0, 0, 5, 0))],
  ] as [string, Uint8Array][])(
    'FCN-4.2.2-e: %s is dropped; so it is not when it leaves, or goes to another SID',
    (_, packet) => {
      expect(verdict('ingress', packet)).toBe(DROP);
      expect(count('guard.ingress.end-con.dropped')).toBe(1);
      expect(verdict('egress', packet)).toBe(NEXT);
      guard.object.map(GUARD_MAPS.guarded).delete(guardedKey(CON));
      expect(verdict('ingress', packet)).toBe(NEXT);
    },
  );

  test('FCN-4.2.2-e: a neighboring domain on the allow-list may use it, and its notifications arrive', () => {
    const from = (source: IpAddress): Uint8Array => ipv6([source, CON], 41, fast);
    const p = prefix('2001:db8:bad::/48');
    guard.object.map(GUARD_MAPS.allowInbound).update(prefixKey(p), encodeAllowed(p));
    expect({ node: verdict('ingress', from(NODE)), host: verdict('ingress', from(H2)) }).toEqual({
      node: NEXT,
      host: DROP,
    });
  });

  test('FCN-4.2.2-e: inside a tunnel over IPv4 it is the IPv4 source that the allow-list has to name', () => {
    const tunnel = ipv4(ends4, 41, ipv6(ends, 41, inside));
    expect(verdict('ingress', tunnel)).toBe(DROP);
    const p = prefix('203.0.113.0/24');
    guard.object.map(GUARD_MAPS.allowInbound).update(prefixKey(p), encodeAllowed(p));
    expect(verdict('ingress', tunnel)).toBe(NEXT);
  });
});
