// Hostile notices on the wire of a running daemon, one by one and at line rate, and notices at the border. Each is
// counted under its own name; the honest flow beside it goes on. Hostile IS-IS is hostile-isis.test.ts.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { concat, put16 } from '../../src/packet/bytes.ts';
import { innermostTuple } from '../../src/packet/ip/five-tuple.ts';
import { encodeIpv6 } from '../../src/packet/ip/ipv6.ts';
import { encodeUdpPacket } from '../../src/packet/ip/udp.ts';
import { walkHeaders } from '../../src/packet/ip/walk.ts';
import { type NoticePacket, buildNoticePacket } from '../../src/packet/notice/pnc.ts';
import { buildCnp } from '../../src/packet/roce/cnp.ts';
import { H1, H2, LOOPBACK, adjacent, base, proxy, routed } from './support/line.ts';
import { Network, type Router } from './support/network.ts';
import { Flow, type Port, rocePackets } from './support/port.ts';
import { is, moreThan, until } from '../support/until.ts';

const NOTICE_PORT = 1021;
/** The proxy's limits: notices obeyed a second, and CNPs of one flow. */
const RATE = 2000;
const FLOW_INTERVAL_MS = 1;

let net: Network;
let leaf: Router;
/** `core` is where p's notices come from, `outside` a host beyond the border port. */
let h1: Port, h2: Port, core: Port, outside: Port;

const LEAF = {
  ...base('leaf'),
  ...proxy('leaf', { rate: `${RATE}/s`, 'per-flow-interval': `${FLOW_INTERVAL_MS}ms` }),
  'border-ports': ['eth9'],
};

beforeAll(async () => {
  net = await Network.up('line');
  leaf = net.router('leaf');
  h1 = await net.port('h1:eth1', 'leaf:eth1');
  h2 = await net.port('h2:eth1', 'far:eth1');
  core = await net.port('p:eth1', 'leaf:eth2');
  outside = await net.port('out:eth1', 'leaf:eth9');
  await leaf.start(LEAF);
  await adjacent(net, 'leaf');
  await routed(net);
});
afterAll(() => net?.down());
afterEach(async ({ task }) => {
  net.clearPorts();
  if (task.result?.state === 'fail') console.log(net.logs());
  // Whatever was thrown at it: nothing that the daemon did not expect.
  expect(await leaf.counter('daemon.unexpected-error')).toBe(0);
});

let nextQpn = 0x3000;
const makeFlow = (source: string = H1.v6): Flow => {
  nextQpn += 2;
  return new Flow(h1, h2, {
    source: address(source),
    destination: address(H2.v6),
    senderQpn: nextQpn,
    receiverQpn: nextQpn + 1,
  });
};
async function connected(): Promise<Flow> {
  const f = makeFlow();
  f.connect();
  await until(
    'the Queue Pair is learned',
    () => leaf.get('flows'),
    (all) => all.some((row) => row['source-qpn'] === f.ends.senderQpn),
  );
  return f;
}
/** The notice that p would send about a packet, and what is wrong with it this time. */
function notice(invoking: Uint8Array, fields: Partial<NoticePacket> = {}): Uint8Array {
  const tuple = innermostTuple(invoking);
  if (!tuple.ok) throw new Error(tuple.error.detail);
  return buildNoticePacket({
    source: address(LOOPBACK.p.ipv6),
    destination: address(LOOPBACK.leaf.ipv6),
    sourcePort: 0xd000,
    destinationPort: NOTICE_PORT,
    tuple: tuple.value,
    level: 3,
    invoking,
    ...fields,
  });
}
const cnps = (): number =>
  h1.packets.filter((packet) => rocePackets([packet]).some(({ bth }) => bth.opcode === 0x81)).length;
const changed = (name: string, before: Record<string, number>, after: Record<string, number>): number =>
  (after[name] ?? 0) - (before[name] ?? 0);

