// A5: datagrams (UD). The DETH names the sender's Queue Pair; Queue Pairs of connections have the same numbers, and are
// others.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildRocePacket, parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { mappedAddress } from '../../../src/kernel/dataplane/layout.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import {
  encodeFlowKey,
  encodePeer,
  encodeStaticQueuePair,
  ownerKey,
} from '../../../src/kernel/dataplane/queue-pairs.ts';
import {
  TENANT_CONFIG_KEY,
  TENANT_MAPS,
  encodeTenant,
  encodeTenantConfig,
} from '../../../src/kernel/dataplane/tenants.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { tenantOfSid } from '../../../src/plan/tenants.ts';
import { cmDisconnect } from '../support/cm-messages.ts';
import { CongestedRouter } from '../support/congested-router.ts';
import { configureFormats } from '../support/notifier-plan.ts';
import { H1, H2, QPN, data, frame } from '../support/packets.ts';
import { letTimePass } from '../support/queue-pair-time.ts';
import {
  A,
  A4,
  B,
  B4,
  DROP,
  ProxyUnderTest,
  acknowledge,
  compileProxy,
  data as sent,
  notice,
  tupleOf,
} from '../support/proxy-under-test.ts';
import { is, until } from '../../support/until.ts';

const RC_QPN = 0x64;
const datagram = (source: IpAddress, destination: IpAddress, sourceQpn: number, size = 64, destQpn = QPN): Uint8Array =>
  buildRocePacket({
    source,
    destination,
    sourcePort: 0xc001,
    trafficClass: 2,
    bth: { opcode: OPCODE.udSendOnly, destQpn, psn: 1 },
    ext: { deth: { qkey: 1, sourceQpn } },
    payload: new Uint8Array(size),
  });

