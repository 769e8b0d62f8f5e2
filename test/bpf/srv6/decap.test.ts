// The tunnel exit: frames arrive at the core port for a local SID, and what reaches the customer is compared with RFC
// 6040 figure 4 (FCN figure 6), whoever decapsulated: the program by itself, the program with the kernel's routing, or
// the kernel's seg6local behind it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../../../src/model/address.ts';
import type { SidEntry } from '../../../src/kernel/dataplane/srv6.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { ipv6, options, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { ip } from '../../support/netns.ts';
import { type Data, DROP, NEXT, context, data } from '../support/packets.ts';
import { NF_HOOK, acceptAt, dropAt } from '../support/firewall.ts';
import { CON_A, LOOPBACK, ProviderEdge, REMOTE, SID_DT6, TABLE, trafficClass } from '../support/srv6-scene.ts';
import {
  CE,
  CUSTOMER,
  E0,
  E1,
  FOREIGN,
  N,
  OTHER_CUSTOMER,
  bthQpn,
  deliveredBy,
  exchangeWith,
  expected,
  tunnel,
  withClass,
  withoutChecksum,
} from '../support/srv6-tunnels.ts';
import { atLeast, is, until } from '../../support/until.ts';

let pe: ProviderEdge;
beforeAll(async () => {
  pe = await ProviderEdge.atExit();
});
afterAll(() => pe.close());
beforeEach(() => {
  pe.clear();
  pe.configure({});
});

const delivered = (to: 'h1' | 'h2'): Uint8Array[] => deliveredBy(pe, to);
const exchange = (packets: readonly Uint8Array[], to?: 'h1' | 'h2', family?: 4 | 6): Promise<Uint8Array[]> =>
  exchangeWith(pe, packets, to, family);

/** RFC 6040 figure 4: inner, outer, what leaves; null: dropped. */
const VECTORS: readonly (readonly [string, number, number, number | null])[] = [
  ['Not-ECT in Not-ECT', N, N, N],
  ['Not-ECT in ECT(0)', N, E0, N],
  ['Not-ECT in ECT(1)', N, E1, N],
  ['Not-ECT in CE: dropped', N, CE, null],
  ['ECT(0) in Not-ECT', E0, N, E0],
  ['ECT(0) in ECT(0)', E0, E0, E0],
  ['ECT(0) in ECT(1)', E0, E1, E1],
  ['ECT(0) in CE', E0, CE, CE],
  ['ECT(1) in Not-ECT', E1, N, E1],
  ['ECT(1) in ECT(0)', E1, E0, E1],
  ['ECT(1) in ECT(1)', E1, E1, E1],
  ['ECT(1) in CE', E1, CE, CE],
  ['CE in Not-ECT', CE, N, CE],
  ['CE in ECT(0)', CE, E0, CE],
  ['CE in ECT(1)', CE, E1, CE],
  ['CE in CE', CE, CE, CE],
];

interface Way {
  readonly counter: string;
  readonly sid: IpAddress;
  readonly entry: Partial<SidEntry>;
  readonly families: readonly (4 | 6)[];
  readonly customer: typeof CUSTOMER | typeof OTHER_CUSTOMER;
  readonly to: 'h1' | 'h2';
  readonly shared?: boolean;
}

const WAYS: Readonly<Record<string, Way>> = {
  'END.CON, main table, sent on by the program': {
    counter: 'srv6.decap.forwarded',
    sid: CON_A,
    entry: {},
    families: [6, 4],
    customer: CUSTOMER,
    to: 'h1',
  },
  "END.CON, main table, left to the kernel's routing": {
    counter: 'srv6.decap.handed-up',
    sid: CON_A,
    entry: {},
    families: [6, 4],
    customer: CUSTOMER,
    to: 'h1',
    shared: true,
  },
  'END.CON, another table': {
    counter: 'srv6.decap.forwarded',
    sid: CON_A,
    entry: { table: TABLE },
    families: [6, 4],
    customer: OTHER_CUSTOMER,
    to: 'h2',
  },
  "another program's End.DT6, sent on by the program": {
    counter: 'srv6.decap.forwarded',
    sid: SID_DT6,
    entry: FOREIGN,
    families: [6],
    customer: CUSTOMER,
    to: 'h1',
  },
  "another program's End.DT6, left to the kernel's routing": {
    counter: 'srv6.decap.handed-up',
    sid: SID_DT6,
    entry: FOREIGN,
    families: [6],
    customer: CUSTOMER,
    to: 'h1',
    shared: true,
  },
  "another program's End.DT6, decapsulated by the kernel": {
    counter: 'srv6.decap.left',
    sid: SID_DT6,
    entry: { ...FOREIGN, decapsulate: false },
    families: [6],
    customer: CUSTOMER,
    to: 'h1',
  },
};
const CASES = Object.entries(WAYS).flatMap(([name, way]) =>
  way.families.flatMap((family) => [true, false].map((hasSrh) => ({ name, way, family, hasSrh }))),
);

