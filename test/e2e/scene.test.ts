// The path of a notification, packet by packet: a congested port at p, a notice to the sender's proxy, a standard CNP
// at the sender. Captured on the wire and read by other code than the dataplane's: src/packet and tshark.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Family, type IpAddress, address, formatAddress } from '../../src/model/address.ts';
import { concat } from '../../src/packet/bytes.ts';
import { encodeIpv6 } from '../../src/packet/ip/ipv6.ts';
import { udpChecksum } from '../../src/packet/ip/udp.ts';
import { walkHeaders } from '../../src/packet/ip/walk.ts';
import { decodeNotice, invokingBth } from '../../src/packet/notice/pnc.ts';
import { OPCODE } from '../../src/packet/roce/opcodes.ts';
import { type RocePacket, parseRocePacket } from '../../src/packet/roce/packet.ts';
import { scapy } from '../support/scapy.ts';
import { dissect } from '../support/tshark.ts';
import {
  H1,
  H2,
  LOOPBACK,
  adjacent,
  base,
  learnedProxy,
  proxiesAndPort,
  proxy,
  routed,
  watching,
} from './support/line.ts';
import { Network, type Router, program } from './support/network.ts';
import { Flow, type Port, rocePackets } from './support/port.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

const NOTICE_PORT = 1021;
const K_MAX = 20_000;

let net: Network;
let leaf: Router, p: Router;
let h1: Port, h2: Port;
/** Where notices from p arrive. */
let leafWan: Port;
let nextQpn = 0x1000;

const LEAF = { ...base('leaf'), ...proxy('leaf') };
const P = { ...base('p'), ...watching({ 'per-flow-interval': '5ms' }) };

beforeAll(async () => {
  net = await Network.up('line');
  [leaf, p] = [net.router('leaf'), net.router('p')];
  h1 = await net.port('h1:eth1', 'leaf:eth1');
  h2 = await net.port('h2:eth1', 'far:eth1');
  leafWan = await net.port('leaf:eth2', 'p:eth1');
  await Promise.all([leaf.start(LEAF), p.start(P)]);
});
afterAll(() => net?.down());

beforeEach(async () => {
  await leaf.reload(LEAF);
  await p.reload(P);
  await adjacent(net, 'leaf', 'p');
  await knows(LOOPBACK.leaf.ipv6);
  await routed(net);
  net.clearPorts();
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
});

/** p has learned that both prefixes of senders have this proxy, and its port is watched. */
const knows = (proxyAddress: string): Promise<unknown> =>
  until(`p knows ${proxyAddress} as the proxy`, () => proxiesAndPort(p), is(learnedProxy(proxyAddress)));

function flow(
  family: Family = 6,
  source: IpAddress = address(family === 6 ? H1.v6 : H1.v4),
  payloadLength = 1024,
): Flow {
  nextQpn += 2;
  return new Flow(
    h1,
    h2,
    { source, destination: address(family === 6 ? H2.v6 : H2.v4), senderQpn: nextQpn, receiverQpn: nextQpn + 1 },
    payloadLength,
  );
}
const isLearned = (f: Flow, router = leaf): Promise<unknown> =>
  until(
    'the Queue Pair is learned',
    () => router.get('flows'),
    (all) =>
      all.some(
        (row) =>
          row['port'] === 'proxy' &&
          row['source-qpn'] === f.ends.senderQpn &&
          row['destination-qpn'] === f.ends.receiverQpn,
      ),
  );
const cnpsOf = (f: Flow): Uint8Array[] => h1.packets.filter((packet) => rocePackets([packet]).some(f.isNotification));
/** Packets of UDP to the notice port that reached leaf. */
const notices = (): Uint8Array[] =>
  leafWan.packets.filter((packet) => {
    const layer = walkHeaders(packet).layers[0];
    return (
      layer?.protocol === 17 &&
      ((packet[layer.transportOffset + 2]! << 8) | packet[layer.transportOffset + 3]!) === NOTICE_PORT
    );
  });
/** Sends bursts, each of more than K_max and less than the queue holds, until `enough` of what is counted. */
function congest(
  what: string,
  f: { send(count: number): void },
  count: () => number | Promise<number>,
  enough: (seen: number) => boolean,
): Promise<boolean> {
  return until(
    what,
    () => {
      f.send(30);
      return count();
    },
    enough,
  );
}

