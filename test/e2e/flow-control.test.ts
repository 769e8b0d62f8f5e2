// Precise flow control (FCN §4.1) as a whole: the queue of p's port to h2 fills, p asks leaf by an ARN, leaf holds the
// flow at its port to p. The IGP's routes tell p who is upstream. Programs and classes are in test/bpf/flow-control,
// services and more routers in containerlab/precise-flow-control.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type IpAddress, address, isLinkLocal } from '../../src/model/address.ts';
import type { Traffic } from '../../src/model/flow-control.ts';
import { arnFor } from '../../src/flow-control/received-arn.ts';
import { type Arn, decodeArn } from '../../src/packet/arn/arn.ts';
import { decodeUdp, encodeUdpPacket, udpChecksum } from '../../src/packet/ip/udp.ts';
import { openUdpSocket } from '../../src/kernel/datagram-socket.ts';
import { interfaceIndex } from '../../src/kernel/ffi/libc.ts';
import { Netns } from '../../src/kernel/netns.ts';
import { Poller } from '../../src/kernel/poller.ts';
import { atLeast, is, until } from '../support/until.ts';
import { CongestedLine } from './support/congested.ts';
import { base } from './support/line.ts';
import type { Row } from './support/network.ts';
import { type Flow, type Port, rocePackets } from './support/port.ts';
import { sourcePortOf } from '../../src/lab/roce/wire.ts';

const ARN_PORT = 1022;
const ROCE_PORT = 4791;
const [IPV6, UDP] = [40, 17];

const routerOf = (name: 'leaf' | 'p'): object => ({ router: (base(name) as { router: object }).router });
/** Long enough to be looked at: a queue of 40 kB takes three seconds, and 15 frames a second leave a paused class. */
const p = (more: object = {}): object => ({
  ...routerOf('p'),
  'flow-control': {
    ...{ mode: 'flow', interfaces: ['eth1'], pause: '1s', 'longest-pause': '1s', watchdog: '60s' },
    watch: [{ interface: 'eth2', 'pause-above': '40kB', 'resume-below': '10kB' }],
    ...more,
  },
});
const leaf = (more: object = {}): object => ({
  ...routerOf('leaf'),
  'flow-control': {
    ...{ mode: 'flow', hold: ['eth2'], 'accept-from': ['fe80::/10'], bandwidth: '1Mbit' },
    ...{ 'longest-pause': '2s', watchdog: '60s', ...more },
  },
});

let line: CongestedLine;
/** What arrives at p from leaf; and at leaf from p. */
let atP: Port;
let atLeaf: Port;
beforeAll(async () => {
  line = await CongestedLine.up();
  atP = await line.port('p:eth1', 'leaf:eth2');
  atLeaf = await line.port('leaf:eth2', 'p:eth1');
  await line.p.start(p());
  await line.leaf.start(leaf());
});
afterAll(() => line?.down());
beforeEach(() => line.clear());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(line.net.logs());
  for (const router of [line.leaf, line.p])
    if (router.running) expect(await router.counter('daemon.unexpected-error')).toBe(0);
});

interface ReceivedArn {
  readonly source: IpAddress;
  readonly hopLimit: number;
  readonly trafficClass: number;
  readonly checksum: string;
  readonly arn: Arn;
}

/** The ARNs among packets; each other packet at their port is an error. */
const arnsIn = (packets: readonly Uint8Array[]): ReceivedArn[] =>
  packets.flatMap((packet) => {
    if (packet[0]! >> 4 !== 6 || packet[6] !== UDP) return [];
    const udp = decodeUdp(packet, IPV6);
    if (!udp.ok || udp.value.destinationPort !== ARN_PORT) return [];
    const arn = decodeArn(packet.subarray(IPV6 + 8));
    if (!arn.ok) throw new Error(`no ARN: ${arn.error.code}`);
    const [source, destination] = [bytesAt(packet, 8), bytesAt(packet, 24)];
    return {
      ...{ source, hopLimit: packet[7]!, trafficClass: ((packet[0]! & 15) << 4) | (packet[1]! >> 4), arn: arn.value },
      checksum: udpChecksum(packet, IPV6, udp.value.length, source, destination),
    };
  });
const bytesAt = (packet: Uint8Array, offset: number): IpAddress => ({
  family: 6,
  value: BigInt(`0x${Buffer.from(packet.subarray(offset, offset + 16)).toString('hex')}`),
});

