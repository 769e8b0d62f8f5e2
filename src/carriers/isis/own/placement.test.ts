// Stable placement of prefixes in LSP fragments, alone and in a network.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { formatPrefix, prefixKey, prefixOf } from '../../../model/prefix.ts';
import { encodeTlvs } from '../../../packet/isis/tlvs.ts';
import { type OwnPrefix, prefixSize, tlvGroups } from '../kinds/sender-prefix.ts';
import { ISIS_KINDS } from '../kinds/table.ts';
import { type Fragment, entriesOf, newPlacement as emptyPlacement, place, unplace } from './placement.ts';
import { unplacedPrefixes } from '../show.ts';
import { type OwnSid, locatorTlvs, sidKey } from '../kinds/sid.ts';
import { Agent, Simulation, originate, proxied, testConfig } from '../simulation.fixture.ts';

const ROOM = 1465;
const newPlacement = () => emptyPlacement(ISIS_KINDS);
const prefixesIn = (fragment: Fragment) => entriesOf(fragment, 'sender-prefix') as OwnPrefix[];
const sidsIn = (fragment: Fragment) => entriesOf(fragment, 'sid') as OwnSid[];
const PROXY = address('2001:db8:ffff::1');
const OTHER = address('2001:db8:ffff::2');

function nth(i: number, proxy = PROXY): OwnPrefix {
  const prefix = prefixOf({ family: 6, value: (0x20010db8n << 96n) | (BigInt(i) << 64n) }, 64);
  const flags = Uint8Array.of(1);
  return { kind: 'sender-prefix', key: prefixKey(prefix), prefix, down: false, external: false, flags, source6: proxy };
}

