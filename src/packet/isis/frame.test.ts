import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { ALL_ISS, decodeFrame, encodeFrame } from './frame.ts';
import { PROXY_LSP } from './vectors.fixture.ts';

const SOURCE = fromHex('020000000001');

test('a short PDU goes in an 802.3 frame with LLC FE FE 03', () => {
  const frame = encodeFrame(SOURCE, ALL_ISS, PROXY_LSP);
  expect(toHex(frame.subarray(0, 17))).toBe('09002b000005' + '020000000001' + '00bb' + 'fefe03');
  expect(decodeFrame(frame)).toEqual({ ok: true, value: { destination: ALL_ISS, source: SOURCE, pdu: PROXY_LSP } });
});

test('what exceeds an 802.3 length goes under EtherType 0x8870', () => {
  const longest = encodeFrame(SOURCE, ALL_ISS, new Uint8Array(0x5ff - 3));
  const longer = encodeFrame(SOURCE, ALL_ISS, new Uint8Array(0x5ff - 2));
  expect(toHex(longest.subarray(12, 17))).toBe('05ff' + 'fefe03');
  expect(toHex(longer.subarray(12, 17))).toBe('8870' + 'fefe03');
});

test('any PDU comes out of its frame as it went in', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (pdu) => {
      const decoded = decodeFrame(encodeFrame(SOURCE, ALL_ISS, pdu));
      expect(decoded.ok && toHex(decoded.value.pdu)).toBe(toHex(pdu));
    }),
    { numRuns: 100 },
  );
});

test('Ethernet padding after the 802.3 length is cut', () => {
  const frame = concat(encodeFrame(SOURCE, ALL_ISS, fromHex('0102')), new Uint8Array(41));
  const decoded = decodeFrame(frame);
  expect(decoded.ok && toHex(decoded.value.pdu)).toBe('0102');
});

test('other traffic is not IS-IS; a length beyond the frame or below LLC is an error', () => {
  const code = (hex: string): string => {
    const decoded = decodeFrame(fromHex(hex));
    return decoded.ok ? 'ok' : decoded.error.code;
  };
  const macs = '09002b000005' + '020000000001';
  expect(code('')).toBe('not-isis');
  expect(code(macs + '86dd' + '60000000')).toBe('not-isis');
  expect(code(macs + '8100' + '00010800')).toBe('not-isis');
  expect(code(macs + '0026' + '424203')).toBe('not-isis');
  expect(code(macs + '0004' + 'fefe03')).toBe('truncated');
  expect(code(macs + '0002' + 'fefe03')).toBe('bad-length');
});

test('no frame harms the decoder', () => {
  fuzzDecoder(decodeFrame, [
    encodeFrame(SOURCE, ALL_ISS, PROXY_LSP),
    encodeFrame(SOURCE, ALL_ISS, new Uint8Array(1600)),
  ]);
});
