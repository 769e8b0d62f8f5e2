// The proxy in a real network: learning from forwarded packets, CNPs on the host's wire, restarts.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LEARNING_LIMITS, PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { address } from '../../../src/model/address.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { inNetns, ip } from '../../support/netns.ts';
import { COMM_ID, cmDisconnect, cmReply, cmRequest } from '../support/cm-messages.ts';
import {
  A,
  A4,
  B,
  B4,
  CONGESTED,
  CONGESTED4,
  DATA_SPORT,
  PROXY4,
  acknowledge,
  cnpsAmong,
  data,
  notice,
} from '../support/proxy-under-test.ts';
import { ProxyScene } from '../support/proxy-scene.ts';
import { is, moreThan, until } from '../../support/until.ts';

let scene: ProxyScene;
beforeEach(async () => void (scene = await ProxyScene.create()));
afterEach(() => scene.close());

const cnpsAtHost = (): Uint8Array[] => scene.atHost.filter((packet) => cnpsAmong([packet]).length > 0);

/** A connection set up through the router, from either end. */
async function connect(a = A, b = B): Promise<void> {
  scene.fromHost(cmRequest(a, b));
  await until('the REQ is forwarded', () => scene.atCore.length, is(1));
  scene.fromCore(cmReply(b, a));
  await until('the connection is learned', () => scene.proxy.known({ sender: a, receiver: b, receiverQpn: 0xc8 }));
}

