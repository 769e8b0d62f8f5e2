// How the prefixes of one LSA are read one after another: each with its own flags, proxy and source router, however
// much of it the one before contains too (RFC 9792 §2; RFC 9084 §3; PNC §5.2, §5.3).
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { formatPrefix, prefix } from '../../../model/prefix.ts';
import type { ExtendedLsaPrefix, ExtendedPrefix, LsaBody, PrefixSubTlv } from '../../../packet/ospf/lsa/types.ts';
import { extendedFlags } from '../../../packet/ospf/prefix-sub-tlvs.ts';
import { type AnyVersion, encoded, proxyAddress, senderPrefix } from '../content.fixture.ts';
import { type ReadByKind, readByKind } from '../kinds/reading.fixture.ts';
import { type PrefixEntry, plainEntry } from '../kinds/sender-prefix-reader.ts';
import { sizeByShape } from '../kinds/sender-prefix.ts';

const VERSIONS: readonly AnyVersion[] = [2, 3];
const OTHER = 0x02020202;
const PNC = 2;

interface Advertised {
  readonly n: number;
  /** Bits of the Prefix Extended Flags; none: the sub-TLV is absent. */
  readonly bits?: readonly number[];
  /** 0 or none: it names none. */
  readonly proxy?: number;
  readonly router?: number;
}

function bodyOf(version: AnyVersion, advertised: readonly Advertised[]): LsaBody {
  const subTlvs = ({ bits, proxy, router }: Advertised): PrefixSubTlv[] => [
    ...(bits ? [{ kind: 'prefix-extended-flags' as const, flags: extendedFlags(...bits) }] : []),
    ...(proxy ? [{ kind: 'source-router-address' as const, address: address(proxyAddress(version, proxy)) }] : []),
    ...(router === undefined ? [] : [{ kind: 'source-router-id' as const, routerId: router }]),
  ];
  if (version === 2)
    return {
      kind: 'extended-prefix-lsa',
      tlvs: advertised.map((one): ExtendedPrefix => ({
        ...{ kind: 'extended-prefix', routeType: 1, flags: 0, prefix: prefix(senderPrefix(2, one.n)) },
        subTlvs: subTlvs(one),
      })),
    };
  const tlvs = advertised.map((one): ExtendedLsaPrefix => ({
    ...{ kind: 'intra-area-prefix-tlv', flags: 0, metric: one.n, prefixOptions: 0 },
    ...{ prefix: prefix(senderPrefix(3, one.n)), subTlvs: subTlvs(one) },
  }));
  return { kind: 'e-intra-area-prefix', referenced: { type: 0x2001, lsId: 0, advertisingRouter: OTHER }, tlvs };
}

function read(version: AnyVersion, advertised: readonly Advertised[]): ReadByKind & { raw: Uint8Array } {
  const own = { type: version === 2 ? 10 : 0xa029, lsId: 0x07000001, body: bodyOf(version, advertised) };
  const { key, lsa } = encoded(version, OTHER, own);
  return { ...readByKind(version, { ...key, raw: lsa.raw }), raw: lsa.raw };
}

const shown = ({ prefix: p, pnc, flags, proxy, sourceRouter }: PrefixEntry): unknown[] => [
  formatPrefix(p),
  pnc,
  [...flags],
  proxy && formatAddress(proxy),
  sourceRouter,
];

