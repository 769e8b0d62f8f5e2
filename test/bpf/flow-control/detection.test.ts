// A packet that finds a queue above its threshold is reported as it arrived: by its tunnel, its flow or its priority.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import type { FlowControlMode } from '../../../src/model/flow-control.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { fragment, ipv4, ipv6, options, srh, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { FlowControlUnderTest, withDscp } from '../support/flow-control-under-test.ts';
import { H1, H1V4, H2, H2V4, data, frame } from '../support/packets.ts';

let router: FlowControlUnderTest;
beforeAll(async () => void (router = await FlowControlUnderTest.create()));
afterAll(() => router.close());
beforeEach(() => router.clear());

const [PE1, PE2, VIA] = [address('2001:db8:a::1'), address('2001:db8:b::1'), address('2001:db8:c::1')];
const PE4 = [address('192.0.2.1'), address('192.0.2.2')] as const;
const PE = [PE1, PE2] as const;
const data4 = data({ source: H1V4, destination: H2V4 });
const srv6 = ipv6(PE, 41, data());
const withSrh = ipv6([PE1, VIA], 43, srh(41, 1, [PE2, VIA], data()));
const FLOW = { mode: 'flow', source: H1, destination: H2, sourcePort: 0xc001, destinationPort: 4791 } as const;
const FLOW4 = { ...FLOW, source: H1V4, destination: H2V4 };
const tunnel = (source: typeof PE1, destination: typeof PE1, protocol: number) =>
  ({ mode: 'service', source, destination, protocol }) as const;
const out = (): number => router.ifindex['t-fc-out'];
const counts = (...names: string[]): number[] => names.map((name) => router.count(`flow-control.${name}`));

describe('FCN-4.1.2-a: the neighbor from which a packet comes that finds the queue filled can be asked', () => {
  test('the record says where it arrived, from which source and MAC address, where it leaves, and how deep the queue is', () => {
    const before = process.hrtime.bigint();
    const [filled, ...more] = router.pass(frame(srv6));
    expect(filled).toMatchObject({
      ingress: router.ifindex['t-fc-in'],
      egress: out(),
      cameFrom: PE1,
      sourceMac: Uint8Array.of(2, 0, 0, 0, 0, 2),
      reason: 'queue',
      depth: router.queued,
    });
    expect(filled!.atNs).toBeGreaterThan(before);
    expect(more).toEqual([]);
    expect(counts('arrivals', 'recorded')).toEqual([1, 1]);
  });

  test('an agent does not hear what was recorded before it: it would pause a neighbor for a queue of then', () => {
    router.arrive(frame(srv6));
    router.leave(frame(srv6));
    const poller = Poller.open({ onError: (error) => expect.unreachable(String(error)) });
    const heard: unknown[] = [];
    const next = router.flowControl.onFilled((filled) => void heard.push(filled), { poller });
    next.drain();
    expect(heard).toEqual([]);
    expect(router.count('flow-control.recorded')).toBe(1);
    next.close();
    poller.close();
  });

  test('a queue at its threshold is not filled; a port that is not watched has none', () => {
    router.portTable.setWatched(new Map([[out(), router.queued]]));
    expect(router.pass(frame(srv6))).toEqual([]);
    router.portTable.setWatched(new Map());
    expect(router.pass(frame(srv6))).toEqual([]);
    expect(router.count('flow-control.recorded')).toBe(0);
  });

  test('the queue of a watched port that has none cannot be filled', () => {
    router.portTable.setWatched(new Map([[router.ifindex['t-fc-bare'], 1]]));
    router.arrive(frame(srv6));
    router.leave(frame(srv6), 't-fc-bare');
    expect(router.reports()).toEqual([]);
  });

  test('other packets than RoCEv2 are not looked at', () => {
    const other = frame(ipv6([H1, H2], 17, udp(0xc001, 4792, new Uint8Array(100))));
    for (const bytes of [other, frame(ipv6([H1, H2], 6, new Uint8Array(100))), frame(ipv6(PE, 41, other.subarray(14)))])
      expect(router.pass(bytes)).toEqual([]);
    expect(counts('arrivals', 'no-arrival', 'unparseable')).toEqual([0, 0, 0]);
  });
});