describe('placement', () => {
  test('a fragment without authentication holds 40 IPv6 /64 entries, so 255 fragments hold 10,200', () => {
    const placement = newPlacement();
    for (let i = 0; i < 10_200; i++) expect(place(placement, nth(i), ROOM).placed).toBe(true);
    expect(placement.fragments.get(1)!.entries.size).toBe(40);
    expect(place(placement, nth(10_200), ROOM)).toEqual({ placed: false, changed: [] });
  });

  test('a changed prefix stays in its fragment and changes no other', () => {
    const placement = newPlacement();
    for (let i = 0; i < 10_000; i++) place(placement, nth(i), ROOM);
    const where = placement.whereIs.get(nth(5000).key)!;
    // Free space elsewhere does not move it.
    for (let i = 0; i < 10; i++) unplace(placement, nth(i).key);
    expect(place(placement, nth(5000), ROOM).changed).toEqual([]);
    expect(place(placement, nth(5000, OTHER), ROOM).changed).toEqual([where]);
    expect(unplace(placement, nth(5000).key)).toEqual([where]);
    for (let i = 0; i < 10; i++) expect(place(placement, nth(i), ROOM).changed).toEqual([1]);
    expect(place(placement, nth(20_000), ROOM).changed).toEqual([where]);
  });

  test('any additions, changes and removals: nothing is lost, nothing overflows, TLVs stay within 255 bytes', () => {
    const change = fc.record({
      i: fc.integer({ min: 0, max: 60 }),
      length: fc.integer({ min: 8, max: 128 }),
      action: fc.constantFrom('add', 'v4', 'remove'),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const placement = newPlacement();
        const expected = new Map<string, OwnPrefix>();
        for (const { i, length, action } of changes) {
          const prefix = prefixOf({ family: 6, value: (0x20010db8n << 96n) | (BigInt(i) << 118n) }, length);
          const p: OwnPrefix = {
            ...nth(0),
            prefix,
            key: prefixKey(prefix),
            ...(action === 'v4' && { source4: address('192.0.2.1') }),
          };
          if (action === 'remove') {
            unplace(placement, p.key);
            expected.delete(p.key);
          } else {
            expect(place(placement, p, 400).placed).toBe(true);
            expected.set(p.key, p);
          }
        }
        const found = [...placement.fragments.values()].flatMap((f) => [...f.entries.values()]);
        expect(new Set(found)).toEqual(new Set(expected.values()));
        for (const fragment of placement.fragments.values()) {
          const tlvs = tlvGroups(prefixesIn(fragment), 6).map((group) =>
            group.reduce((sum, p) => sum + prefixSize(p), 0),
          );
          for (const size of tlvs) expect(size).toBeLessThanOrEqual(253);
          expect(tlvs.reduce((sum, size) => sum + size + 4, 0)).toBeLessThanOrEqual(400);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('placement of SIDs', () => {
  const anySid = fc.record({
    i: fc.integer({ min: 1, max: 80 }),
    locator: fc.integer({ min: 1, max: 128 }),
    copy: fc.boolean(),
    remove: fc.boolean(),
  });

  test('among prefixes, any additions and removals: nothing is lost, and the TLVs fit the fragment', () => {
    fc.assert(
      fc.property(fc.array(anySid, { maxLength: 200 }), fc.integer({ min: 0, max: 12 }), (changes, prefixes) => {
        const placement = newPlacement();
        const expected = new Map<string, OwnSid>();
        for (let i = 0; i < prefixes; i++) place(placement, nth(i), 600);
        for (const { i, locator, copy, remove } of changes) {
          const sid = { family: 6, value: (0x20010db8n << 96n) | BigInt(i) } as const;
          const p: OwnSid = {
            kind: 'sid',
            key: sidKey(sid),
            sid,
            behavior: 32770,
            locator: prefixOf(sid, locator),
            algorithm: 0,
            down: copy,
            flags: copy ? Uint8Array.of(0x40) : new Uint8Array(),
            ...(copy && { source6: PROXY }),
          };
          if (remove) {
            unplace(placement, p.key);
            expected.delete(p.key);
          } else {
            expect(place(placement, p, 600).placed).toBe(true);
            expected.set(p.key, p);
          }
        }
        const encoded: string[] = [];
        for (const fragment of placement.fragments.values()) {
          const tlvs = locatorTlvs(sidsIn(fragment), 2);
          const prefixBytes = tlvGroups(prefixesIn(fragment), 6).reduce(
            (sum, group) => sum + 4 + group.reduce((n, p) => n + prefixSize(p), 0),
            0,
          );
          expect(prefixBytes + encodeTlvs(tlvs).length).toBeLessThanOrEqual(600);
          for (const { prefix, flags, subTlvs } of tlvs.flatMap((t) => t.locators)) {
            for (const t of subTlvs)
              if (t.kind === 'srv6-end-sid') encoded.push(`${t.sid.value} ${formatPrefix(prefix)} ${flags}`);
          }
        }
        expect(encoded.sort()).toEqual(
          [...expected.values()].map((p) => `${p.sid.value} ${formatPrefix(p.locator)} ${p.down ? 0x80 : 0}`).sort(),
        );
      }),
      { numRuns: 100 },
    );
  });

  test('an identical SID changes nothing; another behavior or locator changes only its fragment', () => {
    const placement = newPlacement();
    const sid = address('2001:db8:c::1');
    const p: OwnSid = {
      kind: 'sid',
      key: sidKey(sid),
      sid,
      behavior: 32770,
      locator: prefixOf(sid, 48),
      algorithm: 0,
      down: false,
      flags: new Uint8Array(),
    };
    expect(place(placement, p, ROOM).changed).toEqual([1]);
    expect(place(placement, { ...p }, ROOM).changed).toEqual([]);
    for (const changed of [
      { ...p, behavior: 18 },
      { ...p, locator: prefixOf(sid, 64) },
      { ...p, down: true },
    ])
      expect(place(placement, changed, ROOM).changed).toEqual([1]);
  });
});

describe('10,000 prefixes on the wire', () => {
  const prefixes = Array.from({ length: 10_000 }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`));
  function flooded(): { simulation: Simulation; a: Agent; b: Agent; lsps: number[] } {
    const simulation = new Simulation();
    const a = new Agent(simulation, testConfig('0000.0000.000a'));
    const b = new Agent(simulation, testConfig('0000.0000.000b', { seed: 2 }));
    const wire = simulation.wire(a.attach, b.attach);
    const lsps: number[] = [];
    simulation.run(500);
    wire.filter = (pdu, from) => {
      if (from === 0 && pdu.kind === 'lsp') lsps.push(pdu.lspId.fragment);
      return true;
    };
    a.event(originate(prefixes));
    simulation.run(3000);
    return { simulation, a, b, lsps };
  }

  test('all of them arrive', () => {
    const { b, lsps } = flooded();
    expect(b.prefixes()).toHaveLength(10_000);
    expect(lsps).toHaveLength(250);
  });

  test('changing the proxy of one re-floods exactly one fragment; so does removing or adding one', () => {
    const { simulation, a, lsps } = flooded();
    lsps.length = 0;
    const changed = prefixes.map((p, i) => (i === 7777 ? { ...p, proxy: OTHER } : p));
    a.event(originate(changed));
    simulation.run(1000);
    expect(lsps).toHaveLength(1);
    a.event(originate(changed.filter((_, i) => i !== 7777)));
    simulation.run(1000);
    expect(lsps).toHaveLength(2);
    a.event(originate(prefixes));
    simulation.run(1000);
    expect(lsps).toHaveLength(3);
    expect(new Set(lsps).size).toBe(1);
  });

  test('an identical declaration floods nothing', () => {
    const { simulation, a, lsps } = flooded();
    lsps.length = 0;
    a.event(originate([...prefixes].reverse()));
    simulation.run(1000);
    expect(lsps).toEqual([]);
  });

  test('prefixes without space are counted, and placed when space becomes free', () => {
    const simulation = new Simulation();
    const a = new Agent(simulation, testConfig('0000.0000.000a'));
    const many = Array.from({ length: 10_201 }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`));
    a.event(originate(many));
    simulation.run(100);
    expect(a.count('isis.originate.no-room')).toBe(1);
    expect(unplacedPrefixes(a.speaker)).toBe(1);
    a.event(originate(many.slice(1)));
    simulation.run(100);
    expect(a.speaker.levels.get(2)!.own.unplaced.size).toBe(0);
    expect(unplacedPrefixes(a.speaker)).toBe(0);
    expect(a.speaker.levels.get(2)!.own.placement.whereIs.size).toBe(10_200);
  });

  test('a prefix unplaced in both levels counts once; one no longer declared does not count', () => {
    const simulation = new Simulation();
    const a = new Agent(simulation, testConfig('0000.0000.000a', { levels: [1, 2] }));
    const many = Array.from({ length: 10_203 }, (_, i) => proxied(`2001:db8:0:${i.toString(16)}::/64`));
    a.event(originate(many));
    simulation.run(100);
    expect(unplacedPrefixes(a.speaker)).toBe(3);
    a.event(originate(many.slice(0, 10_201)));
    simulation.run(100);
    expect(unplacedPrefixes(a.speaker)).toBe(1);
  });
});
