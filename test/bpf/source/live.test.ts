// The source between a host and the core, in a real network: the router learns the connection from the traffic that it
// forwards, and what a notification leads to is looked at on the host's wire. So is what must not reach it.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { SOURCE_PROGRAM } from '../../../src/kernel/dataplane/source.ts';
import { openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { buildIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { address } from '../../../src/model/address.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { ip } from '../../support/netns.ts';
import { is, moreThan, until } from '../../support/until.ts';
import { cmReply, cmRequest } from '../support/cm-messages.ts';
import { countOf } from '../support/counters.ts';
import { A, A4, B, B4, CONGESTED, DATA_SPORT } from '../support/proxy-under-test.ts';
import { ProxyScene } from '../support/proxy-scene.ts';
import {
  ICMPV6_TYPE,
  SourceUnderTest,
  fastCnp,
  longHaulIcmpv6,
  longHaulRoce,
  longHaulRoce4,
} from '../support/source-under-test.ts';

let scene: ProxyScene;
let source: SourceUnderTest;
let links: TcxLink[];
beforeEach(async () => {
  scene = await ProxyScene.create();
  ip(scene.r, 'route add 192.0.2.2/32 via 10.9.0.2');
  source = new SourceUnderTest(scene.pins).configure('convert');
  links = ['t-proxy-rh', 't-proxy-rc', 'lo'].map((name) =>
    attachTcx({
      program: source.object.program(SOURCE_PROGRAM),
      ifindex: scene.r.run(() => interfaceIndex(name)),
      direction: 'ingress',
      netns: scene.r,
    }),
  );
  for (const [a, b] of [
    [A, B],
    [A4, B4],
  ] as const) {
    const before = scene.atCore.length;
    scene.fromHost(cmRequest(a, b));
    await until('the REQ is forwarded', () => scene.atCore.length, moreThan(before));
    scene.fromCore(cmReply(b, a));
    await until('the connection is learned', () => scene.proxy.known({ sender: a, receiver: b, receiverQpn: 0xc8 }));
  }
});
afterEach(() => {
  links.forEach((link) => link.close());
  source.close();
  scene.close();
  expect(scene.errors).toEqual([]);
});

function isConnectionManagement(packet: Uint8Array): boolean {
  const parsed = parseRocePacket(packet);
  return parsed.ok && parsed.value.bth.opcode === OPCODE.udSendOnly;
}

/** CNPs and what else notifies a sender: the connection's own messages come when they come. */
const heard = (): Uint8Array[] => scene.atHost.filter((packet) => !isConnectionManagement(packet));
const counted = (name: string): number => countOf(source.object, name);

test.each([
  ['a Fast CNP', fastCnp, A, B, DATA_SPORT],
  ['a Long-haul CNP in ICMPv6', longHaulIcmpv6, A, B, 0],
  ['a Long-haul CNP in RoCEv2', longHaulRoce, A, B, DATA_SPORT],
  ['a Long-haul CNP in RoCEv2 over IPv4', longHaulRoce4, A4, B4, DATA_SPORT],
] as const)(
  'FCNP-4-n, LHCNP-5.6-d: %s from the core is a standard CNP on the host’s wire',
  async (_, build, a, b, sourcePort) => {
    scene.fromCore(build());
    await until('the host hears of it', () => heard().length, is(1));
    const [got] = heard();
    if (a === A) expect(toHex(got!)).toBe(toHex(buildCnp({ source: b, destination: a, destQpn: 0x64, sourcePort })));
    expect(parseRocePacket(got!)).toMatchObject({
      ok: true,
      value: {
        source: b,
        destination: a,
        sourcePort,
        hopLimit: 64,
        icrcValid: true,
        bth: { opcode: 0x81, destQpn: 0x64 },
      },
    });
  },
);

test('LHCNP-5.6-j, LHCNP-8-c: an adapter that knows standard CNPs only gets one for a Long-haul CNP in RoCEv2, without its instruction and objects', async () => {
  const objects = [{ kind: 'device-id', name: 'leaf1' }] as const;
  scene.fromCore(longHaulRoce({ action: 'pause', parameter: 9, objects }));
  await until('the host hears of it', () => heard().length, is(1));
  expect(heard().map(toHex)).toEqual([
    toHex(buildCnp({ source: B, destination: A, destQpn: 0x64, sourcePort: DATA_SPORT })),
  ]);
});

test('LHCNP-5.6-j, LHCNP-8-b: what of ICMPv6 is not understood or not believed is discarded in silence: neither the host nor the node hears of it', async () => {
  /** ICMPv6 errors about ICMPv6: the host's kernel has an answer to CNPs, which nobody listens for. */
  const errors: Uint8Array[] = [];
  const poller = Poller.open({ onError: (error) => void scene.errors.push(error) });
  const socket = openPacketSocket(
    { interface: 't-proxy-c', netns: scene.c },
    {
      poller,
      onFrame: (frame) => {
        if (frame[14 + 6] === 58 && frame[54]! < 128 && frame[54 + 8 + 6] === 58) errors.push(frame.slice());
      },
      onError: (error) => void scene.errors.push(error),
    },
  );
  const body = longHaulIcmpv6().subarray(44);
  scene.fromCore(buildIcmpv6({ source: CONGESTED, destination: A, type: ICMPV6_TYPE, code: 1, body }));
  scene.fromCore(longHaulIcmpv6({ sourceQpn: 0xeee }));
  scene.fromCore(longHaulIcmpv6({ action: 'resume', parameter: 50 }));
  for (const reason of ['malformed', 'qp-unknown', 'resume'])
    await until('it is refused', () => counted(`source.${reason}`), is(1));
  scene.fromCore(longHaulIcmpv6());
  await until('a good one is heard', () => heard().length, moreThan(0));
  expect(heard().map(toHex)).toEqual([toHex(buildCnp({ source: B, destination: A, destQpn: 0x64, sourcePort: 0 }))]);
  expect(errors).toEqual([]);
  socket.close();
  poller.close();
});

test('a node that this router cannot reach is not believed', async () => {
  scene.fromCore(fastCnp({ source: address('2001:db8:ffff::77') }));
  await until('it is refused', () => counted('source.wrong-port'), is(1));
  ip(scene.r, 'route add 2001:db8:ffff::77/128 via 2001:db8:ffff:1::2');
  scene.fromCore(fastCnp({ source: address('2001:db8:ffff::77') }));
  await until('and is believed with a route', () => heard().length, is(1));
});

test('on the loopback interface only what this router has built is believed', async () => {
  ip(scene.r, 'addr add 2001:db8:ffff::2/128 dev lo');
  scene.onLoopback(fastCnp());
  await until('its own is a CNP at the host', () => heard().length, is(1));
  expect(counted('source.converted')).toBe(1);
});

test('LHCNP-5.6-b: a stranger is refused whatever it sends, and traffic of the host goes on', async () => {
  const stranger = { source: address('2001:db8:b::66') };
  for (const packet of [fastCnp(stranger), longHaulRoce({}, stranger), longHaulIcmpv6({}, stranger)])
    scene.fromCore(packet);
  await until('all are refused', () => counted('source.not-allowed'), is(3));
  scene.fromCore(longHaulRoce({}, { source: CONGESTED }));
  await until('the host hears of the true one', () => heard().length, is(1));
});
