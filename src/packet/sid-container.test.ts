import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { concat } from './bytes.ts';
import { fromHex, toHex } from './hex.ts';
import { fuzzDecoder } from './hostile.fixture.ts';
import { type ContainerTlv, containerTlvSize, decodeSidContainer, encodeSidContainer } from './sid-container.ts';

const SID: Extract<ContainerTlv, { readonly tlv: 'sid' }> = {
  tlv: 'sid',
  sid: address('2001:db8:c::1'),
  locator: prefix('2001:db8:c::/48'),
  behavior: 0x8002,
};
const GROUP = {
  tlv: 'group',
  member: {
    group: address('2001:db8:a:1::'),
    role: 'receiver',
    address: address('2001:db8:b::1'),
    qpn: 0x123456,
    node: address('2001:db8:ffff::4'),
    psnDelta: 0xfedcba,
  },
} as const;
const BYTES = encodeSidContainer([SID, GROUP]);
const code = (bytes: Uint8Array): string => {
  const decoded = decodeSidContainer(bytes);
  return decoded.ok ? 'ok' : decoded.error.code;
};

test('the container, byte for byte, and back', () => {
  expect(toHex(BYTES)).toBe(
    '01000000' +
      '00010014' +
      '80023000' +
      '20010db8000c00000000000000000001' +
      '0002003c' +
      '01000000' +
      '20010db8000a00010000000000000000' +
      '20010db8000b00000000000000000001' +
      '20010db8ffff00000000000000000004' +
      '00123456' +
      '00fedcba',
  );
  expect(decodeSidContainer(BYTES)).toEqual({ ok: true, value: [SID, GROUP] });
  expect(decodeSidContainer(encodeSidContainer([]))).toEqual({ ok: true, value: [] });
});

test('unknown TLVs are handed on, and passed over at their padded length; longer known ones keep their beginning', () => {
  const extended = concat(
    fromHex('01000000 00630005 0102030405000000'),
    BYTES.subarray(4),
    fromHex('00010018'),
    BYTES.subarray(8, 28),
    fromHex('deadbeef'),
  );
  expect(decodeSidContainer(extended)).toEqual({
    ok: true,
    value: [{ tlv: 'unknown', type: 99, value: fromHex('0102030405') }, SID, GROUP, SID],
  });
});

test('another version, wrong lengths and cuts are refused', () => {
  expect(code(BYTES.with(0, 2))).toBe('unknown-version');
  expect(code(BYTES.with(7, 19))).toBe('bad-tlv-length');
  expect(code(BYTES.with(10, 0))).toBe('bad-locator-length');
  expect(code(BYTES.with(10, 129))).toBe('bad-locator-length');
  expect(code(concat(BYTES.subarray(0, 28), fromHex('00020038'), new Uint8Array(56)))).toBe('bad-tlv-length');
  for (let length = 0; length < BYTES.length; length++)
    expect(code(BYTES.subarray(0, length)), `cut at ${length}`).toBe(
      length === 4 || length === 28 ? 'ok' : 'truncated',
    );
});

test('a SID outside of its locator, and addresses of IPv4, are not encoded', () => {
  const encode = (sid: Partial<typeof SID>): Uint8Array => encodeSidContainer([{ ...SID, ...sid }]);
  expect(() => encode({ sid: address('2001:db8:d::1') })).toThrow(/within its locator/);
  expect(() => encode({ sid: address('10.0.0.1') })).toThrow(/within its locator/);
  expect(() => encode({ behavior: 0x10000 })).toThrow(/behavior/);
  expect(() => encode({ sid: address('10.0.0.1'), locator: prefix('10.0.0.0/8') })).toThrow(/within its locator/);
  expect(() => encode({ locator: prefix('32.0.0.0/3') })).toThrow(/within its locator/);
});

test('an endpoint behavior is a number of 16 bits, a locator has 1 to 128 bits', () => {
  const back = (sid: Partial<typeof SID>): unknown => decodeSidContainer(encodeSidContainer([{ ...SID, ...sid }]));
  for (const behavior of [0, 0xffff]) expect(back({ behavior })).toMatchObject({ ok: true, value: [{ behavior }] });
  for (const behavior of [-1, 1.5, 0x10000, Number.NaN]) expect(() => back({ behavior })).toThrow(/endpoint behavior/);
  for (const locator of [prefix('::/1'), prefix('2001:db8:c::1/128')])
    expect(back({ locator })).toMatchObject({ ok: true, value: [{ locator }] });
});

test('a TLV that is not known here is encoded all the same, to whole words; its size is what it is encoded to', () => {
  const unknown = { tlv: 'unknown', type: 99, value: fromHex('0102030405') } as const;
  expect(toHex(encodeSidContainer([unknown]))).toBe('01000000' + '00630005' + '0102030405000000');
  expect([SID, GROUP, unknown].map(containerTlvSize)).toEqual([24, 64, 12]);
  expect(() => encodeSidContainer([{ ...unknown, type: 0x10000 }])).toThrow(/TLV type/);
  expect(() => encodeSidContainer([{ ...unknown, value: new Uint8Array(0x10000) }])).toThrow(/TLV length/);
});

test('no container harms the decoder', () => fuzzDecoder(decodeSidContainer, [BYTES]));