describe('hostile notices', () => {
  const invoking = (f: Flow): Uint8Array => f.next();
  /** A UDP payload as it is, in place of a notice's. */
  const raw = (payload: Uint8Array, checksum = true): Uint8Array =>
    encodeUdpPacket({
      source: address(LOOPBACK.p.ipv6),
      destination: address(LOOPBACK.leaf.ipv6),
      sourcePort: 0xd000,
      destinationPort: NOTICE_PORT,
      checksum,
      payload,
    });
  const payloadOf = (packet: Uint8Array): Uint8Array => packet.slice(48);
  const fill = (packet: Uint8Array, change: (copy: Uint8Array) => void): Uint8Array => {
    const copy = packet.slice();
    change(copy);
    return copy;
  };
  const behindHeader = (packet: Uint8Array, next: number, header: Uint8Array): Uint8Array =>
    concat(
      encodeIpv6({
        trafficClass: 0,
        flowLabel: 0,
        payloadLength: packet.length - 40 + header.length,
        nextHeader: next,
        hopLimit: 64,
        source: address(LOOPBACK.p.ipv6),
        destination: address(LOOPBACK.leaf.ipv6),
      }),
      header,
      packet.subarray(40),
    );

  test.each<[string, string, (f: Flow) => Uint8Array]>([
    ['from outside the allow-list', 'not-allowed', (f) => notice(invoking(f), { source: address('2001:db8:9::2') })],
    [
      'with a five-tuple that is not in the embedded packet',
      'tuple-not-found',
      (f) =>
        notice(invoking(f), {
          tuple: {
            source: address(H1.v6),
            destination: address(H2.v6),
            protocol: 17,
            sourcePort: 1,
            destinationPort: 4791,
          },
        }),
    ],
    ['for a sender that is not declared', 'sender-unknown', () => notice(invoking(makeFlow('2001:db8:77::2')))],
    ['for a Queue Pair that was not seen', 'qp-unknown', () => notice(invoking(makeFlow()))],
    [
      'about a flow that is not RoCEv2',
      'not-roce',
      () =>
        notice(
          encodeUdpPacket({
            source: address(H1.v6),
            destination: address(H2.v6),
            sourcePort: 53,
            destinationPort: 53,
            checksum: true,
            payload: new Uint8Array(64),
          }),
        ),
    ],
    [
      'about a CNP',
      'not-data',
      (f) =>
        notice(
          buildCnp({
            source: address(H1.v6),
            destination: address(H2.v6),
            destQpn: f.ends.receiverQpn,
            sourcePort: 0xc000,
          }),
        ),
    ],
    ['cut before the end of the BTH', 'bth-missing', (f) => raw(payloadOf(notice(invoking(f))).slice(0, 38 + 48 + 8))],
    ['shorter than a five-tuple', 'truncated', () => raw(new Uint8Array(5))],
    ['longer than 1280 bytes', 'too-long', (f) => raw(concat(payloadOf(notice(invoking(f))), new Uint8Array(300)))],
    [
      'with a UDP length beyond the packet',
      'truncated',
      (f) => fill(notice(invoking(f)), (copy) => put16(copy, 44, 1200)),
    ],
    ['with a wrong checksum', 'bad-checksum', (f) => fill(notice(invoking(f)), (copy) => (copy[60] = copy[60]! ^ 1))],
    ['without a checksum', 'no-checksum', (f) => raw(payloadOf(notice(invoking(f))), false)],
    [
      'behind a destination options header',
      'extension-headers',
      (f) => behindHeader(notice(invoking(f)), 60, Uint8Array.of(17, 0, 1, 4, 0, 0, 0, 0)),
    ],
    ['in fragments', 'fragment', (f) => behindHeader(notice(invoking(f)), 44, Uint8Array.of(17, 0, 0, 1, 0, 0, 0, 7))],
  ])('PNC-6-b: a notice %s is counted as %s and sends nothing', async (_name, counter, build) => {
    const f = await connected();
    const before = await leaf.counters();
    core.send(build(f));
    const after = await until(
      'counted',
      () => leaf.counters(),
      (now) => changed(`proxy.notice.${counter}`, before, now) > 0 && now,
    );
    expect(changed(`proxy.notice.${counter}`, before, after)).toBe(1);
    expect(changed('proxy.cnp.sent', before, after)).toBe(0);
    // What is honest works on: and what arrives last shows that nothing came before it.
    core.send(notice(invoking(f)));
    await until('a CNP', () => cnps(), moreThan(0));
    expect(cnps()).toBe(1);
  });

  test('PNC-6-b: 120,000 good notices as fast as a raw socket sends them: CNPs within the limits of flow and node, all the rest counted, the daemon answers', async () => {
    const flows = [await connected(), await connected(), await connected(), await connected()];
    const packets = flows.map((f) => core.frame(notice(invoking(f))));
    const total = 120_000;
    let seen = 0;
    h1.onPacket = (packet) => (seen += packet.length === 80 && packet[48] === 0x81 ? 1 : 0);
    const before = await leaf.counters();
    const start = performance.now();
    for (let sent = 0; sent < total;) {
      for (const end = sent + 4000; sent < end; sent++) core.sendFrame(packets[sent % packets.length]!);
      await leaf.get('status');
    }
    const after = await until(
      'all are accounted for',
      () => leaf.counters(),
      (now) => changed('proxy.notice.received', before, now) === total && now,
    );
    const seconds = (performance.now() - start) / 1000;
    const sent = changed('proxy.cnp.sent', before, after);
    const refused =
      changed('proxy.notice.flow-limited', before, after) + changed('proxy.notice.rate-limited', before, after);
    expect(sent + refused).toBe(total);
    expect(sent).toBeGreaterThan(10);
    expect(sent).toBeLessThanOrEqual(RATE * seconds + RATE / 10 + 1);
    expect(sent).toBeLessThanOrEqual(flows.length * ((seconds * 1000) / FLOW_INTERVAL_MS + 1));
    await until('every CNP arrives', () => seen, is(sent));
    expect(await leaf.isUp()).toBe(true);
  });

  test('PNC-6-b: 100,000 notices about random Queue Pairs teach the proxy nothing and cost it no Queue Pair that it knows', async () => {
    const f = await connected();
    const known = (await leaf.get('flows')).length;
    const before = await leaf.counters();
    const total = 100_000;
    const one = invoking(makeFlow());
    const frames = Array.from({ length: 500 }, (_, i) =>
      core.frame(notice(fill(one, (copy) => put16(copy, 54, 0x4000 + i)))),
    );
    for (let sent = 0; sent < total;) {
      for (const end = sent + 5000; sent < end; sent++) core.sendFrame(frames[sent % frames.length]!);
      await leaf.get('status');
    }
    await until(
      'all are counted',
      async () => changed('proxy.notice.qp-unknown', before, await leaf.counters()),
      is(total),
    );
    expect((await leaf.get('flows')).length).toBe(known);
    core.send(notice(invoking(f)));
    await until('a CNP', () => cnps(), moreThan(0));
  });
});

