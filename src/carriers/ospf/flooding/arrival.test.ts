// What becomes of an instance that arrives (RFC 2328 §13): discarded, too soon, answered, acknowledged alone or in
// company.
import { describe, expect, test } from 'vitest';
import { decodeLsa, encodeLsa } from '../../../packet/ospf/lsa.ts';
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { Lsa, LsaHeader } from '../../../packet/ospf/types.ts';
import { MIN_LS_ARRIVAL_MS } from '../constants.ts';
import { Link, Router, VERSIONS, testConfig } from '../simulation.fixture.ts';

const A = 0x01010101;
const B = 0x02020202;
const OTHER = 0x03030303;

describe.each(VERSIONS)('%s', (_name, version) => {
  const opaque = version.version === 2 ? 10 : 0xa07b;

  function lsaOf(n: number, sequence: number, type = opaque, bytes = 4): Lsa {
    const header = { age: 1, options: 0, type, lsId: 0x63000000 + n, advertisingRouter: OTHER, sequence };
    const body = { kind: 'unknown' as const, content: new Uint8Array(bytes) };
    const lsa = decodeLsa(version.version, encodeLsa(version.version, header, body));
    if (!lsa.ok) throw new Error(lsa.error.detail);
    return lsa.value;
  }

  function scene(): { a: Router; link: Link; acknowledged: () => (readonly LsaHeader[])[] } {
    const a = new Router(testConfig(A, version));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.until('full', () => a.state === 'full');
    link.run(10_000);
    link.weather = () => [];
    const from = link.sent.length;
    const acknowledged = (): (readonly LsaHeader[])[] =>
      link.sent
        .slice(from)
        .flatMap(({ from: who, packet }) =>
          who === 0 && packet?.kind === 'link-state-acknowledgment' ? [packet.headers] : [],
        );
    return { a, link, acknowledged };
  }
  const update = (link: Link, ...lsas: Lsa[]): void => link.hand(0, { kind: 'link-state-update', lsas });

  test('a type without scope is discarded and not acknowledged (§13 step 2)', () => {
    const { a, link, acknowledged } = scene();
    const unknown = lsaOf(1, 1, version.version === 2 ? 12 : 0xe07b);
    update(link, unknown, lsaOf(2, 1));
    link.run(1000);
    expect({
      lsaUnknownType: a.count('lsa.unknown-type'),
      hasLsaKeyText: a.area.lsdb.byKey.has(lsaKeyText(unknown)),
    }).toEqual({ lsaUnknownType: 1, hasLsaKeyText: false });
    expect(acknowledged().flat().map(lsaKeyText)).toEqual([lsaKeyText(lsaOf(2, 1))]);
  });

  test.each([
    [MIN_LS_ARRIVAL_MS - 1, 1, 5],
    [MIN_LS_ARRIVAL_MS, 0, 6],
  ])('a newer instance %i ms after the one before (MinLSArrival)', (ms, tooSoon, sequence) => {
    const { a, link } = scene();
    update(link, lsaOf(1, 5));
    link.run(ms);
    update(link, lsaOf(1, 6));
    expect({
      lsaTooSoon: a.count('lsa.too-soon'),
      sequence: a.area.lsdb.byKey.get(lsaKeyText(lsaOf(1, 5)))!.sequence,
    }).toEqual({ lsaTooSoon: tooSoon, sequence });
  });

  test('an older instance is answered once in MinLSArrival, and again when that is over (§13 step 8)', () => {
    const { a, link } = scene();
    update(link, lsaOf(1, 5));
    const answers = (): number => a.count('tx.link-state-update');
    const before = answers();
    const counts = [0, MIN_LS_ARRIVAL_MS - 1, 1].map((ms) => {
      link.run(ms);
      update(link, lsaOf(1, 4));
      return answers() - before;
    });
    expect(counts).toEqual([1, 1, 2]);
  });

  test('acknowledgements wait for company, and no longer when they fill a packet (§13.5)', () => {
    const { link, acknowledged } = scene();
    const fit = Math.floor((1500 - version.ipHeader - (version.version === 2 ? 24 : 16)) / 20);
    const give = (from: number, to: number): void => {
      for (let n = from; n < to; n++) update(link, lsaOf(n, 1));
    };
    give(0, fit - 1);
    expect(acknowledged()).toEqual([]);
    give(fit - 1, fit);
    expect(acknowledged().map(({ length }) => length)).toEqual([fit]);
    give(fit, fit + 2);
    link.run(200);
    expect(acknowledged().map(({ length }) => length)).toEqual([fit, 2]);
  });

  test('an LSA without the shape of its type is logged by name, with its flaw', () => {
    const { a, link } = scene();
    const before = a.fields.length;
    update(link, lsaOf(1, 1, version.version === 2 ? 1 : 0x2001, 3));
    const lsa = `0x${version.version === 2 ? '1' : '2001'} 99.0.0.1 3.3.3.3`;
    expect(a.fields.slice(before)).toMatchObject([
      { lsa, detail: '23 bytes, shorter than the fixed part of its type (24)' },
    ]);
  });
});
