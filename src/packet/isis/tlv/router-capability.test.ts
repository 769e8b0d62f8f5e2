import { test } from 'vitest';
import { address } from '../../../model/address.ts';
import { fromHex } from '../../hex.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

test('TLV 242 is router ID, flags, and sub-TLVs kept as they are', () => {
  expectVector(242, 'c0000201 03 19020000', {
    kind: 'router-capability',
    routerId: address('192.0.2.1'),
    flags: 3,
    subTlvs: fromHex('19020000'),
  });
});

test('TLV 242 without flags is bad', () => expectBad(242, 'c0000201', 'bad-length'));