const sourcePort = ({ ends }: Flow): number => sourcePortOf(ends.senderQpn, ends.receiverQpn);
const tupleOf = (flow: Flow) => ({
  ...{ source: flow.ends.source, destination: flow.ends.destination, protocol: UDP },
  ...{ sourcePort: sourcePort(flow), destinationPort: ROCE_PORT },
});
const trafficOf = (flow: Flow): Traffic => ({
  ...{ mode: 'flow', source: flow.ends.source, destination: flow.ends.destination },
  ...{ sourcePort: sourcePort(flow), destinationPort: ROCE_PORT },
});
const pausedOf = async (flow: Flow): Promise<Row | undefined> =>
  (await line.leaf.get('flow-control', 'paused')).find((row) => row['source-port'] === sourcePort(flow));
const stateOf = async (flow: Flow): Promise<unknown> => (await pausedOf(flow))?.['state'];
const psnsAtP = ({ ends }: Flow): number[] =>
  rocePackets(atP.packets).flatMap(({ bth }) => (bth.destQpn === ends.receiverQpn ? [bth.psn] : []));
const isInOrder = (psns: readonly number[]): boolean => psns.every((psn, i) => i === 0 || psn === psns[i - 1]! + 1);

test('FCN-4.1-a, FCN-4.1.2-a, FCN-4.1.2-c, FCN-4.1.2-e: leaf halts the flow that fills p’s queue and no other, and lets it go on in order when the queue is empty', async () => {
  await line.rate('100kbit');
  const flow = line.flow();
  const other = line.flow();
  await line.congest('leaf has paused the flow', flow, () => stateOf(flow), is('paused'));
  // What leaf has done may be seen before what it was told.
  const asked = await until(
    'the ARN is seen',
    () => arnsIn(atLeaf.packets),
    ([first]) => first,
  );
  expect(asked).toMatchObject({
    ...{ hopLimit: 255, trafficClass: 0xc0, checksum: 'valid' },
    arn: { type: 'congestion', flow: tupleOf(flow), pauseUs: 1_000_000 },
  });
  expect(isLinkLocal(asked.source)).toBe(true);
  expect(await line.p.get('flow-control', 'asked')).toMatchObject([
    { ingress: 'eth1', interface: 'eth2', reason: 'queue', 'source-port': sourcePort(flow) },
  ]);
  // What is sent now waits at leaf; what another flow sends does not.
  flow.send(100);
  other.send(5);
  await until('the other flow is at p', () => psnsAtP(other).length, atLeast(5));
  expect(await stateOf(other)).toBeUndefined();
  expect(psnsAtP(flow).length).toBeLessThan(flow.psn - 1000);
  await line.rate('50mbit');
  await until(
    'p says that congestion is over',
    () => arnsIn(atLeaf.packets),
    (all) => all.some(({ arn }) => arn.type === 'congestion-eliminated'),
  );
  await until('leaf has let it go', () => stateOf(flow), is(undefined));
  await until('nothing is lost', () => psnsAtP(flow).length, is(flow.psn - 1000));
  expect(isInOrder(psnsAtP(flow))).toBe(true);
  await line.rate('20mbit');
});

/** An ARN from p's side of the link, with what its sender writes. */
async function forge(traffic: Traffic, change: { hopLimit?: number; source?: IpAddress; pauseMs?: number } = {}) {
  const text = await line.p.exec('ip', '-6', '-o', 'address', 'show', 'dev', 'eth1', 'scope', 'link');
  const own = await line.leaf.exec('ip', '-6', '-o', 'address', 'show', 'dev', 'eth2', 'scope', 'link');
  const linkLocal = (shown: string): IpAddress => address(/inet6 (\S+)\/64/.exec(shown)![1]!);
  return encodeUdpPacket({
    ...{ source: change.source ?? linkLocal(text), destination: linkLocal(own), hopLimit: change.hopLimit ?? 255 },
    ...{ sourcePort: ARN_PORT, destinationPort: ARN_PORT, checksum: true },
    payload: arnFor(traffic, change.pauseMs ?? 1000, 0, 'msb-first'),
  });
}

