// Netlink messages against bytes that a Linux 6.18 kernel sent, and against garbage.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeAddress, decodeRoute } from './address.ts';
import { decodeLink } from './link.ts';
import {
  type NetlinkMessage,
  attribute,
  concat,
  decodeAcknowledgement,
  decodeAttributes,
  decodeDone,
  decodeMessages,
  encodeMessage,
  nested,
  readText,
  readU32,
  text,
  u32,
} from './message.ts';
import { decodeChange } from './monitor.ts';
import { decodeHtbClass, decodeQdisc } from './traffic-control.ts';

const hex = (digits: string): Uint8Array => Uint8Array.from(Buffer.from(digits, 'hex'));
const only = (digits: string): NetlinkMessage => {
  const { messages, complete } = decodeMessages(hex(digits));
  expect({ messagesLength: messages.length, complete }).toEqual({ messagesLength: 1, complete: true });
  return messages[0]!;
};

describe('acknowledgements', () => {
  test('success has errno 0 and no text', () => {
    expect(
      decodeAcknowledgement(only('240000000200000101000000000000000000000034000000120005000100000000000000')),
    ).toEqual({ errno: 0, detail: undefined });
  });

  test("a refusal has the errno and the kernel's text", () => {
    const message = only(
      '50000000020000030700000000000000feffffff240000002500050007000000000000002c00010043616e6e6f742064' +
        '656c65746520716469736320776974682068616e646c65206f66207a65726f00',
    );
    expect(decodeAcknowledgement(message)).toEqual({ errno: 2, detail: 'Cannot delete qdisc with handle of zero' });
  });

  test('a refused attribute is named by its offset', () => {
    const message = only(
      '68000000020000030600000000000000deffffff38000000100005060600000000000000270001004174747269627574' +
        '65206661696c656420706f6c6963792076616c69646174696f6e0000080002002000000014000480080007000f000000' +
        '080001000b000000',
    );
    expect(decodeAcknowledgement(message)).toEqual({
      errno: 34,
      detail: 'Attribute failed policy validation (at byte 32 of the request)',
    });
  });

  test('an acknowledgment that repeats the request (no CAP_ACK) has its text after the request', () => {
    const request = encodeMessage({ type: 16, flags: 5, sequence: 9, body: new Uint8Array(17) });
    const body = concat([u32(-22 >>> 0), request, new Uint8Array(3), attribute(1, text('no')), attribute(5, u32(3))]);
    expect(decodeAcknowledgement({ type: 2, flags: 0x200, sequence: 9, body })).toEqual({
      errno: 22,
      detail: 'no (attribute 3 is missing)',
    });
  });

  test('the end of a dump may be a refusal too', () => {
    expect(
      decodeDone({
        type: 3,
        flags: 0x202,
        sequence: 1,
        body: concat([u32(-95 >>> 0), attribute(1, text('not here'))]),
      }),
    ).toEqual({ errno: 95, detail: 'not here' });
    expect(decodeDone(only('1400000003000200020000000000000000000000'))).toEqual({ errno: 0, detail: undefined });
  });
});

describe('messages and attributes', () => {
  test('what is encoded is decoded; attributes are padded to four bytes', () => {
    const body = concat([attribute(3, text('eth0')), nested(18, attribute(1, text('veth')), attribute(2, u32(7)))]);
    expect(Buffer.from(body).toString('hex')).toBe(
      '0900030065746830000000001800128009000100766574680000000008000200' + '07000000',
    );
    const { messages } = decodeMessages(
      concat([
        encodeMessage({ type: 16, flags: 1, sequence: 77, body }),
        encodeMessage({ type: 3, flags: 2, sequence: 77, body: u32(0) }),
      ]),
    );
    expect(messages.map((m) => [m.type, m.flags, m.sequence])).toEqual([
      [16, 1, 77],
      [3, 2, 77],
    ]);
    const attributes = decodeAttributes(messages[0]!.body);
    expect(readText(attributes.get(3))).toBe('eth0');
    expect(readU32(decodeAttributes(attributes.get(18)!).get(2))).toBe(7);
  });

  test('a length that does not fit ends the walk and is reported', () => {
    const good = encodeMessage({ type: 16, flags: 0, sequence: 1, body: u32(1) });
    for (const length of [0, 15, 21, 0xffff_ffff]) {
      const bad = good.slice();
      new DataView(bad.buffer).setUint32(0, length, true);
      const { messages, complete } = decodeMessages(concat([good, bad]));
      expect({ messagesLength: messages.length, complete }).toEqual({ messagesLength: 1, complete: false });
    }
    expect(decodeAttributes(hex('0300010008000200')).size).toBe(0);
    expect(decodeAttributes(hex('04000100ffff0200')).size).toBe(1);
  });

  test('no bytes make a decoder throw', () => {
    const decoders = [
      decodeLink,
      decodeAddress,
      decodeRoute,
      decodeQdisc,
      decodeHtbClass,
      decodeChange,
      decodeAcknowledgement,
      decodeDone,
    ];
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(60), fc.nat(0xffff), (body, type, flags) => {
        decodeMessages(body);
        for (const decode of decoders) decode({ type, flags, sequence: 1, body });
      }),
      { numRuns: 3000 },
    );
  });
});
