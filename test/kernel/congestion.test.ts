// The agent's part in an episode of congestion, on the real kernel: a TBF queue that drains, a Linux host that does not
// know the Fast CNP option.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type CongestionLoop,
  type CongestionDependencies,
  type CongestionSettings,
  createCongestionLoop,
} from '../../src/congestion/congestion.edge.ts';
import { sentNotification } from '../../src/congestion/sent-notification.fixture.ts';
import { CODES, LONG_HAUL } from '../../src/kernel/dataplane/notice-config.fixture.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { Rtnetlink } from '../../src/kernel/netlink/rtnetlink.ts';
import { RoutesBack } from '../../src/kernel/netlink/routes-back.ts';
import { openPacketSocket } from '../../src/kernel/packet-socket.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { ReversePath } from '../../src/kernel/reverse-path.ts';
import { type RawSocket, openRawSocket } from '../../src/kernel/raw-socket.ts';
import { address, addressFromBytes, formatAddress, sameAddress } from '../../src/model/address.ts';
import { systemClock } from '../../src/model/clock.ts';
import { silentLog } from '../../src/model/log.ts';
import { decodeLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../src/packet/icmpv6/message.ts';
import { buildParameterProblem } from '../../src/packet/icmpv6/parameter-problem.ts';
import { encodeUdpPacket } from '../../src/packet/ip/udp.ts';
import { buildFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { readLongHaulRoce } from '../../src/packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../src/packet/roce/packet.ts';
import { decapsulate } from '../../src/packet/srv6/encapsulation.ts';
import { dissect } from '../support/tshark.ts';
import { inNetns, ip } from '../support/netns.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

const LIMIT_MS = 40_000;
const HOST = address('2001:db8:1::1');
const HOST4 = address('198.51.100.1');
const NODE = address('2001:db8:ffff::2');
const RECEIVER = address('2001:db8:2::1');
const K_MIN = 50_000;

let errors: unknown[];
let poller: Poller;
/** The congested node, and the host on its other side. */
let node: Netns;
let host: Netns;
let rtnetlink: Rtnetlink;
let loop: CongestionLoop | undefined;
let raw: RawSocket;
/** What the host's interface sees arrive. */
let arrived: Uint8Array[];
let counters: Record<string, number>;
let refused: string[];
let readings: number;
let port: number;
let routesBack: RoutesBack | undefined;

beforeEach(async () => {
  [errors, arrived, refused, counters, readings] = [[], [], [], {}, 0];
  poller = Poller.open({ onError: (error) => errors.push(error) });
  [node, host] = [Netns.create(), Netns.create()];
  for (const ns of [node, host]) inNetns(ns, 'sysctl', '-qw', 'net.ipv6.conf.default.accept_dad=0');
  ip(node, `link add t-c-node type veth peer name t-c-host netns ${host.path}`);
  ip(node, 'link add t-c-port type veth peer name t-c-sink');
  for (const [ns, line] of [
    [node, 'link set lo up'],
    [node, 'link set t-c-node up'],
    [host, 'link set lo up'],
    [host, 'link set t-c-host up'],
    [node, 'link set t-c-port up'],
    [node, 'link set t-c-sink up'],
    [node, 'addr add 2001:db8:ffff::2/128 dev lo'],
    [node, 'addr add 192.0.2.2/32 dev lo'],
    [node, 'addr add 2001:db8:1::ff/64 dev t-c-node nodad'],
    [node, 'addr add 198.51.100.254/24 dev t-c-node'],
    [node, 'route add 2001:db8:c::/48 via 2001:db8:1::1'],
    [host, 'addr add 2001:db8:1::1/64 dev t-c-host nodad'],
    [host, 'addr add 198.51.100.1/24 dev t-c-host'],
    [host, 'route add 2001:db8:ffff::2/128 via 2001:db8:1::ff'],
    [node, 'addr add 2001:db8:2::ff/64 dev t-c-port nodad'],
    [node, 'neigh add 2001:db8:2::1 lladdr 02:00:00:00:00:02 dev t-c-port'],
  ] as const)
    ip(ns, line);
  rtnetlink = Rtnetlink.open({ netns: node }, { poller });
  port = (await rtnetlink.link('t-c-port'))!.ifindex;
  // 800 kbit/s: 150 kB take a second and a half.
  await rtnetlink.setTbf({ ifindex: port, rate: 100_000n, burst: 2000, limit: 1_000_000 });
  raw = openRawSocket({ family: 6, netns: node, sendBuffer: 4 << 20 });
  const onFrame = (frame: Uint8Array): void => void arrived.push(frame.slice());
  openPacketSocket({ interface: 't-c-host', netns: host }, { poller, onFrame, onError: (e) => errors.push(e) });
});

afterEach(() => {
  loop?.stop();
  loop = undefined;
  raw.close();
  routesBack?.close();
  rtnetlink.close();
  poller.close();
  node.close();
  host.close();
  expect(errors).toEqual([]);
});

const SETTINGS = (): CongestionSettings => ({
  source4: address('192.0.2.2'),
  source6: NODE,
  fastCnp: CODES,
  longHaul: { ...LONG_HAUL, disclose: true, timestamp: true, deviceId: 'p1' },
  ports: [{ ifindex: port, kMin: K_MIN, kMax: 2 * K_MIN, rttNs: 50_000_000, perFlowIntervalNs: 50_000_000 }],
  resume: { level: 20, parameter: 50 },
});

function start(): CongestionLoop {
  const routes = (routesBack = RoutesBack.open(node));
  const dependencies: CongestionDependencies = {
    poller,
    clock: systemClock,
    log: silentLog,
    netns: node,
    rtnetlink: { qdiscs: () => (readings++, rtnetlink.qdiscs()) },
    count: (name, by = 1) => void (counters[name] = (counters[name] ?? 0) + by),
    reversePath: new ReversePath({
      waysTo: (to) => routes.waysTo(to),
      now: systemClock.now,
      count: () => {},
    }),
    claimResume: () => 'granted',
    onRefusal: (at, format) => refused.push(`${formatAddress(at)} ${format}`) === 1,
  };
  return (loop = createCongestionLoop(SETTINGS(), dependencies));
}

const depth = async (): Promise<number> =>
  (await rtnetlink.qdiscs(port)).find((q) => q.kind === 'tbf')!.stats.backlogBytes;

/** 150 packets of a kilobyte into the queue of the port. */
async function congest(): Promise<void> {
  const packet = encodeUdpPacket({
    source: HOST,
    destination: RECEIVER,
    sourcePort: 0xc000,
    destinationPort: 9,
    checksum: true,
    payload: new Uint8Array(938),
  });
  for (let i = 0; i < 150; i++) raw.send(packet);
  expect(await depth()).toBeGreaterThan(2 * K_MIN);
}

const instructed = (more = {}) =>
  sentNotification({ atNs: process.hrtime.bigint(), ifindex: port, source: HOST, destination: RECEIVER, ...more });
/** IPv6 frames whose source is the node's loopback. */
const fromNode = (): Uint8Array[] =>
  arrived.filter((f) => ((f[12]! << 8) | f[13]!) === 0x86dd && sameAddress(addressFromBytes(f.subarray(22, 38)), NODE));

describe('Resume', () => {
  test('LHCNP-5.5.1-i: is sent once the real queue was below K_min for an RTT, to the sender that was instructed to slow down; then nothing is read any more', async () => {
    start();
    expect(readings).toBe(0);
    await congest();
    loop!.notified(instructed());
    await until('the queue is being read', () => readings, moreThan(3), LIMIT_MS);
    expect(fromNode()).toEqual([]);
    await until('the Resume', () => fromNode().length, moreThan(0), LIMIT_MS);
    expect(await depth()).toBeLessThan(K_MIN);
    const parsed = parseIcmpv6(fromNode()[0]!.subarray(14));
    if (!parsed.ok) throw new Error(parsed.error.detail);
    const cnp = decodeLongHaulIcmpv6(parsed.value.message, { type: 200, objectClass: 247 });
    if (!cnp.ok) throw new Error(cnp.error.detail);
    expect(cnp.value).toMatchObject({
      level: 20,
      action: 'resume',
      parameter: 50,
      sourceQpn: 100,
      metric: { type: 1 },
    });
    expect(cnp.value.metric.value).toBeLessThan(K_MIN / 1000);
    const [record] = dissect('ethernet', fromNode(), [
      'ipv6.src',
      'ipv6.dst',
      'ipv6.hlim',
      'icmpv6.type',
      'icmpv6.code',
      'icmpv6.checksum.status',
    ] as const);
    expect(record).toMatchObject({
      'ipv6.src': ['2001:db8:ffff::2'],
      'ipv6.dst': ['2001:db8:1::1'],
      'ipv6.hlim': ['64'],
      'icmpv6.type': ['200'],
      'icmpv6.code': ['0'],
      'icmpv6.checksum.status': ['1'],
    });
    // The last reading found no flow that waits for a Resume: no other is running or scheduled.
    const after = readings;
    await congest();
    expect({ readings, resumesSent: counters['congestion.resume.sent'], received: fromNode().length }).toEqual({
      readings: after,
      resumesSent: 1,
      received: 1,
    });
    const sent = loop!.notifications().map((n) => n.value);
    expect(sent.map((n) => [n.reason, n.action, n.ifindex, formatAddress(n.source)])).toEqual([
      ['resume', 'resume', port, '2001:db8:1::1'],
      ['queue-depth', 'rate-reduce', port, '2001:db8:1::1'],
    ]);
  });

  test('FCN-4.2.2-d: goes back through END.CON when the flow came through one; an IPv4 flow gets the RoCEv2 form', async () => {
    start();
    loop!.notified(instructed({ endCon: address('2001:db8:c::1') }));
    loop!.notified(
      instructed({
        source: HOST4,
        destination: address('198.51.101.1'),
        format: 'long-haul-roce',
        endCon: address('2001:db8:c::1'),
      }),
    );
    await until('both', () => fromNode().length, is(2), LIMIT_MS);
    const inner = fromNode().map((frame) => {
      const unwrapped = decapsulate(frame.subarray(14));
      if (!unwrapped.ok) throw new Error(unwrapped.error.detail);
      expect(formatAddress(unwrapped.value.outer.destination)).toBe('2001:db8:c::1');
      return unwrapped.value.inner;
    });
    expect(parseIcmpv6(inner[0]!)).toMatchObject({ ok: true, value: { type: 200, destination: HOST } });
    const roce = parseRocePacket(inner[1]!);
    if (!roce.ok) throw new Error(roce.error.detail);
    expect(formatAddress(roce.value.destination)).toBe('198.51.100.1');
    expect(readLongHaulRoce(roce.value, 247)).toMatchObject({
      ok: true,
      value: { action: 'resume', parameter: 50, sourceQpn: 100 },
    });
  });

  test('LHCNP-4-a: straight to an IPv4 sender from the IPv4 loopback', async () => {
    start();
    loop!.notified(instructed({ source: HOST4, destination: address('198.51.101.1'), format: 'long-haul-roce' }));
    const ipv4 = (): Uint8Array | undefined => arrived.find((f) => ((f[12]! << 8) | f[13]!) === 0x0800);
    await until(
      'an IPv4 packet',
      () => arrived.length,
      () => ipv4(),
      LIMIT_MS,
    );
    const roce = parseRocePacket(ipv4()!.subarray(14));
    if (!roce.ok) throw new Error(roce.error.detail);
    const { source, destination, icrcValid } = roce.value;
    expect({ source: formatAddress(source), destination: formatAddress(destination), icrcValid }).toEqual({
      source: '192.0.2.2',
      destination: '198.51.100.1',
      icrcValid: true,
    });
  });

  test('after a restart, a sender that the run before notified a moment ago is resumed; one notified long ago, or not instructed to slow down, is not', async () => {
    start();
    const flow = (destinationQpn: number, more: object) => {
      const { source, destination, ifindex, ...rest } = instructed({ destinationQpn, ...more });
      return { source, destination, destinationQpn, ifindex, datagram: false, lastNotification: rest };
    };
    loop!.adopt([
      flow(1, {}),
      flow(2, { atNs: process.hrtime.bigint() - 61_000_000_000n }),
      flow(3, { action: 'notify' }),
      flow(4, { format: 'fast-cnp', action: null }),
      { ...flow(5, {}), lastNotification: null },
    ]);
    loop!.notified(instructed({ destinationQpn: 6, atNs: process.hrtime.bigint() - 6_000_000_000n }));
    await until('no flow waits for a Resume', () => counters['congestion.resume.sent'] ?? 0, atLeast(1), LIMIT_MS);
    expect(
      loop!
        .notifications()
        .filter(({ value: sent }) => sent.reason === 'resume')
        .map(({ value: sent }) => sent.destinationQpn),
    ).toEqual([1]);
  });

  test('a sender that cannot be reached is counted and does not keep the others waiting', async () => {
    start();
    ip(node, 'route add unreachable 2001:db8:9::/48');
    loop!.notified(instructed({ source: address('2001:db8:9::1') }));
    loop!.notified(instructed());
    await until('the other one', () => fromNode().length, is(1), LIMIT_MS);
    expect(counters).toMatchObject({ 'congestion.resume.send-failed': 1, 'congestion.resume.sent': 1 });
  });
});

describe('FCNP-4-j: a Linux host that does not know the Fast CNP option', () => {
  const fastCnp = (destQpn: number): Uint8Array =>
    buildFastCnp({
      source: NODE,
      destination: HOST,
      sourcePort: 0xc000,
      destQpn,
      originalDestination: RECEIVER,
      trace: undefined,
      codes: CODES,
    });
  const SENT = { format: 'fast-cnp', action: null, destinationQpn: 200 } as const;

  test('answers Parameter Problem by itself, and is believed', async () => {
    start();
    loop!.notified(instructed(SENT));
    raw.send(fastCnp(200));
    await until('the refusal', () => refused.length, is(1), LIMIT_MS);
    expect(refused).toEqual(['2001:db8:1::1 fast-cnp']);
    expect(counters).toEqual({ 'congestion.parameter-problem.believed': 1 });
  });

  test('a forged one that quotes nothing of ours is ignored and counted', async () => {
    start();
    loop!.notified(instructed(SENT));
    const forger = openRawSocket({ family: 6, netns: host });
    const forge = (invoking: Uint8Array): void =>
      forger.send(buildParameterProblem({ source: HOST, destination: NODE }, { code: 2, pointer: 42, invoking }));
    forge(fastCnp(201));
    forge(
      encodeUdpPacket({
        source: NODE,
        destination: HOST,
        sourcePort: 1,
        destinationPort: 2,
        checksum: true,
        payload: new Uint8Array(8),
      }),
    );
    forge(new Uint8Array());
    await until('all are counted', () => Object.values(counters).reduce((sum, n) => sum + n, 0), is(3), LIMIT_MS);
    expect({ refused, counters }).toEqual({
      refused: [],
      counters: {
        'congestion.parameter-problem.unknown': 1,
        'congestion.parameter-problem.other': 1,
        'congestion.parameter-problem.malformed': 1,
      },
    });
    forge(fastCnp(200));
    await until('the good one is believed', () => refused.length, is(1), LIMIT_MS);
    forger.close();
  });

  test('one from a port to which no route leads back is not believed, whatever it quotes, and counted', async () => {
    start();
    loop!.notified(instructed(SENT));
    ip(node, `-6 route add unreachable ${formatAddress(HOST)}/128`);
    const forger = openRawSocket({ family: 6, netns: host });
    forger.send(
      buildParameterProblem({ source: HOST, destination: NODE }, { code: 2, pointer: 42, invoking: fastCnp(200) }),
    );
    await until('it was looked at', () => Object.keys(counters).length, moreThan(0), LIMIT_MS);
    expect({ refused, counters }).toEqual({
      refused: [],
      counters: { 'congestion.parameter-problem.reverse-path': 1 },
    });
    forger.close();
  });

  test('a node that sends no Fast CNP does not listen', async () => {
    const { fastCnp: _none, ...without } = SETTINGS();
    start().configure(without);
    raw.send(fastCnp(200));
    await until('the packet arrived', () => arrived.length, moreThan(0), LIMIT_MS);
    loop!.configure(SETTINGS());
    loop!.notified(instructed(SENT));
    raw.send(fastCnp(200));
    await until('the second is believed', () => refused.length, is(1), LIMIT_MS);
    expect(counters).toEqual({ 'congestion.parameter-problem.believed': 1 });
  });
});
