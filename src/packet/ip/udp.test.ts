import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { decodeUdp, encodeUdpPacket, udpChecksum } from './udp.ts';

const V4 = { source: address('192.0.2.1'), destination: address('198.51.100.7') };
const V6 = { source: address('2001:db8::1'), destination: address('2001:db8:ffff::1') };
const PORTS = { sourcePort: 50000, destinationPort: 1021 };

test('the checksum of a packet verifies on both families, whatever its payload', () => {
  fc.assert(
    fc.property(fc.constantFrom(V4, V6), fc.uint8Array({ maxLength: 1300 }), (ends, payload) => {
      const packet = encodeUdpPacket({ ...ends, ...PORTS, checksum: true, payload });
      const at = ends.source.family === 4 ? 20 : 40;
      expect(udpChecksum(packet, at, packet.length - at, ends.source, ends.destination)).toBe('valid');
      packet[packet.length - 1] = packet.at(-1)! ^ 1;
      expect(udpChecksum(packet, at, packet.length - at, ends.source, ends.destination)).toBe('wrong');
    }),
    { numRuns: 300 },
  );
});

test('a computed checksum of 0 is sent as 0xffff, because 0 means none', () => {
  const packet = (word: number): Uint8Array =>
    encodeUdpPacket({ ...V6, ...PORTS, checksum: true, payload: Uint8Array.of(word >>> 8, word) });
  const checksum = (bytes: Uint8Array): number => (bytes[46]! << 8) | bytes[47]!;
  // The payload word that makes the sum 0xffff: what is missing is the complement's complement.
  const zero = packet(checksum(packet(0)));
  expect(checksum(zero)).toBe(0xffff);
  expect(udpChecksum(zero, 40, 10, V6.source, V6.destination)).toBe('valid');
});

test('without a checksum the field is 0', () => {
  const packet = encodeUdpPacket({ ...V6, ...PORTS, checksum: false, payload: fromHex('01') });
  expect(toHex(packet.subarray(40))).toBe('c35003fd0009000001');
  expect(udpChecksum(packet, 40, 9, V6.source, V6.destination)).toBe('absent');
});

test('lengths are checked', () => {
  expect(decodeUdp(fromHex('c35003fd0009000001'))).toEqual({ ok: true, value: { ...PORTS, length: 9, checksum: 0 } });
  expect(decodeUdp(fromHex('c35003fd000a000001'))).toMatchObject({ ok: false, error: { code: 'truncated' } });
  expect(decodeUdp(fromHex('c35003fd0007000001'))).toMatchObject({ ok: false, error: { code: 'bad-udp-length' } });
  expect(decodeUdp(fromHex('c35003fd000800'))).toMatchObject({ ok: false, error: { code: 'truncated' } });
  expect(() => encodeUdpPacket({ ...V6, ...PORTS, checksum: true, payload: new Uint8Array(65528) })).toThrow(
    /65536 bytes/,
  );
});

test('no datagram harms the decoder', () => fuzzDecoder(decodeUdp, [fromHex('c35003fd0009000001')]));
