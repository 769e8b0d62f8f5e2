import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { toHex } from '../packet/hex.ts';
import { decodeLongHaulIcmpv6 } from '../packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../packet/icmpv6/message.ts';
import { readLongHaulRoce } from '../packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../packet/roce/packet.ts';
import { decapsulate } from '../packet/srv6/encapsulation.ts';
import { sentNotification } from './sent-notification.fixture.ts';
import { type LongHaulSettings, buildResume } from './resume-packet.ts';

const NTP = 0xe95b_2b80_8000_0000n;
const LONG_HAUL = {
  icmpv6Type: 200,
  objectClass: 247,
  disclose: true,
  timestamp: false,
  deviceId: null,
  pathId: null,
  padToCnp: false,
};
const SETTINGS: LongHaulSettings = {
  source4: address('192.0.2.2'),
  source6: address('2001:db8:ffff::2'),
  longHaul: LONG_HAUL,
};
const RESUME = { level: 20, parameter: 50 };
const order = (more = {}) => ({ flow: sentNotification(more), queueBytes: 30_000_000 });
const IPV4 = {
  source: address('198.51.100.1'),
  destination: address('198.51.101.1'),
  format: 'long-haul-roce',
} as const;

describe('the Resume packet', () => {
  test('A3: level 20, Resume 50 percent, Queue Pair 100, 30 MB', () => {
    const packet = buildResume(order(), RESUME, SETTINGS, NTP)!;
    const parsed = parseIcmpv6(packet);
    if (!parsed.ok) throw new Error(parsed.error.detail);
    expect(toHex(parsed.value.message.subarray(4))).toBe('14c000320000006401007530');
    expect(parsed.value).toMatchObject({
      source: SETTINGS.source6,
      destination: address('2001:db8:1::1'),
      trafficClass: 48 << 2,
      hopLimit: 64,
      type: 200,
      code: 0,
    });
  });

  test('LHCNP-9-g: a node that does not disclose its queues sends neither metric type nor value', () => {
    const packet = buildResume(order(), RESUME, { ...SETTINGS, longHaul: { ...LONG_HAUL, disclose: false } }, NTP)!;
    expect(toHex(packet.subarray(44))).toBe('14c000320000006400000000');
  });

  test('LHCNP-6.1.1-h: the objects are those of its other Long-haul CNPs', () => {
    const settings = { ...SETTINGS, longHaul: { ...LONG_HAUL, timestamp: true, deviceId: 'p1', pathId: 7 } };
    const decoded = decodeLongHaulIcmpv6(buildResume(order(), RESUME, settings, NTP)!.subarray(40), {
      type: 200,
      objectClass: 247,
    });
    expect(decoded).toMatchObject({
      ok: true,
      value: {
        objects: [
          { kind: 'timestamp', ntp: NTP },
          { kind: 'device-id', name: 'p1' },
          { kind: 'path-id', id: Uint8Array.of(0, 0, 0, 7) },
        ],
      },
    });
  });

  test('LHCNP-4-a: an IPv4 flow is notified in the RoCEv2 form, from the IPv4 loopback', () => {
    const parsed = parseRocePacket(buildResume(order(IPV4), RESUME, SETTINGS, NTP)!);
    if (!parsed.ok) throw new Error(parsed.error.detail);
    expect(parsed.value).toMatchObject({
      family: 4,
      source: SETTINGS.source4,
      destination: IPV4.source,
      icrcValid: true,
    });
    expect(readLongHaulRoce(parsed.value, 247)).toMatchObject({
      ok: true,
      value: { action: 'resume', parameter: 50, level: 20, sourceQpn: 100 },
    });
  });

  test.each([
    ['IPv6', { format: 'long-haul-roce' }],
    ['IPv4', IPV4],
  ] as const)('LHCNP-6.2.3-g: in RoCEv2 form it has the P_Key and the UDP source port of the flow, %s', (_, more) => {
    const fields = (packet: Uint8Array | undefined): object => {
      const parsed = parseRocePacket(packet!);
      if (!parsed.ok) throw new Error(parsed.error.detail);
      return { sourcePort: parsed.value.sourcePort, pkey: parsed.value.bth.pkey };
    };
    expect(fields(buildResume(order({ ...more, sourcePort: 0xd00d, pkey: 0x8123 }), RESUME, SETTINGS, NTP))).toEqual({
      sourcePort: 0xd00d,
      pkey: 0x8123,
    });
    // Of an entry of the flow table that an earlier version wrote.
    expect(fields(buildResume(order({ ...more, sourcePort: 0, pkey: 0 }), RESUME, SETTINGS, NTP))).toEqual({
      sourcePort: 0xc000,
      pkey: 0xffff,
    });
  });

  const endCon = address('2001:db8:c::1');
  for (const [name, more, version] of [
    ['IPv6', {}, 6],
    ['IPv4', IPV4, 4],
  ] as const) {
    test(`FCN-4.2.2-d: goes back through END.CON when the flow came through one, ${name} inside, not changed by a bit`, () => {
      const wrapped = decapsulate(buildResume(order({ ...more, endCon }), RESUME, SETTINGS, NTP)!);
      if (!wrapped.ok) throw new Error(wrapped.error.detail);
      expect(wrapped.value.outer).toMatchObject({
        source: SETTINGS.source6,
        destination: endCon,
        family: 6,
        trafficClass: 48 << 2,
      });
      expect(wrapped.value.inner[0]! >>> 4).toBe(version);
      expect(toHex(wrapped.value.inner)).toBe(toHex(buildResume(order(more), RESUME, SETTINGS, NTP)!));
    });
  }

  test('a node without an address of the family, or without Long-haul CNP, sends nothing', () => {
    expect(buildResume(order(IPV4), RESUME, { ...SETTINGS, source4: null }, NTP)).toBeUndefined();
    expect(buildResume(order({ ...IPV4, endCon }), RESUME, { ...SETTINGS, source6: null }, NTP)).toBeUndefined();
    expect(buildResume(order(), RESUME, { source4: null, source6: SETTINGS.source6 }, NTP)).toBeUndefined();
  });
});
