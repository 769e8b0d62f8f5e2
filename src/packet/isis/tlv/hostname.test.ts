import { expect, test } from 'vitest';
import { encodeTlv } from '../tlvs.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

test('TLV 137 is a name in ASCII', () => expectVector(137, '70726f787931', { kind: 'hostname', name: 'proxy1' }));

test('an empty name, and one that would upset a terminal, is bad', () => {
  expectBad(137, '', 'bad-length');
  expectBad(137, '611b5b324a', 'unprintable');
  expectBad(137, 'c3a9', 'unprintable');
  expect(() => encodeTlv({ kind: 'hostname', name: 'é' })).toThrow(/printable ASCII/);
  expect(() => encodeTlv({ kind: 'hostname', name: '' })).toThrow(/printable ASCII/);
});