describe('the border', () => {
  const plain = (source: string, destination: string): Uint8Array =>
    encodeUdpPacket({
      source: address(source),
      destination: address(destination),
      sourcePort: 1,
      destinationPort: 5000,
      checksum: true,
      payload: new Uint8Array(20),
    });
  const toPort =
    (port: number) =>
    (packet: Uint8Array): boolean => {
      const at = walkHeaders(packet).layers.at(-1)?.transportOffset ?? 0;
      return ((packet[at + 2]! << 8) | packet[at + 3]!) === port;
    };

  test.each([
    ['IPv6', LOOPBACK.p.ipv6, LOOPBACK.leaf.ipv6, '2001:db8:9::2'],
    ['IPv4', LOOPBACK.p.ipv4, LOOPBACK.leaf.ipv4, '100.64.9.2'],
  ])(
    'PNC-6-c PNC-6-d A13: over %s a border port drops notices in both directions, even with a source that is allowed; other traffic passes',
    async (_name, inside, proxyAddress, beyond) => {
      const f = await connected();
      const about = (source: string, destination: string): Uint8Array =>
        notice(f.next(), { source: address(source), destination: address(destination) });
      const before = await leaf.counters();
      outside.send(about(inside, proxyAddress));
      await until(
        'dropped on the way in',
        async () => changed('guard.ingress.dropped', before, await leaf.counters()),
        is(1),
      );
      core.send(about(inside, beyond));
      await until(
        'dropped on the way out',
        async () => changed('guard.egress.dropped', before, await leaf.counters()),
        is(1),
      );
      const host = inside.includes(':') ? H1.v6 : H1.v4;
      outside.send(plain(beyond, host));
      core.send(plain(host, beyond));
      await until(
        'other traffic passes in',
        () => h1.packets,
        (all) => all.some(toPort(5000)),
      );
      await until(
        'other traffic passes out',
        () => outside.packets,
        (all) => all.some(toPort(5000)),
      );
      expect(outside.packets.filter(toPort(NOTICE_PORT))).toEqual([]);
      const after = await leaf.counters();
      expect(changed('proxy.notice.received', before, after)).toBe(0);
      expect(cnps()).toBe(0);
    },
  );

  test('PNC-6-c: a notice in a tunnel, behind an extension header or in a first fragment is dropped as well', async () => {
    const f = await connected();
    const before = await leaf.counters();
    const inner = notice(f.next());
    const ip = (nextHeader: number, ...parts: Uint8Array[]): Uint8Array => {
      const payload = concat(...parts);
      return concat(
        encodeIpv6({
          trafficClass: 0,
          flowLabel: 0,
          payloadLength: payload.length,
          nextHeader,
          hopLimit: 64,
          source: address(LOOPBACK.p.ipv6),
          destination: address(LOOPBACK.leaf.ipv6),
        }),
        payload,
      );
    };
    outside.send(ip(41, inner));
    outside.send(ip(60, Uint8Array.of(17, 0, 1, 4, 0, 0, 0, 0), inner.subarray(40)));
    outside.send(ip(44, Uint8Array.of(17, 0, 0, 1, 0, 0, 0, 7), inner.subarray(40, 40 + 64)));
    await until('all dropped', async () => changed('guard.ingress.dropped', before, await leaf.counters()), is(3));
    expect(cnps()).toBe(0);
  });
});