describe.each([
  ['IPv6', A, B],
  ['IPv4', A4, B4],
])('A5: at the proxy, over %s', (_, from, to) => {
  const compiled = compileProxy();
  let p: ProxyUnderTest;
  afterAll(() => compiled.remove());
  beforeEach(() => {
    p = ProxyUnderTest.reused(compiled.path)
      .configure()
      .teach({ sender: from, receiver: to, receiverQpn: QPN, senderQpn: RC_QPN });
    return () => p.close();
  });

  test('a notice about a datagram towards the Queue Pair of a connection sends the CNP to the Queue Pair that the DETH names', () => {
    const { packet, counted } = p.send(notice(datagram(from, to, 0x777)));
    expect(counted['proxy.cnp.sent']).toBe(1);
    expect(parseRocePacket(packet)).toMatchObject({
      ok: true,
      value: { destination: from, icrcValid: true, bth: { opcode: 0x81, destQpn: 0x777 } },
    });
    expect(parseRocePacket(p.send(notice(data({ source: from, destination: to }))).packet)).toMatchObject({
      ok: true,
      value: { bth: { destQpn: RC_QPN } },
    });
  });

  test('one that names the Queue Pair of that connection as its source is not believed', () => {
    expect(p.send(notice(datagram(from, to, RC_QPN))).counted).toMatchObject({
      'proxy.notice.datagram-contradicted': 1,
    });
  });

  describe('PNC-6-b: one that names, as its source, a Queue Pair of the sender that is known to be of a connection', () => {
    const THIRD = from.family === 6 ? address('2001:db8:b::3') : address('10.0.1.3');
    const learn = (
      peer: IpAddress,
      opcode: { send: number; ack: number },
      wrap = (packet: Uint8Array) => packet,
      back = wrap,
    ): void => {
      for (let psn = 1; psn <= 4; psn++) {
        p.send(wrap(sent({ from, to: peer, qpn: 0xd0, psn, opcode: opcode.send })));
        p.send(back(acknowledge({ from: peer, to: from, qpn: 0x99, psn, opcode: opcode.ack })));
      }
    };
    const refused = (packet: Uint8Array): void => {
      const { verdict, counted } = p.send(notice(packet));
      expect({ verdict, counted }).toEqual({
        verdict: DROP,
        counted: { 'proxy.notice.received': 1, 'proxy.notice.datagram-contradicted': 1 },
      });
    };
    const RC = { send: OPCODE.sendOnly, ack: OPCODE.acknowledge };

    test.each([
      ['RC, with the same receiver', to, RC],
      ['XRC, with the same receiver', to, { send: 0xa4, ack: 0xb1 }],
      ['RC, with a third host', THIRD, RC],
    ] as const)('%s, sends no CNP, whichever Queue Pair of the receiver it goes to', (_name, peer, opcode) => {
      expect(p.send(notice(datagram(from, to, 0x99))).counted['proxy.cnp.sent']).toBe(1);
      learn(peer, opcode);
      refused(datagram(from, to, 0x99));
      expect(p.send(notice(datagram(from, to, 0x98))).counted['proxy.cnp.sent']).toBe(1);
      // The receiver’s Queue Pair of the same number is not the sender’s.
      expect(p.send(notice(datagram(from, to, 0xd0))).counted['proxy.cnp.sent']).toBe(1);
    });

    test('also while that connection is doubtful, or has aged; not once it is forgotten', () => {
      learn(to, RC);
      letTimePass(p, 20e6);
      p.send(sent({ from, to, qpn: 0xd0, psn: 9 }));
      letTimePass(p, 500e6);
      p.send(sent({ from, to, qpn: 0xd0, psn: 10 }));
      expect(p.known({ sender: from, receiver: to, receiverQpn: 0xd0 })).toMatchObject({ doubtful: true });
      refused(datagram(from, to, 0x99));
      letTimePass(p, 400e9);
      refused(datagram(from, to, 0x99));
      p.send(sent({ from, to, qpn: 0xd0, psn: 11 }));
      expect(p.connections()).toEqual([]);
      expect([...p.object.map(PROXY_MAPS.connectedQueuePairs).keys()]).toEqual([]);
      expect(p.send(notice(datagram(from, to, 0x99))).counted['proxy.cnp.sent']).toBe(1);
    });

    test('nor that of a Queue Pair that is connected anew, when the old connection goes, as soon as the new one has sent something', () => {
      learn(THIRD, RC);
      learn(to, RC);
      letTimePass(p, 20e6);
      for (let i = 0; i < 3; i++) {
        letTimePass(p, 20e6);
        p.send(acknowledge({ from: THIRD, to: from, qpn: 0x99, psn: 0x800000 + i }));
      }
      expect(p.connections()).toHaveLength(2);
      p.send(sent({ from, to, qpn: 0xd0, psn: 5 }));
      refused(datagram(from, to, 0x99));
    });

    // A host answers requests in the name of any Queue Pair of the asker: one of a connection with a third host.
    test.each([
      ['after', () => [THIRD, to]],
      ['before', () => [to, THIRD]],
    ] as const)(
      'PNC-6-b: nor can a peer that claims it for itself %s the connection is known take it out of that protection, by ending its own',
      (when, hosts) => {
        for (const host of hosts()) learn(host, RC);
        refused(datagram(from, to, 0x99));
        p.send(cmDisconnect(to, from, 0x99));
        expect(p.known({ sender: from, receiver: to, receiverQpn: 0xd0 })).toBeUndefined();
        expect(p.known({ sender: from, receiver: THIRD, receiverQpn: 0xd0 })?.senderQpn).toBe(0x99);
        if (when === 'before') {
          letTimePass(p, 20e6);
          p.send(sent({ from, to: THIRD, qpn: 0xd0, psn: 5 }));
        }
        refused(datagram(from, to, 0x99));
        p.send(cmDisconnect(THIRD, from, 0x99));
        expect([...p.object.map(PROXY_MAPS.connectedQueuePairs).keys()]).toEqual([]);
        expect(p.send(notice(datagram(from, to, 0x99))).counted['proxy.cnp.sent']).toBe(1);
      },
    );

    test('in a tunnel of its own tenant; the same number of another tenant’s host is another one', () => {
      const [RED, RED_FAR, BLUE] = ['2001:db8:c::1', '2001:db8:d::1', '2001:db8:c::2'].map((text) => address(text)) as [
        IpAddress,
        IpAddress,
        IpAddress,
      ];
      for (const sid of [RED, RED_FAR, BLUE])
        p.object.map(TENANT_MAPS.sids).update(mappedAddress(sid), encodeTenant(tenantOfSid(sid)));
      p.object.map(TENANT_MAPS.config).update(TENANT_CONFIG_KEY, encodeTenantConfig({ known: true, hasRows: false }));
      const through =
        (sid: IpAddress) =>
        (packet: Uint8Array): Uint8Array =>
          ipv6([sid, address('2001:db8:e::1')], from.family === 6 ? 41 : 4, packet);
      learn(to, RC, through(RED), through(RED_FAR));
      expect(p.connections()).toHaveLength(2);
      refused(through(RED)(datagram(from, to, 0x99)));
      for (const packet of [through(BLUE)(datagram(from, to, 0x99)), datagram(from, to, 0x99)])
        expect(p.send(notice(packet)).counted['proxy.cnp.sent']).toBe(1);
    });
  });

  test.each([0, 1])('one from the management Queue Pair %i is no data', (sourceQpn) => {
    expect(p.send(notice(datagram(from, to, sourceQpn))).counted).toMatchObject({ 'proxy.notice.not-data': 1 });
  });

  test('one that is cut within its DETH is counted and dropped', () => {
    const packet = datagram(from, to, 0x777);
    const ip = from.family === 6 ? 40 : 20;
    const cut = (behind: number) =>
      p.send(notice(packet.subarray(0, ip + 8 + 12 + behind), { tuple: tupleOf(packet) })).counted;
    expect(cut(7)).toMatchObject({ 'proxy.notice.deth-missing': 1 });
    expect(cut(8)).toMatchObject({ 'proxy.cnp.sent': 1 });
  });

  test('PNC-6-b: is limited by sender, receiver and the receiver\u2019s Queue Pair: who invents source Queue Pairs gets no more CNPs, and nothing is learned', () => {
    p.configure({ perFlowIntervalNs: 3_600_000_000_000 });
    expect(p.send(notice(datagram(from, to, 0x777))).counted['proxy.cnp.sent']).toBe(1);
    for (let forged = 0x777; forged < 0x877; forged++)
      expect(p.send(notice(datagram(from, to, forged))).counted).toMatchObject({ 'proxy.notice.flow-limited': 1 });
    expect([...p.object.map('proxy_datagrams').entries()]).toHaveLength(1);
    // The connection to the same Queue Pair, and another Queue Pair of the receiver, are others.
    expect(p.send(notice(data({ source: from, destination: to }))).counted['proxy.cnp.sent']).toBe(1);
    expect(p.send(notice(datagram(from, to, 0x777, 64, QPN + 1))).counted['proxy.cnp.sent']).toBe(1);
    expect(p.connections()).toEqual([]);
  });

  test('PNC-6-b: datagrams to ever new Queue Pairs of the receiver leave half of the node\u2019s burst to connections', () => {
    p.configure({ perFlowIntervalNs: 3_600_000_000_000, noticesPerSecond: 0.001, burst: 8 });
    const sent = Array.from({ length: 20 }, (_, i) => p.send(notice(datagram(from, to, 0x777, 64, QPN + i))).counted);
    expect(sent.filter((counted) => counted['proxy.cnp.sent'] === 1)).toHaveLength(4);
    expect(sent.at(-1)).toMatchObject({ 'proxy.notice.rate-limited': 1 });
    const connections = Array.from({ length: 6 }, (_, i) => {
      p.teach({ sender: from, receiver: to, receiverQpn: 0x9000 + i, senderQpn: 0x70 + i });
      return p.send(notice(data({ source: from, destination: to, qpn: 0x9000 + i }))).counted['proxy.cnp.sent'];
    });
    expect(connections).toEqual([1, 1, 1, 1, undefined, undefined]);
  });
});