describe('in a network', () => {
  test.each([
    ['IPv6', A, B, CONGESTED, undefined],
    ['IPv4, with strict reverse-path filtering', A4, B4, CONGESTED4, PROXY4],
    ['IPv4 flow, IPv6 notice', A4, B4, CONGESTED, undefined],
    ['IPv6 flow, IPv4 notice', A, B, CONGESTED4, PROXY4],
  ])('PNC-3-a, PNC-1-d: a notice from the core is a CNP on the host’s wire: %s', async (_, a, b, source, at) => {
    if (at) scene.proxy.configure({ address: at });
    // The kernel must take the notice's own source for plausible where it filters by reverse path.
    ip(scene.r, 'route add 192.0.2.2/32 via 10.9.0.2');
    await connect(a, b);
    scene.fromCore(
      notice(data({ from: a, to: b, qpn: 0xc8, psn: 6, size: 1024 }), at ? { source, destination: at } : {}),
    );
    await until('the CNP is at the host', () => cnpsAtHost().length, is(1));
    const cnp = cnpsAtHost()[0]!;
    if (a === A)
      expect(toHex(cnp)).toBe(toHex(buildCnp({ source: b, destination: a, destQpn: 0x64, sourcePort: DATA_SPORT })));
    expect(parseRocePacket(cnp)).toMatchObject({
      ok: true,
      value: {
        source: b,
        destination: a,
        sourcePort: DATA_SPORT,
        trafficClass: 0xc0,
        hopLimit: 64,
        icrcValid: true,
        bth: { opcode: 0x81, becn: true, destQpn: 0x64 },
      },
    });
    expect(scene.errors).toEqual([]);
  });

  test('PNC-1-c: the Queue Pairs are learned from packets that the router forwards unchanged, seen at two ports', async () => {
    // The first exchange also waits for neighbor discovery, and may come too late to count.
    for (let psn = 0; psn < 4; psn++) {
      scene.fromHost(data({ from: A, to: B, qpn: 0xc8, psn }));
      await until('the data is forwarded', () => scene.atCore.length, is(psn + 1));
      scene.fromCore(acknowledge({ from: B, to: A, qpn: 0x64, psn }));
      await until('the answer is forwarded', () => scene.atHost.length, is(psn + 1));
    }
    expect(scene.proxy.known({ sender: A, receiver: B, receiverQpn: 0xc8 })).toMatchObject({
      senderQpn: 0x64,
      source: 'reverse-traffic',
    });
    expect(parseRocePacket(scene.atCore[2]!)).toMatchObject({
      ok: true,
      value: { icrcValid: true, hopLimit: 63, bth: { psn: 2 } },
    });
    scene.fromCore(notice(data({ from: A, to: B, qpn: 0xc8, psn: 4 })));
    await until('the CNP is at the host', () => cnpsAtHost().length, is(1));
  });

  test.each([
    ['IPv6', A, B],
    ['IPv4', A4, B4],
  ])(
    'a notice that this router itself sends, over its loopback interface, becomes a CNP as well: %s',
    async (_, a, b) => {
      scene.proxy.configure({ address: a === A ? address('2001:db8:ffff::1') : PROXY4 });
      // The loopback interface is on no path to the receiver: strict filtering would drop what comes from it.
      inNetns(scene.r, 'sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0', 'net.ipv4.conf.lo.rp_filter=0');
      await connect(a, b);
      const own = a === A ? address('2001:db8:ffff::1') : PROXY4;
      scene.onLoopback(notice(data({ from: a, to: b, qpn: 0xc8, psn: 6 }), { source: own, destination: own }));
      await until('the CNP is at the host', () => cnpsAtHost().length, is(1));
      expect(parseRocePacket(cnpsAtHost()[0]!)).toMatchObject({
        ok: true,
        value: { source: b, destination: a, icrcValid: true, bth: { destQpn: 0x64 } },
      });
    },
  );

  // The kernel of the tests need not have VLAN devices: what the program does at a trunk is seen without.
  test('PNC-6-b: a notice in a VLAN is neither answered nor dropped at the trunk, but left to the VLAN’s own interface; without the check the trunk answers it', async () => {
    await connect();
    const packet = notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 }));
    const unknown = notice(data({ from: A, to: B, qpn: 0xc9, psn: 6 }));
    const counted = (name: string): bigint | undefined => scene.proxy.counters().get(name);
    scene.fromCoreTagged(packet, 100);
    scene.fromCore(unknown);
    await until('the one after it is refused', () => counted('proxy.notice.qp-unknown'), is(1n));
    expect({
      cnpsAtHost: cnpsAtHost(),
      received: counted('proxy.notice.received'),
      wrongPort: counted('proxy.notice.wrong-port'),
    }).toEqual({ cnpsAtHost: [], received: 1n, wrongPort: 0n });
    scene.proxy.configure({ learning: { ...DEFAULT_LEARNING_LIMITS, reversePathCheck: false } });
    scene.fromCoreTagged(packet, 100);
    // It still has its tag, and goes no further where there is no such VLAN.
    await until('the trunk has made it a CNP', () => counted('proxy.cnp.sent'), is(1n));
    expect(counted('proxy.notice.received')).toBe(2n);
  });

  test('PNC-6-b: what a host behind the core forges inside a tunnel reaches no sender: the connection stays, and no CNP names another Queue Pair', async () => {
    await connect();
    const wrapped = (inner: Uint8Array): Uint8Array =>
      ipv6([address('2001:db8:b::66'), address('2001:db8:a::66')], 41, inner);
    const forged = [
      cmDisconnect(B, A, 0x64, { localCommId: COMM_ID.passive, remoteCommId: COMM_ID.active }),
      ...[0, 1, 2, 3, 4, 5].flatMap((psn) => [
        data({ from: A, to: B, qpn: 0xd1, psn }),
        acknowledge({ from: B, to: A, qpn: 0x666, psn }),
      ]),
    ];
    for (const inner of forged) scene.fromCore(wrapped(inner));
    await until('all are seen', () => scene.proxy.counters().get('proxy.qp.tunnel-unknown'), is(BigInt(forged.length)));
    for (const qpn of [0xd1, 0xc8]) scene.fromCore(notice(data({ from: A, to: B, qpn, psn: 6 })));
    await until('the CNP is at the host', () => cnpsAtHost().length, moreThan(0));
    expect(cnpsAtHost().map((packet) => parseRocePacket(packet))).toMatchObject([
      { ok: true, value: { bth: { destQpn: 0x64 } } },
    ]);
    expect(scene.proxy.counters().get('proxy.notice.qp-unknown')).toBe(1n);
  });

  test('PNC-1-c: a notice about an unknown flow sends nothing, and the next about a known one goes out', async () => {
    await connect();
    scene.fromCore(notice(data({ from: A, to: B, qpn: 0xc9, psn: 6 })));
    scene.fromCore(notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 })));
    await until('the CNP is at the host', () => cnpsAtHost().length, is(1));
    expect(scene.proxy.counters().get('proxy.notice.qp-unknown')).toBe(1n);
    expect(scene.proxy.counters().get('proxy.cnp.sent')).toBe(1n);
  });

  test('what was learned survives a restart, and between two processes the program goes on learning and notifying', async () => {
    await connect();
    scene.stop();
    scene.fromCore(notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 })));
    await until('the CNP is at the host without any process', () => cnpsAtHost().length, is(1));
    scene.fromHost(data({ from: A, to: B, qpn: 0xc8, psn: 7 }));
    await until('data is forwarded without any process', () => scene.atCore.length, is(2));
    scene.start();
    expect(scene.links.map((link) => link.adopted)).toEqual([true, true, true]);
    expect(scene.proxy.known({ sender: A, receiver: B, receiverQpn: 0xc8 })).toMatchObject({
      senderQpn: 0x64,
      source: 'cm',
      lastPsn: 7,
      cnps: 1n,
    });
    scene.fromCore(notice(data({ from: A, to: B, qpn: 0xc8, psn: 8 })));
    await until('the CNP is at the host', () => cnpsAtHost().length, is(2));
  });

  test('a reload is a map update: a withdrawn sender prefix is unknown with the next packet', async () => {
    await connect();
    const senders = scene.proxy.object.map(PROXY_MAPS.senders);
    for (const key of [...senders.keys()]) senders.delete(key);
    scene.fromCore(notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 })));
    await until('the notice is refused', () => scene.proxy.counters().get('proxy.notice.sender-unknown'), is(1n));
  });
});
