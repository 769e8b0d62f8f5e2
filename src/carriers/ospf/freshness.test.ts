// Sequence numbers of authenticated packets as they arrive (RFC 2328 §D.5.3, RFC 7166 §4.6), and what else becomes of a
// packet by the state of the link and the neighbor.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { signPacketV2 } from '../../packet/ospf/auth-v2.ts';
import { type ProtocolIdOrder, signPacketV3, verifyPacketV3 } from '../../packet/ospf/auth-v3.ts';
import type { AuthenticationKey } from '../../packet/ospf/digest.ts';
import { encodePacket } from '../../packet/ospf/packet.ts';
import { takeInbox } from './inbox.ts';
import { sendHello } from './neighbor/interface.ts';
import { AREA, type Body, Router, testConfig } from './simulation.fixture.ts';
import { OSPFV2, OSPFV3, type OspfVersion } from './version.ts';

const SELF = 0x01010101;
const NEIGHBOR = 0x02020202;
const KEY: AuthenticationKey = { id: 1, algorithm: 'hmac-sha-256', secret: new Uint8Array(16).fill(7) };
const ACKNOWLEDGMENT: Body = { kind: 'link-state-acknowledgment', headers: [] };
const REQUEST: Body = { kind: 'link-state-request', requests: [] };

const hello = (version: OspfVersion, authenticated = true, rest: { helloInterval?: number } = {}): Body => ({
  kind: 'hello',
  networkMask: 0,
  interfaceId: 0,
  options: version.helloOptions(authenticated),
  helloInterval: 10,
  priority: 0,
  deadInterval: 40,
  designatedRouter: 0,
  backupDesignatedRouter: 0,
  neighbors: [],
  ...rest,
});

function scene(version: OspfVersion, keys: readonly AuthenticationKey[] = [KEY]) {
  const router = new Router(testConfig(SELF, version, { keys }));
  const { speaker: s, area } = router;
  const [ours, source] = version.version === 2 ? ['10.0.0.1', '10.0.0.2'] : ['fe80::1', 'fe80::2'];
  const addresses = { source: address(source!), destination: version.destination };
  area.link = { address: address(ours!), peer: undefined };
  const take = (): void => {
    s.effects = [];
    takeInbox(s, area);
    for (const effect of s.effects) router.note(effect);
  };
  /** Signed with this number; without one it has no authentication. */
  const put = (body: Body, sequence?: number, order?: ProtocolIdOrder): void => {
    const packet = { ...body, routerId: NEIGHBOR, areaId: AREA, instanceId: 0 };
    const plain = encodePacket(version.version, packet, addresses);
    const payload =
      sequence === undefined
        ? plain
        : version.version === 2
          ? signPacketV2(plain, KEY, sequence)
          : signPacketV3(plain, KEY, BigInt(sequence), addresses.source, order);
    area.inbox.push({ payload, addresses });
  };
  const give = (...what: Parameters<typeof put>): void => {
    put(...what);
    take();
  };
  const replayed = (): number => router.count('authentication.replayed');
  return { router, s, area, put, give, take, replayed };
}

