// The reverse-path check: what teaches or removes Queue Pairs, and a notice, counts only by a port to which the route
// back to its source leads. Seen from the victim: a connection that is known stays known, and right, whatever comes by
// other ports; and one that is set up over ECMP or an asymmetric core is learned.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mappedAddress } from '../../../src/kernel/dataplane/layout.ts';
import { TENANT_MAPS, encodeTenant } from '../../../src/kernel/dataplane/tenants.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';
import { ipv6 } from '../../../src/packet/ip/packets.fixture.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { ip } from '../../support/netns.ts';
import { cmDisconnect, cmReply, cmRequest } from '../support/cm-messages.ts';
import { type Port, PortsScene } from '../support/ports-scene.ts';
import {
  A,
  A4,
  CHECKED,
  NEXT,
  type Outcome,
  ProxyUnderTest,
  UNCHECKED,
  acknowledge,
  compileProxy,
  data,
  notice,
} from '../support/proxy-under-test.ts';

let compiled: { path: string; remove(): void };
let scene: PortsScene;
let proxy: ProxyUnderTest;
beforeAll(() => {
  compiled = compileProxy();
  scene = new PortsScene();
});
afterAll(() => {
  compiled.remove();
  scene.close();
});
beforeEach(() => {
  proxy = ProxyUnderTest.reused(compiled.path, { learning: CHECKED }).configure();
  scene.describe(proxy);
});
afterEach(() => proxy.close());

const send = (port: Port, packet: Uint8Array): Outcome => scene.send(proxy, port, packet);
const tunneled = (source: IpAddress, inner: Uint8Array): Uint8Array =>
  ipv6([source, address('2001:db8:ffff::1')], inner[0]! >> 4 === 6 ? 41 : 4, inner);

