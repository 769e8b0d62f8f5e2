// A user of the router without any rights, who sends datagrams over its loopback interface: what the proxy believes
// there is what the router's own detector has had built, and nothing else.
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { inNetns } from '../../support/netns.ts';
import { A, B, data, notice } from '../support/proxy-under-test.ts';
import { ProxyScene } from '../support/proxy-scene.ts';
import { is, moreThan, until } from '../../support/until.ts';

let scene: ProxyScene;
beforeEach(async () => void (scene = await ProxyScene.create()));
afterEach(() => scene.close());

// In two pieces the kernel computes the checksum itself and leaves none to the hardware; over IPv4 none is allowed.
const USER = `import os, socket, sys
assert os.geteuid() != 0
payload, source, to = bytes.fromhex(sys.argv[1]), sys.argv[2], sys.argv[3]
six = ':' in to
s = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(*((41, 78, 1) if six else (socket.SOL_SOCKET, 11, 1)))
s.bind((source, 0)); s.connect((to, 1021))
for n in range(3):
  s.send(payload[:20], socket.MSG_MORE); s.send(payload[20:])
`;

const asUser = (payload: Uint8Array, source: string, to: string): void => {
  const rights = ['--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'];
  const hex = Buffer.from(payload).toString('hex');
  const run = scene.r.run(() =>
    spawnSync('setpriv', [...rights, '/usr/bin/python3', '-c', USER, hex, source, to], { encoding: 'utf8' }),
  );
  expect(run.stderr).toBe('');
};

test.each([
  ['its own address, IPv6', '2001:db8:ffff::1', '2001:db8:ffff::1'],
  ['another router’s, IPv6', '2001:db8:ffff::2', '2001:db8:ffff::1'],
  ['its own address, IPv4', '192.0.2.1', '192.0.2.1'],
])('PNC-6-b: a notice that a local user sends as %s, reaches no sender', async (_, source, to) => {
  inNetns(scene.r, 'sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0', 'net.ipv4.conf.lo.rp_filter=0');
  scene.proxy.configure({ address: address(to) });
  scene.proxy.teach({ sender: A, receiver: B, receiverQpn: 0xc8, senderQpn: 0x64 });
  const invoking = data({ from: A, to: B, qpn: 0xc8, psn: 6 });
  asUser(notice(invoking).subarray(48), source, to);
  const counted = (name: string): number => Number(scene.proxy.counters().get(name));
  await until('all are refused', () => counted('proxy.notice.received'), is(3));
  expect({ notBuiltHere: counted('proxy.notice.not-built-here'), cnpsSent: counted('proxy.cnp.sent') }).toEqual({
    notBuiltHere: 3,
    cnpsSent: 0,
  });
  // What a router elsewhere reports is believed, and nothing was before it at the host.
  scene.fromCore(
    notice(invoking, { source: address(to.includes(':') ? '2001:db8:ffff::2' : '10.9.0.2'), destination: address(to) }),
  );
  if (to.includes(':')) {
    await until('the CNP', () => scene.atHost.length, moreThan(0));
    expect(scene.atHost.map((packet) => parseRocePacket(packet))).toMatchObject([
      { ok: true, value: { bth: { opcode: 0x81, destQpn: 0x64 } } },
    ]);
  } else {
    await until('it is seen', () => counted('proxy.notice.received'), is(4));
    expect(scene.atHost).toEqual([]);
  }
});
