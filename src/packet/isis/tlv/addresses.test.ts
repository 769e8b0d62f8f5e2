import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { encodeTlv } from '../tlvs.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

test('TLVs 132 and 232 list interface addresses', () => {
  expectVector(132, 'c0000201 c0000202', {
    kind: 'ipv4-interface-addresses',
    addresses: [address('192.0.2.1'), address('192.0.2.2')],
  });
  expectVector(232, 'fe80000000000000 00000000000000c1', {
    kind: 'ipv6-interface-addresses',
    addresses: [address('fe80::c1')],
  });
});

test('TLVs 134 and 140 hold the router IDs', () => {
  expectVector(134, 'c0000201', { kind: 'ipv4-te-router-id', address: address('192.0.2.1') });
  expectVector(140, '20010db8000000000000000000000001', { kind: 'ipv6-te-router-id', address: address('2001:db8::1') });
});

test('lengths that are not whole addresses make these TLVs bad', () => {
  expectBad(132, 'c00002', 'bad-length');
  expectBad(232, 'c0000201', 'bad-length');
  expectBad(134, 'c0000201 c0000202', 'bad-length');
  expectBad(140, '', 'bad-length');
});

test('an address of the other family is refused when encoding', () => {
  expect(() => encodeTlv({ kind: 'ipv4-te-router-id', address: address('::1') })).toThrow(
    /IPv6 address in a TLV of IPv4/,
  );
  expect(() => encodeTlv({ kind: 'ipv6-interface-addresses', addresses: [address('192.0.2.1')] })).toThrow(
    /IPv4 address in a TLV of IPv6/,
  );
});
