import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { fromHex } from '../../hex.ts';
import { encodeTlv } from '../tlvs.ts';
import type { GenInfo } from './types.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

const PLAIN: GenInfo = {
  kind: 'geninfo',
  applicationId: 0xfffe,
  domainWide: false,
  down: false,
  otherFlags: 0,
  info: fromHex('0102'),
};

test('RFC 6823 §3: TLV 251 is flags, the application and its information', () => {
  expectVector(251, '00fffe0102', PLAIN);
  expectVector(251, '00fffe', { ...PLAIN, info: new Uint8Array() });
});

test('RFC 6823 §3: S leaks it between levels, D keeps it from returning', () => {
  expectVector(251, '01fffe0102', { ...PLAIN, domainWide: true });
  expectVector(251, '03fffe0102', { ...PLAIN, domainWide: true, down: true });
  expectVector(251, 'f0fffe0102', { ...PLAIN, otherFlags: 0xf0 });
});

test('RFC 6823 §3: flags I and V announce an address of each family, in this order', () => {
  const [ipv4, ipv6] = [address('192.0.2.1'), address('2001:db8::1')];
  expectVector(251, '04fffec00002010102', { ...PLAIN, ipv4 });
  expectVector(251, '08fffe20010db80000000000000000000000010102', { ...PLAIN, ipv6 });
  expectVector(251, '0cfffec000020120010db80000000000000000000000010102', { ...PLAIN, ipv4, ipv6 });
});

test('cut before the end of its addresses it is malformed', () => {
  for (const hex of ['', '00', '00ff', '04fffec00002', '0cfffec000020120010db80000000000000000000000'])
    expectBad(251, hex, 'bad-length');
});

test('an address of the other family, a flag that has a field, and too long an application ID are not encoded', () => {
  const [ipv4, ipv6] = [address('192.0.2.1'), address('2001:db8::1')];
  for (const bad of [{ ipv4: ipv6 }, { ipv6: ipv4 }, { otherFlags: 1 }, { applicationId: 0x1_0000 }])
    expect(() => encodeTlv({ ...PLAIN, ...bad }), JSON.stringify(Object.keys(bad))).toThrow();
});
