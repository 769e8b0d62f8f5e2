// A local user of the router, without rights: with any source of their choice (IPV6_FREEBIND) and a routing header they
// have the kernel show A's packets to B on the loopback interface. None of it is evidence: seen from the victim's side,
// a connection stays, and right.
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { addressBytes } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { inNetns } from '../../support/netns.ts';
import { cmDisconnect } from '../support/cm-messages.ts';
import { letTimePass } from '../support/queue-pair-time.ts';
import { A, B, CHECKED, PROXY, UNCHECKED, acknowledge, data, notice } from '../support/proxy-under-test.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { ProxyScene } from '../support/proxy-scene.ts';
import { atLeast, is, until } from '../../support/until.ts';

let scene: ProxyScene;
beforeEach(async () => void (scene = await ProxyScene.create()));
afterEach(() => {
  expect(scene.errors).toEqual([]);
  scene.close();
});

const cnpsAtHost = (): number[] => scene.notified();
const seen = (): Promise<void> => scene.seen();

/** A packet on its way to its destination by way of the router itself (RFC 8754), where it is now. */
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
    for (const psn of [1, 2, 3, 4, 5]) {
      scene.fromHost(data({ from: A, to: B, qpn: 0xc8, psn }));
      await until('the request is seen', () => scene.atCore.length, atLeast(psn));
      scene.fromCore(acknowledge({ from: B, to: A, qpn: 0x64, psn }));
      await seen();
    }
    const forged = [
      ...[0, 1, 2, 3, 4].map((i) => acknowledge({ from: B, to: A, qpn: 0x64, psn: 0x800000 + i })),
      cmDisconnect(B, A, 0x64),
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
      packets: 2n,
    });
    expect(scene.proxy.known({ sender: A, receiver: B, receiverQpn: 0xd0 })).toBeUndefined();
    for (const qpn of [0xd0, 0xc8]) scene.fromCore(notice(data({ from: A, to: B, qpn, psn: 20 })));
    await until('the CNP is at the host', () => cnpsAtHost().length, is(1));
    expect(cnpsAtHost()).toEqual([0x64]);
  },
);

// What is sent to a multicast group comes back at the port by which it leaves, without an Ethernet header: where the
// program would look for one, and for what is behind it, are the addresses that the sender has chosen.
test('PNC-6-b: a multicast packet that comes back at a port is not read as another host’s packet', async () => {
  scene.proxy.configure({ learning: UNCHECKED });
  inNetns(scene.r, 'sysctl', '-qw', 'net.ipv6.ip_nonlocal_bind=1'); // as IPV6_FREEBIND, which Node.js has no option for
  // The EtherType of IPv4, its header, with addresses of A4 and B4 in the group, ports and length of UDP; the port is
  // the opcode of a request.
  const [source, group, port] = ['2001:db8:800:4500:74::4011', 'ff0e:a00:1:a00:101:c123:12b7:60', 0x0440];
  const rest = '00c88000000500000000000000000000';
  const sender = `
    const socket = require('node:dgram').createSocket('udp6');
    socket.bind(0xd000, '${source}', () => {
      socket.addMembership('${group}', '::%t-proxy-rc');
      socket.setMulticastInterface('::%t-proxy-rc');
      socket.send(Buffer.from('${rest}', 'hex'), ${port}, '${group}', (error) => {
        socket.close();
        if (error) throw error;
      });
    });`;
  const { status, stderr } = scene.r.run(() => spawnSync(process.execPath, ['-e', sender], { encoding: 'utf8' }));
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  await until(
    'it has left by the port',
    () => scene.atCore,
    (all) => all.some((packet) => packet[24] === 0xff),
  );
  await seen();
  expect([...scene.proxy.object.map(PROXY_MAPS.sentPsns).keys()]).toEqual([]);
});
