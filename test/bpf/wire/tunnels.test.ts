// E2: the tunnels that a P router meets (PNC §4): MPLS label stacks, GRE, VXLAN, and what they carry, at the congested
// node and the border guard. What cannot be looked into is counted by its kind.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TunnelKind } from '../../../src/kernel/dataplane/egress-measurements.ts';
import { mappedAddress, prefixKey } from '../../../src/kernel/dataplane/layout.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { TENANT_MAPS, encodeTenant } from '../../../src/kernel/dataplane/tenants.ts';
import { address } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { concat, u16 } from '../../../src/packet/bytes.ts';
import { encodeIpv4 } from '../../../src/packet/ip/ipv4.ts';
import { ipv4, ipv6, srh, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { CongestedRouter, PNC_PORT, PROXY6 } from '../support/congested-router.ts';
import { type Direction, GuardUnderTest, notice6 } from '../support/guard-under-test.ts';
import { notices } from '../support/received-notices.ts';
import {
  BUILT_HERE,
  CHECKED,
  ProxyUnderTest,
  SOURCES,
  UNCHECKED,
  compileProxy,
  notice as noticeAbout,
  tupleOf,
} from '../support/proxy-under-test.ts';
import { DROP, H1, H1V4, H2, H2V4, NEXT, data, ecnOf, frame } from '../support/packets.ts';
import { is, until } from '../../support/until.ts';

const MACS = Uint8Array.of(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2);
const typed = (type: number, payload: Uint8Array): Uint8Array =>
  concat(MACS, Uint8Array.of(type >> 8, type & 255), payload);
/** A label stack entry: label, traffic class 0, bottom of stack, TTL 64. */
const label = (value: number, bottom: boolean): Uint8Array =>
  Uint8Array.of(value >> 12, (value >> 4) & 255, ((value & 15) << 4) | (bottom ? 1 : 0), 64);
const stack = (labels: readonly number[], payload: Uint8Array): Uint8Array =>
  concat(...labels.map((value, i) => label(value, i === labels.length - 1)), payload);
const mpls = (labels: readonly number[], payload: Uint8Array, type = 0x8847): Uint8Array =>
  typed(type, stack(labels, payload));
const P4 = [address('198.18.0.50'), address('198.18.0.51')] as const;
const P6 = [address('2001:db8:c::50'), address('2001:db8:d::51')] as const;
/** Whoever begins tunnels. */
const ROUTERS = ['198.18.0.0/24', '2001:db8:c::/64'];
const versionType = (packet: Uint8Array): number[] => (packet[0]! >> 4 === 6 ? [0x86, 0xdd] : [8, 0]);
/** Flags: 0x80 checksum, 0x20 key, 0x10 sequence number. */
const greHeader = (flags: number, type: readonly number[], key = 1): Uint8Array =>
  Uint8Array.from([
    flags,
    0,
    ...type,
    ...(flags & 0x80 ? [0, 0, 0, 0] : []),
    ...(flags & 0x20 ? [0, 0, 0, key] : []),
    ...(flags & 0x10 ? [0, 0, 0, 0] : []),
  ]);
const gre = (inner: Uint8Array, flags = 0, key = 1): Uint8Array =>
  concat(greHeader(flags, versionType(inner), key), inner);
const vxlan = (ethernet: Uint8Array, vni = 5, flags = 8): Uint8Array =>
  udp(0xd000, 4789, concat(Uint8Array.of(flags, 0, 0, 0, 0, 0, vni, 0), ethernet));
const V4 = { source: H1V4, destination: H2V4 };

const around = (inner: Uint8Array): (readonly [string, Uint8Array])[] => [
  ['one label', mpls([100], inner)],
  ['two labels', mpls([100, 200], inner)],
  [
    'sixteen labels, multicast',
    mpls(
      Array.from({ length: 16 }, (_, i) => 16 + i),
      inner,
      0x8848,
    ),
  ],
  ['explicit null', mpls([inner[0]! >> 4 === 6 ? 2 : 0], inner)],
  ['labels behind a VLAN tag', concat(MACS, Uint8Array.of(0x81, 0, 0, 5, 0x88, 0x47), stack([100, 200], inner))],
  ['labels in front of a tunnel', mpls([100], ipv6(P6, inner[0]! >> 4 === 6 ? 41 : 4, inner))],
  ['GRE over IPv4', frame(ipv4(P4, 47, gre(inner)))],
  ['GRE over IPv6', frame(ipv6(P6, 47, gre(inner)))],
  ['GRE with checksum, key and sequence number', frame(ipv4(P4, 47, gre(inner, 0xb0)))],
  ['GRE with MPLS inside', frame(ipv4(P4, 47, concat(greHeader(0, [0x88, 0x47]), stack([200], inner))))],
  ['GRE with Ethernet inside', frame(ipv4(P4, 47, concat(greHeader(0x20, [0x65, 0x58]), frame(inner))))],
  ['MPLS in IP', frame(ipv6(P6, 137, stack([200], inner)))],
  ['MPLS in UDP', frame(ipv6(P6, 17, udp(0xc000, 6635, stack([200], inner))))],
  ['VXLAN over IPv4', frame(ipv4(P4, 17, vxlan(frame(inner))))],
  ['VXLAN over IPv6, a VLAN tag inside', frame(ipv6(P6, 17, vxlan(frame(inner, { tags: [[0x8100, 7]] }))))],
  ['VXLAN behind labels', mpls([100], ipv4(P4, 17, vxlan(frame(inner))))],
  ['Ethernet in SRv6', frame(ipv6(P6, 43, srh(143, 0, [H1], frame(inner))))],
];
const header4 = (more: { payloadLength?: number; hopLimit?: number }): Uint8Array =>
  encodeIpv4({
    source: P4[0],
    destination: P4[1],
    protocol: 17,
    payloadLength: 80,
    trafficClass: 2,
    hopLimit: 64,
    ...more,
  });
const OPAQUE: readonly (readonly [TunnelKind, string, Uint8Array])[] = [
  ['mpls', 'a pseudowire with a control word', mpls([100, 200], concat(new Uint8Array(4), frame(data())))],
  [
    'mpls',
    'a pseudowire whose frame begins like IPv4',
    mpls([100, 200], concat(Uint8Array.of(0x45), frame(data()).subarray(1))),
  ],
  [
    'mpls',
    'a pseudowire whose frame begins like IPv6',
    mpls([100, 200], concat(Uint8Array.of(0x60, 1, 2, 3, 0xff, 0xff), frame(data()).subarray(6))),
  ],
  [
    'mpls',
    'IPv4 that is longer than what it is in',
    mpls([100], concat(header4({ payloadLength: 81 }), new Uint8Array(80))),
  ],
  [
    'mpls',
    'IPv4 with a wrong checksum',
    mpls(
      [100],
      concat(
        header4({}).map((byte, i) => (i === 10 ? byte ^ 1 : byte)),
        new Uint8Array(80),
      ),
    ),
  ],
  ['mpls', 'IPv4 that has no hop left', mpls([100], concat(header4({ hopLimit: 0 }), new Uint8Array(80)))],
  ['mpls', 'IPv6 that is longer than what it is in', mpls([100], ipv6(P6, 17, new Uint8Array(80)).subarray(0, 119))],
  [
    'mpls',
    'IPv6 that has no hop left',
    mpls(
      [100],
      ipv6(P6, 17, new Uint8Array(80)).map((byte, i) => (i === 7 ? 0 : byte)),
    ),
  ],
  [
    'mpls',
    'IPv6 in IP that is longer than the packet around it',
    frame(concat(ipv6(P6, 137, stack([100], ipv6(P6, 17, new Uint8Array(80)).subarray(0, 119))), new Uint8Array(8))),
  ],
  ['gre', 'GRE with a source route', frame(ipv4(P4, 47, concat(greHeader(0x40, [8, 0]), data(V4))))],
  ['gre', 'GRE version 1', frame(ipv4(P4, 47, concat(Uint8Array.of(0x20, 1, 0x88, 0x0b), new Uint8Array(60))))],
  ['gre', 'ERSPAN', frame(ipv4(P4, 47, concat(greHeader(0x10, [0x88, 0xbe]), new Uint8Array(8), frame(data()))))],
  ['vxlan', 'VXLAN without a network', frame(ipv4(P4, 17, vxlan(frame(data()), 5, 0)))],
  ['esp', 'ESP over IPv6', frame(ipv6(P6, 50, new Uint8Array(64)))],
  ['esp', 'ESP over IPv4', frame(ipv4(P4, 50, new Uint8Array(64)))],
  ['esp', 'ESP in UDP', frame(ipv4(P4, 17, udp(4500, 4500, new Uint8Array(64))))],
  ['geneve', 'Geneve', frame(ipv6(P6, 17, udp(0xc000, 6081, new Uint8Array(64))))],
  ['other', 'VXLAN at its old port', frame(ipv4(P4, 17, udp(0xc000, 8472, new Uint8Array(64))))],
  ['other', 'GTP-U', frame(ipv4(P4, 17, udp(0xc000, 2152, new Uint8Array(64))))],
  ['other', 'L2TPv2', frame(ipv6(P6, 17, udp(0xc000, 1701, new Uint8Array(64))))],
  ['other', 'VXLAN-GPE', frame(ipv4(P4, 17, udp(0xc000, 4790, new Uint8Array(64))))],
  ['other', 'L2TPv3', frame(ipv6(P6, 115, new Uint8Array(64)))],
];
const FAMILIES = [
  ['IPv6', data(), H1, H2],
  ['IPv4', data(V4), H1V4, H2V4],
] as const;

describe('the congested node', () => {
  let r: CongestedRouter;
  beforeAll(async () => {
    r = await CongestedRouter.create();
    await r.fill(150_000);
  });
  afterAll(() => r.close());
  beforeEach(() => {
    r.port();
    r.senders(['::/0', PROXY6], ['0.0.0.0/0', PROXY6]);
    r.policies(['::/0', ['proxy']], ['0.0.0.0/0', ['proxy']]);
    r.clear();
  });

  describe.each(FAMILIES)('PNC-4-c: %s', (_, inner, source, destination) => {
    test.each(around(inner))('in %s is its innermost flow', (_, bytes) => {
      expect(r.send(bytes)).toMatchObject({ retval: NEXT, data: bytes });
      expect(r.flows()).toMatchObject([{ source, destination, destinationQpn: 0x123456 }]);
      expect(r.count('egress.unparseable')).toBe(0);
    });

    test.each(around(inner))(
      'in %s is notified to its proxy, with the packet from its outermost IP header on',
      async (name, bytes) => {
        r.port({ kMax: 100_000 });
        r.send(bytes);
        await until('the notice', () => notices(r.collected).length, is(1), 30_000);
        const [{ notice }] = notices(r.collected) as [ReturnType<typeof notices>[number]];
        expect(notice.tuple).toMatchObject({ source, destination, destinationPort: 4791 });
        // The first IP header, behind whatever labels and tags.
        const at = bytes.findIndex(
          (byte, i) =>
            i >= 14 &&
            (byte === 0x45 || byte === 0x60) &&
            name !== '' &&
            Buffer.from(bytes.subarray(i, i + 40)).equals(Buffer.from(notice.invoking.subarray(0, 40))),
        );
        expect(at).toBeGreaterThanOrEqual(14);
        expect(Buffer.from(bytes.subarray(at, at + notice.invoking.length)).equals(Buffer.from(notice.invoking))).toBe(
          true,
        );
      },
    );
  });

  test('flows of two VPNs that differ in labels, GRE key or VXLAN network alone are two flows', () => {
    for (const other of [100, 101]) r.send(mpls([50, other], data()));
    for (const key of [1, 2]) r.send(frame(ipv4(P4, 47, gre(data(), 0x20, key))));
    for (const vni of [5, 6]) r.send(frame(ipv4(P4, 17, vxlan(frame(data()), vni))));
    expect(r.flows()).toHaveLength(6);
  });

  test('no sender is notified directly: whose the address inside is, is not known', () => {
    r.port({ kMax: 100_000 });
    r.policies(['::/0', ['fast-cnp', 'long-haul-roce']]);
    for (const [, bytes] of around(data())) r.send(bytes);
    expect(r.stats().notifications).toBe(0n);
    expect(r.count('egress.format.tenant')).toBe(2 * around(data()).length);
  });

  test('LHCNP-5.4-a: CE goes into the outermost IP header; behind labels nothing is marked, and that is counted', () => {
    r.port({ kMin: 1000 });
    const inGre = r.send(frame(ipv4(P4, 47, gre(data())))).data;
    expect(ecnOf(inGre)).toBe(3);
    expect(inGre.subarray(14 + 20)).toEqual(gre(data()));
    const inVxlan = frame(ipv6(P6, 17, vxlan(frame(data()))));
    expect(ecnOf(r.send(inVxlan).data)).toBe(3);
    const labeled = mpls([100, 200], data());
    expect(r.send(labeled).data).toEqual(labeled);
    expect(r.count('egress.ecn.mpls')).toBe(1);
    expect(r.count('egress.ecn.failed')).toBe(0);
    r.send(mpls([100], data({ ecn: 0 })));
    expect(r.count('egress.ecn.not-ect')).toBe(1);
  });

  test.each(OPAQUE)('%s: %s is passed, and counted by its kind for the port', (kind, _, bytes) => {
    expect(r.send(bytes)).toMatchObject({ retval: NEXT, data: bytes });
    expect(r.count(`egress.opaque.${kind}`)).toBe(1);
    expect(r.ports.opaque(r.portIfindex)![kind]).toBeGreaterThan(0n);
    expect(r.flows()).toEqual([]);
  });

  test('a stack without an end, and one cut anywhere, is passed', () => {
    const endless = mpls(
      Array.from({ length: 17 }, (_, i) => 16 + i),
      data(),
    );
    expect(r.send(endless).retval).toBe(NEXT);
    for (const [, whole] of around(data({ size: 8 }))) {
      for (let length = 14 + 40; length <= whole.length; length++)
        expect(r.send(whole.subarray(0, length))).toMatchObject({ retval: NEXT, data: whole.subarray(0, length) });
    }
  });

  test('whatever the bytes are, the packet is passed as it came', () => {
    let state = 4711;
    const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8;
    const bases = around(data({ size: 64 })).map(([, bytes]) => bytes);
    for (let i = 0; i < 4000; i++) {
      const mutated = bases[i % bases.length]!.slice();
      for (let n = random() % 6; n >= 0; n--) mutated[12 + (random() % (mutated.length - 12))] = random();
      expect(r.send(mutated)).toMatchObject({ retval: NEXT, data: mutated });
    }
  });
});

describe('the proxy', () => {
  const compiled = compileProxy();
  let p: ProxyUnderTest;
  afterAll(() => compiled.remove());
  beforeEach(() => {
    p = ProxyUnderTest.reused(compiled.path, { learning: CHECKED }).configure(
      {},
      ['::/0', '0.0.0.0/0'],
      [...SOURCES, ...ROUTERS],
    );
    return () => p.close();
  });

  /** From the outermost IP header on, as a notice has it. */
  const fromIp = (bytes: Uint8Array): Uint8Array => {
    const begins = (at: number): boolean =>
      bytes[at] === 0x45
        ? u16(bytes, at + 2) === bytes.length - at
        : bytes[at] === 0x60 && u16(bytes, at + 4) === bytes.length - at - 40;
    return bytes.subarray(bytes.findIndex((_, at) => at >= 14 && at + 40 <= bytes.length && begins(at)));
  };
  describe.each(FAMILIES)('%s', (_, inner, source, destination) => {
    const tuple = tupleOf(inner);
    const answered = (invoking: Uint8Array): unknown => {
      const { packet, counted } = p.send(noticeAbout(invoking, { tuple }), { ctx: BUILT_HERE });
      const parsed = parseRocePacket(packet);
      return counted['proxy.cnp.sent'] === 1 && parsed.ok
        ? [parsed.value.destination, parsed.value.bth.destQpn]
        : Object.keys(counted).filter((name) => name !== 'proxy.notice.received');
    };
    const cases = around(inner).map(([name, bytes]) => [name, fromIp(bytes)] as const);

    test.each(cases)(
      'PNC-4-d PNC-4-e: a notice with a packet in %s, whole or cut behind its BTH, is one about the innermost flow',
      (_, invoking) => {
        p.teach({ sender: source, receiver: destination, receiverQpn: 0x123456, senderQpn: 0x64 });
        const bth = invoking.length - inner.length + (inner[0]! >> 4 === 6 ? 40 : 20) + 8 + 12;
        for (const cut of [invoking.length, 400, bth])
          expect(answered(invoking.subarray(0, cut))).toEqual([source, 0x64]);
        expect(answered(invoking.subarray(0, bth - 1))).toEqual(['proxy.notice.bth-missing']);
      },
    );

    // Only what came in a tunnel has an outer source to be judged by.
    const wrapped = cases.filter(([, invoking]) => !Buffer.from(invoking).equals(Buffer.from(inner)));
    const teach = (): unknown =>
      p.teach({ sender: source, receiver: destination, receiverQpn: 0x123456, senderQpn: 0x64 });
    const forget = (...sources: string[]): void =>
      sources.forEach((text) => p.object.map(PROXY_MAPS.sources).delete(prefixKey(prefix(text))));

    test.each(wrapped)('PNC-6-b: with a packet in %s from a host, it slows down no sender', (_, invoking) => {
      teach();
      forget(...ROUTERS);
      for (const cut of [invoking.length, 400])
        expect(answered(invoking.subarray(0, cut))).toEqual(['proxy.notice.tunnel-unknown']);
    });

    test('PNC-6-b: a tunnel in a tunnel belongs to none, though a router began the outer one', () => {
      teach();
      const next = inner[0]! >> 4 === 6 ? 41 : 4;
      const hosts = [address('2001:db8:66::66'), address('2001:db8:66::67')] as const;
      for (const twice of [
        ipv6(P6, 41, ipv6(hosts, next, inner)),
        ipv4(P4, 41, ipv6(hosts, next, inner)),
        ipv6(P6, 47, gre(ipv6(hosts, next, inner))),
        ipv6(P6, 17, vxlan(frame(ipv6(P6, next, inner)))),
        ipv6(P6, 137, stack([200], ipv6(P6, next, inner))),
      ])
        expect(answered(twice)).toEqual(['proxy.notice.tunnel-unknown']);
    });

    test('PNC-4-d: from an END.CON SID of the domain it counts, whatever accept-from says', () => {
      teach();
      forget(...ROUTERS);
      p.object.map(TENANT_MAPS.sids).update(mappedAddress(P6[0]), encodeTenant(0));
      expect(answered(ipv6(P6, inner[0]! >> 4 === 6 ? 41 : 4, inner))).toEqual([source, 0x64]);
      expect(answered(ipv4(P4, 47, gre(inner)))).toEqual(['proxy.notice.tunnel-unknown']);
    });

    test('with router.reverse-path-check off whatever tunnel it was in counts', () => {
      teach();
      forget(...ROUTERS);
      p.configure({ learning: UNCHECKED }, ['::/0', '0.0.0.0/0'], []);
      for (const [, invoking] of wrapped) expect(answered(invoking)).toEqual([source, 0x64]);
    });

    test('behind a label stack that is cut, lengths have to hold all the same: by the packets around', () => {
      p.teach({ sender: source, receiver: destination, receiverQpn: 0x123456, senderQpn: 0x64 });
      const invoking = ipv6(P6, 137, stack([200], inner));
      invoking[4] = (invoking.length - 40 - 1) >> 8;
      invoking[5] = (invoking.length - 40 - 1) & 255;
      expect(answered(invoking.subarray(0, 400))).toEqual(['proxy.notice.tuple-not-found']);
    });
  });
});

describe('the border guard', () => {
  let guard: GuardUnderTest;
  beforeAll(() => {
    guard = new GuardUnderTest();
    guard.configure({ udpPort: PNC_PORT, longHaulIcmpv6Type: 200 });
  });
  afterAll(() => guard.close());
  beforeEach(() => guard.clearCounters());
  const verdict = (direction: Direction, bytes: Uint8Array): number => guard.verdict(direction, bytes);
  const verdicts = (bytes: Uint8Array): Record<Direction, number> => ({
    ingress: verdict('ingress', bytes),
    egress: verdict('egress', bytes),
  });
  const count = (name: string): number => guard.count(name);

  test.each(around(notice6))('PNC-6-c, PNC-6-d: a notice hidden in %s is dropped in both directions', (_, bytes) => {
    expect(verdicts(bytes)).toEqual({ ingress: DROP, egress: DROP });
    expect({ ingress: count('guard.ingress.dropped'), egress: count('guard.egress.dropped') }).toEqual({
      ingress: 1,
      egress: 1,
    });
  });

  test.each(around(data()))('data in %s pass', (_, bytes) => {
    expect(verdicts(bytes)).toEqual({ ingress: NEXT, egress: NEXT });
  });

  test.each(OPAQUE)('%s: %s passes, and is counted by its kind', (kind, _, bytes) => {
    expect(verdicts(bytes)).toEqual({ ingress: NEXT, egress: NEXT });
    expect(count(`guard.opaque.${kind}`)).toBe(2);
  });

  test('a stack of more labels than are in use hides what is behind it: dropped', () => {
    expect(
      verdict(
        'ingress',
        mpls(
          Array.from({ length: 17 }, (_, i) => 16 + i),
          notice6,
        ),
      ),
    ).toBe(DROP);
    expect(count('guard.ingress.evasive')).toBe(1);
  });
});