describe.each(CASES)('$name, IPv$family inside, SRH: $hasSrh', ({ way, family, hasSrh }) => {
  const inside = (d: Data): Uint8Array => data({ ...way.customer[family], ...d });
  beforeEach(() => {
    pe.sid(way.sid, way.entry);
    pe.configure({ sharedIngress: way.shared ?? false });
  });

  test.each(VECTORS)('A16: FCN-4.2.1-d: FCN-4.2.1-f: %s', async (_, inner, outer, leaves) => {
    const sent = inside({ ecn: inner, qpn: 77 });
    const found = await exchange([tunnel(way.sid, outer, sent, hasSrh)], way.to, family);
    expect(found.map(withoutChecksum)).toEqual(leaves === null ? [] : [expected(sent, leaves)]);
    expect(pe.count('srv6.decap.ecn.dropped')).toBe(leaves === null ? 1 : 0);
    expect(pe.count(way.counter)).toBe(leaves === null ? 0 : 1);
  });

  test('RFC 2983: the pipe keeps the DSCP inside; the uniform model brings the outer one, but not out of END.CON', async () => {
    const sent = inside({ ecn: E0, qpn: 78 });
    const outer = (10 << 2) | E0;
    const [pipe] = await exchange([tunnel(way.sid, outer, sent, hasSrh)], way.to, family);
    expect(trafficClass(pipe!)).toBe(trafficClass(sent));
    pe.configure({ dscp: { kind: 'uniform' }, sharedIngress: way.shared ?? false });
    const [uniform] = await exchange([tunnel(way.sid, outer, sent, hasSrh)], way.to, family);
    expect(trafficClass(uniform!)).toBe(way.entry.endCon === false ? outer : trafficClass(sent));
  });
});

test.each([false, true])(
  'A16: FCN-4.2.1-d: with a priority tag (VLAN 0) as without; left to the kernel: %s',
  async (sharedIngress) => {
    pe.sid(CON_A);
    pe.configure({ sharedIngress });
    const sent = data({ ...CUSTOMER[6], ecn: E0, qpn: 77 });
    pe.arrive('p', tunnel(CON_A, CE, sent, true), [[0x8100, 0x6000]]);
    expect((await exchange([])).map(withoutChecksum)).toEqual([expected(sent, CE)]);
    expect(pe.count(sharedIngress ? 'srv6.decap.handed-up' : 'srv6.decap.forwarded')).toBe(1);
  },
);

