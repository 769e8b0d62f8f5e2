// What tshark reads in the SIDs and router addresses that we encode.
import { expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { prefix } from '../../src/model/prefix.ts';
import { fromHex } from '../../src/packet/hex.ts';
import { signPdu } from '../../src/packet/isis/auth.ts';
import { foreignLsp } from '../../src/packet/isis/foreign.fixture.ts';
import { ALL_ISS, encodeFrame } from '../../src/packet/isis/frame.ts';
import { parseLspId } from '../../src/packet/isis/lsp-id.ts';
import type { IsisTlv, Locator, PrefixSubTlv } from '../../src/packet/isis/tlv/types.ts';
import { dissect } from '../support/tshark.ts';

const END_CON = 0x8002;
const MAC = fromHex('020000000001');

const lsp = (tlvs: readonly IsisTlv[]): Uint8Array =>
  foreignLsp(parseLspId('0000.0000.c001.00-01')!, { overload: true, tlvs });
const framed = (pdu: Uint8Array): Uint8Array => encodeFrame(MAC, ALL_ISS, pdu);

const sid = (text: string, behavior: number, subSubTlvs: Uint8Array = new Uint8Array()): PrefixSubTlv => ({
  kind: 'srv6-end-sid',
  flags: 0,
  behavior,
  sid: address(text),
  subSubTlvs,
});
const signaling = (text: string, subTlvs: readonly PrefixSubTlv[], flags = 0): Locator => ({
  prefix: prefix(text),
  metric: 0xfe000001,
  flags,
  algorithm: 0,
  subTlvs,
});

const FIELDS = [
  'isis.lsp.checksum.status',
  'isis.lsp.srv6_locator.locator',
  'isis.lsp.srv6_locator.locator_size',
  'isis.lsp.srv6_locator.metric',
  'isis.lsp.srv6_locator.flags.d',
  'isis.lsp.srv6_locator.algorithm',
  'isis.lsp.srv6_locator.sub_tlv_type',
  'isis.lsp.srv6_end_sid.endpoint_function',
  'isis.lsp.srv6_end_sid.sid',
  'isis.lsp.srv6_end_sid.subsubclvs_length',
] as const;

test('FCN-4.2.2-a: a locator with its END.CON SID, signed or not: behavior, SID and metric are read back, no complaint', () => {
  const one = lsp([
    { kind: 'srv6-locator', mtId: 0, locators: [signaling('2001:db8:c::/48', [sid('2001:db8:c::1', END_CON)])] },
  ]);
  for (const record of dissect(
    'ethernet',
    [one, signPdu(one, new TextEncoder().encode('s3cret'))].map(framed),
    FIELDS,
  )) {
    expect(record).toEqual({
      'isis.lsp.checksum.status': ['1'],
      'isis.lsp.srv6_locator.locator': ['2001:db8:c::'],
      'isis.lsp.srv6_locator.locator_size': ['48'],
      'isis.lsp.srv6_locator.metric': [String(0xfe000001)],
      'isis.lsp.srv6_locator.flags.d': ['0'],
      'isis.lsp.srv6_locator.algorithm': ['0'],
      'isis.lsp.srv6_locator.sub_tlv_type': ['5'],
      'isis.lsp.srv6_end_sid.endpoint_function': [String(END_CON)],
      'isis.lsp.srv6_end_sid.sid': ['2001:db8:c::1'],
      'isis.lsp.srv6_end_sid.subsubclvs_length': ['0'],
      complaints: [],
    });
  }
});

test('several SIDs in one locator, locators of any length, D bit, SID Structure', () => {
  const list = [
    signaling(
      '2001:db8:c::/48',
      [sid('2001:db8:c::1', END_CON, fromHex('010420101000')), sid('2001:db8:c::2', END_CON)],
      0x80,
    ),
    signaling('2001:db8:d::1/128', [sid('2001:db8:d::1', END_CON)]),
    signaling('fc00::/7', [sid('fc00::1', 18)]),
  ];
  // This version of tshark reads the first locator of a TLV only.
  const [record] = dissect(
    'ethernet',
    [framed(lsp(list.map((locator) => ({ kind: 'srv6-locator', mtId: 2, locators: [locator] }))))],
    FIELDS,
  );
  expect(record).toEqual({
    'isis.lsp.checksum.status': ['1'],
    'isis.lsp.srv6_locator.locator': ['2001:db8:c::', '2001:db8:d::1', 'fc00::'],
    'isis.lsp.srv6_locator.locator_size': ['48', '128', '7'],
    'isis.lsp.srv6_locator.metric': Array(3).fill(String(0xfe000001)),
    'isis.lsp.srv6_locator.flags.d': ['1', '0', '0'],
    'isis.lsp.srv6_locator.algorithm': ['0', '0', '0'],
    'isis.lsp.srv6_locator.sub_tlv_type': ['5', '5', '5', '5'],
    'isis.lsp.srv6_end_sid.endpoint_function': [END_CON, END_CON, END_CON, 18].map(String),
    'isis.lsp.srv6_end_sid.sid': ['2001:db8:c::1', '2001:db8:c::2', '2001:db8:d::1', 'fc00::1'],
    'isis.lsp.srv6_end_sid.subsubclvs_length': ['6', '0', '0', '0'],
    complaints: [],
  });
});

test('a locator that was leaked between levels: its Prefix Attribute Flags and source stand where tshark looks for sub-TLVs', () => {
  const copy = signaling(
    '2001:db8:c::/48',
    [
      { kind: 'prefix-attribute-flags', flags: Uint8Array.of(0x40) },
      { kind: 'ipv6-source-router-id', address: address('2001:db8:ffff::1') },
      sid('2001:db8:c::1', END_CON),
    ],
    0x80,
  );
  const [record] = dissect('ethernet', [framed(lsp([{ kind: 'srv6-locator', mtId: 0, locators: [copy] }]))], FIELDS);
  expect(record).toMatchObject({
    'isis.lsp.checksum.status': ['1'],
    'isis.lsp.srv6_locator.flags.d': ['1'],
    'isis.lsp.srv6_locator.sub_tlv_type': ['4', '12', '5'],
    'isis.lsp.srv6_end_sid.sid': ['2001:db8:c::1'],
  });
  // This version knows sub-TLV 5 alone in TLV 27, and says so of the others.
  expect(record!.complaints.filter((text) => !/^\d+$/.test(text))).toEqual([
    'Unknown Sub-TLV: Type: 4, Length: 1',
    'Unknown Sub-TLV: Type: 12, Length: 16',
  ]);
});

test('what a router with SIDs advertises about itself: router addresses, SRv6 Capabilities', () => {
  const tlvs: IsisTlv[] = [
    { kind: 'ipv4-te-router-id', address: address('192.0.2.1') },
    { kind: 'ipv6-te-router-id', address: address('2001:db8:ffff::1') },
    {
      kind: 'router-capability',
      routerId: address('0.0.0.0'),
      flags: 0,
      subTlvs: fromHex('0c10 20010db8ffff00000000000000000001 19020000'),
    },
  ];
  const [record] = dissect('ethernet', [framed(lsp(tlvs))], [
    'isis.lsp.clv_te_router_id',
    'isis.lsp.clv_ipv6_te_router_id',
    'isis.lsp.srv6_cap.flags',
    'isis.lsp.checksum.status',
  ] as const);
  expect(record).toEqual({
    'isis.lsp.clv_te_router_id': ['192.0.2.1'],
    // In TLV 140, and in sub-TLV 12 of TLV 242.
    'isis.lsp.clv_ipv6_te_router_id': ['2001:db8:ffff::1', '2001:db8:ffff::1'],
    'isis.lsp.srv6_cap.flags': ['0x0000'],
    'isis.lsp.checksum.status': ['1'],
    complaints: [],
  });
});
