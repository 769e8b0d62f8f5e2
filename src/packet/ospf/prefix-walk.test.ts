import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { arbitraryLsa } from './arbitrary.fixture.ts';
import { decodeBody } from './lsa.ts';
import { LSA_HEADER_LENGTH } from './lsa-header.ts';
import { REFERENCED_LENGTH } from './lsa/intra-area-prefix.ts';
import type { LsaBody } from './lsa/types.ts';
import type { Version } from './numbers.ts';
import { firstSubTlv } from './first-sub-tlv.fixture.ts';
import { cursorAddress, cursorPrefix, cursorRouter, forEachPrefixTlv } from './prefix-walk.ts';
import type { LsaKey } from './types.ts';

const TYPES = { 'inter-area-prefix-tlv': 3, 'external-prefix-tlv': 5, 'intra-area-prefix-tlv': 6 } as const;
const PREFIX_BODIES: ReadonlySet<LsaBody['kind']> = new Set([
  'extended-prefix-lsa',
  'e-intra-area-prefix',
  'e-inter-area-prefix',
  'e-as-external',
]);

function walked(version: Version, raw: Uint8Array, start: number): { bad: number | undefined; tlvs: object[] } {
  const tlvs: object[] = [];
  const bad = forEachPrefixTlv(version, raw, start, (c) => {
    const { type, routeType, flags, metric, prefixOptions, flagsOffset, flagsLength } = c;
    const extendedFlags = flagsOffset < 0 ? undefined : [...raw.subarray(flagsOffset, flagsOffset + flagsLength)];
    tlvs.push({
      type,
      routeType,
      flags,
      metric,
      prefixOptions,
      prefix: cursorPrefix(c),
      extendedFlags,
      address: cursorAddress(c),
      router: cursorRouter(c),
    });
  });
  return { bad, tlvs };
}

/** The same from decodeBody. */
function decoded(
  version: Version,
  lsa: LsaKey & { readonly raw: Uint8Array },
): { bad: number | undefined; tlvs: object[] } {
  const result = decodeBody(version, lsa);
  if (!result.ok) return { bad: undefined, tlvs: [] };
  const { body, badTlvs } = result.value;
  const tlvs = 'tlvs' in body ? body.tlvs : [];
  return {
    bad: badTlvs.length,
    tlvs: tlvs.flatMap((tlv) => {
      if (!('prefix' in tlv)) return [];
      const { flags, prefix, subTlvs } = tlv;
      const fixed =
        tlv.kind === 'extended-prefix'
          ? { type: 1, routeType: tlv.routeType, metric: 0, prefixOptions: 0 }
          : { type: TYPES[tlv.kind], routeType: 0, metric: tlv.metric, prefixOptions: tlv.prefixOptions };
      const extendedFlags = firstSubTlv(subTlvs, 'prefix-extended-flags');
      const address = firstSubTlv(subTlvs, 'source-router-address')?.address;
      return [
        {
          ...fixed,
          flags,
          prefix,
          extendedFlags: extendedFlags && [...extendedFlags.flags],
          address,
          router: firstSubTlv(subTlvs, 'source-router-id')?.routerId,
        },
      ];
    }),
  };
}

const startOf = (body: LsaBody): number =>
  LSA_HEADER_LENGTH + (body.kind === 'e-intra-area-prefix' ? REFERENCED_LENGTH : 0);

test.each([2, 3] as const)(
  'the walk and decodeBody see the same prefixes in every LSA of OSPFv%i, damaged or not',
  (version) => {
    const withPrefixes = arbitraryLsa(version).filter((lsa) => {
      const result = decodeBody(version, lsa);
      return result.ok && PREFIX_BODIES.has(result.value.body.kind);
    });
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 });
    fc.assert(
      fc.property(withPrefixes, damage, fc.option(fc.nat()), (lsa, bytes, cut) => {
        const body = decodeBody(version, lsa);
        if (!body.ok) throw new Error('not decoded');
        let raw = new Uint8Array(lsa.raw);
        for (const [at, byte] of bytes)
          if (raw.length > LSA_HEADER_LENGTH) raw[LSA_HEADER_LENGTH + (at % (raw.length - LSA_HEADER_LENGTH))] = byte;
        if (cut !== null) raw = raw.slice(0, LSA_HEADER_LENGTH + (cut % (raw.length - LSA_HEADER_LENGTH + 1)));
        expect(walked(version, raw, startOf(body.value.body))).toEqual(decoded(version, { ...lsa, raw }));
      }),
      { numRuns: 1500 },
    );
  },
);

test('no LSA harms the walk', () => {
  for (const version of [2, 3] as const) {
    const [sample] = fc.sample(arbitraryLsa(version), { numRuns: 1, seed: 1 });
    fuzzDecoder((raw) => walked(version, raw, LSA_HEADER_LENGTH), [sample!.raw], { runs: 500 });
  }
});
