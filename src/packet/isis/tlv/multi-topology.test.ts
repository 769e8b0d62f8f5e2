import { test } from 'vitest';
import { expectBad, expectVector } from './vector.fixture.ts';

test('TLV 229 lists topologies with their overload and attached bits', () => {
  expectVector(229, '0000 8002 4003', {
    kind: 'multi-topology',
    topologies: [
      { id: 0, overload: false, attached: false },
      { id: 2, overload: true, attached: false },
      { id: 3, overload: false, attached: true },
    ],
  });
});

test('TLV 229 of odd length is bad', () => expectBad(229, '000000', 'bad-length'));