describe('a packet with an old sequence number is dropped', () => {
  test('OSPFv2: one number counts for all kinds, and may come again', () => {
    const { give, replayed } = scene(OSPFV2);
    const steps: readonly (readonly [Body, number, number])[] = [
      [hello(OSPFV2), 10, 0],
      [ACKNOWLEDGMENT, 10, 0],
      [ACKNOWLEDGMENT, 9, 1],
      [ACKNOWLEDGMENT, 12, 1],
      [hello(OSPFV2), 11, 2],
      [REQUEST, 11, 3],
      [REQUEST, 12, 3],
    ];
    for (const [body, sequence, dropped] of steps) {
      give(body, sequence);
      expect({ kind: body.kind, sequence, replayed: replayed() }).toEqual({
        kind: body.kind,
        sequence,
        replayed: dropped,
      });
    }
  });

  test('OSPFv3: each kind has numbers of its own, none of which comes again', () => {
    const { give, replayed } = scene(OSPFV3);
    const steps: readonly (readonly [Body, number, number])[] = [
      [hello(OSPFV3), 10, 0],
      [ACKNOWLEDGMENT, 5, 0],
      [REQUEST, 3, 0],
      [ACKNOWLEDGMENT, 5, 1],
      [ACKNOWLEDGMENT, 6, 1],
      [hello(OSPFV3), 10, 2],
      [hello(OSPFV3), 11, 2],
      [REQUEST, 2, 3],
    ];
    for (const [body, sequence, dropped] of steps) {
      give(body, sequence);
      expect({ kind: body.kind, sequence, replayed: replayed() }).toEqual({
        kind: body.kind,
        sequence,
        replayed: dropped,
      });
    }
  });

  test.each([OSPFV2, OSPFV3])('$name: without authentication there is none, also when there was before', (version) => {
    const { area, s, give, replayed } = scene(version);
    give(hello(version), 10);
    area.config = { ...area.config, keys: [] };
    s.now = 5000;
    give(hello(version, false));
    expect({ replayed: replayed(), inactiveAt: area.neighbor!.inactiveAt }).toEqual({
      replayed: 0,
      inactiveAt: 45_000,
    });
  });

  test.each([OSPFV2, OSPFV3])('$name: and nothing is noted of a packet that has none', (version) => {
    const { area, give } = scene(version, []);
    give(hello(version, false));
    expect({
      authenticationSequencesSize: area.neighbor!.authenticationSequences.size,
      protocolIdOrder: area.neighbor!.protocolIdOrder,
    }).toEqual({ authenticationSequencesSize: 0, protocolIdOrder: 'network' });
  });
});

test('OSPFv3: we answer with the order of the protocol ID that the neighbor’s last packet had', () => {
  const { s, area, give } = scene(OSPFV3);
  const orders = (['reversed', 'network', 'reversed'] as const).map((order, n) => {
    give(hello(OSPFV3), n + 1, order);
    s.effects = [];
    sendHello(s, area);
    return s.effects.flatMap((effect) =>
      effect.type === 'send' ? [verifyPacketV3(effect.payload, [KEY], area.link!.address)] : [],
    );
  });
  expect(orders).toMatchObject([[{ order: 'reversed' }], [{ order: 'network' }], [{ order: 'reversed' }]]);
});

describe.each([OSPFV2, OSPFV3])('$name, a packet', (version) => {
  test('other than a hello of one who is no neighbor is counted; a hello that is refused is that already', () => {
    const { router, give } = scene(version, []);
    give(hello(version, false, { helloInterval: 11 }));
    expect({
      packetNoNeighbor: router.count('packet.no-neighbor'),
      helloHelloIntervalMismatch: router.count('hello.hello-interval-mismatch'),
    }).toEqual({ packetNoNeighbor: 0, helloHelloIntervalMismatch: 1 });
    give(ACKNOWLEDGMENT);
    expect(router.count('packet.no-neighbor')).toBe(1);
  });

  test('that waits when the stop is done, or the link goes, is not read', () => {
    const stopped = scene(version, []);
    stopped.s.stopping = { deadline: 0, done: true };
    const down = scene(version, []);
    down.area.link = undefined;
    for (const { router, area, give } of [stopped, down]) {
      give(hello(version, false));
      expect({ rxHello: router.count('rx.hello'), neighbor: area.neighbor }).toEqual({
        rxHello: 0,
        neighbor: undefined,
      });
    }
    const stopping = scene(version, []);
    stopping.s.stopping = { deadline: 0, done: false };
    stopping.give(hello(version, false));
    expect(stopping.router.count('rx.hello')).toBe(1);
  });

  test('a hello like the one before leaves our place in the topology as it is advertised', () => {
    const { area, give } = scene(version, []);
    give(hello(version, false));
    area.neighbor!.state = 'full';
    give({ ...hello(version, false), neighbors: [SELF] } as Body);
    expect(area.own.dirty.size).toBe(0);
  });
});

test('without a link no hello is sent, and none is due', () => {
  const { s, area } = scene(OSPFV2);
  area.link = undefined;
  area.helloAt = Infinity;
  s.effects = [];
  sendHello(s, area);
  expect({ effects: s.effects, helloAt: area.helloAt }).toEqual({ effects: [], helloAt: Infinity });
});