describe('A5: at the congested node', () => {
  let r: CongestedRouter;
  beforeAll(async () => {
    r = await CongestedRouter.create();
    await r.fill(150_000);
    configureFormats(r.egress);
  });
  afterAll(() => r.close());
  beforeEach(() => {
    r.port({ kMax: 100_000, perFlowIntervalNs: 3_600_000_000_000 });
    r.policies(['::/0', ['long-haul-roce']]);
    r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, RC_QPN]);
    r.clear();
  });

  test('a Long-haul CNP about a datagram names the Queue Pair of the DETH, one about the connection that of the connection: two flows', async () => {
    r.send(frame(datagram(H1, H2, 0x777)));
    r.send(frame(data()));
    r.send(frame(datagram(H1, H2, 0x778)));
    await until('three notifications', () => r.records().length, is(3), 30_000);
    expect(r.records().map(({ sourceQpn, destinationQpn, datagram: ud }) => [sourceQpn, destinationQpn, ud])).toEqual([
      [0x777, QPN, true],
      [RC_QPN, QPN, false],
      [0x778, QPN, true],
    ]);
    expect(
      r
        .flows()
        .map(({ destinationQpn, datagram: ud }) => [destinationQpn, ud])
        .sort(),
    ).toEqual([
      [QPN, false],
      [QPN, true],
      [QPN, true],
    ]);
  });

  test('a datagram that names the Queue Pair of the connection as its source leads to no Long-haul CNP', () => {
    r.send(frame(datagram(H1, H2, RC_QPN)));
    expect(r.count('egress.format.datagram')).toBe(1);
    expect(r.stats().notifications).toBe(0n);
  });

  test('nor one that names that of another connection of the sender, which has been learned', () => {
    const flow = { sender: H1, receiver: address('2001:db8:2::77'), receiverQpn: 0x55 };
    const pair = encodeStaticQueuePair({ senderQpn: 0x99, now: process.hrtime.bigint() });
    r.egress.map(PROXY_MAPS.queuePairs).update(encodeFlowKey(flow), pair);
    r.egress
      .map(PROXY_MAPS.connectedQueuePairs)
      .update(ownerKey({ ...flow, senderQpn: 0x99, tenant: 0 }), encodePeer(flow));
    r.send(frame(datagram(H1, H2, 0x99)));
    expect(r.count('egress.format.datagram')).toBe(1);
    expect(r.stats().notifications).toBe(0n);
    r.egress.map(PROXY_MAPS.queuePairs).delete(encodeFlowKey(flow));
    r.clear();
    r.send(frame(datagram(H1, H2, 0x99)));
    expect(r.stats().notifications).toBe(1n);
  });

  test('a packet too short for its DETH is no data packet', () => {
    const short = frame(datagram(H1, H2, 0x777, 0).subarray(0, 40 + 24));
    short[14 + 5] = 24;
    short[14 + 40 + 5] = 24;
    r.send(short);
    expect(r.flows()).toEqual([]);
  });
});
