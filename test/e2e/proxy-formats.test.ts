// A proxy that notifies its senders in another format than a standard CNP (PNC §1), as a whole: the notice comes from a
// congested port at p through FRR's network, the daemon at leaf has attached the builder for it, and what is on the
// sender's wire is what the agent's codec builds, byte for byte.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Family, address, formatAddress } from '../../src/model/address.ts';
import { intentOf } from '../../src/plan/inputs.fixture.ts';
import { instructionsByLevel } from '../../src/plan/notifier.ts';
import { buildLongHaulIcmpv6 } from '../../src/packet/icmpv6/long-haul-cnp.ts';
import { walkHeaders } from '../../src/packet/ip/walk.ts';
import { type LongHaulCnp, UNDISCLOSED } from '../../src/packet/long-haul/body.ts';
import { decodeNotice } from '../../src/packet/notice/pnc.ts';
import { buildFastCnp } from '../../src/packet/roce/fast-cnp.ts';
import { buildLongHaulRoce, isLongHaulRoce } from '../../src/packet/roce/long-haul-cnp.ts';
import { dissect } from '../support/tshark.ts';
import {
  adjacent,
  base,
  H1,
  H2,
  learnedProxy,
  LOOPBACK,
  proxiesAndPort,
  proxy,
  routed,
  SENDERS4,
  SENDERS6,
  watching,
} from './support/line.ts';
import { Network, type Router } from './support/network.ts';
import { FAST_CNP, LONG_HAUL, type Notification, notificationsTo } from './support/notifications.ts';
import { Flow, type Port, rocePackets } from './support/port.ts';
import { is, moreThan, until } from '../support/until.ts';

const NOTICE_PORT = 1021;
const CS6 = 48 << 2;
/** Of the levels 0 … 7 of a notice. */
const SAID = instructionsByLevel(intentOf(''));
/** Longer than any test: the one notice for a flow is the only one, and what is on the wire is the answer to it. */
const P = { ...base('p'), ...watching({ 'per-flow-interval': '1min' }) };

let net: Network;
let leaf: Router, p: Router;
let h1: Port, h2: Port, leafWan: Port;
let nextQpn = 0x7000;

beforeAll(async () => {
  net = await Network.up('line', 'proxy-formats');
  [leaf, p] = [net.router('leaf'), net.router('p')];
  h1 = await net.port('h1:eth1', 'leaf:eth1');
  h2 = await net.port('h2:eth1', 'far:eth1');
  leafWan = await net.port('leaf:eth2', 'p:eth1');
  await Promise.all([leaf.start({ ...base('leaf'), ...proxy('leaf') }), p.start(P)]);
  await adjacent(net, 'leaf', 'p');
  await routed(net);
});
afterAll(() => net?.down());
beforeEach(() => net.clearPorts());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
  expect(await leaf.counter('daemon.unexpected-error')).toBe(0);
});

type Direct = Notification['format'];

/** Levels of the notices about a flow that reached leaf. */
const levels = (f: Flow): number[] =>
  leafWan.packets.flatMap((packet) => {
    const layer = walkHeaders(packet).layers[0];
    if (
      layer?.protocol !== 17 ||
      ((packet[layer.transportOffset + 2]! << 8) | packet[layer.transportOffset + 3]!) !== NOTICE_PORT
    )
      return [];
    const decoded = decodeNotice(packet.subarray(layer.transportOffset + 8, layer.end));
    if (!decoded.ok) throw new Error(decoded.error.detail);
    const { source, sourcePort } = decoded.value.tuple;
    return formatAddress(source) === formatAddress(f.ends.source) && sourcePort === portOf(f)
      ? [decoded.value.level]
      : [];
  });
const portOf = (f: Flow): number => rocePackets([f.next()])[0]!.sourcePort;

/** What the sender is to hear, from leaf's loopback, with the hop limit that leaf as the only router leaves. */
function expected(format: Direct, f: Flow, level: number): Uint8Array {
  const { source: sender, destination: receiver, senderQpn, receiverQpn } = f.ends;
  const common = {
    source: address(LOOPBACK.leaf[sender.family === 6 ? 'ipv6' : 'ipv4']),
    destination: sender,
    hopLimit: 64,
  };
  const cnp: LongHaulCnp = { ...SAID[level]!, sourceQpn: senderQpn, metric: UNDISCLOSED, objects: [] };
  if (format === 'fast-cnp')
    return buildFastCnp({
      ...common,
      sourcePort: portOf(f),
      destQpn: receiverQpn,
      originalDestination: receiver,
      trace: undefined,
      codes: FAST_CNP,
    });
  if (format === 'long-haul-icmpv6')
    return buildLongHaulIcmpv6({ ...common, cnp, codes: LONG_HAUL, trafficClass: CS6 });
  return buildLongHaulRoce({ ...common, sourcePort: portOf(f), cnp, objectClass: LONG_HAUL.objectClass });
}

