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

test('a header is read where it is, and its datagram ends where its length says', () => {
  const [before, datagram, behind] = ['eeeeee', 'c35003fd0009abcd01', 'eeee'];
  const bytes = fromHex(before + datagram + behind);
  expect(decodeUdp(bytes, 3, 12)).toEqual({ ok: true, value: { ...PORTS, length: 9, checksum: 0xabcd } });
  expect(decodeUdp(bytes, 3)).toMatchObject({ ok: true, value: { length: 9 } });
  expect(decodeUdp(bytes, 3, 11)).toMatchObject({ ok: false, error: { code: 'truncated', offset: 7 } });
  expect(decodeUdp(bytes, 3, 10)).toMatchObject({ ok: false, error: { code: 'truncated', offset: 3 } });
  expect(decodeUdp(bytes.with(8, 8), 3, 11)).toMatchObject({ ok: true, value: { length: 8 } });
  expect(decodeUdp(bytes.with(8, 7), 3, 11)).toMatchObject({ ok: false, error: { code: 'bad-udp-length', offset: 7 } });
});

test('the checksum of a datagram is its own, whatever is around it', () => {
  for (const ends of [V4, V6]) {
    const packet = encodeUdpPacket({ ...ends, ...PORTS, checksum: true, payload: fromHex('010203') });
    const at = ends.source.family === 4 ? 20 : 40;
    const longer = Uint8Array.of(...packet, 0xee, 0xee);
    expect(udpChecksum(longer, at, 11, ends.source, ends.destination)).toBe('valid');
    expect(udpChecksum(longer, at, 12, ends.source, ends.destination)).toBe('wrong');
    const other = { ...ends.source, value: ends.source.value + 1n };
    expect(udpChecksum(longer, at, 11, other, ends.destination)).toBe('wrong');
  }
});

test('what the caller says of the IP header is in it, and what it leaves out has its default', () => {
  const of = (ends: typeof V4, more: object = {}): string =>
    toHex(encodeUdpPacket({ ...ends, ...PORTS, checksum: false, payload: new Uint8Array(), ...more }));
  expect(of(V6).slice(0, 16)).toBe('60000000' + '0008' + '11' + '40');
  expect(of(V6, { trafficClass: 0xc2, hopLimit: 255, flowLabel: 0xabcde }).slice(0, 16)).toBe(
    '6c2abcde' + '0008' + '11' + 'ff',
  );
  expect(of(V4).slice(0, 20)).toBe('4500001c' + '0000' + '0000' + '4011');
  const given = { trafficClass: 0xc2, hopLimit: 1, identification: 0x1234, dontFragment: true };
  expect(of(V4, given).slice(0, 20)).toBe('45c2001c' + '1234' + '4000' + '0111');
});

test('no datagram harms the decoder', () => fuzzDecoder(decodeUdp, [fromHex('c35003fd0009000001')]));
