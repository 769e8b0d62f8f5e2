import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { buildRocePacket, parseRocePacket } from '../../packet/roce/packet.ts';
import { DataTemplate, type Ends, buildAcknowledge, buildCmPacket, rocePacketOf, sourcePortOf } from './wire.ts';

const V6: Ends = { source: address('2001:db8:1::2'), destination: address('2001:db8:2::2'), sourcePort: 0xc123 };
const V4: Ends = { source: address('10.0.1.2'), destination: address('10.0.2.2'), sourcePort: 0xc123 };
const payload = Uint8Array.from({ length: 61 }, (_, i) => i);

function parse(packet: Uint8Array): ReturnType<typeof parseRocePacket> & { ok: true } {
  const parsed = parseRocePacket(packet);
  if (!parsed.ok) throw new Error(parsed.error.code);
  return parsed;
}

test.each([
  ['IPv6', V6],
  ['IPv4', V4],
])('a template changed in place is the packet that its fields would build (%s)', (_, ends) => {
  const template = new DataTemplate(ends, 0xabcdef, payload);
  for (const fields of [
    { psn: 0xfffffe, opcode: 0x00, ackRequest: false },
    { psn: 5, opcode: 0x02, ackRequest: true },
  ]) {
    const ip = { ...ends, trafficClass: 2, identification: (0xc123 & 0x3fff) | 0x4000, dontFragment: true };
    expect(template.fill(fields)).toEqual(buildRocePacket({ ...ip, bth: { ...fields, destQpn: 0xabcdef }, payload }));
    const { value } = parse(template.packet);
    expect(value).toMatchObject({ icrcValid: true, trafficClass: 2, bth: { ...fields, destQpn: 0xabcdef } });
    expect(value.payload).toEqual(payload);
  }
});

test('acknowledgements and CM messages have valid ICRCs', () => {
  expect(parse(buildAcknowledge(V6, 9, 77, { kind: 'nak', value: 0, msn: 3 })).value).toMatchObject({
    icrcValid: true,
    bth: { opcode: 0x11, destQpn: 9, psn: 77 },
    ext: { aeth: { kind: 'nak', msn: 3 } },
  });
  const dreq = { kind: 'dreq', localCommId: 1, remoteCommId: 2, remoteQpn: 3, privateData: new Uint8Array() } as const;
  expect(parse(buildCmPacket(V4, 5n, dreq)).value).toMatchObject({
    icrcValid: true,
    bth: { opcode: 0x64, destQpn: 1 },
    ext: { deth: { sourceQpn: 1, qkey: 0x80010000 } },
  });
});

test('the UDP source port is one for both directions of a connection, and in the dynamic range', () => {
  expect(sourcePortOf(0x123456, 0x654321)).toBe(sourcePortOf(0x654321, 0x123456));
  expect(sourcePortOf(0xffffff, 0xffffff)).toBeGreaterThanOrEqual(0xc000);
  expect(sourcePortOf(0xffffff, 0xffffff)).toBeLessThanOrEqual(0xffff);
  // lqpn × rqpn = 0x10000 × 0x20 = 0x200000: >> 20 leaves 2, low 20 bits are 2.
  expect(sourcePortOf(0x10000, 0x20)).toBe(0xc002);
});

test('frames that are not UDP to port 4791 are passed over', () => {
  const frame = (type: number, packet: Uint8Array): Uint8Array =>
    Uint8Array.from([...new Uint8Array(12), type >> 8, type & 255, ...packet]);
  const packet = new DataTemplate(V6, 1, payload).packet;
  expect(rocePacketOf(frame(0x86dd, packet))).toEqual(packet);
  expect(rocePacketOf(frame(0x0800, new DataTemplate(V4, 1, payload).packet))).toBeDefined();
  expect(rocePacketOf(frame(0x0806, packet))).toBeUndefined();
  expect(rocePacketOf(frame(0x86dd, packet.with(6, 6)))).toBeUndefined();
  expect(rocePacketOf(frame(0x86dd, packet.with(43, 0)))).toBeUndefined();
  expect(rocePacketOf(new Uint8Array(10))).toBeUndefined();
});
