import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpAddress, address } from '../../model/address.ts';
import type { ArnBitOrder } from '../../model/code-points.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import type { FiveTuple } from '../ip/five-tuple.ts';
import { ARN_TYPES, type Arn, decodeArn, encodeArn, scopeOf } from './arn.ts';

const INNER6: FiveTuple = {
  source: address('2001:db8:a::1'),
  destination: address('2001:db8:b::1'),
  protocol: 17,
  sourcePort: 0xc000,
  destinationPort: 4791,
};
const INNER4: FiveTuple = { ...INNER6, source: address('10.1.0.1'), destination: address('10.2.0.1') };
const OUTER: FiveTuple = {
  source: address('2001:db8:ffff::1'),
  destination: address('fc00:2:1::'),
  protocol: 41,
  sourcePort: 0,
  destinationPort: 0,
};
const TUPLE6 = '20010db8000a00000000000000000001' + '20010db8000b00000000000000000001' + '11' + 'c000' + '12b7';
const OUTER6 = '20010db8ffff00000000000000000001' + 'fc000002000100000000000000000000' + '29' + '0000' + '0000';
const PAD = '000000';

const value = (bytes: Uint8Array, order?: ArnBitOrder): Arn => {
  const result = decodeArn(bytes, order);
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
};
const code = (hex: string, order?: ArnBitOrder): string => {
  const result = decodeArn(fromHex(hex), order);
  return result.ok ? 'ok' : result.error.code;
};
const both = (arn: Arn, hex: string): void => {
  expect(toHex(encodeArn(arn))).toBe(hex);
  expect(value(fromHex(hex))).toEqual(arn);
};

test('FCN-4.1.1-a: type, version, metric and Para-Type; bit 0 is a five-tuple, bit 1 a path identifier of 32 bits', () => {
  both({ type: 'failure', metric: 0 }, '03100000');
  both({ type: 'congestion-eliminated', metric: 255, pathId: 0xdeadbeef }, '0210ff40' + 'deadbeef');
  both({ type: 'failure-eliminated', metric: 7, flow: INNER6 }, '04100780' + TUPLE6 + PAD);
  both({ type: 'failure-eliminated', metric: 7, flow: INNER4 }, '04100780' + '0a0100010a020001' + '11c00012b7' + PAD);
  // Not in the figure: what is reserved is ignored.
  expect(value(fromHex('031f0000'))).toEqual({ type: 'failure', metric: 0 });
  expect(value(fromHex('04100780' + TUPLE6 + 'ffffff'))).toEqual({
    type: 'failure-eliminated',
    metric: 7,
    flow: INNER6,
  });
});

test('FCN-4.1.1.1-a: bit 2 of Para-Type is a priority of 32 bits, and FCN-4.1.1.2-a: bit 3 a time of 32 bits', () => {
  both({ type: 'congestion-eliminated', metric: 1, priority: 3 }, '02100120' + '00000003');
  both({ type: 'congestion', metric: 1, pauseUs: 0xffffffff }, '01100110' + 'ffffffff');
});

test('parameters come in the order of their bits', () => {
  const all: Arn = { type: 'congestion', metric: 7, flow: INNER6, pathId: 1, priority: 7, pauseUs: 500 };
  both(all, '011007f0' + TUPLE6 + PAD + '00000001' + '00000007' + '000001f4');
});

test('service mode has the outer five-tuple and a time', () => {
  const arn: Arn = { type: 'congestion', metric: 7, flow: OUTER, pauseUs: 1000 };
  both(arn, '01100790' + OUTER6 + PAD + '000003e8');
  expect(scopeOf(arn)).toBe('service');
  for (const protocol of [4, 43]) expect(scopeOf({ ...arn, flow: { ...OUTER, protocol } })).toBe('service');
});

test('flow mode has the inner five-tuple and a time', () => {
  const arn: Arn = { type: 'congestion', metric: 7, flow: INNER6, pauseUs: 1000 };
  both(arn, '01100790' + TUPLE6 + PAD + '000003e8');
  expect(scopeOf(arn)).toBe('flow');
  // Ports make it a flow, whatever its protocol; so does another protocol without ports.
  expect(scopeOf({ ...arn, flow: { ...OUTER, destinationPort: 1 } })).toBe('flow');
  expect(scopeOf({ ...arn, flow: { ...OUTER, protocol: 89 } })).toBe('flow');
});

test('priority mode has the priority and a time', () => {
  const arn: Arn = { type: 'congestion', metric: 7, priority: 5, pauseUs: 1000 };
  both(arn, '01100730' + '00000005' + '000003e8');
  expect(scopeOf(arn)).toBe('priority');
});

test('without flow and priority, or with both, an ARN stops nothing', () => {
  expect(scopeOf({ type: 'congestion', metric: 0, pathId: 1, pauseUs: 1 })).toBeUndefined();
  expect(scopeOf({ type: 'congestion', metric: 0, flow: INNER6, priority: 1, pauseUs: 1 })).toBeUndefined();
});