describe.each(VERSIONS)('OSPFv%d', (version) => {
  const entries = (advertised: readonly Advertised[]): unknown[] => read(version, advertised).prefixes.map(shown);
  const sender = (n: number): string => senderPrefix(version, n);
  const proxy = (n: number): string => proxyAddress(version, n);
  const FLAGGED = [0x20, 0, 0, 0];

  test('flags: set, absent, other ones of the same length, longer ones, the same again', () => {
    const advertised: Advertised[] = [[PNC], undefined, [3], [PNC], [PNC, 40], [PNC, 41], [PNC, 41], [PNC]].map(
      (bits, n) => ({
        n: n + 1,
        ...(bits && { bits }),
      }),
    );
    expect(entries(advertised).map((entry) => (entry as unknown[]).slice(1, 3))).toEqual([
      [true, FLAGGED],
      [false, []],
      [false, [0x10, 0, 0, 0]],
      [true, FLAGGED],
      [true, [0x20, 0, 0, 0, 0, 0x80, 0, 0]],
      [true, [0x20, 0, 0, 0, 0, 0x40, 0, 0]],
      [true, [0x20, 0, 0, 0, 0, 0x40, 0, 0]],
      [true, FLAGGED],
    ]);
  });

  test('proxies: one, none, another, the same again; source routers alike', () => {
    const advertised: Advertised[] = [
      { n: 1, bits: [PNC], proxy: 7, router: 1 },
      { n: 2, bits: [PNC], proxy: 7, router: 2 },
      { n: 3, bits: [PNC] },
      { n: 4, bits: [PNC], router: 2 },
      { n: 5, bits: [PNC], proxy: 8, router: 2 },
      { n: 6, bits: [PNC], proxy: 7 },
    ];
    expect(entries(advertised)).toEqual([
      [sender(1), true, FLAGGED, proxy(7), 1],
      [sender(2), true, FLAGGED, proxy(7), 2],
      [sender(3), true, FLAGGED, undefined, undefined],
      [sender(4), true, FLAGGED, undefined, 2],
      [sender(5), true, FLAGGED, proxy(8), 2],
      [sender(6), true, FLAGGED, proxy(7), undefined],
    ]);
  });

  test('what is read outlives the LSA it came from', () => {
    const { prefixes, raw } = read(version, [{ n: 1, bits: [PNC, 40], proxy: 7 }]);
    raw.fill(0xff);
    expect(prefixes.map(shown)).toEqual([[sender(1), true, [0x20, 0, 0, 0, 0, 0x80, 0, 0], proxy(7), undefined]]);
  });

  test('thousands with one proxy keep its address, and their flags, once', () => {
    const { prefixes } = read(
      version,
      [1, 2, 3].map((n) => ({ n, bits: [PNC], proxy: 7 })),
    );
    expect(new Set(prefixes.map((entry) => entry.proxy)).size).toBe(1);
    expect(new Set(prefixes.map(({ flags }) => flags)).size).toBe(1);
  });

  test('RFC 7684 §2.1: of a prefix that is listed twice in one LSA the first counts, in whatever order they come', () => {
    const { prefixes, warnings } = read(version, [
      { n: 5, bits: [PNC], proxy: 5 },
      { n: 2, bits: [PNC], proxy: 2 },
      { n: 5, proxy: 6 },
    ]);
    expect(prefixes.map((entry) => shown(entry).slice(0, 4))).toEqual([
      [sender(5), true, FLAGGED, proxy(5)],
      [sender(2), true, FLAGGED, proxy(2)],
    ]);
    expect(warnings).toEqual(['repeated-prefix']);
    const next = read(version, [{ n: 2 }, { n: 2, proxy: 6 }]);
    expect({ prefixesLength: next.prefixes.length, warnings: next.warnings }).toEqual({
      prefixesLength: 1,
      warnings: ['repeated-prefix'],
    });
  });

  test('prefixes in any order, each once, are all taken without a warning', () => {
    const { prefixes, warnings } = read(version, [{ n: 9 }, { n: 3 }, { n: 6 }]);
    expect({ prefixesLength: prefixes.length, warnings }).toEqual({ prefixesLength: 3, warnings: [] });
  });
});

test('the size of an entry is looked up by all that it depends on, and measured once for each', () => {
  const measured: string[] = [];
  const lengthOf = ({ prefix: { length }, flags, proxy, sourceRouter }: PrefixEntry): number =>
    1000 * length + 100 * flags.length + (proxy ? 10 : 0) + (sourceRouter === undefined ? 0 : 1);
  const size = sizeByShape((entry) => {
    measured.push(String(lengthOf(entry)));
    return lengthOf(entry);
  });
  const plain = plainEntry(prefix('10.0.0.0/8'), 1, 'intra-area');
  const shapes = [0, 7, 8, 9, 24, 32].flatMap((length) =>
    [0, 4, 8].flatMap((bytes) =>
      [undefined, address('192.0.2.1')].flatMap((proxy) =>
        [undefined, 0].map((sourceRouter): PrefixEntry => ({
          ...{ ...plain, prefix: prefix(`0.0.0.0/${length}`), flags: new Uint8Array(bytes), proxy, sourceRouter },
        })),
      ),
    ),
  );
  for (const round of [1, 2])
    expect({ round, shapes: shapes.map(size) }).toEqual({ round, shapes: shapes.map(lengthOf) });
  expect(measured).toHaveLength(shapes.length);
});
