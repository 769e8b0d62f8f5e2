// Stable placement of prefixes in LSAs, by itself and as the neighbor sees it through the core.
import type { Origination } from '../../../model/advertisement.ts';
import { byKind, sendersOf } from '../../../model/advertisement.fixture.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prefixKey } from '../../../model/prefix.ts';
import { DEFAULT_PRIVATE_TYPES, decodeBody } from '../../../packet/ospf/lsa.ts';
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import { LSA_CAPACITY } from '../constants.ts';
import { type AnyVersion, ContentAgent, contentConfig, declaration, encoded } from '../content.fixture.ts';
import { entryLsa } from '../kinds/reading.fixture.ts';
import type { PrefixEntry } from '../kinds/sender-prefix-reader.ts';
import { newPlacement, place, placedLsas, unplace } from './placement.ts';
import { AREA, Link, Router, testConfig } from '../simulation.fixture.ts';
import { OSPFV2, OSPFV3, type OwnLsa } from '../version.ts';

const A = 0x01010101;
const B = 0x02020202;
const VERSIONS: readonly AnyVersion[] = [2, 3];
const CORE = { 2: OSPFV2, 3: OSPFV3 } as const;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

const ownLsas = (agent: ContentAgent): readonly OwnLsa[] => agent.advertised.get(AREA)!;
const agentOf = (version: AnyVersion): ContentAgent => new ContentAgent(contentConfig(version, A, [AREA]));

/** Prefixes in an LSA, as the receiver decodes them. */
function prefixesIn(version: AnyVersion, lsa: OwnLsa): string[] {
  const { key, lsa: whole } = encoded(version, A, lsa);
  const decoded = decodeBody(version, { ...key, raw: whole.raw });
  if (!decoded.ok) throw new Error(decoded.error.detail);
  const { body } = decoded.value;
  return 'tlvs' in body ? body.tlvs.flatMap((tlv) => ('prefix' in tlv ? [prefixKey(tlv.prefix)] : [])) : [];
}

