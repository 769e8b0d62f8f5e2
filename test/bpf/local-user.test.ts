// A local user of the router, without rights: with any source of their choice (IPV6_FREEBIND) and a routing header they
// have the kernel show A's packets to B on the loopback interface. None of it is evidence: seen from the victim's side,
// a connection stays, and right.
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ipv6 } from '../../src/packet/ip/packets.fixture.ts';
import { addressBytes } from '../../src/model/address.ts';
import { concat } from '../../src/packet/bytes.ts';
import { parseRocePacket } from '../../src/packet/roce/packet.ts';
import { ip, inNetns, until } from '../kernel/support.ts';
import { letTimePass } from './pair-time.ts';
import { A, B, CHECKED, PROXY, UNCHECKED, acknowledge, cm, data, notice } from './proxy-fixture.ts';
import { ProxyScene } from './proxy-scene.ts';

let scene: ProxyScene;
beforeEach(() => void (scene = new ProxyScene()));
afterEach(() => {
  expect(scene.errors).toEqual([]);
  scene.close();
});

const counted = (name: string): bigint => scene.proxy.counters().get(name) ?? 0n;
const cnpsAtHost = (): number[] =>
  scene.atHost.flatMap((packet) => {
    const parsed = parseRocePacket(packet);
    return parsed.ok && parsed.value.bth.opcode === 0x81 ? [parsed.value.bth.destQpn] : [];
  });
async function seen(): Promise<void> {
  const before = counted('proxy.notice.qp-unknown');
  scene.fromCore(notice(data({ from: A, to: B, qpn: 0xeee, psn: 1 })));
  await until('a notice about nothing is refused', () => counted('proxy.notice.qp-unknown') > before);
}

/** A packet on its way to its destination by way of the router itself (RFC 8754), whose first segment it has reached. */
function byWayOfRouter(packet: Uint8Array): Uint8Array {
  const [source, destination] = [packet.subarray(8, 24), packet.subarray(24, 40)];
  const via = PROXY;
  const srh = Uint8Array.of(packet[6]!, 4, 4, 1, 1, 0, 0, 0, ...destination, ...addressBytes(via));
  const whole = ipv6([A, via], 43, concat(srh, packet.subarray(40)));
  whole.set(source, 8);
  return whole;
}

test.each([
  ['as they are', (packet: Uint8Array) => packet, CHECKED],
  ['by way of the router', byWayOfRouter, CHECKED],
  ['as they are, where routes back are not looked at', (packet: Uint8Array) => packet, UNCHECKED],
])(
  'PNC-6-b: packets of A and B on the loopback interface, %s, teach nothing and remove nothing: CNPs go to the right Queue Pair, or nowhere',
  async (_, wrap, learning) => {
    scene.proxy.configure({ learning });
    for (const psn of [1, 2, 3]) {
      scene.fromHost(data({ from: A, to: B, qpn: 0xc8, psn }));
      await until('the request is seen', () => scene.atCore.length >= psn);
      scene.fromCore(acknowledge({ from: B, to: A, qpn: 0x64, psn }));
      await seen();
    }
    const forged = [
      ...[0, 1, 2, 3, 4].map((i) => acknowledge({ from: B, to: A, qpn: 0x64, psn: 0x800000 + i })),
      cm(B, A, { kind: 'dreq', localCommId: 7, remoteCommId: 8, remoteQpn: 0x64, privateData: new Uint8Array() }),
      ...[0xc8, 0xd0].flatMap((qpn) =>
        [11, 12, 13, 14, 15, 16, 17].flatMap((psn) => [
          data({ from: A, to: B, qpn, psn }),
          acknowledge({ from: B, to: A, qpn: 0x666, psn }),
        ]),
      ),
    ];
    for (const packet of forged) {
      letTimePass(scene.proxy, 20e6);
      scene.onLoopback(wrap(packet));
      await seen();
    }
    expect(scene.proxy.known({ sender: A, receiver: B, receiverQpn: 0xc8 })).toMatchObject({
      senderQpn: 0x64,
      packets: 0n,
    });
    expect(scene.proxy.known({ sender: A, receiver: B, receiverQpn: 0xd0 })).toBeUndefined();
    for (const qpn of [0xd0, 0xc8]) scene.fromCore(notice(data({ from: A, to: B, qpn, psn: 20 })));
    await until('the CNP is at the host', () => cnpsAtHost().length === 1);
    expect(cnpsAtHost()).toEqual([0x64]);
  },
);

// What is sent to a multicast group comes back at the port by which it leaves, without an Ethernet header: where the
// program would look for one are the addresses and whatever the sender has put behind them.
test('PNC-6-b: a multicast packet that comes back at a port is not read as somebody else’s packet', async () => {
  scene.proxy.configure({ learning: UNCHECKED });
  inNetns(scene.r, 'sysctl', '-qw', 'net.ipv4.ip_nonlocal_bind=1');
  ip(scene.r, 'route add 239.0.0.0/8 dev t-proxy-rc');
  // 134.221 is 0x86dd; behind it begin the version of IPv6 and, in the group, the length of its payload: 300.
  const inside = cm(A, B, { kind: 'dreq', localCommId: 7, remoteCommId: 8, remoteQpn: 0x64, privateData: new Uint8Array() });
  // The UDP header in front has the next header, 17, in its source port, and half of the inner source address.
  const payload = concat(Uint8Array.from(inside.subarray(14, 40)), inside.subarray(40));
  const sender = `
    const socket = require('node:dgram').createSocket('udp4');
    socket.bind(${17 * 256 + 64}, '134.221.96.0', () => {
      socket.addMembership('239.1.1.44', '10.9.0.1');
      socket.setMulticastInterface('10.9.0.1');
      socket.send(Buffer.from('${Buffer.from(payload).toString('hex')}', 'hex'), 8193, '239.1.1.44', () => socket.close());
    });`;
  for (let i = 0; i < 3; i++) {
    const { status, stderr } = scene.r.run(() => spawnSync(process.execPath, ['-e', sender], { encoding: 'utf8' }));
    expect([status, stderr]).toEqual([0, '']);
  }
  await seen();
  const about = [...scene.proxy.counters()].filter(([name, n]) => n > 0n && name.startsWith('proxy.cm.'));
  expect(about).toEqual([]);
});