describe('what is not decapsulated here', () => {
  beforeEach(() => {
    pe.sid(CON_A);
    pe.sid(SID_DT6, FOREIGN);
  });
  const inside = (d: Data = {}): Uint8Array => data({ ...CUSTOMER[6], ecn: E0, ...d });
  const run = (bytes: Uint8Array): { retval: number; data: Uint8Array } =>
    pe.srv6.program('srv6_decap').testRun({ data: bytes, ctx: context({ ifindex: pe.ifindex.core }), netns: pe.netns });

  test('the kernel without the program passes 12 of the 16 vectors', async () => {
    pe.detach();
    let right = 0;
    for (const [, inner, outer, leaves] of VECTORS) {
      const sent = inside({ ecn: inner, qpn: 79 });
      const [found] = await exchange([tunnel(SID_DT6, outer, sent, true)]);
      if (found ? leaves !== null && (trafficClass(found) & 3) === leaves : leaves === null) right++;
    }
    pe.attach('decap');
    expect(right).toBe(12);
  });

  test('FCN-4.2.1-d: a tunnel with options or SRH TLVs on the way keeps its ECN right, and the kernel does the rest', async () => {
    const inner = inside({ qpn: 80 });
    const padded = concat(
      Uint8Array.of(41, 3, 4, 0, 0, 0, 0, 0),
      srh(41, 0, [SID_DT6], new Uint8Array(0)).subarray(8),
      Uint8Array.of(4, 6, 0, 0, 0, 0, 0, 0),
      inner,
    );
    const found = await exchange([
      withClass(ipv6([REMOTE, SID_DT6], 43, padded), CE),
      withClass(ipv6([REMOTE, SID_DT6], 60, options(41, 1, inner)), CE),
      withClass(ipv6([REMOTE, SID_DT6], 0, options(43, 0, srh(41, 0, [SID_DT6], inner))), CE),
    ]);
    expect(found).toEqual([expected(inner, CE), expected(inner, CE), expected(inner, CE)]);
    expect(pe.count('srv6.decap.left')).toBe(3);
  });

  test("an SRH without HMAC, where net.ipv6.conf.*.seg6_require_hmac asks for one, is the kernel's to drop", async () => {
    pe.sysctl('ipv6/conf/t-srv6-core/seg6_require_hmac', '1');
    expect(await exchange([tunnel(SID_DT6, E0, inside({ qpn: 81 }), true)])).toEqual([]);
    pe.sysctl('ipv6/conf/t-srv6-core/seg6_require_hmac', '0');
    expect((await exchange([tunnel(SID_DT6, E0, inside({ qpn: 81 }), true)])).length).toBe(1);
    expect({ left: pe.count('srv6.decap.left'), forwarded: pe.count('srv6.decap.forwarded') }).toEqual({
      left: 1,
      forwarded: 1,
    });
  });

  test.each(Object.entries(NF_HOOK))(
    'a firewall of the router sees every packet that comes out of a tunnel: %s',
    async (name, hook) => {
      const send = (qpn: number): void => {
        for (const sid of [CON_A, SID_DT6]) pe.arrive('p', tunnel(sid, E0, inside({ qpn }), false));
      };
      const settled = (): number => pe.count('srv6.decap.handed-up') + pe.count('srv6.decap.left');
      const remove = dropAt(pe.netns, 6, hook);
      send(82);
      await until('both were left to the kernel', () => settled(), is(2), 30_000);
      expect(pe.count('srv6.decap.forwarded'), name).toBe(0);
      remove();
      // The program sees the hook until the kernel has let go of it.
      await until('the program forwards again', () => (send(83), pe.count('srv6.decap.forwarded')), atLeast(2), 30_000);
      await until(
        'they arrived',
        () => delivered('h1'),
        (all) => all.some((packet) => bthQpn(packet) === 83),
        30_000,
      );
      expect(delivered('h1').filter((packet) => bthQpn(packet) === 82)).toEqual([]);
    },
  );

  test("with others on the hook, another program's End.DT6 is the kernel's for a packet to an address of this router, which routing would deliver", async () => {
    pe.configure({ sharedIngress: true });
    pe.arrive('p', tunnel(SID_DT6, CE, inside({ destination: LOOPBACK }), false));
    await until('it was left', () => pe.count('srv6.decap.left'), is(1), 30_000);
    expect(pe.count('srv6.decap.handed-up')).toBe(0);
  });

  test('a packet whose hops end here, or that is too long for its next link, is left to the kernel, which notifies the source', async () => {
    const lastHop = inside({ qpn: 83 });
    lastHop[7] = 1;
    pe.mtu('t-srv6-c1', 1400);
    const tooLong = inside({ qpn: 84, size: 2000 });
    ip(pe.netns, '-6 route replace 2001:db8:7::/64 via 2001:db8:9::10');
    for (const packet of [lastHop, tooLong]) pe.arrive('p', tunnel(SID_DT6, E0, packet, false));
    const errors = (): number[] =>
      pe.captured.p
        .filter((f) => f[12] === 0x86 && f[20] === 58 && f[54]! < 128)
        .map((f) => f[54]!)
        .sort();
    await until('both errors', () => errors().length, is(2), 30_000);
    expect(errors()).toEqual([2, 3]);
    expect({ left: pe.count('srv6.decap.left'), forwarded: pe.count('srv6.decap.forwarded') }).toEqual({
      left: 2,
      forwarded: 0,
    });
    pe.mtu('t-srv6-c1', 9000);
  });

  test("ICMPv6 errors to END.CON, which is the source of tunnels, are consumed and counted; echo requests and other SIDs are the kernel's", () => {
    const icmp = (type: number): Uint8Array => concat(Uint8Array.of(type, 0, 0, 0), new Uint8Array(60));
    const verdict = (packet: Uint8Array): number => run(pe.coreFrame(packet)).retval;
    for (const type of [1, 2, 3, 4]) expect(verdict(ipv6([REMOTE, CON_A], 58, icmp(type)))).toBe(DROP);
    expect(verdict(ipv6([REMOTE, CON_A], 58, icmp(128)))).toBe(NEXT);
    expect(verdict(ipv6([REMOTE, SID_DT6], 58, icmp(1)))).toBe(NEXT);
    expect({
      icmpv6Error: pe.count('srv6.decap.icmpv6-error'),
      packetTooBig: pe.count('srv6.decap.packet-too-big'),
    }).toEqual({ icmpv6Error: 4, packetTooBig: 1 });
  });

  test('segments left, other addresses and other packets pass untouched', () => {
    const untouched = [
      withClass(ipv6([REMOTE, CON_A], 43, srh(41, 1, [SID_DT6, CON_A], inside())), CE),
      tunnel(REMOTE, CE, inside(), true),
      inside({ destination: CON_A }),
      withClass(ipv6([REMOTE, CON_A], 50, inside()), CE),
      ipv6([REMOTE, CON_A], 41, Uint8Array.of(0x50, 0)),
    ];
    for (const packet of untouched)
      expect(run(pe.coreFrame(packet))).toMatchObject({ retval: NEXT, data: pe.coreFrame(packet) });
    expect(pe.count('srv6.decap.segments-left')).toBe(1);
  });

  test('frames that end within their headers, and random ones: never more than the ECN field inside is changed, unless decapsulated', () => {
    const whole = pe.coreFrame(tunnel(SID_DT6, CE, inside({ size: 8 }), true));
    pe.sid(SID_DT6, { ...FOREIGN, decapsulate: false });
    for (let length = 14 + 40; length < whole.length; length++)
      expect(run(whole.subarray(0, length)).data.length).toBe(length);
    let state = 815;
    const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8;
    const changes = new Set<number>();
    for (let i = 0; i < 5000; i++) {
      const mutated = whole.slice();
      for (let n = random() % 6; n >= 0; n--) mutated[12 + (random() % (mutated.length - 12))] = random();
      const { retval, data: after } = run(mutated);
      expect([NEXT, DROP]).toContain(retval);
      expect(after.length).toBe(mutated.length);
      changes.add(after.reduce((sum, byte, at) => sum + (byte === mutated[at] ? 0 : 1), 0));
    }
    expect(Math.max(...changes)).toBeLessThanOrEqual(4); // an IPv4 header: traffic class, checksum; IPv6: two bytes
  });
});