/** All expectations of one CNP. */
function expectCnp(packet: Uint8Array, f: Flow): void {
  const parsed = parseRocePacket(packet);
  expect(parsed.ok).toBe(true);
  const cnp = (parsed as { value: RocePacket }).value;
  expect(cnp).toMatchObject({ icrcValid: true, bth: { opcode: 0x81, destQpn: f.ends.senderQpn, becn: true, psn: 0 } });
  expect(formatAddress(cnp.destination)).toBe(formatAddress(f.ends.source));
  // The network card looks the connection up by its peer: the CNP comes from the flow's receiver.
  expect(formatAddress(cnp.source)).toBe(formatAddress(f.ends.destination));
  expect(cnp.payload).toHaveLength(16);
  const [seen] = dissect('raw-ip', [packet], ['infiniband.bth.opcode', 'infiniband.bth.destqp', 'udp.dstport']);
  expect(seen).toMatchObject({
    'infiniband.bth.opcode': [String(0x81)],
    'infiniband.bth.destqp': [`0x${f.ends.senderQpn.toString(16).padStart(6, '0')}`],
    'udp.dstport': ['4791'],
    complaints: [],
  });
  // tshark does not check the ICRC; here is a third computation of it, by Python's zlib.
  expect(icrcByPython(packet)).toBe(Buffer.from(packet.subarray(-4)).toString('hex'));
}

/**
 * InfiniBand annex A17: CRC-32 over eight bytes of ones and the packet, with the fields that routers change set to
 * ones.
 */
const icrcByPython = (packet: Uint8Array): string =>
  scapy<string>(
    `import zlib
p = bytearray.fromhex(data)[:-4]
six = p[0] >> 4 == 6
for at in ([1, 2, 3, 7] if six else [1, 8, 10, 11]): p[at] = 255
if six: p[0] |= 15
udp = 40 if six else 20
for at in (udp + 6, udp + 7, udp + 8 + 4): p[at] = 255
result = zlib.crc32(b"\\xff" * 8 + bytes(p)).to_bytes(4, "little").hex()`,
    Buffer.from(packet).toString('hex'),
  );

/**
 * All expectations of one notice about a flow whose congesting packet is `f`'s, inside `around` bytes of
 * tunnel.
 */
function expectNotice(packet: Uint8Array, f: Flow, proxyAddress: string, around = 0): void {
  const ip6 = packet[0]! >> 4 === 6;
  const layer = walkHeaders(packet).layers[0]!;
  const headers = (ip6 ? 40 : 20) + 8 + (f.ends.source.family === 6 ? 38 : 14);
  // As much of the congesting packet as fits.
  expect(packet.length).toBe(Math.min(ip6 ? 1280 : 576, headers + around + f.packetLength));
  expect(formatAddress(layer.destination)).toBe(proxyAddress);
  expect(formatAddress(layer.source)).toBe(ip6 ? LOOPBACK.p.ipv6 : LOOPBACK.p.ipv4);
  expect(
    udpChecksum(packet, layer.transportOffset, layer.end - layer.transportOffset, layer.source, layer.destination),
  ).toBe('valid');
  const decoded = decodeNotice(packet.subarray(layer.transportOffset + 8, layer.end));
  if (!decoded.ok) throw new Error(decoded.error.detail);
  const { tuple, level } = decoded.value;
  expect({
    ...tuple,
    source: formatAddress(tuple.source),
    destination: formatAddress(tuple.destination),
  }).toMatchObject({
    source: formatAddress(f.ends.source),
    destination: formatAddress(f.ends.destination),
    protocol: 17,
    destinationPort: 4791,
  });
  expect(level).toBeGreaterThanOrEqual(0);
  expect(level).toBeLessThanOrEqual(7);
  expect(invokingBth(decoded.value)).toMatchObject({
    ok: true,
    value: { destQpn: f.ends.receiverQpn, opcode: OPCODE.sendOnly },
  });
}