test('with the least significant bit as bit 0 the same parameters have other bits', () => {
  const arn: Arn = { type: 'congestion', metric: 7, flow: INNER4, priority: 5, pauseUs: 9 };
  const bytes = encodeArn(arn, 'lsb-first');
  expect(bytes[3]).toBe(0b1101);
  expect(value(bytes, 'lsb-first')).toEqual(arn);
  expect(code(toHex(bytes))).toBe('unknown-parameter');
});

test.each([
  ['nothing', '', 'truncated'],
  ['half a header', '0110', 'truncated'],
  ['version 0', '03000000', 'bad-version'],
  ['version 2', '03200000', 'bad-version'],
  ['type 0', '00100000', 'bad-type'],
  ['type 5', '05100000', 'bad-type'],
  ['bit 4', '03100008' + '00000000', 'unknown-parameter'],
  ['bit 7', '03100001', 'unknown-parameter'],
  ['a flow that is not there', '03100080', 'bad-length'],
  ['a flow of a length between the families', '03100080' + '00'.repeat(20), 'bad-length'],
  ['a flow that is cut', '03100080' + TUPLE6, 'bad-length'],
  ['a byte too much', '03100040' + '0000000000', 'bad-length'],
  ['a word too much', '01100010' + '00000001' + '00000000', 'bad-length'],
  ['a time that is not there', '01100010', 'bad-length'],
  ['priority 8', '02100020' + '00000008', 'bad-priority'],
  ['priority 2³²−1', '02100020' + 'ffffffff', 'bad-priority'],
  ['congestion for 0 µs', '01100010' + '00000000', 'no-time'],
])('%s is refused', (_what, hex, expected) => expect(code(hex)).toBe(expected));

test('the end of congestion may have a time of 0', () => {
  both({ type: 'congestion-eliminated', metric: 0, pauseUs: 0 }, '02100010' + '00000000');
});

test.each<[string, Arn, string]>([
  ['a metric of nine bits', { type: 'failure', metric: 256 }, 'bad-field'],
  ['priority 8', { type: 'failure', metric: 0, priority: 8 }, 'bad-field'],
  ['a time of 2³² µs', { type: 'congestion', metric: 0, pauseUs: 2 ** 32 }, 'bad-field'],
  ['a time of 0', { type: 'congestion', metric: 0, pauseUs: 0 }, 'no-time'],
  ['half a microsecond', { type: 'congestion', metric: 0, pauseUs: 0.5 }, 'bad-field'],
  ['two families', { type: 'failure', metric: 0, flow: { ...INNER6, source: INNER4.source } }, 'bad-tuple'],
  ['port 65536', { type: 'failure', metric: 0, flow: { ...INNER6, sourcePort: 65536 } }, 'bad-field'],
])('%s is not encoded', (_what, arn, expected) => {
  expect(() => encodeArn(arn)).toThrow(expect.objectContaining({ code: expected }) as Error);
});

const anAddress = (family: 4 | 6): fc.Arbitrary<IpAddress> =>
  fc.bigInt(0n, family === 4 ? 2n ** 32n - 1n : 2n ** 128n - 1n).map((bits) => ({ family, value: bits }));
const aTuple = (family: 4 | 6): fc.Arbitrary<FiveTuple> =>
  fc.record({
    source: anAddress(family),
    destination: anAddress(family),
    protocol: fc.nat(255),
    sourcePort: fc.nat(65535),
    destinationPort: fc.nat(65535),
  });
const anArn: fc.Arbitrary<Arn> = fc.record(
  {
    type: fc.constantFrom(...ARN_TYPES),
    metric: fc.nat(255),
    flow: fc.oneof(aTuple(4), aTuple(6)),
    pathId: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    priority: fc.nat(7),
    pauseUs: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  },
  { requiredKeys: ['type', 'metric'] },
);

test('what is encoded is read again, in both orders of bits; no part of it is, but one', () => {
  fc.assert(
    fc.property(anArn, fc.constantFrom('msb-first' as const, 'lsb-first' as const), (arn, order) => {
      const bytes = encodeArn(arn, order);
      expect(value(bytes, order)).toEqual(arn);
      const read: number[] = [];
      for (let cut = 0; cut < bytes.length; cut++) if (decodeArn(bytes.subarray(0, cut), order).ok) read.push(cut);
      // Cut by the difference of the families, an IPv6 flow is an IPv4 flow, or no priority or time: UDP's length and
      // checksum are what tells.
      for (const cut of read)
        expect({ family: arn.flow?.source.family, cut }).toEqual({ family: 6, cut: bytes.length - 24 });
    }),
  );
});

test('whatever comes is an ARN or a precise error', () => {
  const valid = fc.sample(anArn, { seed: 41, numRuns: 20 }).map((arn) => encodeArn(arn));
  fuzzDecoder((bytes) => decodeArn(bytes), valid, { maxLength: 80 });
});
