// What is not from the other end of the link, of another area or instance, or without a hello before.
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { encodePacket } from '../../packet/ospf/packet.ts';
import { AREA, Link, Router, testConfig } from './simulation.fixture.ts';
import { OSPFV2, OSPFV3 } from './version.ts';

const A = 0x01010101;
const B = 0x02020202;

describe('packets that are not for us', () => {
  test.each([
    ['RFC 2328 §8.2', OSPFV2, '203.0.113.1', '224.0.0.5'],
    ['RFC 2328 §8.2 (our own address, which FRR forwards from everybody)', OSPFV2, '10.0.0.1', '10.0.0.1'],
    ['RFC 2328 §8.2 (our own address)', OSPFV2, '10.0.0.1', '224.0.0.5'],
    ['RFC 2328 §8.2 (the network of a /30)', OSPFV2, '10.0.0.0', '224.0.0.5'],
    ['RFC 2328 §8.2 (the broadcast address of a /30)', OSPFV2, '10.0.0.3', '224.0.0.5'],
    ['RFC 2328 §8.1 (not to AllSPFRouters)', OSPFV2, '10.0.0.2', '10.0.0.1'],
    ['RFC 5340 §4.2.2', OSPFV3, '2001:db8::1', 'ff02::5'],
    ['RFC 5340 §4.2.2 (our own address)', OSPFV3, 'fe80::1', 'ff02::5'],
    ['RFC 5340 §4.2.2 (to another address of ours)', OSPFV3, 'fe80::2', '2001:db8::1'],
  ] as const)(
    '%s: under the name of the neighbor, but from an address that is not on the link',
    (_rfc, version, from, to) => {
      const router = new Router(testConfig(A, version));
      const link = new Link(router, new Router(testConfig(B, version)));
      link.until('full', () => router.state === 'full');
      const received = router.count('rx.link-state-update');
      const addresses = { source: address(from), destination: address(to) };
      const payload = encodePacket(
        version.version,
        { kind: 'link-state-update', routerId: B, areaId: AREA, instanceId: 0, lsas: [] },
        addresses,
      );
      link.event(0, { type: 'received', areaId: AREA, payload, addresses });
      link.run(0);
      expect({
        packetOffLink: router.count('packet.off-link'),
        rxLinkStateUpdate: router.count('rx.link-state-update') - received,
      }).toEqual({ packetOffLink: 1, rxLinkStateUpdate: 0 });
      expect(router.area.refused).toBeUndefined();
    },
  );

  test('OSPFv3 packets to our own address alone are taken: ospf6d sends some so', () => {
    const router = new Router(testConfig(A, OSPFV3));
    const link = new Link(router, new Router(testConfig(B, OSPFV3)));
    link.until('full', () => router.state === 'full');
    const received = router.count('rx.link-state-update');
    const addresses = { source: address('fe80::2'), destination: address('fe80::1') };
    const payload = encodePacket(
      3,
      { kind: 'link-state-update', routerId: B, areaId: AREA, instanceId: 0, lsas: [] },
      addresses,
    );
    link.event(0, { type: 'received', areaId: AREA, payload, addresses });
    link.run(0);
    expect(router.count('rx.link-state-update') - received).toBe(1);
  });

  test.each([OSPFV2, OSPFV3])('$name: 20,000 from elsewhere do not keep the neighbor from being heard', (version) => {
    const router = new Router(testConfig(A, version));
    const link = new Link(router, new Router(testConfig(B, version)));
    link.until('full', () => router.state === 'full');
    const addresses = {
      source: address(version.version === 2 ? '192.0.2.77' : '2001:db8::1'),
      destination: address(version.version === 2 ? '10.0.0.1' : 'fe80::1'),
    };
    for (let i = 0; i < 20_000; i++)
      link.event(0, { type: 'received', areaId: AREA, payload: new Uint8Array(44), addresses });
    expect({
      inboxLength: router.area.inbox.length,
      rxQueueFull: router.count('rx.queue-full'),
      packetOffLink: router.count('packet.off-link'),
    }).toEqual({ inboxLength: 0, rxQueueFull: 0, packetOffLink: 20_000 });
  });

  test('of another area, of another instance, of a router that we have not heard say hello', () => {
    const router = new Router(testConfig(A, OSPFV3, { instanceId: 3 }));
    const link = new Link(router, new Router(testConfig(B, OSPFV3, { instanceId: 4 })));
    link.run(100);
    expect(router.count('packet.instance-mismatch')).toBeGreaterThan(0);
    const addresses = { source: address('fe80::2'), destination: OSPFV3.destination };
    const acknowledgment = (areaId: number): Uint8Array =>
      encodePacket(
        3,
        { kind: 'link-state-acknowledgment', routerId: B, areaId, instanceId: 3, headers: [] },
        addresses,
      );
    for (const areaId of [9, AREA])
      link.event(0, { type: 'received', areaId: AREA, payload: acknowledgment(areaId), addresses });
    link.run(0);
    expect({
      packetAreaMismatch: router.count('packet.area-mismatch'),
      packetNoNeighbor: router.count('packet.no-neighbor'),
    }).toEqual({ packetAreaMismatch: 1, packetNoNeighbor: 1 });
    expect(router.area.refused).toBe('its area is 0.0.0.9');
    expect(router.state).toBe('none');
  });
});
