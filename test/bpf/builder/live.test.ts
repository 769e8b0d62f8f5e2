// Notices on real wires: routed by the kernel, through END.CON and decapsulated by its End.DT6, to an unmodified Linux
// host, whose answer comes back. tshark and other computations of the ICRC judge the bytes.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { address, addressBytes } from '../../../src/model/address.ts';
import { decodeParameterProblem, refusedFastCnp } from '../../../src/packet/icmpv6/parameter-problem.ts';
import { parseIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { ipv6, srh } from '../../../src/packet/ip/packets.fixture.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { decapsulate } from '../../../src/packet/srv6/encapsulation.ts';
import { dissect } from '../../support/tshark.ts';
import { ip } from '../../support/netns.ts';
import { icrcByHand, scapyIcrc } from '../support/icrc-judges.ts';
import { A2, CODES, LONG_HAUL, LOOPBACK, type Order, TRACE, invokingPackets } from '../support/builder-under-test.ts';
import { NoticeScene } from '../support/notice-scene.ts';
import { until } from '../../support/until.ts';

const SENDER = address('2001:db8:a::1');
const RECEIVER = address('2001:db8:b::1');
const END_CON = address('2001:db8:c::1');
const SEGMENT = address('2001:db8:e::1');
const LOOPBACK4 = address('10.0.9.254');
const { v6: V6, v4: V4 } = invokingPackets(512);
const inTunnel = (inner: Uint8Array): Uint8Array =>
  ipv6([END_CON, address('2001:db8:d::1')], 43, srh(inner[0]! >> 4 === 4 ? 4 : 41, 0, [SEGMENT], inner));
const TRACED = ipv6([SENDER, RECEIVER], 0, concat(TRACE, V6.subarray(40)));
const FAST: Order = { format: 'fast-cnp' };
const longHaul = (format: Order['format']): Order => ({ format, ...A2 });

let scene: NoticeScene;
beforeEach(() => {
  scene = new NoticeScene();
  scene.builder.configure({ source4: LOOPBACK4 });
});
afterEach(() => {
  scene.close();
  expect(scene.errors).toEqual([]);
});

const CS6 = 48 << 2;
/** Notices have a traffic class of their own; neighbor discovery and ICMP have none. */
const isNotice = (p: Uint8Array): boolean => (p[0]! >> 4 === 6 ? ((p[0]! & 15) << 4) | (p[1]! >> 4) : p[1]) === CS6;
const isProblem = (p: Uint8Array): boolean => p[0]! >> 4 === 6 && p[6] === 58 && p[40] === 4;
const hopLimit = (p: Uint8Array): number => (p[0]! >> 4 === 6 ? p[7]! : p[8]!);
/** The packet as it was one hop before. */
const hopEarlier = (p: Uint8Array): Uint8Array => p.map((byte, i) => (i === 7 ? byte + 1 : byte));

async function arrival(of: Uint8Array[], what: string): Promise<Uint8Array> {
  await until(
    what,
    () => of,
    (all) => all.some(isNotice),
    30_000,
  );
  expect(of.filter(isNotice)).toHaveLength(1);
  return of.find(isNotice)!;
}

describe('a Linux host that does not know the option', () => {
  test.each([
    ['straight', V6],
    ['through END.CON', inTunnel(V6)],
  ])(
    'A12, FCNP-4-j: configured for %s, it answers the Fast CNP with Parameter Problem code 2, pointer 42, to the loopback address',
    async (_, packet) => {
      scene.trigger(packet, FAST);
      const sent = await arrival(scene.atHost, 'the Fast CNP at the host');
      await until(
        'the Parameter Problem at the router',
        () => scene.atRouter,
        (all) => all.some(isProblem),
        30_000,
      );
      const icmp = parseIcmpv6(scene.atRouter.find(isProblem)!);
      if (!icmp.ok) throw new Error(icmp.error.detail);
      expect(icmp.value).toMatchObject({ source: SENDER, destination: LOOPBACK, type: 4, code: 2 });
      const problem = decodeParameterProblem(icmp.value.message);
      if (!problem.ok) throw new Error(problem.error.detail);
      expect(problem.value).toMatchObject({ code: 2, pointer: 42 });
      expect(toHex(problem.value.invoking)).toBe(toHex(sent));
      expect(refusedFastCnp(problem.value, CODES)).toMatchObject({
        ok: true,
        value: { source: LOOPBACK, destination: SENDER, option: { originalDestination: RECEIVER }, destQpn: 0xc8 },
      });
    },
  );

  test('FCNP-4-p: option 2 is refused alike: pointer 44', async () => {
    scene.trigger(TRACED, FAST);
    await until(
      'the Parameter Problem at the router',
      () => scene.atRouter,
      (all) => all.some(isProblem),
      30_000,
    );
    const icmp = parseIcmpv6(scene.atRouter.find(isProblem)!);
    expect(icmp.ok && decodeParameterProblem(icmp.value.message)).toMatchObject({
      ok: true,
      value: { code: 2, pointer: 44 },
    });
  });

  test('LHCNP-6.1-b: a Long-haul CNP is an informational message: the host is silent about it', async () => {
    scene.trigger(V6, longHaul('long-haul-icmpv6'));
    await arrival(scene.atHost, 'the Long-haul CNP at the host');
    // Answered about, behind it: what would have come has come.
    scene.trigger(V6, FAST);
    await until(
      'the Parameter Problem at the router',
      () => scene.atRouter,
      (all) => all.some(isProblem),
      30_000,
    );
    expect(scene.atRouter.filter((p) => p[0]! >> 4 === 6 && p[6] === 58 && p[40]! < 128)).toHaveLength(1);
  });
});

describe('through END.CON', () => {
  test.each([
    ['Fast CNP', FAST, 'fast-cnp'],
    ['Long-haul CNP in ICMPv6', longHaul('long-haul-icmpv6'), 'long-haul-icmpv6'],
    ['Long-haul CNP in RoCEv2', longHaul('long-haul-roce'), 'long-haul-roce'],
  ])(
    'A17, FCN-4.2.2-d, FCN-4.2.2-e: a %s reaches the sender as it was built: every byte of the inner packet, but for the hop behind the tunnel',
    async (_, order) => {
      const straight = scene.builder.build(V6, order).packet;
      scene.trigger(inTunnel(V6), order);
      const wrapped = await arrival(scene.atEdge, 'the wrapped notice at the provider edge');
      const received = await arrival(scene.atHost, 'the notice at the host');
      expect(hopLimit(wrapped)).toBe(64);
      expect({ nextHeader: wrapped[6] }).toEqual({ nextHeader: 41 });
      expect(toHex(wrapped.subarray(8, 40))).toBe(toHex(concat(addressBytes(LOOPBACK), addressBytes(END_CON))));
      expect(toHex(hopEarlier(received))).toBe(toHex(wrapped.subarray(40)));
      // A notice that goes straight is the same one, before its first hop.
      expect(toHex(wrapped.subarray(40))).toBe(toHex(straight.map((byte, i) => (i === 7 ? byte - 1 : byte))));
    },
  );

  test('FCN-4.2.2-d: about the copy of a group, to the END.CON SID of the router that made it: the source gets the Fast CNP natively', async () => {
    const [replication, child, root] = ['2001:db8:c::c2:0:0', '2001:db8:d::1', '2001:db8:e1::2'].map(address);
    // The segment list ends with the destination of the packet inside, the Proxy Address.
    const copy = ipv6([replication!, child!], 43, srh(41, 1, [RECEIVER, root!], V6));
    scene.builder.replicationEndCon(replication!, END_CON);
    scene.trigger(copy, FAST);
    const wrapped = await arrival(scene.atEdge, 'the wrapped notice at the router that made the copy');
    const received = await arrival(scene.atHost, 'the notice at the source');
    expect(toHex(wrapped.subarray(8, 40))).toBe(toHex(concat(addressBytes(LOOPBACK), addressBytes(END_CON))));
    expect(toHex(hopEarlier(received))).toBe(toHex(wrapped.subarray(40)));
    expect(toHex(received.subarray(24, 40))).toBe(toHex(addressBytes(SENDER)));
  });

  test('an IPv4 Long-haul CNP goes as next header 4', async () => {
    scene.trigger(inTunnel(V4), longHaul('long-haul-roce'));
    const wrapped = await arrival(scene.atEdge, 'the wrapped notice at the provider edge');
    expect({ nextHeader: wrapped[6] }).toEqual({ nextHeader: 4 });
    expect(toHex(wrapped.subarray(40))).toBe(toHex(scene.builder.build(V4, longHaul('long-haul-roce')).packet));
  });
});

describe('a provider edge whose own core port is congested', () => {
  test.each([
    ['Fast CNP', FAST],
    ['Long-haul CNP in ICMPv6', longHaul('long-haul-icmpv6')],
    ['Long-haul CNP in RoCEv2', longHaul('long-haul-roce')],
  ])('FCN-4.2.2-b: a %s to its own END.CON is decapsulated in this router and goes to the sender', async (_, order) => {
    ip(scene.r, '-6 route add 2001:db8:cc::1/128 encap seg6local action End.DT6 table 254 dev t-nb-r');
    scene.trigger(ipv6([address('2001:db8:cc::1'), address('2001:db8:d::1')], 41, V6), order);
    const received = await arrival(scene.atHost, 'the notice at the host');
    // Two hops: this router and the one before the host.
    const built = scene.builder.build(V6, order).packet;
    expect(toHex(received)).toBe(toHex(built.map((byte, i) => (i === 7 ? 62 : byte))));
  });
});

describe('what other programs see on the wire', () => {
  const CASES: readonly (readonly [string, Uint8Array, Order])[] = [
    ['fast-cnp', V6, FAST],
    ['fast-cnp', TRACED, FAST],
    ['icmpv6', V6, longHaul('long-haul-icmpv6')],
    ['roce', V6, longHaul('long-haul-roce')],
    ['roce', V4, longHaul('long-haul-roce')],
    ['fast-cnp', inTunnel(V6), FAST],
    ['icmpv6', inTunnel(V6), longHaul('long-haul-icmpv6')],
    ['roce', inTunnel(V6), longHaul('long-haul-roce')],
    ['roce', inTunnel(V4), longHaul('long-haul-roce')],
  ];

  const FIELDS_SHOWN = [
    'ip.checksum.status',
    'icmpv6.checksum.status',
    'icmpv6.type',
    'ipv6.opt.type',
    'udp.dstport',
    'infiniband.bth.opcode',
    'infiniband.bth.destqp',
    'ipv6.hlim',
    'ipv6.tclass.dscp',
    'ipv6.tclass.ecn',
    'ip.dsfield.dscp',
    'ip.dsfield.ecn',
  ] as const;

  async function collect(): Promise<Uint8Array[]> {
    const frames: Uint8Array[] = [];
    for (const [, packet, order] of CASES) {
      scene.atEdge.length = 0;
      scene.trigger(packet, order);
      frames.push(await arrival(scene.atEdge, 'a notice at the provider edge'));
    }
    return frames;
  }

  test.each([
    ['without objects', LONG_HAUL],
    ['with objects', { ...LONG_HAUL, timestamp: true, deviceId: 'leaf1', pathId: 7 }],
  ])(
    'LHCNP-6.1-d, LHCNP-6.2.4-c, FCNP-4-h: tshark finds nothing wrong, %s: checksums, option, hop limit, DSCP',
    async (_, objects) => {
      scene.builder.configure({ source4: LOOPBACK4, longHaul: objects });
      const shown = dissect('raw-ip', await collect(), FIELDS_SHOWN);
      for (const [i, [kind]] of CASES.entries()) {
        const packet = shown[i]!;
        // CNP's opcode has no name in this tshark, and option 0x9E none anywhere: it may remark on that.
        expect(packet.complaints.filter((c) => /malformed|checksum|truncated/i.test(c))).toEqual([]);
        for (const dscp of [...packet['ipv6.tclass.dscp'], ...packet['ip.dsfield.dscp']])
          expect({ dscp }).toEqual({ dscp: '48' });
        for (const ecn of [...packet['ipv6.tclass.ecn'], ...packet['ip.dsfield.ecn']])
          expect({ ecn }).toEqual({ ecn: '0' });
        for (const hops of packet['ipv6.hlim']) expect({ hops }).toEqual({ hops: '64' });
        for (const checksum of packet['ip.checksum.status']) expect({ checksum }).toEqual({ checksum: '1' });
        if (kind === 'icmpv6') {
          expect(packet).toMatchObject({ 'icmpv6.checksum.status': ['1'], 'icmpv6.type': ['200'] });
        } else {
          expect(packet).toMatchObject({
            'udp.dstport': ['4791'],
            'infiniband.bth.opcode': ['129'],
            'infiniband.bth.destqp': [kind === 'roce' ? '0x000064' : '0x0000c8'],
          });
          expect(packet['ipv6.opt.type'].includes('0x9e')).toBe(kind === 'fast-cnp');
        }
      }
    },
  );

  test('LHCNP-6.2.4-c, LHCNP-6.2.5-a: the ICRC is that of its definition over IPv6, and scapy’s over IPv4', async () => {
    const frames = await collect();
    for (const [i, [kind]] of CASES.entries()) {
      if (kind === 'icmpv6') continue;
      const outer = decapsulate(frames[i]!);
      const notice = outer.ok ? outer.value.inner : frames[i]!;
      const hex = toHex(notice);
      const options = kind === 'fast-cnp' ? 8 + notice[41]! * 8 : 0;
      expect(notice[0]! >> 4 === 4 ? scapyIcrc(hex) : icrcByHand(hex, 40 + options)).toBe(hex.slice(-8));
    }
  });
});
