import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import type { NotificationFormat } from '../../model/notification.ts';
import { NOTIFICATION_FORMATS } from '../../model/notification.ts';
import { prefix } from '../../model/prefix.ts';
import { LITTLE_ENDIAN, mappedAddress, structure } from './layout.ts';
import {
  ACTION_NUMBER,
  FORMAT_NUMBER,
  NOTIFICATION_RECORD_SIZE,
  REASON_NUMBER,
  actionOf,
  decodeNotification,
  formatOf,
} from './notifications.ts';
import {
  decodeSenderCapability,
  decodeSenderPolicy,
  encodeSenderCapability,
  encodeSenderPolicy,
} from './sender-policies.ts';

const SOURCE = address('2001:db8:1::10');
const DESTINATION = address('10.2.0.20');
const END_CON = address('2001:db8:c::1');

/** A record as the program writes it, behind `before` bytes of something else. */
function record(
  fields: { format: number; reason?: number; action?: number; endCon?: typeof END_CON },
  before = 0,
): DataView {
  const bytes = structure(before + NOTIFICATION_RECORD_SIZE, (view, all) => {
    view.setBigUint64(before, 123_456_789_012_345n, LITTLE_ENDIAN);
    all.set(mappedAddress(SOURCE), before + 8);
    all.set(mappedAddress(DESTINATION), before + 24);
    if (fields.endCon) all.set(mappedAddress(fields.endCon), before + 40);
    [7, 0xabcdef, 0x64, 130_000_000].forEach((word, i) => view.setUint32(before + 56 + 4 * i, word, LITTLE_ENDIAN));
    all.set([fields.format, fields.reason ?? 1, fields.action ?? 2, 180], before + 72);
    view.setUint16(before + 76, 30, LITTLE_ENDIAN);
    all.set([0x81, 0x23, 0xc0, 0x01], before + 78); // in network order
  });
  return new DataView(bytes.buffer);
}

describe('records of notifications', () => {
  test('say what was sent, to whom, through what and why', () => {
    expect(
      decodeNotification(record({ format: 3, reason: 4, endCon: END_CON }, 24), 24, NOTIFICATION_RECORD_SIZE),
    ).toEqual({
      atNs: 123_456_789_012_345n,
      format: 'long-haul-icmpv6',
      reason: 'escalation',
      ifindex: 7,
      source: SOURCE,
      destination: DESTINATION,
      destinationQpn: 0xabcdef,
      sourceQpn: 0x64,
      endCon: END_CON,
      queueBytes: 130_000_000,
      level: 180,
      action: 'rate-reduce',
      parameter: 30,
      sourcePort: 0xc001,
      pkey: 0x8123,
      datagram: false,
    });
    const datagram = record({ format: 3 });
    datagram.setUint16(82, 1, LITTLE_ENDIAN);
    expect(decodeNotification(datagram, 0, NOTIFICATION_RECORD_SIZE).datagram).toBe(true);
  });

  test.each(NOTIFICATION_FORMATS.map((format) => [format]))(
    'of %s have an action only where the format has one; a zero END.CON is none',
    (format: NotificationFormat) => {
      const sent = decodeNotification(
        record({ format: FORMAT_NUMBER[format], action: 0 }),
        0,
        NOTIFICATION_RECORD_SIZE,
      );
      expect(sent).toMatchObject({ format, endCon: null, action: format.startsWith('long-haul') ? 'notify' : null });
    },
  );

  test.each([
    [
      'another size',
      () => decodeNotification(record({ format: 1 }), 0, NOTIFICATION_RECORD_SIZE - 8),
      /88 bytes, not 80/,
    ],
    [
      'an unknown format',
      () => decodeNotification(record({ format: 5 }), 0, NOTIFICATION_RECORD_SIZE),
      /5 is no notification format/,
    ],
    [
      'an unknown reason',
      () => decodeNotification(record({ format: 1, reason: 0 }), 0, NOTIFICATION_RECORD_SIZE),
      /0 is no reason/,
    ],
    [
      'an unknown action',
      () => decodeNotification(record({ format: 4, action: 4 }), 0, NOTIFICATION_RECORD_SIZE),
      /4 is no action/,
    ],
  ])('of %s are refused', (_, decode, message) => {
    expect(decode).toThrow(message);
  });

  test('the numbers of formats, actions and reasons go both ways', () => {
    for (const [name, number] of Object.entries(FORMAT_NUMBER)) expect(formatOf(number)).toBe(name);
    for (const [name, number] of Object.entries(ACTION_NUMBER)) expect(actionOf(number)).toBe(name);
    expect(ACTION_NUMBER).toEqual({ notify: 0, pause: 1, 'rate-reduce': 2, resume: 3 });
    expect(new Set(Object.values(REASON_NUMBER)).size).toBe(4);
  });
});

describe('policies and capabilities of senders', () => {
  test.each([['2001:db8:1::/64'], ['10.1.0.0/16'], ['::/0']])(
    'the policy of %s survives encoding and decoding',
    (text) => {
      for (const order of [
        ['proxy'],
        ['fast-cnp', 'long-haul-icmpv6', 'proxy'],
        ['long-haul-roce', 'long-haul-icmpv6', 'fast-cnp', 'proxy'],
      ] as const) {
        for (const markCeWithFastCnp of [true, false]) {
          expect(decodeSenderPolicy(encodeSenderPolicy({ prefix: prefix(text), order, markCeWithFastCnp }))).toEqual({
            order,
            markCeWithFastCnp,
          });
        }
      }
    },
  );

  test.each([[[]], [['proxy', 'proxy', 'proxy', 'proxy', 'proxy']]] as const)('a policy of %j is refused', (order) => {
    expect(() => encodeSenderPolicy({ prefix: prefix('::/0'), order, markCeWithFastCnp: false })).toThrow(RangeError);
  });

  test('what a host lacks survives encoding and decoding', () => {
    for (const lacks of [[], ['fast-cnp'], ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce']] as const) {
      expect(decodeSenderCapability(encodeSenderCapability({ host: SOURCE, lacks }))).toEqual({ lacks });
    }
  });
});
