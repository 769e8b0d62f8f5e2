// Which traffic goes into the class of its hold, what of the queue counts as held, and when a hold ends. Without a
// network: the class is the packet's priority afterwards.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ENFORCE_SLOTS, FLOW_CONTROL_SLOTS, minorOf } from '../../../src/kernel/dataplane/holds.ts';
import { address } from '../../../src/model/address.ts';
import type { FlowControlMode, HeldTraffic, Traffic } from '../../../src/model/flow-control.ts';
import { fragment, ipv4, ipv6, srh, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { HoldTable } from '../../../src/reconcile/hold-table.ts';
import { FlowControlUnderTest, withDscp } from '../support/flow-control-under-test.ts';
import { H1, H1V4, H2, H2V4, data, frame } from '../support/packets.ts';

let router: FlowControlUnderTest;
beforeAll(async () => void (router = await FlowControlUnderTest.create()));
afterAll(() => router.close());
beforeEach(() => {
  router.clear();
  router.portTable.setWatched(new Map());
});

const [PE1, PE2, VIA] = [address('2001:db8:a::1'), address('2001:db8:b::1'), address('2001:db8:c::1')];
const PE = [PE1, PE2] as const;
const PE4 = [address('192.0.2.1'), address('192.0.2.2')] as const;
const data4 = data({ source: H1V4, destination: H2V4 });
const srv6 = frame(ipv6(PE, 41, data()));
const ROOT = 0x6e70_0000;
const CLASS = ROOT | minorOf('flow-control', 1);

const SERVICE: Traffic = { mode: 'service', source: PE1, destination: PE2, protocol: 41 };
const FLOW: Traffic = { mode: 'flow', source: H1, destination: H2, sourcePort: 0xc001, destinationPort: 4791 };
const PRIORITY: Traffic = { mode: 'priority', priority: 3 };
const out = (): number => router.ifindex['t-fc-out'];
const here = (traffic: Traffic): HeldTraffic => ({ traffic, egress: out() });
const other = (source = PE1, destination = PE2): Uint8Array => ipv6([source, destination], 41, data());

type Case = readonly [name: string, traffic: Traffic, bytes: Uint8Array];
const HELD: readonly Case[] = [
  ['a service: SRv6 without SRH', SERVICE, srv6],
  ['a service: another flow of it', SERVICE, frame(ipv6(PE, 41, data({ source: H2, destination: H1, qpn: 9 })))],
  ['a service: what is not RoCEv2', SERVICE, frame(ipv6(PE, 41, ipv6([H1, H2], 6, new Uint8Array(60))))],
  ['a service: SRv6 with SRH', { ...SERVICE, protocol: 43 }, frame(ipv6(PE, 43, srh(41, 0, [PE2], data())))],
  ['a service: IPv4 in SRv6', { ...SERVICE, protocol: 4 }, frame(ipv6(PE, 4, data4))],
  [
    'a service: IPv6 in IPv4',
    { ...SERVICE, source: PE4[0], destination: PE4[1] },
    frame(ipv4(PE4, 41, ipv6([H1, H2], 17, udp(1, 2)))),
  ],
  ['a service: behind a tag in the frame', SERVICE, frame(other(), { tags: [[0x8100, 5]] })],
  ['a flow: plain', FLOW, frame(data())],
  ['a flow: IPv4', { ...FLOW, source: H1V4, destination: H2V4 }, frame(data4)],
  ['a flow: another Queue Pair of the same ports', FLOW, frame(data({ qpn: 9 }))],
  ['a flow: in a tunnel', FLOW, srv6],
  ['a flow: in a tunnel with an SRH', FLOW, frame(ipv6([PE1, VIA], 43, srh(41, 1, [PE2, VIA], data())))],
  ['a priority: RoCEv2', PRIORITY, frame(withDscp(data(), 26))],
  ['a priority: any IP packet', PRIORITY, frame(withDscp(ipv6([H1, H2], 6, new Uint8Array(60)), 24))],
  ['a priority: IPv4', PRIORITY, frame(withDscp(data4, 31))],
  ['a priority: by the tag', PRIORITY, frame(data(), { tags: [[0x8100, 0x6005]] })],
];
const STRAIGHT: readonly Case[] = [
  ['another source of a service', SERVICE, frame(other(VIA))],
  ['another destination of a service', SERVICE, frame(other(PE1, VIA))],
  ['another protocol of a service', SERVICE, frame(ipv6(PE, 4, data4))],
  ['the addresses of a service inside another', SERVICE, frame(ipv6([H1, H2], 41, other()))],
  ['the flow of a service outside of it', SERVICE, frame(data())],
  ['the way back of a service', SERVICE, frame(other(PE2, PE1))],
  ['an MPLS label stack in front of a service', SERVICE, srv6.with(12, 0x88).with(13, 0x47)],
  ['another source of a flow', FLOW, frame(data({ source: H2 }))],
  ['another destination of a flow', FLOW, frame(data({ destination: H1 }))],
  ['another port of a flow', FLOW, frame(data({ sourcePort: 0xc002 }))],
  ['a fragment of a flow', FLOW, frame(ipv6([H1, H2], 44, fragment(17, 0, true, data().subarray(40))))],
  ['a flow cut in its UDP header', FLOW, frame(data()).subarray(0, 14 + 40 + 4)],
  ['the priority next to it', PRIORITY, frame(withDscp(data(), 32))],
  ['Neighbor Discovery in that priority', PRIORITY, frame(withDscp(ipv6([H1, H2], 58, new Uint8Array(32)), 24))],
  ['OSPF in that priority', PRIORITY, frame(withDscp(ipv6([H1, H2], 89, new Uint8Array(32)), 24))],
  ['the priority of the packet inside', PRIORITY, frame(ipv6(PE, 41, withDscp(data(), 26)))],
  ['a frame without IP', PRIORITY, frame(withDscp(data(), 26)).with(12, 8).with(13, 6)],
];

describe('FCN-4.1.2-e: traffic that the neighbor has asked to pause goes into its class', () => {
  test.each(HELD)('%s', (_, traffic, bytes) => {
    router.configure({ mode: traffic.mode });
    router.hold(here(traffic));
    expect(router.leave(bytes)).toBe(CLASS);
    expect(router.flowControl.classes.record(here(traffic))).toMatchObject({ entered: 1n });
    router.flowControl.classes.removeHold(here(traffic));
    expect(router.leave(bytes)).toBe(0);
  });
});

describe('FCN-4.1-a: other traffic of the same port goes straight', () => {
  test.each(STRAIGHT)('%s', (_, traffic, bytes) => {
    router.configure({ mode: traffic.mode });
    router.hold(here(traffic));
    expect(router.leave(bytes)).toBe(0);
  });

  test.each(HELD)('and what is held at another port: %s', (_, traffic, bytes) => {
    router.configure({ mode: traffic.mode });
    router.hold({ traffic, egress: router.ifindex['t-fc-beside'] });
    router.portTable.setPort(out(), ROOT);
    expect(router.leave(bytes)).toBe(0);
    expect(router.leave(bytes, 't-fc-beside')).toBe(CLASS);
  });

  test.each<[FlowControlMode, Traffic]>([
    ['flow', SERVICE],
    ['priority', SERVICE],
    ['service', FLOW],
    ['service', PRIORITY],
  ])('what is held in another mode than %s', (mode, traffic) => {
    router.configure({ mode });
    router.hold(here(traffic));
    expect(router.leave(frame(withDscp(other(), 26)))).toBe(0);
  });

  test('what this router itself sends in a priority, as its routing protocols and its ARNs; not in a service', () => {
    router.configure({ mode: 'priority' });
    router.hold(here(PRIORITY));
    const bgp = frame(withDscp(ipv6([H1, H2], 6, new Uint8Array(60)), 24));
    expect([router.send(bgp), router.leave(bgp)]).toEqual([0, CLASS]);
    router.flowControl.classes.removeHold(here(PRIORITY));
    router.configure({ mode: 'service' });
    router.hold(here(SERVICE));
    expect(router.send(srv6)).toBe(CLASS);
  });

  test('a packet that cannot be read is counted once, also where queues are watched', () => {
    router.configure({ mode: 'flow' });
    router.portTable.setWatched(new Map([[out(), router.queued - 1]]));
    router.hold(here(FLOW));
    expect(router.leave(frame(ipv6(PE, 43, srh(41, 0, [PE2], data()))).subarray(0, 14 + 40 + 12))).toBe(0);
    expect(router.count('flow-control.unparseable')).toBe(1);
  });

  test('at a port without classes, and while flow control is off', () => {
    router.hold(here(SERVICE));
    router.portTable.removePort(out());
    expect(router.leave(srv6)).toBe(0);
    router.hold(here(SERVICE));
    router.object.map('flow_control_config').update(new Uint8Array(4), new Uint8Array(96));
    expect(router.leave(srv6)).toBe(0);
  });
});

describe('a hold of traffic and its end', () => {
  test('expires when no agent renews it', () => {
    router.hold(here(SERVICE), 1, process.hrtime.bigint());
    expect(router.leave(srv6)).toBe(0);
    expect(router.count('hold.expired')).toBe(1);
    router.hold(here(SERVICE));
    expect(router.leave(srv6)).toBe(CLASS);
  });

  test('goes on into the class until that is empty, and straight from then on', () => {
    router.hold(here(SERVICE));
    router.leave(srv6);
    const untilNs = process.hrtime.bigint() + 3_600_000_000_000n;
    const leaving = (drained: bigint): void =>
      router.flowControl.classes.setHold(1, here(SERVICE), { phase: 'leaving', drained, untilNs });
    leaving(0n);
    expect(router.leave(srv6)).toBe(CLASS);
    leaving(2n);
    expect(router.leave(srv6)).toBe(0);
    expect(router.flowControl.classes.record(here(SERVICE))).toMatchObject({ entered: 2n, released: true });
  });

  test(`${FLOW_CONTROL_SLOTS} holds of traffic have a class of their own behind those of flows`, () => {
    const to = (n: number) => ({ family: 6, value: BigInt(n) }) as const;
    const service = (n: number): HeldTraffic => here({ ...SERVICE, destination: to(n) });
    const untilNs = process.hrtime.bigint() + 3_600_000_000_000n;
    const hold = { phase: 'held', drained: 0n, untilNs } as const;
    for (let n = 0; n < FLOW_CONTROL_SLOTS; n++) router.flowControl.classes.setHold(n + 1, service(n), hold);
    router.portTable.setPort(out(), ROOT);
    const classOf = (n: number): number => router.leave(frame(other(PE1, to(n)))) & 0xffff;
    expect([0, 1, FLOW_CONTROL_SLOTS - 1, FLOW_CONTROL_SLOTS].map(classOf)).toEqual([0x5000, 0x5001, 0x5fff, 0]);
    expect(() => router.flowControl.classes.setHold(FLOW_CONTROL_SLOTS + 1, here(FLOW), hold)).toThrow(RangeError);
    expect(minorOf('enforce', ENFORCE_SLOTS) + 1).toBe(minorOf('flow-control', 1));
    expect(new HoldTable(router.object).size).toBe(FLOW_CONTROL_SLOTS);
  });
});

describe('a class that is full', () => {
  const full = (isFull: boolean): boolean => router.flowControl.setFull(here(SERVICE), isFull);

  test('has packets reported that enter it, until it is full no more, whatever the queue of the port', () => {
    router.hold(here(SERVICE));
    expect(router.pass(srv6)).toEqual([]);
    expect(full(true)).toBe(true);
    expect(router.pass(srv6)).toMatchObject([
      { traffic: SERVICE, ingress: router.ifindex['t-fc-in'], egress: out(), reason: 'held', depth: 0 },
    ]);
    expect([router.pass(srv6), router.count('flow-control.suppressed')]).toEqual([[], 1]);
    full(false);
    router.forget(SERVICE, 'held');
    expect(router.pass(srv6)).toEqual([]);
  });

  test('stays full when its hold is renewed, and is not when it is given to traffic anew', () => {
    router.hold(here(SERVICE));
    full(true);
    router.hold(here(SERVICE));
    expect(router.pass(srv6).length).toBe(1);
    router.flowControl.classes.removeHold(here(SERVICE));
    expect(full(true)).toBe(false);
    router.hold(here(SERVICE));
    router.forget(SERVICE, 'held');
    expect(router.pass(srv6)).toEqual([]);
  });

  test('is reported beside another one, and beside the queue of its port, that the same traffic fills', () => {
    const beside = { traffic: SERVICE, egress: router.ifindex['t-fc-beside'] };
    router.hold(here(SERVICE));
    full(true);
    expect(router.pass(srv6)).toMatchObject([{ egress: out(), reason: 'held' }]);
    router.flowControl.classes.removeHold(here(SERVICE));
    router.hold(beside);
    router.flowControl.setFull(beside, true);
    router.leave(srv6, 't-fc-beside');
    expect(router.reports()).toMatchObject([{ egress: beside.egress, reason: 'held' }]);
    router.portTable.setWatched(new Map([[out(), router.queued - 1]]));
    router.flowControl.setPortHeld(out(), 0, router.flowControl.enteredBytes(out()));
    expect(router.pass(srv6)).toMatchObject([{ egress: out(), reason: 'queue' }]);
    expect(router.count('flow-control.suppressed')).toBe(0);
  });

  test('names what arrives, not what leaves', () => {
    router.hold(here(SERVICE));
    full(true);
    expect(router.pass(frame(other(PE1, VIA)), srv6)).toMatchObject([{ traffic: { ...SERVICE, destination: VIA } }]);
  });
});

describe('what is held at a port does not count as its queue', () => {
  beforeEach(() => {
    router.portTable.setWatched(new Map([[out(), router.queued - 1000]]));
    router.hold(here({ ...SERVICE, destination: VIA }));
  });
  const filled = (): number[] => {
    router.forget(SERVICE, 'queue');
    return router.pass(srv6).map(({ depth }) => depth);
  };

  test('held bytes are subtracted, down to nothing', () => {
    expect(filled()).toEqual([router.queued]);
    router.flowControl.setPortHeld(out(), 999, 0n);
    expect(filled()).toEqual([router.queued - 999]);
    router.flowControl.setPortHeld(out(), 1000, 0n);
    expect(filled()).toEqual([]);
    router.flowControl.setPortHeld(out(), 2 * router.queued, 0n);
    expect(filled()).toEqual([]);
  });

  test('what has entered since the agent looked counts as held, until it looks again', () => {
    const entered = frame(other(PE1, VIA));
    router.leave(entered);
    expect(router.flowControl.enteredBytes(out())).toBe(BigInt(entered.length));
    expect(filled()).toEqual([]);
    router.flowControl.setPortHeld(out(), 0, router.flowControl.enteredBytes(out()));
    expect(filled()).toEqual([router.queued]);
    router.leave(entered);
    expect(filled()).toEqual([]);
    router.flowControl.setPortHeld(out(), 100, router.flowControl.enteredBytes(out()));
    expect(filled()).toEqual([router.queued - 100]);
  });

  test('once the port has no classes, nothing of its queue is held', () => {
    router.leave(frame(other(PE1, VIA)));
    router.flowControl.setPortHeld(out(), 5000, 0n);
    router.portTable.removePort(out());
    expect(filled()).toEqual([router.queued]);
  });
});
