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
  RECORD_FIELDS,
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
    const at = (field: keyof typeof RECORD_FIELDS): number => before + RECORD_FIELDS[field];
    const u32 = (field: keyof typeof RECORD_FIELDS, value: number): void =>
      view.setUint32(at(field), value, LITTLE_ENDIAN);
    view.setBigUint64(at('time'), 123_456_789_012_345n, LITTLE_ENDIAN);
    all.set(mappedAddress(SOURCE), at('source'));
    all.set(mappedAddress(DESTINATION), at('destination'));
    if (fields.endCon) all.set(mappedAddress(fields.endCon), at('endCon'));
    u32('ifindex', 7);
    u32('destinationQpn', 0xabcdef);
    u32('sourceQpn', 0x64);
    u32('queueBytes', 130_000_000);
    all[at('format')] = fields.format;
    all[at('reason')] = fields.reason ?? 1;
    all[at('action')] = fields.action ?? 2;
    all[at('level')] = 180;
    view.setUint16(at('parameter'), 30, LITTLE_ENDIAN);
    view.setUint16(at('pkey'), 0x8123); // in network order
    view.setUint16(at('sourcePort'), 0xc001);
  });
  return new DataView(bytes.buffer);
}

describe('records of notifications', () => {
  test('have format, destination, path and reason', () => {
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
    datagram.setUint16(RECORD_FIELDS.datagram, 1, LITTLE_ENDIAN);
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

  test('formats that a host lacks survive encoding and decoding', () => {
    for (const lacks of [[], ['fast-cnp'], ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce']] as const) {
      expect(decodeSenderCapability(encodeSenderCapability({ host: SOURCE, lacks }))).toEqual({ lacks });
    }
  });
});
