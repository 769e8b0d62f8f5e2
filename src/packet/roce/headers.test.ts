// The extended transport headers: DETH, RETH, AETH. Immediate data and the rest are tested in packet.test.ts, where
// they are decoded.
import { expect, test } from 'vitest';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { decodeAeth, encodeAeth, NAK, NO_CREDITS } from './aeth.ts';
import { decodeDeth, encodeDeth } from './deth.ts';
import { decodeReth, encodeReth } from './reth.ts';

test('DETH: Q_Key and source Queue Pair', () => {
  const deth = { qkey: 0x80010000, sourceQpn: 1 };
  expect(toHex(encodeDeth(deth))).toBe('8001000000000001');
  expect(decodeDeth(fromHex('8001000000000001'))).toEqual({ ok: true, value: deth });
});

test('RETH: virtual address, R_Key, length', () => {
  const reth = { virtualAddress: 0xffff_8000_0000_0001n, rkey: 0xdeadbeef, length: 4096 };
  expect(toHex(encodeReth(reth))).toBe('ffff800000000001deadbeef00001000');
  expect(decodeReth(fromHex('ffff800000000001deadbeef00001000'))).toEqual({ ok: true, value: reth });
});

test.each([
  ['1f000005', { kind: 'ack', value: NO_CREDITS, msn: 5 }],
  ['60000005', { kind: 'nak', value: NAK.psnSequenceError, msn: 5 }],
  ['63ffffff', { kind: 'nak', value: NAK.remoteOperationalError, msn: 0xffffff }],
  ['2e000001', { kind: 'rnr-nak', value: 14, msn: 1 }],
  ['40000000', { kind: 'reserved', value: 0, msn: 0 }],
] as const)('AETH %s, both ways', (hex, aeth) => {
  expect(decodeAeth(fromHex(hex))).toEqual({ ok: true, value: aeth });
  expect(toHex(encodeAeth(aeth))).toBe(hex);
});

test('no input harms these decoders', () => {
  for (const [decode, hex] of [
    [decodeDeth, '8001000000000001'],
    [decodeReth, 'ffff800000000001deadbeef00001000'],
    [decodeAeth, '1f000005'],
  ] as const) {
    refusesTruncation(decode, fromHex(hex));
    fuzzDecoder(decode, [fromHex(hex)], { runs: 300 });
  }
});
