// A trunk: native traffic and VLANs at one port. What is in a VLAN is the business of the VLAN's own interface, where
// it is seen again: a host of a VLAN must not speak for hosts and routers of the native one. The kernel of the tests
// need not have VLAN devices: what the program does at a trunk is seen without.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { address } from '../../../src/model/address.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { PROXY_MAPS } from '../../../src/kernel/dataplane/proxy.ts';
import { cmDisconnect } from '../support/cm-messages.ts';
import { letTimePass } from '../support/queue-pair-time.ts';
import { A, B, CONGESTED, UNCHECKED, acknowledge, data, notice } from '../support/proxy-under-test.ts';
import { ProxyScene } from '../support/proxy-scene.ts';
import { atLeast, is, until } from '../../support/until.ts';

let scene: ProxyScene;
beforeEach(async () => void (scene = await ProxyScene.create()));
afterEach(() => {
  expect(scene.errors).toEqual([]);
  scene.close();
});

const VLAN = 100;
const there = { sender: A, receiver: B, receiverQpn: 0xc8 };
const counted = (name: string): bigint => scene.counted(name);
const known = () => scene.proxy.known(there);
const cnpsAtHost = (): number[] => scene.notified();
const disconnect = cmDisconnect(B, A, 0x64);
const seen = (): Promise<void> => scene.seen();
/** A and B, whose Queue Pairs are 0x64 and 0xc8, from their traffic. */
async function connect(
  fromCore = (packet: Uint8Array) => scene.fromCore(packet),
  psns = [1, 2, 3, 4, 5],
): Promise<void> {
  for (const psn of psns) {
    scene.fromHost(data({ from: A, to: B, qpn: 0xc8, psn }));
    await until('the request is seen', () => scene.atCore.length, atLeast(psn));
    fromCore(acknowledge({ from: B, to: A, qpn: 0x64, psn }));
    await seen();
  }
}

describe('PNC-6-b: a host in a VLAN of the trunk', () => {
  test('has no CNP sent by a notice in a router’s name, not even right behind a true one of that router', async () => {
    await connect();
    for (let i = 0; i < 5; i++) {
      await seen(); // the router has just been believed
      scene.fromCoreTagged(notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 })), VLAN);
    }
    await seen();
    expect({
      beyondQpUnknown: counted('proxy.notice.received') - counted('proxy.notice.qp-unknown'),
      cnpsAtHost: cnpsAtHost(),
    }).toEqual({ beyondQpUnknown: 0n, cnpsAtHost: [] });
  });

  test('neither contradicts nor ends a connection of native hosts whose packets were just believed', async () => {
    await connect();
    for (let i = 0; i < 5; i++) {
      letTimePass(scene.proxy, 20e6);
      scene.fromCoreTagged(acknowledge({ from: B, to: A, qpn: 0x64, psn: 0x800000 + i }), VLAN);
      await seen();
    }
    scene.fromCoreTagged(disconnect, VLAN);
    await seen();
    expect(known()).toMatchObject({ senderQpn: 0x64, confirmed: true });
    scene.fromCore(notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 })));
    await until('the CNP is at the host', () => cnpsAtHost().length, is(1));
    expect(cnpsAtHost()).toEqual([0x64]);
  });

  test.each([
    ['', (packet: Uint8Array) => packet],
    [', in a tunnel', (packet: Uint8Array) => ipv6([CONGESTED, address('2001:db8:ffff::1')], 41, packet)],
  ])(
    'has its requests not stored as those of a native host%s, for whose answers they would be evidence',
    async (_, wrap) => {
      for (let psn = 1; psn < 6; psn++) {
        scene.fromCoreTagged(wrap(data({ from: B, to: A, qpn: 0x666, psn })), VLAN);
        await seen();
        scene.fromHost(acknowledge({ from: A, to: B, qpn: 0xc8, psn }));
        await until('the answer is forwarded', () => scene.atCore.length, atLeast(psn));
      }
      expect(scene.proxy.connections()).toEqual([]);
      expect([...scene.proxy.object.map(PROXY_MAPS.sentPsns).keys()]).toEqual([]);
    },
  );
});

test('VLAN 0 is none: hosts that only have a priority in their tags are learned, and notices with it obeyed', async () => {
  await connect((packet) => scene.fromCoreTagged(packet, 0));
  expect(known()).toMatchObject({ senderQpn: 0x64 });
  scene.fromCoreTagged(notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 })), 0);
  await until('the CNP is at the host', () => cnpsAtHost().length, is(1));
  expect(cnpsAtHost()).toEqual([0x64]);
});

test('without the check the trunk sees through tags: it learns, and answers notices', async () => {
  scene.proxy.configure({ learning: UNCHECKED });
  await connect((packet) => scene.fromCoreTagged(packet, VLAN));
  expect(known()).toMatchObject({ senderQpn: 0x64 });
  scene.fromCoreTagged(notice(data({ from: A, to: B, qpn: 0xc8, psn: 6 })), VLAN);
  await until('the trunk has made it a CNP', () => counted('proxy.cnp.sent'), is(1n));
});