describe('FCN-4.1.2-b: in service mode the record names the outermost header', () => {
  test.each<[string, Uint8Array, ReturnType<typeof tunnel>]>([
    ['SRv6 without SRH', srv6, tunnel(PE1, PE2, 41)],
    ['SRv6 with SRH', withSrh, tunnel(PE1, VIA, 43)],
    ['IPv4 in SRv6', ipv6(PE, 4, data4), tunnel(PE1, PE2, 4)],
    ['IPv6 in IPv4', ipv4(PE4, 41, data()), tunnel(PE4[0], PE4[1], 41)],
    ['IPv4 in IPv4', ipv4(PE4, 4, data4), tunnel(PE4[0], PE4[1], 4)],
    ['an SRH of another tunnel inside', ipv6(PE, 41, withSrh), tunnel(PE1, PE2, 41)],
  ])('%s', (_, packet, traffic) => {
    expect(router.pass(frame(packet))).toMatchObject([{ traffic, cameFrom: traffic.source }]);
  });

  test.each<[string, Uint8Array]>([
    ['plain IPv6', data()],
    ['plain IPv4', data4],
    ['behind an SRH without a packet inside', ipv6([H1, VIA], 43, srh(17, 1, [H2, VIA], data().subarray(40)))],
    ['in a tunnel whose header does not name it', ipv6(PE, 60, options(41, 0, data()))],
  ])('a packet %s is in no service', (_, packet) => {
    expect(router.pass(frame(packet))).toEqual([]);
    expect(counts('no-tunnel', 'recorded')).toEqual([1, 0]);
  });

  test('behind a decapsulation, that of the tunnel in which it arrived', () => {
    expect(router.pass(frame(srv6), frame(data()))).toMatchObject([{ traffic: tunnel(PE1, PE2, 41), cameFrom: PE1 }]);
    expect(router.pass(frame(ipv4(PE4, 4, data4)), frame(data4))).toMatchObject([{ cameFrom: PE4[0] }]);
  });

  test('of an SRv6 packet whose destination an SR endpoint changes, the one with which it arrived', () => {
    const left = frame(ipv6(PE, 43, srh(41, 0, [PE2, VIA], data())));
    expect(router.pass(frame(withSrh), left)).toMatchObject([{ traffic: tunnel(PE1, VIA, 43) }]);
  });

  test('a packet that is put into a tunnel here arrived in none', () => {
    expect(router.pass(frame(data()), frame(srv6))).toEqual([]);
    expect(router.count('flow-control.no-tunnel')).toBe(1);
  });
});

describe('FCN-4.1.2-c: in flow mode the record names the innermost five-tuple', () => {
  beforeEach(() => router.configure({ mode: 'flow' }));
  const tagged = { tags: [[0x8100, 0]] } as const;
  test.each<[string, Uint8Array, typeof FLOW | typeof FLOW4]>([
    ['plain IPv6', frame(data()), FLOW],
    ['plain IPv4', frame(data4), FLOW4],
    ['SRv6', frame(srv6), FLOW],
    ['SRv6 with SRH', frame(withSrh), FLOW],
    ['IPv4 in SRv6', frame(ipv6(PE, 43, srh(4, 0, [PE2], data4))), FLOW4],
    ['IPv6 in IPv4', frame(ipv4(PE4, 41, data())), FLOW],
    ['two tunnels', frame(ipv6(PE, 4, ipv4(PE4, 41, data()))), FLOW],
    [
      'behind an SRH whose last segment is the receiver',
      frame(ipv6([H1, VIA], 43, srh(17, 1, [H2, VIA], data().subarray(40)))),
      FLOW,
    ],
    ['behind options', frame(ipv6(PE, 60, options(41, 2, data()))), FLOW],
    ['with a tag in the frame', frame(data(), tagged), FLOW],
    ['GRE', frame(ipv6(PE, 47, concat(Uint8Array.of(0, 0, 0x86, 0xdd), data()))), FLOW],
  ])('%s', (_, bytes, traffic) => {
    expect(router.pass(bytes)).toMatchObject([{ traffic }]);
  });
});

