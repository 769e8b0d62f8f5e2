// LSAs without the shape of their type: ospfd and ospf6d drop every Database Description that names one, so none is
// stored (test/e2e/ospf-shape.test.ts).
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex } from '../../packet/hex.ts';
import { decodeLsa, encodeLsa } from '../../packet/ospf/lsa.ts';
import { encodePacket } from '../../packet/ospf/packet.ts';
import type { Lsa } from '../../packet/ospf/types.ts';
import { put } from './lsdb/lsdb.ts';
import { AREA, Link, Router, testConfig } from './simulation.fixture.ts';
import { OSPFV2, OSPFV3, type OspfVersion } from './version.ts';

const A = 0x01010101;
const B = 0x02020202;
const OTHER = 0x03030303;

/** A list that does not fill the LSA: two links declared, one there; a prefix of 128 bits in a word. */
const CASES: readonly (readonly [
  string,
  OspfVersion,
  { readonly type: number; readonly short: string; readonly bad: string; readonly good: string },
])[] = [
  [
    'OSPFv2',
    OSPFV2,
    {
      type: 1,
      short: '0000',
      bad: '00000002' + '0a0000010a00000101000001',
      good: '00000001' + '0a0000010a00000101000001',
    },
  ],
  [
    'OSPFv3',
    OSPFV3,
    {
      type: 0x2003,
      short: '00000001',
      bad: '00000001' + '80000000' + '20010db8',
      good: '00000001' + '20000000' + '20010db8',
    },
  ],
];

function lsaOf(
  { version }: OspfVersion,
  type: number,
  body: string,
  { sequence = 5, router = OTHER, lsId = 9 } = {},
): Lsa {
  const lsa = decodeLsa(
    version,
    encodeLsa(
      version,
      { age: 1, options: 0, type, lsId, advertisingRouter: router, sequence },
      { kind: 'unknown', content: fromHex(body) },
    ),
  );
  if (!lsa.ok) throw new Error(lsa.error.detail);
  return lsa.value;
}

function pair(version: OspfVersion): { a: Router; b: Router; link: Link } {
  const [a, b] = [new Router(testConfig(A, version)), new Router(testConfig(B, version))];
  return { a, b, link: new Link(a, b) };
}

/** An update as if the neighbor had sent it. */
function give(link: Link, { version, destination }: OspfVersion, ...lsas: Lsa[]): void {
  const addresses = { source: address(version === 2 ? '10.0.0.2' : 'fe80::2'), destination };
  link.event(0, {
    type: 'received',
    areaId: AREA,
    payload: encodePacket(
      version,
      { kind: 'link-state-update', routerId: B, areaId: AREA, instanceId: 0, lsas },
      addresses,
    ),
    addresses,
  });
  link.run(0);
}

const stored = (router: Router, { type, lsId, advertisingRouter }: Lsa): string | undefined => {
  const lsa = router.area.lsdb.byKey.get(`${type}/${lsId}/${advertisingRouter}`);
  return lsa && Buffer.from(lsa.raw.subarray(20)).toString('hex');
};

