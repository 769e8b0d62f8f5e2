import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { type EndMtTlv, decodeEndMtTlv, encodeEndMtTlv } from './end-mt-tlv.ts';
import { decodeSrh, encodeSrh } from './srh.ts';
import { decodeTreeTlv, encodeTreeTlv } from './tree-tlv.ts';

/** Two receivers, with type and length in front. */
const VECTOR =
  '7c3e0000fc0000010000000000000000000000010200000020010db8000b000000000000000000010000c800' +
  '20010db8000b000000000000000000020000c900';
const TLV: EndMtTlv = {
  edge: address('fc00:1::1'),
  receivers: [
    { address: address('2001:db8:b::1'), qpn: 200 },
    { address: address('2001:db8:b::2'), qpn: 201 },
  ],
};
const of = (count: number): EndMtTlv => ({
  edge: TLV.edge,
  receivers: Array.from({ length: count }, (_, i) => ({ address: address(`2001:db8::${i + 1}`), qpn: 0xff_fff0 + i })),
});
const code = (value: Uint8Array): string => {
  const result = decodeEndMtTlv(value);
  return result.ok ? 'ok' : result.error.code;
};
const TREE = {
  epoch: 0xa_bcde,
  membersDigest: fromHex('0102030405060708'),
  treeDigest: fromHex('1112131415161718'),
};

test('RMC-7.2-b, RMC-7.2-c: edge, count, and address and Queue Pair of each receiver', () => {
  const value = encodeEndMtTlv(TLV);
  expect(toHex(fromHex(VECTOR).subarray(2))).toBe(toHex(value));
  expect(value).toHaveLength(fromHex(VECTOR)[1]!);
  for (const count of [1, 2, 11])
    expect(decodeEndMtTlv(encodeEndMtTlv(of(count)))).toEqual({ ok: true, value: of(count) });
});

test('RMC-7.2-d, RMC-7.2-e: reserved fields are zero when sent, and ignored when received', () => {
  const value = encodeEndMtTlv(TLV);
  const reserved = [0, 1, 19, 20, 21, 41, 61];
  expect(reserved.map((at) => value[at])).toEqual(reserved.map(() => 0));
  for (const at of reserved) value[at] = 0xff;
  expect(decodeEndMtTlv(value)).toEqual({ ok: true, value: TLV });
});

test('a length that lies, none and too many receivers are refused', () => {
  const value = encodeEndMtTlv(TLV);
  expect([0, 1, 3, 12, 255].map((count) => code(value.with(18, count)))).toEqual([
    'no-receivers',
    'bad-length',
    'bad-length',
    'too-many-receivers',
    'too-many-receivers',
  ]);
  expect(code(value.subarray(0, 21))).toBe('truncated');
  expect(() => encodeEndMtTlv(of(0))).toThrow(/1 to 11 receivers, not 0/);
  expect(() => encodeEndMtTlv(of(12))).toThrow(/1 to 11 receivers, not 12/);
  expect(() => encodeEndMtTlv({ ...TLV, edge: address('192.0.2.1') })).toThrow(/IPv6/);
  expect(() => encodeEndMtTlv({ ...TLV, receivers: [{ ...TLV.receivers[0]!, qpn: 2 ** 24 }] })).toThrow(/24 bits/);
  refusesTruncation(decodeEndMtTlv, value);
  fuzzDecoder(decodeEndMtTlv, [value, encodeEndMtTlv(of(11))]);
});

test('the tree TLV: epoch, members, tree', () => {
  const value = encodeTreeTlv(TREE);
  expect(toHex(value)).toBe('0000000abcde01020304050607081112131415161718');
  expect(decodeTreeTlv(value)).toEqual({ ok: true, value: TREE });
  expect(decodeTreeTlv(value.with(0, 0xff).with(2, 0xff).with(3, 0xfa))).toEqual({ ok: true, value: TREE });
  expect(() => encodeTreeTlv({ ...TREE, epoch: 2 ** 20 })).toThrow(/20 bits/);
  expect(() => encodeTreeTlv({ ...TREE, treeDigest: new Uint8Array(7) })).toThrow(/7 bytes, not 8/);
  refusesTruncation(decodeTreeTlv, value);
  fuzzDecoder(decodeTreeTlv, [value]);
});

test('RMC-7.1-a: both in an SRH, the tree TLV at offset 40', () => {
  const bytes = encodeSrh({
    ...{ nextHeader: 41, segmentsLeft: 1, flags: 0, tag: 0 },
    segments: [address('2001:db8:aa::1'), address('2001:db8:f::1')],
    tlvs: [
      { type: 125, value: encodeTreeTlv(TREE) },
      { type: 124, value: encodeEndMtTlv(of(11)) },
    ],
  });
  expect([bytes.length, bytes[40], bytes[41], bytes[64], bytes[65]]).toEqual([312, 125, 22, 124, 242]);
  const srh = decodeSrh(bytes);
  expect(srh.ok && srh.value.tlvs.map(({ type }) => type)).toEqual([125, 124]);
});