describe('FCN-4.1.2-d: in priority mode the record names the priority of the outermost header', () => {
  beforeEach(() => router.configure({ mode: 'priority' }));
  test.each<[string, Uint8Array, number]>([
    ['what the DSCP of a plain packet stands for', frame(withDscp(data(), 26)), 3],
    ['the same of IPv4', frame(withDscp(data4, 63)), 7],
    ["a tunnel's, not that of the packet inside", frame(withDscp(ipv6(PE, 41, withDscp(data(), 8)), 46)), 5],
    ['the PCP of a tag', frame(withDscp(data(), 8), { tags: [[0x8100, 0x6000 | 7]] }), 3],
    [
      'the PCP of the outer of two tags',
      frame(data(), {
        tags: [
          [0x88a8, 0xe000],
          [0x8100, 0x2000],
        ],
      }),
      7,
    ],
  ])('%s', (_, bytes, priority) => {
    expect(router.pass(bytes)).toMatchObject([{ traffic: { mode: 'priority', priority } }]);
  });

  test('as it arrived, whatever it is when it leaves', () => {
    expect(router.pass(frame(withDscp(srv6, 46)), frame(data()))).toMatchObject([{ traffic: { priority: 5 } }]);
  });

  test('a priority above 7 cannot be configured', () => {
    for (const priorities of [Array<number>(64).fill(8), Array<number>(64).fill(-1), Array<number>(63).fill(1)])
      expect(() => router.configure({ priorities })).toThrow(RangeError);
  });
});

describe('a packet over the threshold is not reported', () => {
  test('whose flow has not arrived at an interface of flow control, or not lately', () => {
    router.leave(frame(srv6));
    expect([router.reports(), router.count('flow-control.no-arrival')]).toEqual([[], 1]);
    router.arrive(frame(srv6));
    const arrivals = router.object.map('flow_control_arrivals');
    const [[key, value]] = [...arrivals.entries()] as [[Uint8Array, Uint8Array]];
    const old = value.slice();
    new DataView(old.buffer).setBigUint64(40, process.hrtime.bigint() - 1_000_000_001n, true);
    arrivals.update(key, old);
    router.leave(frame(srv6));
    expect([router.reports(), router.count('flow-control.no-arrival')]).toEqual([[], 2]);
    expect(router.pass(frame(srv6)).length).toBe(1);
  });

  test('that has the addresses and ports of a flow, and has arrived elsewhere: whose packets these were is not asked', () => {
    router.arrive(frame(srv6));
    router.leave(frame(data()), 't-fc-out', 't-fc-beside');
    router.send(frame(data()));
    expect([router.reports(), router.count('flow-control.other-arrival')]).toEqual([[], 2]);
    router.leave(frame(data()));
    expect(router.reports()).toMatchObject([{ ingress: router.ifindex['t-fc-in'] }]);
  });

  test('that leaves by the interface at which it arrived', () => {
    router.arrive(frame(srv6), 't-fc-out');
    router.leave(frame(srv6), 't-fc-out', 't-fc-out');
    expect([router.reports(), router.count('flow-control.hairpin')]).toEqual([[], 1]);
  });

  test.each<[FlowControlMode, Uint8Array]>([
    ['service', ipv6(PE, 41, data({ sourcePort: 0xc002 }))],
    ['flow', ipv6(PE, 41, data({ qpn: 77 }))],
    ['priority', data({ sourcePort: 0xc002 })],
  ])('whose traffic has been reported within the interval, until that is forgotten: %s', (mode, same) => {
    router.configure({ mode });
    const [first] = router.pass(frame(srv6));
    expect(router.pass(frame(same))).toEqual([]);
    expect(router.count('flow-control.suppressed')).toBe(1);
    router.flowControl.forget(first!);
    expect(router.pass(frame(same))).toMatchObject([{ traffic: first!.traffic }]);
    router.configure({ mode, intervalNs: 0 });
    expect(router.pass(frame(srv6)).length).toBe(1);
  });

  test('other traffic, and the same from another interface, is reported within the interval', () => {
    router.pass(frame(srv6));
    expect(router.pass(frame(ipv6([PE1, VIA], 41, data()))).length).toBe(1);
    router.arrive(frame(srv6), 't-fc-beside');
    router.leave(frame(srv6), 't-fc-out', 't-fc-beside');
    expect(router.reports()).toMatchObject([{ ingress: router.ifindex['t-fc-beside'] }]);
    expect(router.count('flow-control.suppressed')).toBe(0);
  });

  test('beyond the limit of all records; then it is not told, and comes again', () => {
    router.configure({ perSecond: 1e-3, burst: 2 });
    const passed = [1, 2, 3, 4].map(
      (n) => router.pass(frame(ipv6([PE1, address(`2001:db8:b::${n}`)], 41, data()))).length,
    );
    expect([passed, counts('limited', 'recorded')]).toEqual([
      [1, 1, 0, 0],
      [2, 2],
    ]);
    router.object.map('flow_control_bucket').update(new Uint8Array(4), new Uint8Array(8));
    expect(router.pass(frame(ipv6([PE1, address('2001:db8:b::3')], 41, data()))).length).toBe(1);
  });

  test('while flow control is off', () => {
    router.object.map('flow_control_config').update(new Uint8Array(4), new Uint8Array(96));
    expect(router.pass(frame(srv6))).toEqual([]);
    expect(counts('arrivals', 'no-arrival')).toEqual([0, 0]);
  });
});

