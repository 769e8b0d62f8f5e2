import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { type Bth, decodeBth, encodeBth } from './bth.ts';

test('FCNP-3-b: the BTH comes first; its fields, both ways', () => {
  const bth: Bth = {
    opcode: 0x04,
    solicited: true,
    migration: false,
    padCount: 3,
    version: 0,
    pkey: 0xffff,
    fecn: false,
    becn: true,
    reserved: 0x20,
    destQpn: 0x0000c8,
    ackRequest: true,
    psn: 0x000123,
  };
  expect(toHex(encodeBth(bth))).toBe('04b0ffff600000c880000123');
  expect(decodeBth(fromHex('04b0ffff600000c880000123'))).toEqual({ ok: true, value: bth });
});

test('every BTH comes back as it was', () => {
  const arbitrary: fc.Arbitrary<Bth> = fc.record({
    opcode: fc.nat(255),
    solicited: fc.boolean(),
    migration: fc.boolean(),
    padCount: fc.nat(3),
    version: fc.nat(15),
    pkey: fc.nat(65535),
    fecn: fc.boolean(),
    becn: fc.boolean(),
    reserved: fc.nat(63),
    destQpn: fc.nat(0xffffff),
    ackRequest: fc.boolean(),
    psn: fc.nat(0xffffff),
  });
  fc.assert(fc.property(arbitrary, (bth) => void expect(decodeBth(encodeBth(bth))).toEqual({ ok: true, value: bth })));
});

test('what is not given is the default partition, and zero', () => {
  expect(toHex(encodeBth({ opcode: 0x0a, destQpn: 1, psn: 2 }))).toBe('0a00ffff0000000100000002');
});

test('Queue Pairs and PSNs have 24 bits', () => {
  expect(() => encodeBth({ opcode: 0, destQpn: 0x1000000, psn: 0 })).toThrow(/Queue Pair 16777216/);
  expect(() => encodeBth({ opcode: 0, destQpn: 0, psn: -1 })).toThrow(/PSN -1/);
});

test('no input harms the decoder', () => {
  const bytes = fromHex('04b0ffff600000c880000123');
  refusesTruncation(decodeBth, bytes);
  fuzzDecoder(decodeBth, [bytes]);
});