describe('from the congested port to the sender', () => {
  test('PNC-3-a PNC-1-d PNC-5-c A14: a RoCEv2 sender that connects by CM gets a CNP for its own Queue Pair and slows down; nothing is lost', async () => {
    const run = (node: string, ...args: string[]): ReturnType<typeof net.lab.exec> =>
      net.lab.exec(node, [...program('roce-endpoint'), ...args]);
    const listener = net.lab.spawn(
      'h2',
      [...program('roce-endpoint'), 'listen', '--interface', 'eth1', '--address', H2.v6, '--cnp-interval', 'off'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => listener.stdout!.once('data', resolve));
    const { code, stdout } = await run(
      'h1',
      'send',
      '--interface',
      'eth1',
      '--address',
      H1.v6,
      '--peer',
      H2.v6,
      '--rate',
      '30mbit',
      '--duration',
      '3s',
      '--reaction',
      'dcqcn',
    );
    listener.kill('SIGTERM');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const cnps = events.filter((e) => e['event'] === 'cnp');
    const connected = events.find((e) => e['event'] === 'connected')!;
    const summary = events.find((e) => e['event'] === 'summary')!;
    expect(code, stdout.slice(-500)).toBe(0);
    expect(cnps.length).toBeGreaterThan(5);
    for (const cnp of cnps)
      expect(cnp).toMatchObject({ accepted: true, opcode: 0x81, destQpn: connected['qpn'], icrcValid: true });
    expect(summary).toMatchObject({ foreignCnps: 0 });
    expect(summary['reductions']).toBeGreaterThan(0);
    expect(Math.min(...cnps.map((cnp) => Number(cnp['rateBps'])))).toBeLessThan(25e6);
    // The port's own figures, and those of the proxy, tell the same.
    const [port] = await p.show('ports');
    expect(port).toMatchObject({ interface: 'eth2', attached: true, 'root-qdisc': 'tbf', 'k-max': K_MAX });
    expect(port!['notifications']).toBeGreaterThanOrEqual(cnps.length);
    // 10 Mbit/s too much for three seconds would have overflowed it nine times.
    expect(port!['peak-queue-bytes']).toBeLessThan(400_000);
    // The port lost nothing. What the endpoints' sockets lose on a busy machine is not the network's.
    const qdiscs = JSON.parse(
      (await net.lab.exec('p', ['tc', '-s', '-j', 'qdisc', 'show', 'dev', 'eth2', 'root'])).stdout,
    ) as { kind: string; packets: number; drops: number }[];
    expect(qdiscs).toMatchObject([{ kind: 'tbf', drops: 0 }]);
    expect(qdiscs[0]!.packets).toBeGreaterThan(0);
    expect(await leaf.counter('proxy.cnp.sent')).toBeGreaterThanOrEqual(cnps.length);
    expect(await leaf.counter('proxy.qp.learned.cm')).toBeGreaterThanOrEqual(1);
  });

  test.each([
    ['an IPv6 sender and an IPv6 proxy', 6, 'ipv6'],
    ['an IPv4 sender and an IPv6 proxy', 4, 'ipv6'],
    ['an IPv6 sender and an IPv4 proxy', 6, 'ipv4'],
    ['an IPv4 sender and an IPv4 proxy', 4, 'ipv4'],
  ] as const)(
    'PNC-4-a PNC-4-b PNC-4-d PNC-4-e PNC-4-f PNC-4-g A14: %s: the notice and the CNP are right to the bit, for other decoders too',
    async (_name, family, proxyFamily) => {
      const proxyAddress = LOOPBACK.leaf[proxyFamily];
      await leaf.reload({ ...base('leaf'), ...proxy('leaf', { address: proxyAddress }) });
      await knows(proxyAddress);
      const f = flow(family);
      f.connect();
      await isLearned(f);
      await congest('three CNPs', f, () => cnpsOf(f).length, moreThan(2));
      expect(notices().length).toBeGreaterThan(0);
      for (const packet of notices().slice(0, 20)) expectNotice(packet, f, proxyAddress);
      const complaints = dissect('raw-ip', notices().slice(0, 20), ['udp.dstport']).filter(
        (seen) => seen.complaints.length > 0 || seen['udp.dstport'][0] !== String(NOTICE_PORT),
      );
      expect(complaints).toEqual([]);
      expectCnp(cnpsOf(f)[0]!, f);
      expect(rocePackets(cnpsOf(f)).filter((cnp) => !cnp.icrcValid)).toEqual([]);
      // The notice ended at the proxy: nothing of it at the sender.
      expect(
        h1.packets.filter(
          (packet) => rocePackets([packet]).length === 0 && walkHeaders(packet).layers[0]?.protocol === 17,
        ),
      ).toEqual([]);
    },
  );

  test('PNC-4-g A14: of a packet that fills the link the notice carries the first part: 1280 bytes in all, and the proxy is content', async () => {
    const f = flow(6, address(H1.v6), 1400);
    f.connect();
    await isLearned(f);
    await congest('a CNP', f, () => cnpsOf(f).length, moreThan(0));
    expect(notices()[0]).toHaveLength(1280);
    expectNotice(notices()[0]!, f, LOOPBACK.leaf.ipv6);
    expectCnp(cnpsOf(f)[0]!, f);
  });

  test('PNC-1-c: without CM the Queue Pair is learned from traffic in both directions; before that a notice is counted and nothing is sent', async () => {
    const f = flow();
    await congest('counted', f, () => leaf.counter('proxy.notice.qp-unknown'), moreThan(0));
    const before = await leaf.counter('proxy.cnp.sent');
    await congest('counted again', f, () => leaf.counter('proxy.notice.qp-unknown'), moreThan(5));
    expect(await leaf.counter('proxy.cnp.sent')).toBe(before);
    expect(cnpsOf(f)).toEqual([]);
    f.psn += 1000;
    await until(
      'the Queue Pair is learned',
      () => {
        f.exchange();
        return leaf.get('flows');
      },
      (all) => all.some((row) => row['source-qpn'] === f.ends.senderQpn && row['learned-from'] === 'reverse-traffic'),
    );
    await congest('a CNP', f, () => cnpsOf(f).length, moreThan(0));
    expectCnp(cnpsOf(f)[0]!, f);
  });

  test('PNC-5-c: a sender without a proxy is counted at the congested node and not notified', async () => {
    const f = flow(6, address('2001:db8:77::2'));
    const before = await p.counter('egress.notified');
    await congest('counted', f, () => p.counter('egress.no-proxy'), moreThan(0));
    expect(await p.counter('egress.notified')).toBe(before);
    expect(notices()).toEqual([]);
  });

  test('PNC-4-c: below a tunnel the flow is the inner one: its five-tuple, its Queue Pair, its sender gets the CNP', async () => {
    const f = flow();
    f.connect();
    await isLearned(f);
    const tunnel = (inner: Uint8Array): Uint8Array =>
      concat(
        encodeIpv6({
          trafficClass: 0,
          flowLabel: 0,
          payloadLength: inner.length,
          nextHeader: 41,
          hopLimit: 60,
          // The router in front of the sender: the proxy's accept-from has it.
          source: address(LOOPBACK.leaf.ipv6),
          destination: address('2001:db8:2::99'),
        }),
        inner,
      );
    const tunneled = {
      send: (count: number): void => {
        for (let i = 0; i < count; i++) h1.send(tunnel(f.next()));
      },
    };
    await congest('a CNP', tunneled, () => cnpsOf(f).length, moreThan(0));
    expectNotice(notices()[0]!, f, LOOPBACK.leaf.ipv6, 40);
    expectCnp(cnpsOf(f)[0]!, f);
  });

  test('PNC-6-b: never more than one CNP for a flow in its interval, at the proxy as at the congested node', async () => {
    await p.reload({ ...base('p'), ...watching({ 'per-flow-interval': '500ms' }) });
    const f = flow();
    f.connect();
    await isLearned(f);
    const start = performance.now();
    await congest('two CNPs', f, () => cnpsOf(f).length, atLeast(2));
    const elapsed = performance.now() - start;
    expect(elapsed).toBeGreaterThanOrEqual(490);
    expect(cnpsOf(f).length).toBeLessThanOrEqual(1 + (elapsed + 10) / 500);
    expect(Number((await p.show('ports'))[0]!['suppressed-per-flow'])).toBeGreaterThan(0);
  });

  test.each([
    ['IPv6', 6],
    ['IPv4', 4],
  ] as const)(
    'PNC-3-a: a congested node that is itself the proxy notifies the %s sender directly',
    async (_name, family) => {
      await leaf.reload(base('leaf'));
      await p.reload({ ...base('p'), ...watching({ 'per-flow-interval': '5ms' }), ...proxy('p') });
      const f = flow(family);
      await until('it is its own proxy', async () => (await p.get('proxies'))[0]?.['address'], is(LOOPBACK.p.ipv6));
      await until(
        'the Queue Pair is learned',
        () => {
          f.connect();
          return p.get('flows');
        },
        (all) => all.some((row) => row['port'] === 'proxy' && row['source-qpn'] === f.ends.senderQpn),
      );
      await congest('a CNP', f, () => cnpsOf(f).length, moreThan(0));
      expectCnp(cnpsOf(f)[0]!, f);
      expect(notices()).toEqual([]);
    },
  );
});
