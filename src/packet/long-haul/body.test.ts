import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LONG_HAUL_ACTIONS } from '../../model/notification.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { encodeExtensions } from '../icmpv6/objects.ts';
import { type LongHaulCnp, METRIC, UNDISCLOSED, decodeLongHaul, encodeLongHaul, queueDepthMetric } from './body.ts';
import { OBJECT_CLASS, REDUCE, REDUCE_BODY, RESUME, RESUME_BODY } from './vectors.fixture.ts';

const encode = (cnp: Partial<LongHaulCnp>): Uint8Array => encodeLongHaul({ ...REDUCE, ...cnp }, OBJECT_CLASS);
const decode = (bytes: Uint8Array, padding = 0): ReturnType<typeof decodeLongHaul> =>
  decodeLongHaul(bytes, 0, bytes.length, { objectClass: OBJECT_CLASS, padding });
const code = (bytes: Uint8Array, padding = 0): string => {
  const decoded = decode(bytes, padding);
  return decoded.ok ? 'ok' : decoded.error.code;
};

test('A2: Rate Reduce 30, level 180, 130 MB is b480001e 00000064 0101fbd0, both ways', () => {
  expect(toHex(encode({}))).toBe(toHex(REDUCE_BODY));
  expect(decode(REDUCE_BODY)).toEqual({ ok: true, value: REDUCE });
});

test('A3: Resume 50, level 20, 30 MB is 14c00032 00000064 01007530, both ways', () => {
  expect(toHex(encode(RESUME))).toBe(toHex(RESUME_BODY));
  expect(decode(RESUME_BODY)).toEqual({ ok: true, value: RESUME });
});

test('LHCNP-6.1-a, LHCNP-6.1-k: the body is 12 octets with a Queue Pair of 32 bits in the second word', () => {
  expect(encode({})).toHaveLength(12);
  expect(toHex(encode({ sourceQpn: 0xabcdef }).subarray(4, 8))).toBe('00abcdef');
});

test('LHCNP-6.1-e: the level is one octet, 0 to 255', () => {
  for (const level of [1, 255]) expect(encode({ level })[0]).toBe(level);
  for (const level of [-1, 256, 1.5]) expect(() => encode({ level })).toThrow(/congestion level/);
});

test('LHCNP-6.1-f, LHCNP-6.1-g: the action is the upper two bits: Notify 00, Pause 01, Rate Reduce 10, Resume 11; the lower six are sent zero', () => {
  expect(LONG_HAUL_ACTIONS.map((action) => encode({ action, parameter: action === 'notify' ? 0 : 30 })[1])).toEqual([
    0x00, 0x40, 0x80, 0xc0,
  ]);
});

test('LHCNP-6.1-h: receivers ignore the six reserved bits of the action', () => {
  for (let bits = 0; bits < 64; bits++)
    expect(decode(REDUCE_BODY.with(1, 0x80 | bits))).toEqual({ ok: true, value: REDUCE });
});

test('LHCNP-6.1-i: the parameter is percent for Rate Reduce and Resume, microseconds of 16 bits for Pause', () => {
  expect(decode(encode({ action: 'pause', parameter: 65_535 }))).toMatchObject({
    ok: true,
    value: { action: 'pause', parameter: 65_535 },
  });
  expect(decode(encode({ parameter: 100 }))).toMatchObject({ ok: true, value: { parameter: 100 } });
  expect(decode(encode({ action: 'resume', parameter: 0 }))).toMatchObject({
    ok: true,
    value: { action: 'resume', parameter: 0 },
  });
  expect(() => encode({ action: 'pause', parameter: 65_536 })).toThrow(/parameter 65536/);
});

test('LHCNP-6.1-j: Notify has the parameter 0', () => {
  expect(toHex(encode({ action: 'notify', parameter: 0 }).subarray(1, 4))).toBe('000000');
  expect(() => encode({ action: 'notify', parameter: 1 })).toThrow(/Notify with parameter 1/);
});

test('LHCNP-6.1-l: a kilobyte is 1000 bytes, and a depth beyond 24 bits of them is saturated', () => {
  expect(queueDepthMetric(130_000_000)).toEqual({ type: METRIC.queueDepthKb, value: 130_000 });
  expect(queueDepthMetric(999)).toEqual({ type: 1, value: 0 });
  expect(queueDepthMetric(1e12)).toEqual({ type: 1, value: 0xffffff });
  expect(METRIC).toEqual({ unspecified: 0, queueDepthKb: 1, queueGrowthKbPerMs: 2, ecnMarkingPercent: 3, rttUs: 4 });
});

test('LHCNP-6.1-m, LHCNP-10.4-a: the value of an unspecified or unknown metric is any 24 bits', () => {
  for (const type of [0, 5, 253, 254, 255]) {
    const metric = { type, value: 0xfffffe };
    expect(decode(encode({ metric }))).toMatchObject({ ok: true, value: { metric } });
  }
});

test('LHCNP-6.1-n, LHCNP-9-g: a node that discloses nothing sends type and value zero, and the instruction as ever', () => {
  const bytes = encode({ metric: UNDISCLOSED });
  expect(toHex(bytes)).toBe('b480001e0000006400000000');
  expect(decode(bytes)).toMatchObject({ ok: true, value: { action: 'rate-reduce', parameter: 30 } });
});