/** What any user of leaf can send: to leaf's own address at the port to p. */
async function fromLeafItself(payload: Uint8Array): Promise<void> {
  const own = await line.leaf.exec('ip', '-6', '-o', 'address', 'show', 'dev', 'eth2', 'scope', 'link');
  const netns = Netns.open(line.net.lab.netnsPath('leaf'));
  const poller = Poller.open({ onError: (error) => void line.net.errors.push(error) });
  const socket = openUdpSocket(
    { family: 6, netns, hopLimit: 255 },
    { poller, onDatagram: () => {}, onError: (error) => void line.net.errors.push(error) },
  );
  const scope = netns.run(() => interfaceIndex('eth2'));
  const [, ownAddress = ''] = /inet6 (\S+)\/64/.exec(own) ?? [];
  socket.send(payload, { address: address(ownAddress), port: ARN_PORT, scope });
  for (const each of [socket, poller, netns]) each.close();
}

test('a neighbor pauses what leaves towards it, and for no longer than longest-pause, whatever it asks for', async () => {
  const flow = line.flow();
  atP.send(await forge(trafficOf(flow), { pauseMs: 2 ** 32 / 1000 - 1 }));
  const row = await until('it is paused', () => pausedOf(flow));
  expect(row).toMatchObject({ interface: 'eth2', state: 'paused', 'pause-us': 2_000_000 });
  flow.send(5);
  await until('it goes on by itself', () => psnsAtP(flow).length, is(5));
  expect(isInOrder(psnsAtP(flow))).toBe(true);
});

test('an ARN that a router has forwarded, of a stranger, of the router’s own users, in another mode or at another port pauses nothing', async () => {
  const flow = line.flow();
  const refusals = (): Promise<Record<string, number>> => line.leaf.counters();
  await until('nothing is paused', () => line.leaf.get('flow-control', 'paused'), is([]));
  const before = await refusals();
  atP.send(await forge(trafficOf(flow), { hopLimit: 254 }));
  atP.send(await forge(trafficOf(flow), { source: address('2001:db8:ffff::2') }));
  atP.send(await forge({ mode: 'priority', priority: 0 }));
  // A host behind leaf, which can write any source address.
  const { ipv6 } = (base('leaf') as { router: { loopback: { ipv6: string } } }).router.loopback;
  line.h1.send(
    encodeUdpPacket({
      ...{ source: address('fe80::1234'), destination: address(ipv6), hopLimit: 255 },
      ...{ sourcePort: ARN_PORT, destinationPort: ARN_PORT, checksum: true },
      payload: arnFor(trafficOf(flow), 1000, 0, 'msb-first'),
    }),
  );
  await fromLeafItself(arnFor(trafficOf(flow), 1000, 0, 'msb-first'));
  // A router's, a host's and the own one are no neighbor's: the kernel drops them.
  const refused = { dropped: 3, 'not-accepted': 1, 'other-mode': 1 };
  const moved = (now: Record<string, number>, why: string): number =>
    (now[`flow-control.arn.${why}`] ?? 0) - (before[`flow-control.arn.${why}`] ?? 0);
  await until('each is refused', refusals, (now) => Object.entries(refused).every(([why, n]) => moved(now, why) === n));
  flow.send(5);
  await until('the flow passes', () => psnsAtP(flow).length, is(5));
  expect((await refusals())['flow-control.pause.paused']).toBe(before['flow-control.pause.paused']);
});

test('at the end of p its neighbor lets traffic go; at the end of leaf nothing is held', async () => {
  await line.rate('100kbit');
  const flow = line.flow();
  await line.congest('leaf has paused the flow', flow, () => stateOf(flow), is('paused'));
  atLeaf.clear();
  expect(await line.p.stop()).toBe(0);
  // Until it stops, p may ask again.
  const last = await until(
    'leaf is told',
    () => arnsIn(atLeaf.packets),
    (all) => all.find(({ arn }) => arn.type === 'congestion-eliminated'),
  );
  expect(last.arn).toMatchObject({ flow: tupleOf(flow) });
  await until('leaf has let it go', () => stateOf(flow), is(undefined));
  atP.send(await forge(trafficOf(flow), { pauseMs: 2000 }));
  await until('it is paused', () => pausedOf(flow));
  flow.send(5);
  expect(await line.leaf.stop()).toBe(0);
  flow.send(5);
  await until('nothing is lost', () => psnsAtP(flow).length, is(flow.psn - 1000));
});
