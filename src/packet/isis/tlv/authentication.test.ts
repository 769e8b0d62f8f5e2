import { test } from 'vitest';
import { fromHex } from '../../hex.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

test('TLV 10 is a type and its data', () => {
  expectVector(10, '36 000102030405060708090a0b0c0d0e0f', {
    kind: 'authentication',
    authType: 54,
    value: fromHex('000102030405060708090a0b0c0d0e0f'),
  });
  expectVector(10, '01 736563726574', { kind: 'authentication', authType: 1, value: fromHex('736563726574') });
});

test('TLV 10 without a type is bad', () => expectBad(10, '', 'bad-length'));