describe.each(VERSIONS)('OSPFv%d', (version) => {
  test('10,000 prefixes are packed into LSAs that fit the link, at most 71 prefixes each in OSPFv2, every prefix once', () => {
    const agent = agentOf(version);
    agent.declares(declaration(version, numbers(10_000)));
    const lsas = ownLsas(agent);
    const prefixes = lsas.map((lsa) => prefixesIn(version, lsa));
    expect(new Set(prefixes.flat()).size).toBe(10_000);
    expect(prefixes.flat()).toHaveLength(10_000);
    expect(Math.max(...lsas.map((lsa) => encoded(version, A, lsa).lsa.raw.length))).toBeLessThanOrEqual(
      LSA_CAPACITY + 20,
    );
    if (version === 2) expect(Math.max(...prefixes.map(({ length }) => length))).toBeLessThanOrEqual(71);
    expect(lsas.length).toBeLessThan(version === 2 ? 280 : 420);
  });

  test('of 10,000 prefixes one that changes, comes or goes changes one LSA', () => {
    const agent = agentOf(version);
    const all = sendersOf(declaration(version, numbers(10_000)));
    const declare = (proxies: typeof all): number => {
      const before = new Set(ownLsas(agent));
      agent.declares(proxies);
      return ownLsas(agent).filter((lsa) => !before.has(lsa)).length;
    };
    agent.declares(all);
    expect(declare(all)).toBe(0);
    expect(declare(all.with(5000, { ...all[5000]!, proxy: sendersOf(declaration(version, [1], 9))[0]!.proxy }))).toBe(
      1,
    );
    expect(declare(all.toSpliced(5000, 1))).toBe(1);
    expect(declare([...all.toSpliced(5000, 1), ...sendersOf(declaration(version, [20_000]))])).toBe(1);
    expect(declare(all.toReversed())).toBe(1);
  });

  test('a new run places the same prefixes alike, in whatever order they are declared', () => {
    const [one, two] = [agentOf(version), agentOf(version)];
    const proxies = sendersOf(declaration(version, numbers(500)));
    one.declares(proxies);
    two.declares(proxies.toReversed());
    expect(ownLsas(two)).toEqual(ownLsas(one));
  });

  test('any sequence of changes: every entry is in one LSA, nothing else is, no LSA is too large, entries that stay do not move', () => {
    const entry = (n: number, long: boolean): PrefixEntry => {
      const { prefix, proxy } = sendersOf(declaration(version, [n]))[0]!;
      return {
        kind: 'sender-prefix',
        prefix,
        pnc: true,
        metric: 0,
        route: 'intra-area',
        flags: Uint8Array.of(0x20, 0, 0, 0),
        node: false,
        attached: false,
        ...(long && { proxy, sourceRouter: A }),
      };
    };
    const step = fc.record({ n: fc.nat(60), action: fc.constantFrom('short', 'long', 'remove') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const lsaKind = entryLsa(version, entry(0, false));
        const placement = newPlacement(lsaKind, DEFAULT_PRIVATE_TYPES, 300);
        const model = new Map<string, PrefixEntry>();
        for (const { n, action } of steps) {
          const changed = entry(n, action === 'long');
          const key = prefixKey(changed.prefix);
          const before = new Map([...placement.whereIs].map(([other, filled]) => [other, filled.number]));
          if (action === 'remove') {
            expect(unplace(placement, key)).toBe(model.delete(key));
          } else {
            expect(place(placement, key, changed)).toBe(true);
            model.set(key, changed);
          }
          for (const [other, filled] of placement.whereIs)
            if (other !== key) expect(filled.number).toBe(before.get(other));
        }
        const lsas = placedLsas(placement, A);
        expect(lsas.flatMap((lsa) => prefixesIn(version, lsa)).sort()).toEqual([...model.keys()].sort());
        for (const lsa of lsas) expect(encoded(version, A, lsa).lsa.raw.length).toBeLessThanOrEqual(320);
      }),
      { numRuns: 100 },
    );
  });

  test('a prefix for which there is no room is counted, waits, and is placed when room becomes free', () => {
    const agent = new ContentAgent(contentConfig(version, A, [AREA], { areas: [{ areaId: AREA, capacity: 8 }] }));
    agent.declares(declaration(version, [1]));
    expect(agent.count('originate.no-room')).toBe(1);
    expect(agent.content.areas.get(AREA)!.unplaced.size).toBe(1);
    expect(ownLsas(agent)).toEqual([]);
  });

  test('through the core: 10,000 prefixes arrive; one that changes floods one LSA', () => {
    const [a, b] = [new Router(testConfig(A, CORE[version])), new Router(testConfig(B, CORE[version]))];
    const link = new Link(a, b);
    const [from, to] = [agentOf(version), new ContentAgent(contentConfig(version, B, [AREA]))];
    const note = b.note.bind(b);
    b.note = (effect) => {
      note(effect);
      if (effect.type === 'database' || effect.type === 'adjacency')
        to.event(
          effect.type === 'database'
            ? effect
            : {
                type: 'adjacency',
                areaId: effect.areaId,
                ...(effect.neighbor !== undefined && { neighbor: effect.neighbor }),
              },
        );
    };
    const declare = (proxies: Origination): void => {
      for (const effect of from.declares(proxies)) if (effect.type === 'originate') link.event(0, effect);
    };
    const flagged = (): number =>
      [...to.reports.values()].reduce(
        (n, r) => n + byKind(r.advertisements).prefixes.filter(({ pnc }) => pnc).length,
        0,
      );
    const proxies = sendersOf(declaration(version, numbers(10_000)));
    declare(proxies);
    link.until('all arrived', () => flagged() === 10_000);
    to.pass(100);
    expect([...to.reachable]).toEqual(['0.0.0.1 1.1.1.1']);
    link.run(10_000);
    const issued = a.count('own.issued');
    const at = link.sent.length;
    declare(proxies.with(7777, { ...proxies[7777]!, proxy: sendersOf(declaration(version, [1], 9))[0]!.proxy }));
    link.run(4000);
    expect(a.count('own.issued') - issued).toBe(1);
    const updates = link.sent
      .slice(at)
      .flatMap(({ packet }) => (packet?.kind === 'link-state-update' ? packet.lsas : []));
    expect(new Set(updates.map(lsaKeyText)).size).toBe(1);
    expect(flagged()).toBe(10_000);
  });
});
