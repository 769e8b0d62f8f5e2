// The software RoCE endpoint as a sender that understands notifications of nodes on the way: a router in the middle
// notifies it, in real packets over real interfaces, and its traffic is measured where it arrives.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Netns } from '../../src/kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { openRawSocket } from '../../src/kernel/raw-socket.ts';
import { type IpAddress, address } from '../../src/model/address.ts';
import { buildLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../src/packet/icmpv6/message.ts';
import { type LongHaulCnp, UNDISCLOSED } from '../../src/packet/long-haul/body.ts';
import { buildFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce } from '../../src/packet/roce/long-haul-cnp.ts';
import {
  type EndpointEvent,
  EndpointLab,
  type RunningEndpoint,
  behindRouter,
  eventIn,
} from './support/endpoint-lab.ts';
import { ownLabName } from './support/network.ts';
import { atLeast, until } from '../support/until.ts';

const NAME = await ownLabName('t-lab-feedback');
const H1 = { 4: address('10.0.1.2'), 6: address('2001:db8:1::2') };
const H2 = { 4: '10.0.2.2', 6: '2001:db8:2::2' };
const NODE = { 4: address('10.255.0.1'), 6: address('2001:db8:ffff::1') };
const ALL = [
  '--understands',
  'fast-cnp,long-haul-icmpv6,long-haul-roce',
  '--known-nodes',
  '2001:db8:ffff::/48,10.255.0.0/24',
];
const LIMIT_MS = 60_000;

let lab: EndpointLab;
let poller: Poller;
let router: Netns;
let wire: PacketSocket;
/** Types of the ICMPv6 errors that h1 sent. */
let fromH1: number[];

beforeAll(async () => {
  const loopbacks = ['2001:db8:ffff::1/128', '10.255.0.1/32'];
  lab = await EndpointLab.up(NAME, behindRouter('5ms', { sysctls: ['net.ipv6.icmp.ratelimit: 0'], loopbacks }));
});

afterAll(() => lab?.down());

beforeEach(() => {
  fromH1 = [];
  poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  router = Netns.open(lab.lab.netnsPath('r'));
  wire = openPacketSocket(
    { interface: 'eth1', netns: router, protocol: 0x86dd },
    {
      poller,
      onError: (error) => {
        throw error;
      },
      onFrame: (frame) => {
        const message = parseIcmpv6(frame.subarray(14));
        if (message.ok && message.value.type < 128) fromH1.push(message.value.type);
      },
    },
  );
});

afterEach(async () => {
  await lab.killAll();
  wire.close();
  router.close();
  poller.close();
});

interface Connection {
  readonly sender: RunningEndpoint;
  readonly listener: RunningEndpoint;
  readonly qpn: number;
  readonly peerQpn: number;
}

/** h1 sends to h2 at 10 Mbit/s until it is ordered to end, and has measured its RTT. */
async function connected(family: 4 | 6, options: readonly string[]): Promise<Connection> {
  const listener = lab.run('h2', ['listen', '--interface', 'eth1', '--address', H2[family], '--cnp-interval', 'off']);
  await listener.seen('the listener', (e) => e.event === 'ready');
  const h1 = family === 6 ? '2001:db8:1::2' : '10.0.1.2';
  const ends = ['--interface', 'eth1', '--address', h1, '--peer', H2[family]];
  const sender = lab.run('h1', [
    'send',
    ...ends,
    '--rate',
    '10mbit',
    '--duration',
    '120s',
    '--report',
    '20ms',
    ...options,
  ]);
  const { qpn, peerQpn } = await sender.seen('a connection', (e) => e.event === 'connected');
  await sender.seen('an acknowledgement', (e) => e.event === 'rate' && e['rttMs'] !== null);
  return { sender, listener, qpn: Number(qpn), peerQpn: Number(peerQpn) };
}

async function summary({ sender, listener }: Connection): Promise<EndpointEvent> {
  await sender.end();
  await listener.end();
  return eventIn(sender.events, 'summary');
}

function send(packet: Uint8Array): void {
  const raw = openRawSocket({ family: packet[0]! >>> 4 === 4 ? 4 : 6, netns: router });
  raw.send(packet);
  raw.close();
}

const ends = (
  family: 4 | 6,
  source: IpAddress = NODE[family],
): { source: IpAddress; destination: IpAddress; sourcePort: number } => ({
  source,
  destination: H1[family],
  sourcePort: 0xc001,
});
const order = (qpn: number, action: LongHaulCnp['action'], parameter: number): LongHaulCnp => ({
  level: 180,
  action,
  parameter,
  sourceQpn: qpn,
  metric: UNDISCLOSED,
  objects: [],
});
const icmpv6 = (cnp: LongHaulCnp, source?: IpAddress): Uint8Array =>
  buildLongHaulIcmpv6({ ...ends(6, source), cnp, codes: { type: 200, objectClass: 247 } });
const roce = (family: 4 | 6, cnp: LongHaulCnp): Uint8Array =>
  buildLongHaulRoce({ ...ends(family), cnp, objectClass: 247 });
const fastCnp = (destQpn: number): Uint8Array =>
  buildFastCnp({
    ...ends(6),
    originalDestination: address(H2[6]),
    trace: undefined,
    destQpn,
    codes: { option: 0x9e, ioamOption: 0x9e, icrc: 'cover' },
  });

const accepted =
  (format: string, action?: string) =>
  (e: EndpointEvent): boolean =>
    e.event === 'feedback' &&
    e['accepted'] === true &&
    e['format'] === format &&
    (action === undefined || e['action'] === action);
/** A report of the rate after the one that the notification set. */
const reportedRate = (connection: Connection, bps: number): Promise<EndpointEvent> =>
  connection.sender.seen(`a rate of ${bps}`, (e) => e.event === 'rate' && Math.abs(Number(e['rateBps']) - bps) < 1);

test('A8, FCNP-4-n, LHCNP-5.6-d: the sender acts upon all three formats from the router, and its kernel answers none of them', async () => {
  // No recovery within the test.
  const connection = await connected(6, [
    ...ALL,
    '--reaction',
    'dcqcn',
    '--increase-interval',
    '600s',
    '--increase-bytes',
    '1000mB',
    '--rtt',
    '60s',
  ]);
  send(icmpv6(order(connection.qpn, 'rate-reduce', 30)));
  await connection.sender.seen('the ICMPv6 form', accepted('long-haul-icmpv6'));
  await reportedRate(connection, 7e6);
  send(roce(6, order(connection.qpn, 'resume', 50)));
  await connection.sender.seen('the RoCEv2 form', accepted('long-haul-roce'));
  await reportedRate(connection, 8.5e6);
  send(fastCnp(connection.peerQpn));
  await connection.sender.seen('the Fast CNP', accepted('fast-cnp'));
  await reportedRate(connection, 5e6);
  const end = await summary(connection);
  expect(end).toMatchObject({
    reason: 'done',
    cnps: 0,
    feedback: { 'fast-cnp': { accepted: 1 }, 'long-haul-icmpv6': { accepted: 1 }, 'long-haul-roce': { accepted: 1 } },
  });
  expect(end['firstFeedbackAfterMs']).toBe(
    (end['feedback'] as Record<string, { firstAfterMs: number }>)['long-haul-icmpv6']!.firstAfterMs,
  );
  expect(fromH1).toEqual([]);
});

test('an IPv4 sender is notified in the RoCEv2 form', async () => {
  const connection = await connected(4, [...ALL, '--rtt', '60s']);
  send(roce(4, order(connection.qpn, 'rate-reduce', 40)));
  await connection.sender.seen('the RoCEv2 form', accepted('long-haul-roce'));
  await reportedRate(connection, 6e6);
  expect(await summary(connection)).toMatchObject({ reason: 'done', instructions: { reductions: 1 } });
});

test('A7: stopped by Reduce 100, it sends again by itself after two round trips; what arrives at the receiver is complete', async () => {
  const connection = await connected(6, [...ALL, '--rtt', '100ms', '--recovery-step', '5mbit', '--timeout', '20s']);
  send(roce(6, order(connection.qpn, 'rate-reduce', 100)));
  const stopped = await connection.sender.seen('the reduction', accepted('long-haul-roce', 'rate-reduce'));
  expect(stopped['rateBps']).toBe(0);
  const recovering = await connection.sender.seen(
    'recovery',
    (e) => e.event === 'rate' && Number(e['t']) > Number(stopped['t']) && Number(e['rateBps']) > 0,
  );
  // Two round trips from the order's arrival; its line is written a little later than that, on a busy machine by some
  // milliseconds.
  expect(Number(recovering['t']) - Number(stopped['t'])).toBeGreaterThan(150);
  await connection.sender.seen(
    'the normal rate',
    (e) => e.event === 'rate' && Number(e['t']) > Number(recovering['t']) && Number(e['rateBps']) === 10e6,
  );
  const end = await summary(connection);
  expect(end).toMatchObject({ reason: 'done', retransmitted: 0 });
  expect(connection.listener.events.find((e) => e.event === 'summary')).toMatchObject({
    packets: end['acknowledged'],
    outOfOrder: 0,
  });
});

test('LHCNP-5.6-a, LHCNP-5.6-b, LHCNP-9-a: a stranger’s order and one for another Queue Pair are refused and counted', async () => {
  const connection = await connected(6, ALL);
  send(icmpv6(order(connection.qpn, 'pause', 60_000), address('2001:db8:1::1')));
  send(icmpv6(order(connection.qpn ^ 1, 'pause', 60_000)));
  send(icmpv6(order(connection.qpn, 'notify', 0)));
  await connection.sender.seen('the last of them', accepted('long-haul-icmpv6', 'notify'));
  const refused = { 'unknown-node': 1, 'unknown-queue-pair': 1 };
  expect(await summary(connection)).toMatchObject({
    instructions: { pauses: 0 },
    feedback: { 'long-haul-icmpv6': { accepted: 1, refused } },
  });
});

/** Sends Fast CNPs until h1's kernel answers one. @returns the types of the ICMPv6 errors that h1 has sent */
async function answers({ peerQpn }: { readonly peerQpn: number }): Promise<number[]> {
  const errors = (): number => (send(fastCnp(peerQpn)), fromH1.length);
  await until('an error', errors, atLeast(1), LIMIT_MS);
  return [...new Set(fromH1)];
}

test('killed, the endpoint leaves nothing behind: the kernel answers Fast CNPs again', async () => {
  const connection = await connected(6, ALL);
  send(fastCnp(connection.peerQpn));
  await connection.sender.seen('the Fast CNP', accepted('fast-cnp'));
  expect(fromH1).toEqual([]);
  await connection.sender.kill();
  expect(await answers(connection)).toEqual([4]);
  await connection.listener.end();
});

test('LHCNP-8-b, FCNP-4-j: a sender that is not configured to understand anything is a plain Linux host: silence for ICMPv6, Parameter Problem for Fast CNP', async () => {
  const connection = await connected(6, ['--reaction', 'dcqcn']);
  send(icmpv6(order(connection.qpn, 'rate-reduce', 100)));
  send(roce(6, order(connection.qpn, 'rate-reduce', 100)));
  expect(await answers(connection)).toEqual([4]);
  expect(await summary(connection)).toMatchObject({ reason: 'done', cnps: 0, reductions: 0 });
});