describe.each([
  {
    family: 'IPv6',
    a: A,
    b: address('2001:db8:b::1'),
    c: address('2001:db8:c::1'),
    d: address('2001:db8:d::1'),
    e: address('2001:db8:e::1'),
    own: address('2001:db8:ffff::1'),
    router: address('2001:db8:ffff::2'),
  },
  {
    family: 'IPv4',
    a: A4,
    b: address('10.0.1.1'),
    c: address('10.0.3.1'),
    d: address('10.0.4.1'),
    e: address('10.0.5.1'),
    own: address('192.0.2.1'),
    router: address('192.0.2.2'),
  },
])('over $family', ({ a, b, c, d, e, own, router }) => {
  const known = (from = a, to = b): number | undefined =>
    proxy.known({ sender: from, receiver: to, receiverQpn: 0xc8 })?.senderQpn;
  const connect = (to = b, by: Port = 'core1'): void => {
    send('host1', cmRequest(a, to));
    send(by, cmReply(to, a));
  };

  test.each(['core1', 'core2'] as const)(
    'PNC-1-c: an exchange is learned whose answer comes by any of the ports of its ECMP route: %s',
    (port) => {
      connect(b, port);
      expect(known()).toBe(0x64);
    },
  );

  test('PNC-1-c: an exchange is learned whose answer comes by another core port than its route leads out of: the core is asymmetric', () => {
    connect(c, 'core2');
    expect(known(a, c)).toBe(0x64);
  });

  test('PNC-1-c: packets that are larger than the way back lets through are believed all the same: they go the other way', () => {
    ip(scene.netns, 'link set core1 mtu 1280');
    // Only of a next hop whose neighbor is known the kernel reports that a packet does not fit.
    for (const hop of ['10.9.1.2', '2001:db8:9:1::2'])
      ip(scene.netns, `neigh replace ${hop} lladdr 02:00:00:00:00:09 dev core1`);
    try {
      for (let psn = 1; psn <= 3; psn++) {
        send('core2', data({ from: c, to: a, qpn: 0x64, psn, size: 1400 }));
        send('host1', acknowledge({ from: a, to: c, qpn: 0xc8, psn }));
      }
      expect(proxy.known({ sender: c, receiver: a, receiverQpn: 0x64 })?.senderQpn).toBe(0xc8);
      expect(proxy.counters().get('proxy.qp.wrong-port')).toBe(0n);
    } finally {
      ip(scene.netns, 'link set core1 mtu 1500');
    }
  });

  test('PNC-1-c: a connection is learned from traffic whose answers take turns at the ports of an ECMP route', () => {
    for (let psn = 1; psn <= 3; psn++) {
      send('host1', data({ from: a, to: b, qpn: 0xc8, psn }));
      send(psn % 2 ? 'core1' : 'core2', acknowledge({ from: b, to: a, qpn: 0x64, psn }));
    }
    expect(known()).toBe(0x64);
    expect(proxy.counters().get('proxy.qp.wrong-port')).toBe(0n);
  });

  test.each(['host2', 'border', 'bridged'] as const)(
    'PNC-6-b: forged CM messages by %s teach nothing and remove nothing, whichever side they claim to be',
    (port) => {
      connect();
      send('host1', cmRequest(a, b, { localQpn: 0x65, localCommId: 2 }));
      for (const forged of [
        cmReply(b, a, { localQpn: 0xc9, remoteCommId: 2 }),
        cmDisconnect(b, a, 0x64),
        cmDisconnect(a, b, 0xc8),
        cmRequest(a, b, { localQpn: 0x66, localCommId: 3 }),
      ]) {
        expect(send(port, forged)).toMatchObject({ verdict: NEXT, counted: { 'proxy.cm.wrong-port': 1 } });
      }
      expect(known()).toBe(0x64);
      expect(proxy.connections()).toHaveLength(2);
    },
  );

  test('PNC-6-b: a host of the core cannot speak for a host that is attached here, nor one here for the core', () => {
    connect();
    send('core1', cmDisconnect(a, b, 0xc8));
    send('host1', cmDisconnect(b, a, 0x64));
    expect(known()).toBe(0x64);
    expect(send('core1', cmDisconnect(b, a, 0x64)).counted).toMatchObject({ 'proxy.qp.removed.disconnected': 1 });
  });

  test.each(['host2', 'border'] as const)(
    'PNC-6-b: forged answers by %s neither contradict a connection nor teach another one',
    (port) => {
      connect();
      for (let psn = 1; psn <= 10; psn++) {
        send('host1', data({ from: a, to: b, qpn: 0xc8, psn }));
        send('core1', acknowledge({ from: b, to: a, qpn: 0x64, psn }));
        send(port, acknowledge({ from: b, to: a, qpn: 0x64, psn: 0x800000 + psn }));
        send(port, data({ from: a, to: b, qpn: 0xc8, psn: 0x800000 + psn }));
      }
      expect(proxy.known({ sender: a, receiver: b, receiverQpn: 0xc8 })).toMatchObject({
        senderQpn: 0x64,
        lastPsn: 10,
        confirmed: true,
      });
      for (let psn = 0; psn < 20; psn++) {
        send('host1', data({ from: a, to: b, qpn: 0xd0, psn }));
        send(port, acknowledge({ from: b, to: a, qpn: 0x666, psn }));
      }
      expect(proxy.known({ sender: a, receiver: b, receiverQpn: 0xd0 })).toBeUndefined();
      expect(proxy.counters().get('proxy.qp.wrong-port')).toBeGreaterThanOrEqual(40n);
    },
  );

  test('PNC-1-c: forged data by another port, first or second, does not keep a connection from being learned', () => {
    for (let psn = 1; psn <= 3; psn++) {
      if (psn % 2) send('host2', data({ from: a, to: b, qpn: 0x999, psn }));
      send('host1', data({ from: a, to: b, qpn: 0xc8, psn }));
      if (psn % 2 === 0) send('host2', data({ from: a, to: b, qpn: 0x999, psn }));
      send('core1', acknowledge({ from: b, to: a, qpn: 0x64, psn }));
    }
    expect(known()).toBe(0x64);
  });

  test('PNC-6-b: what is behind a border port that was named is believed there, and nowhere else; nothing else is believed there', () => {
    connect(d, 'core1');
    expect(known(a, d)).toBeUndefined();
    connect(d, 'border');
    expect(known(a, d)).toBe(0x64);
    connect(b, 'border');
    expect(known()).toBeUndefined();
  });

  test('a host behind a bridge is believed at the bridge and at its ports', () => {
    proxy.configure({}, ['2001:db8::/32', '10.0.0.0/8']);
    for (const port of ['bridged', 'br0'] as const) {
      send(port, cmRequest(e, b));
      send('core1', cmReply(b, e));
      expect(known(e, b)).toBe(0x64);
      send(port, cmDisconnect(e, b, 0xc8));
      expect(known(e, b)).toBeUndefined();
    }
  });

  test('sources without a route, and this router’s own addresses from outside, are not believed; nor are they on the loopback interface, where any user may have put them', () => {
    const lost = a.family === 6 ? address('2001:db8:77::1') : address('10.0.6.1');
    for (const from of [lost, own]) {
      send('host1', cmRequest(a, from));
      expect(send('core1', cmReply(from, a)).counted).toEqual({ 'proxy.cm.wrong-port': 1 });
    }
    expect(send('lo', cmReply(own, a)).counted).toEqual({});
    expect(known(a, own)).toBeUndefined();
  });

  test('PNC-6-b: inside a tunnel it is the tunnel’s source that is looked at, and a host at its own port is no tunnel’s', () => {
    send('host1', cmRequest(a, b));
    expect(send('host1', tunneled(A, cmReply(b, a))).counted).toEqual({ 'proxy.qp.tunnel-unknown': 1 });
    expect(send('host2', tunneled(address('2001:db8:ffff::2'), cmReply(b, a))).counted).toEqual({
      'proxy.cm.wrong-port': 1,
    });
    expect(known()).toBeUndefined();
    send('core2', tunneled(address('2001:db8:ffff::2'), cmReply(b, a)));
    expect(known()).toBe(0x64);
  });

  describe('a host behind the core, whose own address every filter lets through,', () => {
    const attacker = address('2001:db8:c::1');
    const SID = address('2001:db8:c::5');
    const forge = (wrap: (inner: Uint8Array) => Uint8Array): Outcome[] => {
      const all = [
        cmDisconnect(b, a, 0x64),
        cmDisconnect(a, b, 0xc8),
        cmRequest(a, b, { localQpn: 0x666, localCommId: 5 }),
        cmReply(b, a, { localQpn: 0xd0, remoteCommId: 5 }),
        cmRequest(b, a, { localQpn: 0xc8, localCommId: 6 }),
        cmReply(a, b, { localQpn: 0x666, remoteCommId: 6 }),
      ];
      for (let psn = 1; psn <= 10; psn++) {
        all.push(acknowledge({ from: b, to: a, qpn: 0x64, psn: 0x800000 + psn }));
        all.push(data({ from: a, to: b, qpn: 0xd1, psn }), acknowledge({ from: b, to: a, qpn: 0x666, psn }));
      }
      return all.map((inner) => send('core1', wrap(inner)));
    };
    const cnpFor = (qpn: number): Record<string, unknown> => {
      const { counted, packet } = send(
        'core1',
        notice(data({ from: a, to: b, qpn, psn: 5 }), { source: router, destination: own }),
      );
      const cnp = parseRocePacket(packet);
      return { ...counted, ...(cnp.ok && { to: cnp.value.bth.destQpn }) };
    };

    test.each([
      ['in a tunnel of its own', (inner: Uint8Array) => tunneled(attacker, inner)],
      ['in a tunnel that a router wraps once more', (inner: Uint8Array) => tunneled(SID, tunneled(attacker, inner))],
    ])(
      'PNC-6-b: %s, neither removes a connection of others nor teaches one: CNPs go to the right Queue Pair, or nowhere',
      (_, wrap) => {
        proxy.configure({ address: own });
        proxy.object.map(TENANT_MAPS.sids).update(mappedAddress(SID), encodeTenant(0));
        connect();
        send('host1', data({ from: a, to: b, qpn: 0xc8, psn: 1 }));
        send('core1', acknowledge({ from: b, to: a, qpn: 0x64, psn: 1 }));
        for (const { verdict, counted } of forge(wrap))
          expect({ verdict, counted }).toEqual({ verdict: NEXT, counted: { 'proxy.qp.tunnel-unknown': 1 } });
        expect(proxy.connections()).toHaveLength(2);
        expect(cnpFor(0xc8)).toMatchObject({ 'proxy.cnp.sent': 1, to: 0x64 });
        for (const qpn of [0xd0, 0xd1]) expect(cnpFor(qpn)).toMatchObject({ 'proxy.notice.qp-unknown': 1 });
      },
    );

    test('PNC-1-c: in a tunnel from an END.CON SID of the domain connections are learned and end', () => {
      proxy.object.map(TENANT_MAPS.sids).update(mappedAddress(SID), encodeTenant(0));
      send('host1', cmRequest(a, b));
      send('core1', tunneled(SID, cmReply(b, a)));
      expect(known()).toBe(0x64);
      send('core1', tunneled(SID, cmDisconnect(b, a, 0x64)));
      expect(known()).toBeUndefined();
    });
  });

  test('PNC-6-b: a notice from a source that is allowed is obeyed by the ports of its route, and by no other', () => {
    proxy.configure({ address: own });
    connect();
    const by = (port: Port, source = router): Outcome =>
      send(port, notice(data({ from: a, to: b, qpn: 0xc8, psn: 5 }), { source, destination: own }));
    for (const port of ['host1', 'host2', 'border', 'bridged'] as const)
      expect(by(port).counted).toEqual({ 'proxy.notice.received': 1, 'proxy.notice.wrong-port': 1 });
    expect(by('core1', own).counted).toEqual({ 'proxy.notice.received': 1, 'proxy.notice.wrong-port': 1 });
    for (const port of ['core1', 'core2'] as const)
      expect(by(port).counted).toEqual({ 'proxy.notice.received': 1, 'proxy.cnp.sent': 1 });
    expect(by('lo', own).counted).toEqual({ 'proxy.notice.received': 1, 'proxy.cnp.sent': 1 });
  });

  test('switched off, where routing is asymmetric towards hosts, everything is believed by every port', () => {
    proxy.configure({ address: own, learning: UNCHECKED });
    send('host2', cmRequest(a, b));
    send('border', cmReply(b, a));
    expect(known()).toBe(0x64);
    expect(
      send('host2', notice(data({ from: a, to: b, qpn: 0xc8, psn: 5 }), { source: router, destination: own })).counted,
    ).toMatchObject({ 'proxy.cnp.sent': 1 });
  });

  test('ports that the operator names are the core, and no others', () => {
    scene.describe(proxy, { corePorts: ['core1'] });
    connect(c, 'core2');
    expect(known(a, c)).toBeUndefined();
  });
});