describe("IPv4 at an END.CON of another table, whose action in the kernel is cnpd's End.DT6", () => {
  const CNP = 0x81;
  const inside = (d: Data = {}): Uint8Array => data({ ...OTHER_CUSTOMER[4], ecn: E0, opcode: CNP, size: 16, ...d });
  const counted = () => ({
    left: pe.count('srv6.decap.left'),
    noIpv4: pe.count('srv6.decap.no-ipv4'),
    hook: pe.count('srv6.decap.no-ipv4.hook'),
    shared: pe.count('srv6.decap.no-ipv4.shared'),
  });
  const NONE = { left: 0, noIpv4: 0, hook: 0, shared: 0 };
  const send = (packet: Uint8Array): Promise<Uint8Array[]> =>
    exchange([tunnel(CON_A, E0, packet, false)], 'h2', packet[0]! >> 4 === 4 ? 4 : 6);
  beforeEach(() => pe.sid(CON_A, { table: TABLE }));

  test('FCN-4.2.2-e: a CNP is sent on beside a proxy as well, which has nothing to learn from it', async () => {
    pe.configure({ sharedIngress: true });
    const cnp = inside({ qpn: 101 });
    expect((await send(cnp)).map(withoutChecksum)).toEqual([expected(cnp, E0)]);
    expect({ ...counted(), forwarded: pe.count('srv6.decap.forwarded') }).toEqual({ ...NONE, forwarded: 1 });
  });

  test.each([
    ['data', inside({ opcode: 4 })],
    ['an acknowledgement', inside({ opcode: 0x11 })],
    ['a fragment', withByte(inside(), 6, 0x20)],
    ['another protocol', withByte(inside(), 9, 6)],
    ['another port', withByte(inside(), 23, 0xb6)],
  ] as const)('beside a proxy, which must see it, it is lost and counted: %s', async (_, packet) => {
    pe.configure({ sharedIngress: true });
    expect(await send(packet)).toEqual([]);
    expect(counted()).toEqual({ left: 1, noIpv4: 1, hook: 0, shared: 1 });
  });

  test.each([
    ['IPv4 forward', 4, NF_HOOK.forward],
    ['IPv6 pre-routing', 6, NF_HOOK.preRouting],
  ] as const)(
    'with a netfilter hook, whose say is not taken away, it is lost and counted: %s',
    async (_, family, hook) => {
      const remove = acceptAt(pe.netns, family, hook);
      try {
        expect(await send(inside())).toEqual([]);
        expect(counted()).toEqual({ left: 1, noIpv4: 1, hook: 1, shared: 0 });
        pe.configure({ sharedIngress: true });
        expect(await send(inside())).toEqual([]);
        expect(counted()).toEqual({ left: 2, noIpv4: 2, hook: 2, shared: 0 });
      } finally {
        remove();
      }
      // Sent on again, though not at once: the program sees the hook until the kernel has let go of it.
      while ((await send(inside())).length === 0);
    },
  );

  test('what the program cannot send on is lost and counted too: no route, hops that end here, options on the way or inside', async () => {
    const lastHop = inside();
    lastHop[8] = 1;
    const withDestinationOptions = withClass(ipv6([REMOTE, CON_A], 60, options(4, 1, inside())), E0);
    const inTunnels = [inside({ destination: address('10.4.0.10') }), lastHop, withOptions(inside())].map((packet) =>
      tunnel(CON_A, E0, packet, false),
    );
    for (const sharedIngress of [false, true]) {
      pe.configure({ sharedIngress });
      expect(await exchange([...inTunnels, withDestinationOptions], 'h2')).toEqual([]);
    }
    expect(counted()).toEqual({ ...NONE, left: 8, noIpv4: 8 });
  });

  test("IPv6 is not counted: End.DT6 takes it; nor is IPv4 where the route of the SID is another program's", async () => {
    pe.configure({ sharedIngress: true });
    await exchange([tunnel(CON_A, E0, data({ ...OTHER_CUSTOMER[6], ecn: E0 }), false)], 'h2');
    expect(counted()).toEqual({ ...NONE, left: 1 });
    pe.sid(CON_A, { table: TABLE, ownRoute: false });
    await send(inside());
    expect(counted()).toEqual({ ...NONE, left: 2 });
  });
});

describe('packets as drivers make them', () => {
  test.each(CASES)(
    'FCN-4.2.1-f: a jumbo packet of which nothing but the Ethernet header is in linear memory: $name, IPv$family inside, SRH: $hasSrh',
    async ({ way, family, hasSrh }) => {
      pe.sid(way.sid, way.entry);
      pe.configure({ sharedIngress: way.shared ?? false });
      const sent = data({ ...way.customer[family], ecn: E0, qpn: 88, size: 6000 });
      const found = await exchange([tunnel(way.sid, CE, sent, hasSrh)], way.to, family);
      expect(found.map(withoutChecksum)).toEqual([expected(sent, CE)]);
      expect(pe.count(way.counter)).toBe(1);
    },
  );
});

/** Changes that the program must notice. */
function withByte(packet: Uint8Array, at: number, value: number): Uint8Array {
  const copy = packet.slice();
  copy[at] = value;
  return copy;
}

/** Of 24 bytes: four of options. */
function withOptions(packet: Uint8Array): Uint8Array {
  return withByte(concat(packet.subarray(0, 20), Uint8Array.of(1, 1, 1, 0), packet.subarray(20)), 0, 0x46);
}
