// The header of packets to a group, byte by byte.
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex, toHex } from '../hex.ts';
import { decodeSrh } from './srh.ts';
import { type TreeSrh, treeOfSrh, encodeTreeSrh } from './tree-srh.ts';

const TYPES = { endMtTlv: 124, treeTlv: 125 };
const receiver = (n: number) => ({ address: address(`2001:db8:b::${n}`), qpn: 0xc800 + n });
const TREE: TreeSrh = {
  ...{ proxyAddress: address('2001:db8:99::1'), replicationSid: address('fc00:1::100'), epoch: 0x12345 },
  ...{ membersDigest: fromHex('0102030405060708'), treeDigest: fromHex('1112131415161718'), endMtTlvs: [] },
};
const edge = (n: number, receivers: number) => ({
  edge: address(`fc00:${n}::200`),
  receivers: Array.from({ length: receivers }, (_, i) => receiver(i + 1)),
});

test('two segments with one left, and the tree TLV at octet 40', () => {
  expect(toHex(encodeTreeSrh(TREE, TYPES))).toBe(
    '00070401' +
      '01000000' +
      '20010db8009900000000000000000001' +
      'fc000001000000000000000000000100' +
      '7d16' +
      '0000' +
      '00012345' +
      '0102030405060708' +
      '1112131415161718',
  );
});

test('RMC-7.2-a, RMC-7.2-b, RMC-7.2-g: End.MT TLVs follow, one per edge; behind an odd number of receivers there is padding', () => {
  const srh = encodeTreeSrh({ ...TREE, endMtTlvs: [edge(1, 2), edge(2, 1), edge(3, 1)] }, TYPES);
  const two =
    '7c3e0000fc00000100000000000000000000020002000000' +
    '20010db8000b0000000000000000000100c8010020010db8000b0000000000000000000200c80200';
  const one = (n: number) =>
    `7c2a0000fc00000${n}0000000000000000000002000100000020010db8000b0000000000000000000100c8010004020000`;
  expect(toHex(srh.subarray(64))).toBe(two + one(2) + one(3));
  expect(srh.length).toBe(8 * (srh[1]! + 1));
  expect(decodeSrh(srh)).toMatchObject({ ok: true, value: { segmentsLeft: 1, tlvs: { length: 4 } } });
});

test('the name of the tree is read back; from another header, nothing', () => {
  const srh = encodeTreeSrh({ ...TREE, endMtTlvs: [edge(1, 11)] }, TYPES);
  const { epoch, membersDigest, treeDigest } = TREE;
  expect(treeOfSrh(srh, 125)).toEqual({ epoch, membersDigest, treeDigest });
  expect(treeOfSrh(srh, 126)).toBeUndefined();
  expect(treeOfSrh(srh.subarray(0, 48), 125)).toBeUndefined();
  expect(treeOfSrh(new Uint8Array(0), 125)).toBeUndefined();
});

test.each<[string, Partial<TreeSrh>]>([
  ['an epoch of 21 bits', { epoch: 0x10_0000 }],
  ['a digest of 7 bytes', { treeDigest: new Uint8Array(7) }],
  ['a TLV without receivers', { endMtTlvs: [edge(1, 0)] }],
  ['a TLV with 12 receivers', { endMtTlvs: [edge(1, 12)] }],
  ['more than 2,048 bytes', { endMtTlvs: Array.from({ length: 9 }, (_, i) => edge(i + 1, 11)) }],
])('%s is refused', (_what, change) => {
  expect(() => encodeTreeSrh({ ...TREE, ...change }, TYPES)).toThrow(/bits|bytes|receivers/);
});
