import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpAddress, address } from '../../model/address.ts';
import { formatPrefix, prefix } from '../../model/prefix.ts';
import { hasFlag } from '../bit-string.ts';
import { arbitraryTlv, lspWith } from './arbitrary.fixture.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { formatSystemId } from './lsp-id.ts';
import { decodePdu } from './pdu.ts';
import { encodeTlv } from './tlvs.ts';
import type { IsisTlv, PrefixSubTlv, SourceRouterId } from './tlv/types.ts';
import { PROXY_LSP } from './vectors.fixture.ts';
import {
  type PrefixCursor,
  cursorFlag,
  cursorPrefix,
  cursorSource4,
  cursorSource6,
  forEachNeighbor,
  forEachPrefix,
} from './walk.ts';

const P_FLAG = 7;

const describePrefix = (c: PrefixCursor): object => ({
  mtId: c.mtId,
  prefix: cursorPrefix(c),
  metric: c.metric,
  down: c.down,
  external: c.external,
  pnc: cursorFlag(c, P_FLAG),
  source4: cursorSource4(c),
  source6: cursorSource6(c),
});

function walked(lsp: Uint8Array): { bad: number; prefixes: object[] } {
  const prefixes: object[] = [];
  const bad = forEachPrefix(lsp, (cursor) => prefixes.push(describePrefix(cursor)));
  return { bad, prefixes };
}

function sourceOf(subTlvs: readonly PrefixSubTlv[], kind: SourceRouterId['kind']): IpAddress | undefined {
  const subTlv = subTlvs.find((s) => s.kind === kind);
  return subTlv && 'address' in subTlv ? subTlv.address : undefined;
}

function hasPFlag(subTlvs: readonly PrefixSubTlv[]): boolean {
  const subTlv = subTlvs.find((s) => s.kind === 'prefix-attribute-flags');
  return subTlv !== undefined && hasFlag(subTlv.flags, P_FLAG);
}

/** The same from decodePdu. */
function decodedPrefixes(tlvs: readonly IsisTlv[]): object[] {
  return tlvs.flatMap((tlv) => {
    if (!('prefixes' in tlv)) return [];
    if ('mtId' in tlv && tlv.mtId === 0) return [];
    return tlv.prefixes.map(({ prefix, metric, down, external, subTlvs }) => ({
      mtId: 'mtId' in tlv ? tlv.mtId : 0,
      prefix,
      metric,
      down,
      external,
      pnc: hasPFlag(subTlvs),
      source4: sourceOf(subTlvs, 'ipv4-source-router-id'),
      source6: sourceOf(subTlvs, 'ipv6-source-router-id'),
    }));
  });
}

test('the walk finds prefix, P-flag and proxy address of each entry', () => {
  const common = {
    mtId: 0,
    metric: 10,
    down: false,
    external: false,
    pnc: true,
    source4: undefined,
    source6: undefined,
  };
  expect(walked(PROXY_LSP)).toEqual({
    bad: 0,
    prefixes: [
      { ...common, prefix: prefix('10.1.0.0/24'), source4: address('192.0.2.1') },
      { ...common, prefix: prefix('2001:db8:a::/64'), source6: address('2001:db8::1') },
    ],
  });
});

/** A TLV of a walked type whose value is not what it should be: entries with bytes changed, or nothing but noise. */
const damagedTlv: fc.Arbitrary<IsisTlv> = fc
  .tuple(arbitraryTlv, fc.nat(), fc.nat(255), fc.constantFrom(22, 222, 135, 235, 236, 237))
  .map(([tlv, at, byte, type]) => {
    const value = encodeTlv(tlv).slice(2);
    if (value.length > 0) value[at % value.length] = byte;
    return { kind: 'unknown', type, value };
  });

test('the walk and decodePdu see the same prefixes and neighbors in every LSP, damaged or not', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(arbitraryTlv, damagedTlv), { maxLength: 12 }), (tlvs) => {
      const lsp = lspWith(tlvs);
      const decoded = decodePdu(lsp);
      if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not decoded');
      expect(walked(lsp).prefixes).toEqual(decodedPrefixes(decoded.value.tlvs));
      const neighbors: string[] = [];
      forEachNeighbor(lsp, (b, at, metric, mtId) =>
        neighbors.push(`${formatSystemId(b.subarray(at, at + 6))}.${b[at + 6]} ${metric} ${mtId}`),
      );
      expect(neighbors).toEqual(
        decoded.value.tlvs.flatMap((tlv) =>
          'neighbors' in tlv
            ? tlv.neighbors.map(
                (n) => `${formatSystemId(n.systemId)}.${n.pseudonode} ${n.metric} ${'mtId' in tlv ? tlv.mtId : 0}`,
              )
            : [],
        ),
      );
    }),
    { numRuns: 2000 },
  );
});

test('a TLV that is malformed anywhere is skipped whole and counted, as decodePdu does', () => {
  const entry = { prefix: prefix('10.0.0.0/8'), metric: 1, down: false, external: false, subTlvs: [] };
  const good = { kind: 'ipv4-reachability' as const, prefixes: [entry] };
  const bad = {
    kind: 'unknown' as const,
    type: 135,
    value: Uint8Array.of(0, 0, 0, 1, 8, 10, 0, 0, 0, 1, 33, 10, 0, 0, 0, 0),
  };
  const { bad: count, prefixes } = walked(lspWith([bad, good]));
  expect(count).toBe(1);
  expect(prefixes.map((p) => formatPrefix((p as { prefix: ReturnType<typeof prefix> }).prefix))).toEqual([
    '10.0.0.0/8',
  ]);
  const neighbor = Uint8Array.of(0, 0, 0, 0, 0, 1, 0, 0, 0, 10, 0);
  const seen: number[] = [];
  const badNeighbors = { kind: 'unknown' as const, type: 22, value: Uint8Array.from([...neighbor, 1]) };
  expect(
    forEachNeighbor(lspWith([badNeighbors, { kind: 'unknown', type: 22, value: neighbor }]), (_b, _at, metric) =>
      seen.push(metric),
    ),
  ).toBe(1);
  expect(seen).toEqual([10]);
});

test('topology 0 in TLVs 235 and 237 is ignored (RFC 5120)', () => {
  const prefixes = [{ prefix: prefix('::/0'), metric: 1, down: false, external: false, subTlvs: [] }];
  expect(walked(lspWith([{ kind: 'mt-ipv6-reachability', mtId: 0, prefixes }]))).toEqual({ bad: 0, prefixes: [] });
  expect(walked(lspWith([{ kind: 'mt-ipv6-reachability', mtId: 2, prefixes }])).prefixes).toHaveLength(1);
});

test('neighbors with narrow metrics (TLV 2) are found', () => {
  const value = Uint8Array.of(0, 0x8a, 0x80, 0x80, 0x80, 0, 0, 0, 0, 0, 1, 3);
  const seen: unknown[] = [];
  const bad = forEachNeighbor(lspWith([{ kind: 'unknown', type: 2, value }]), (b, at, metric) => {
    seen.push([formatSystemId(b.subarray(at, at + 6)), b[at + 6], metric]);
  });
  expect(bad).toBe(0);
  expect(seen).toEqual([['0000.0000.0001', 3, 10]]);
});

test('no LSP harms the walks', () => {
  fuzzDecoder(walked, [PROXY_LSP]);
  fuzzDecoder(
    (b) => {
      const out: number[] = [];
      return [forEachNeighbor(b, (_bytes, at, metric, mtId) => out.push(at, metric, mtId)), out];
    },
    [lspWith([{ kind: 'unknown', type: 22, value: new Uint8Array(33) }])],
  );
});