describe.each(CASES)('%s', (_name, version, { type, short, bad, good }) => {
  test.each([
    ['too short', short],
    ['with a list that does not fill it', bad],
  ])(
    'an LSA that is %s is refused before it is stored, counted, and not acknowledged; what comes with it is taken',
    (_how, body) => {
      const { a, link } = pair(version);
      link.until('full', () => a.state === 'full');
      const lsa = lsaOf(version, type, body);
      const beside = lsaOf(version, type, good, { router: OTHER + 1 });
      give(link, version, lsa, beside);
      link.run(3000);
      expect({
        storedLsa: stored(a, lsa),
        storedBeside: stored(a, beside),
        lsaBadShape: a.count('lsa.bad-shape'),
        state: a.state,
      }).toEqual({ storedLsa: undefined, storedBeside: good, lsaBadShape: 1, state: 'full' });
      const acknowledged = link.sent.flatMap(({ from, packet }) =>
        from === 0 && packet?.kind === 'link-state-acknowledgment' ? packet.headers : [],
      );
      expect(acknowledged.map(({ advertisingRouter }) => advertisingRouter)).toContain(OTHER + 1);
      expect(acknowledged.map(({ advertisingRouter }) => advertisingRouter)).not.toContain(OTHER);
    },
  );

  test('what was stored before a malformed instance came stays as it is: no router has taken the malformed one', () => {
    const { a, link } = pair(version);
    link.until('full', () => a.state === 'full');
    give(link, version, lsaOf(version, type, good));
    link.run(3000);
    give(link, version, lsaOf(version, type, bad, { sequence: 6 }));
    expect({ stored: stored(a, lsaOf(version, type, good)), lsaBadShape: a.count('lsa.bad-shape') }).toEqual({
      stored: good,
      lsaBadShape: 1,
    });
  });

  test.each([
    ['too short', short, 'exchange.bad-shape'],
    ['with a list that does not fill it', bad, 'lsa.bad-shape'],
  ])('the neighbor has one that is %s: the adjacency comes up without it', (_how, body, counter) => {
    const { a, b, link } = pair(version);
    const lsa = lsaOf(version, type, body);
    const beside = lsaOf(version, type, good, { router: OTHER + 1 });
    for (const one of [lsa, beside]) put(b.area.lsdb, one, false, 0, true);
    link.until('full', () => a.state === 'full' && b.state === 'full');
    expect({ storedLsa: stored(a, lsa), storedBeside: stored(a, beside) }).toEqual({
      storedLsa: undefined,
      storedBeside: good,
    });
    expect(a.count(counter)).toBeGreaterThan(0);
    expect(a.count('tx.retransmitted-request')).toBe(0);
  });
});

describe('OSPFv3, in a type that ospf6d does not know and takes in any shape', () => {
  const TYPE = 0xa029;
  const GOOD = '00002001' + '00'.repeat(8);
  const SHORT = '00002001';

  test('it is acknowledged, so that it does not come for ever, and what it replaces no longer holds', () => {
    const { a, link } = pair(OSPFV3);
    link.until('full', () => a.state === 'full');
    give(link, OSPFV3, lsaOf(OSPFV3, TYPE, GOOD));
    link.run(3000);
    expect(stored(a, lsaOf(OSPFV3, TYPE, GOOD))).toBe(GOOD);
    const at = link.sent.length;
    give(link, OSPFV3, lsaOf(OSPFV3, TYPE, SHORT, { sequence: 6 }));
    const acknowledged = link.sent
      .slice(at)
      .flatMap(({ packet }) => (packet?.kind === 'link-state-acknowledgment' ? packet.headers : []));
    expect(acknowledged).toMatchObject([{ sequence: 6, advertisingRouter: OTHER }]);
    expect({ stored: stored(a, lsaOf(OSPFV3, TYPE, GOOD)), hasNotified: a.notified.has(`${TYPE}/9/${OTHER}`) }).toEqual(
      { stored: undefined, hasNotified: false },
    );
  });

  test('an older one that is too short changes nothing', () => {
    const { a, link } = pair(OSPFV3);
    link.until('full', () => a.state === 'full');
    give(link, OSPFV3, lsaOf(OSPFV3, TYPE, GOOD));
    give(link, OSPFV3, lsaOf(OSPFV3, TYPE, SHORT, { sequence: 4 }));
    expect(stored(a, lsaOf(OSPFV3, TYPE, GOOD))).toBe(GOOD);
  });

  test('under our own name, with a higher sequence number: it is outbid', () => {
    const { a, b, link } = pair(OSPFV3);
    link.event(0, {
      type: 'originate',
      areaId: AREA,
      lsas: [{ type: TYPE, lsId: 9, body: { kind: 'unknown', content: fromHex(GOOD) } }],
    });
    link.until('full', () => a.state === 'full' && b.area.lsdb.byKey.has(`${TYPE}/9/${A}`));
    give(link, OSPFV3, lsaOf(OSPFV3, TYPE, SHORT, { router: A, sequence: 1000 }));
    link.run(10_000);
    expect({
      stored: stored(b, lsaOf(OSPFV3, TYPE, GOOD, { router: A })),
      sequence: b.area.lsdb.byKey.get(`${TYPE}/9/${A}`)?.sequence,
    }).toEqual({ stored: GOOD, sequence: 1001 });
  });
});