/** The same read by tshark. */
function dissected({ format, packet, fastCnp }: Notification, { ends }: Flow): void {
  const [seen] = dissect(
    'raw-ip',
    [packet],
    [
      'ipv6.opt.type',
      'icmpv6.type',
      'icmpv6.checksum.status',
      'udp.dstport',
      'infiniband.bth.opcode',
      'infiniband.bth.destqp',
    ],
  );
  if (format === 'long-haul-icmpv6')
    expect(seen).toMatchObject({ 'icmpv6.type': [String(LONG_HAUL.type)], 'icmpv6.checksum.status': ['1'] });
  else expect(seen).toMatchObject({ 'udp.dstport': ['4791'] });
  if (format === 'fast-cnp')
    expect(seen).toMatchObject({
      'infiniband.bth.opcode': [String(0x81)],
      'infiniband.bth.destqp': [`0x${ends.receiverQpn.toString(16).padStart(6, '0')}`],
    });
  if (format !== 'long-haul-icmpv6')
    expect(fastCnp?.packet ?? rocePackets([packet])[0]).toMatchObject({ icrcValid: true });
}

async function flow(family: Family): Promise<Flow> {
  nextQpn += 2;
  const [source, destination] = family === 6 ? [H1.v6, H2.v6] : [H1.v4, H2.v4];
  const f = new Flow(h1, h2, {
    source: address(source),
    destination: address(destination),
    senderQpn: nextQpn,
    receiverQpn: nextQpn + 1,
  });
  f.connect();
  await until(
    'the Queue Pair is learned',
    () => leaf.get('flows'),
    (all) => all.some((row) => row['port'] === 'proxy' && row['source-qpn'] === f.ends.senderQpn),
  );
  return f;
}

test.each([
  ['fast-cnp', 6],
  ['long-haul-icmpv6', 6],
  ['long-haul-roce', 6],
  ['long-haul-roce', 4],
] as const)(
  'PNC-1-a PNC-3-a: senders with format %s (IPv%i) hear of p’s port in it, right to the bit, once for a notice, and get no CNP',
  async (format, family) => {
    const formats = family === 6 ? [format, 'standard-cnp'] : ['standard-cnp', format];
    await leaf.reload({
      ...base('leaf'),
      ...proxy('leaf', { senders: [SENDERS6, SENDERS4].map((prefix, i) => ({ prefix, format: formats[i] })) }),
    });
    expect((await leaf.show<{ problems?: unknown[] }>('status')).problems ?? []).toEqual([]);
    await p.reload(P);
    await until('p knows the proxy', () => proxiesAndPort(p), is(learnedProxy()));
    const [ordered, cnps] = [await leaf.counter(`proxy.${format}.ordered`), await leaf.counter('proxy.cnp.sent')];
    const f = await flow(family);
    const notified = (): Notification[] => notificationsTo(f.ends.source, h1.packets);
    await until(
      'the sender is notified',
      () => {
        f.send(30);
        return notified().length;
      },
      moreThan(0),
    );
    expect(levels(f)).toHaveLength(1);
    expect(notified().map((one) => [one.format, Buffer.from(one.packet).toString('hex')])).toEqual([
      [format, Buffer.from(expected(format, f, levels(f)[0]!)).toString('hex')],
    ]);
    dissected(notified()[0]!, f);
    expect({
      ordered: (await leaf.counter(`proxy.${format}.ordered`)) - ordered,
      cnpsSent: (await leaf.counter('proxy.cnp.sent')) - cnps,
    }).toEqual({ ordered: 1, cnpsSent: 0 });
    expect(rocePackets(h1.packets).filter((packet) => f.isNotification(packet) && !isLongHaulRoce(packet))).toEqual([]);
    // The notice ended at the proxy, and so did the packet that it carried.
    expect(h1.packets.filter((packet) => rocePackets([packet]).some(f.owns))).toEqual([]);
  },
);
