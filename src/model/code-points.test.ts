import { expect, test } from 'vitest';
import { DEFAULT_CODE_POINTS } from './code-points.ts';

// Elsewhere the bit is handed to what is tested: that it is the drafts' unless the file changes it is shown here.
test('PNC-5.1-a, PNC-5.2-a, PNC-5.3-a: the P-flag is bit 7 in IS-IS and bit 2 in OSPFv2 and OSPFv3 unless the file says otherwise', () => {
  expect(DEFAULT_CODE_POINTS).toMatchObject({
    'isis-pnc-flag-bit': 7,
    'ospfv2-pnc-flag-bit': 2,
    'ospfv3-pnc-flag-bit': 2,
  });
});

test('LHCNP-6.1-b, FCNP-4-k: the defaults of unassigned code points are experimental values, and the option means "discard and report, does not change"', () => {
  expect(DEFAULT_CODE_POINTS['long-haul-icmpv6-type']).toBe(200);
  expect(DEFAULT_CODE_POINTS['fast-cnp-option'] & 0xe0).toBe(0x80);
  expect(DEFAULT_CODE_POINTS['fast-cnp-ioam-option'] & 0xe0).toBe(0x80);
});