test('LHCNP-9-h: combinations that contradict themselves are refused by both ends', () => {
  const bad: readonly (readonly [string, Partial<LongHaulCnp>, Uint8Array])[] = [
    ['bad-parameter', { action: 'notify', parameter: 1 }, fromHex('b4000001')],
    ['bad-parameter', { action: 'pause', parameter: 0 }, fromHex('b4400000')],
    ['bad-parameter', { action: 'rate-reduce', parameter: 101 }, fromHex('b4800065')],
    ['bad-parameter', { action: 'resume', parameter: 101 }, fromHex('b4c00065')],
    ['bad-level', { level: 0 }, fromHex('0080001e')],
    ['bad-level', { level: 0, action: 'pause', parameter: 1 }, fromHex('00400001')],
    ['bad-metric', { metric: { type: METRIC.ecnMarkingPercent, value: 101 } }, fromHex('b480001e 00000064 03000065')],
    ['bad-queue-pair', { sourceQpn: 0x1000000 }, fromHex('b480001e 01000000')],
  ];
  for (const [expected, fields, head] of bad) {
    expect(code(concat(head, REDUCE_BODY.subarray(head.length)))).toBe(expected);
    expect(() => encode(fields)).toThrow();
  }
  expect(code(encode({ level: 0, action: 'notify', parameter: 0 }))).toBe('ok');
  expect(code(encode({ level: 0, action: 'resume', parameter: 0 }))).toBe('ok');
});

const OBJECTS = [
  { kind: 'timestamp', ntp: 0xe8d4a51012345678n },
  { kind: 'device-id', name: 'leaf1·Zürich' },
  { kind: 'path-id', id: fromHex('00000007') },
] as const;

test('LHCNP-6.1.1-a, LHCNP-6.1.1-h, LHCNP-10.3-a: objects of C-Type 1, 2 and 3 follow the body, behind an Extension Header', () => {
  const bytes = encode({ objects: OBJECTS });
  expect(toHex(bytes.subarray(12, 14))).toBe('2000');
  expect({ timestampCType: bytes[19], deviceIdCType: bytes[16 + 12 + 3] }).toEqual({
    timestampCType: 1,
    deviceIdCType: 2,
  });
  expect(decode(bytes)).toEqual({ ok: true, value: { ...REDUCE, objects: OBJECTS } });
});

test('objects of another class or type, or with a payload that is not theirs, are kept as they came', () => {
  const raw = [
    { classNum: OBJECT_CLASS, cType: 254, payload: fromHex('0102') },
    { classNum: 1, cType: 1, payload: fromHex('0001020304050607') },
    { classNum: OBJECT_CLASS, cType: 1, payload: fromHex('000102') },
    { classNum: OBJECT_CLASS, cType: 2, payload: fromHex('ff') },
  ];
  const decoded = decode(concat(REDUCE_BODY, encodeExtensions(raw)));
  expect(decoded).toEqual({
    ok: true,
    value: { ...REDUCE, objects: raw.map((object) => ({ kind: 'other', ...object })) },
  });
});

test('a device name whose Length counts its padding loses the padding', () => {
  const object = { classNum: OBJECT_CLASS, cType: 2, payload: fromHex('6c65616631000000') };
  expect(decode(concat(REDUCE_BODY, encodeExtensions([object])))).toMatchObject({
    ok: true,
    value: { objects: [{ kind: 'device-id', name: 'leaf1' }] },
  });
});

test('LHCNP-6.1.1-j: what is longer than the body has an Extension Header, and nothing else will do', () => {
  expect(code(concat(REDUCE_BODY, new Uint8Array(4)))).toBe('bad-extension-version');
  expect(code(concat(REDUCE_BODY, new Uint8Array(1)))).toBe('truncated');
  expect(code(concat(REDUCE_BODY, new Uint8Array(4)), 4)).toBe('ok');
  expect(code(concat(REDUCE_BODY, new Uint8Array(8)), 4)).toBe('bad-extension-version');
});

test('every instruction survives both ways', () => {
  const percent = fc.nat(100);
  const instruction = fc.oneof(
    fc.record({ action: fc.constant('notify' as const), parameter: fc.constant(0) }),
    fc.record({ action: fc.constant('pause' as const), parameter: fc.integer({ min: 1, max: 65_535 }) }),
    fc.record({ action: fc.constantFrom('rate-reduce' as const, 'resume' as const), parameter: percent }),
  );
  const metric = fc.record({ type: fc.nat(255), value: fc.nat(100) });
  fc.assert(
    fc.property(
      instruction,
      fc.integer({ min: 1, max: 255 }),
      fc.nat(0xffffff),
      metric,
      fc.uint8Array({ maxLength: 30 }),
      (i, level, sourceQpn, m, id) => {
        const cnp: LongHaulCnp = {
          ...i,
          level,
          sourceQpn,
          metric: m,
          objects: id.length > 0 ? [{ kind: 'path-id', id }] : [],
        };
        expect(decode(encode(cnp))).toEqual({ ok: true, value: cnp });
      },
    ),
  );
});

test('no body harms the decoder', () => {
  refusesTruncation(decode, REDUCE_BODY);
  fuzzDecoder(
    (bytes) => decode(bytes, 4),
    [REDUCE_BODY, RESUME_BODY, encode({ objects: OBJECTS }), concat(REDUCE_BODY, new Uint8Array(4))],
  );
});