describe('hostile packets pass untouched, and are counted', () => {
  const whole = frame(withSrh);
  const overlong = (units: number): Uint8Array => {
    const bytes = whole.slice();
    bytes[14 + 40 + 1] = units;
    return bytes;
  };
  const deep = Array.from({ length: 13 }).reduce<Uint8Array>((inside) => ipv6(PE, 41, inside), data());
  const first = ipv6(PE, 44, fragment(41, 0, true, data().subarray(0, 800)));
  const later = ipv6(PE, 44, fragment(41, 100, false, data().subarray(800)));
  const tagged = frame(data(), { tags: [[0x8100, 0]] });
  const fragment4 = data4.slice();
  fragment4[6] = 0x20;
  test.each<[string, 'fragment' | 'unparseable', Uint8Array]>([
    ['cut in the SRH', 'unparseable', whole.subarray(0, 14 + 40 + 12)],
    ['cut in the header inside', 'unparseable', whole.subarray(0, 14 + 40 + 40 + 20)],
    ['cut in the UDP header', 'unparseable', whole.subarray(0, 14 + 40 + 40 + 40 + 4)],
    ['with an SRH longer than the packet', 'unparseable', overlong(255)],
    ['in too many tunnels', 'unparseable', frame(deep)],
    ['of another version inside', 'unparseable', frame(ipv6(PE, 41, data4))],
    ['the first of two fragments', 'fragment', frame(first)],
    ['the last of two fragments', 'fragment', frame(later)],
    ['a fragment of the packet inside', 'fragment', frame(ipv6(PE, 4, fragment4))],
  ])('%s', (_, counter, bytes) => {
    for (const mode of ['service', 'flow', 'priority'] as const) {
      router.configure({ mode });
      expect(router.pass(bytes)).toEqual([]);
    }
    expect(counts(counter, 'arrivals', 'no-arrival')).toEqual([6, 0, 0]);
  });

  test.each<[string, Uint8Array]>([
    ['an SRH that ends elsewhere', overlong(2)],
    ['a tag without a frame', tagged.subarray(0, 16)],
    ['an IP header that is cut', tagged.subarray(0, 14 + 4 + 39)],
    ['an IP header of another version', frame(data()).with(14, 0x50)],
    [
      'more tags than are passed',
      frame(data(), {
        tags: [
          [0x88a8, 1],
          [0x8100, 2],
          [0x8100, 3],
        ],
      }),
    ],
    ['an MPLS label stack in front', frame(data(), { tags: [] }).with(12, 0x88).with(13, 0x47)],
    ['a UDP length beyond the packet', frame(data()).with(14 + 40 + 4, 0xff)],
  ])('%s is no RoCEv2 packet', (_, bytes) => {
    expect(router.pass(bytes)).toEqual([]);
    expect(counts('arrivals', 'no-arrival')).toEqual([0, 0]);
  });
});

describe('how a flow arrives is learned anew when it changes', () => {
  test('not with each of its packets', () => {
    for (let i = 0; i < 5; i++) router.arrive(frame(srv6));
    expect(router.count('flow-control.arrivals')).toBe(1);
    router.arrive(frame(srv6), 't-fc-beside');
    router.arrive(frame(withSrh), 't-fc-beside');
    router.arrive(frame(withDscp(withSrh, 8)), 't-fc-beside');
    router.arrive(frame(withDscp(withSrh, 8), { macs: new Uint8Array(12).fill(6) }), 't-fc-beside');
    expect(router.count('flow-control.arrivals')).toBe(5);
    router.leave(frame(data()), 't-fc-out', 't-fc-beside');
    expect(router.reports()).toMatchObject([
      {
        traffic: tunnel(PE1, VIA, 43),
        ingress: router.ifindex['t-fc-beside'],
        sourceMac: new Uint8Array(6).fill(6),
      },
    ]);
  });
});
