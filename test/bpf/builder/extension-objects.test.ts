// Extension objects of a Long-haul CNP (LHCNP §6.1.1), in both forms: the agent's template with the program's time in
// it, its checksums good.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_DEVICE_ID, ntpOffsetNs } from '../../../src/kernel/dataplane/notice-config.ts';
import { type LongHaulCodes, decodeLongHaulIcmpv6 } from '../../../src/packet/icmpv6/long-haul-cnp.ts';
import { parseIcmpv6 } from '../../../src/packet/icmpv6/message.ts';
import type { LongHaulCnp } from '../../../src/packet/long-haul/body.ts';
import type { LongHaulObject } from '../../../src/packet/long-haul/objects.ts';
import { readLongHaulRoce } from '../../../src/packet/roce/long-haul-cnp.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { A2, LONG_HAUL, NoticeBuilder, type Order, invokingPackets } from '../support/builder-under-test.ts';

const CODES: LongHaulCodes = { type: 200, objectClass: 247 };
const { v6: V6, v4: V4 } = invokingPackets(512);

let builder: NoticeBuilder;
beforeAll(() => void (builder = NoticeBuilder.compiled()));
afterAll(() => builder.close());

function read(packet: Uint8Array, format: Order['format']): LongHaulCnp {
  const built = builder.build(packet, { format, ...A2 }).packet;
  if (format === 'long-haul-icmpv6') {
    const icmp = parseIcmpv6(built);
    if (!icmp.ok) throw new Error(icmp.error.detail);
    const cnp = decodeLongHaulIcmpv6(icmp.value.message, CODES);
    if (!cnp.ok) throw new Error(cnp.error.detail);
    return cnp.value;
  }
  const roce = parseRocePacket(built);
  if (!roce.ok) throw new Error(roce.error.detail);
  const cnp = readLongHaulRoce(roce.value, CODES.objectClass);
  if (!cnp.ok) throw new Error(cnp.error.detail);
  return cnp.value;
}

const now = (): bigint => ntpOffsetNs(BigInt(Date.now()) * 1_000_000n, process.hrtime.bigint());
/** The codec rejects a wrong ICMPv6 checksum, ICRC or extension checksum. */
const FORMS = [
  ['ICMPv6', V6, 'long-haul-icmpv6'],
  ['RoCEv2', V6, 'long-haul-roce'],
  ['RoCEv2 over IPv4', V4, 'long-haul-roce'],
] as const;

describe.each(FORMS)('in %s', (_, packet, format) => {
  beforeEach(() => void builder.configure({}));

  test.each([
    ['timestamp', { timestamp: true }, ['timestamp']],
    ['device identifier', { deviceId: 'p1' }, ['device-id']],
    ['path identifier', { pathId: 7 }, ['path-id']],
    ['timestamp and path identifier', { timestamp: true, pathId: 7 }, ['timestamp', 'path-id']],
    ['all three', { timestamp: true, deviceId: 'leaf1', pathId: 7 }, ['timestamp', 'device-id', 'path-id']],
    [
      'all three, as long as they may be',
      { timestamp: true, deviceId: 'ü'.repeat(MAX_DEVICE_ID / 2), pathId: 0xffff_ffff },
      ['timestamp', 'device-id', 'path-id'],
    ],
  ])('LHCNP-6.1.1-b, LHCNP-6.1.1-e, LHCNP-6.2.4-b, LHCNP-6.2.4-c: %s', (_what, objects, kinds) => {
    builder.configure({ longHaul: { ...LONG_HAUL, ...objects } }, now());
    const cnp = read(packet, format);
    expect(cnp).toMatchObject(A2);
    expect(cnp.objects.map((o) => o.kind)).toEqual(kinds);
    const deviceId = cnp.objects.find((o) => o.kind === 'device-id');
    if (deviceId) expect(deviceId).toMatchObject({ name: 'deviceId' in objects ? objects.deviceId : '' });
  });

  test('LHCNP-6.1.1-h: the timestamp is the time of building, in NTP’s 32 bits of seconds and 32 of fraction', () => {
    builder.configure({ longHaul: { ...LONG_HAUL, timestamp: true } }, now());
    const from = BigInt(Date.now()) - 2n;
    const [object] = read(packet, format).objects;
    const { ntp } = object as Extract<LongHaulObject, { kind: 'timestamp' }>;
    const ms = ((ntp >> 32n) - 2_208_988_800n) * 1000n + (((ntp & 0xffff_ffffn) * 1000n) >> 32n);
    expect(ms).toBeGreaterThanOrEqual(from);
    expect(ms).toBeLessThanOrEqual(BigInt(Date.now()) + 2n);
  });

  test('LHCNP-6.1.1-e: the checksum is right for whatever time it is', () => {
    for (let second = 0n; second < 200n; second++) {
      // Any offset makes any time: the epoch of NTP, its end and what lies between.
      builder.configure(
        { longHaul: { ...LONG_HAUL, timestamp: true, pathId: Number(second) } },
        second * 21_474_836_480_123_457n,
      );
      expect(read(packet, format).objects).toHaveLength(2);
    }
  });
});

test('LHCNP-6.1.1-i: without objects there is no Extension Header', () => {
  builder.configure({});
  expect(builder.build(V6, { format: 'long-haul-icmpv6', ...A2 }).packet).toHaveLength(56);
  expect(builder.build(V6, { format: 'long-haul-roce', ...A2 }).packet).toHaveLength(76);
  expect(builder.build(V4, { format: 'long-haul-roce', ...A2 }).packet).toHaveLength(56);
});

test('with objects the RoCEv2 form is not padded', () => {
  builder.configure({ longHaul: { ...LONG_HAUL, padToCnp: true, pathId: 7 } });
  expect(builder.build(V6, { format: 'long-haul-roce', ...A2 }).packet).toHaveLength(76 + 12);
});
