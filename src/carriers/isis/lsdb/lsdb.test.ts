// The link-state database: which of two versions is newer (ISO/IEC 10589 §7.3.16), how long an LSP lives, the LSPs of a
// system and of a node in order, and their cost.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EDGE_COST, ENTRY_COST, LSP_COST } from '../constants.ts';
import { NO_CONTENT } from './content.ts';
import { lsp } from '../hostile.fixture.ts';
import {
  type Lsdb,
  type StoredLsp,
  type Version,
  compareVersions,
  costOf,
  fragmentsOf,
  identityOf,
  lifetimeOf,
  lspsOf,
  newLsdb,
  put,
  remove,
  setExpanded,
  versionOf,
} from './lsdb.ts';
import { systemId } from '../simulation.fixture.ts';

function stored(system: string, pseudonode: number, fragment: number, more: Partial<StoredLsp> = {}): StoredLsp {
  const raw = lsp({ lspId: { systemId: systemId(system), pseudonode, fragment } });
  return {
    ...identityOf(raw),
    ...{ own: false, raw, sequence: 7, checksum: 1, expiresAt: 1000, purged: false, content: NO_CONTENT, entries: 0 },
    ...{ expanded: false, odd: false, reported: false, ...more },
  };
}
const [ONE, TWO, THREE] = ['0000.0000.0001', '0000.0000.0002', '0000.0000.0003'] as const;

test.each<[Partial<Version>, Partial<Version>, string]>([
  [{}, {}, 'same'],
  [{ sequence: 8 }, {}, 'newer'],
  [{ sequence: 6 }, {}, 'older'],
  [{ sequence: 8, checksum: 1 }, {}, 'newer'],
  [{ sequence: 8 }, { remainingLifetime: 0 }, 'newer'],
  [{ sequence: 6, remainingLifetime: 0 }, {}, 'older'],
  [{ remainingLifetime: 0 }, {}, 'newer'],
  [{}, { remainingLifetime: 0 }, 'older'],
  [{ remainingLifetime: 0 }, { remainingLifetime: 0 }, 'same'],
  // The checksum of a purge is ignored.
  [{ remainingLifetime: 0, checksum: 1 }, { remainingLifetime: 0, checksum: 2 }, 'same'],
  [{ checksum: 1 }, { checksum: 2 }, 'confused'],
  [{ checksum: 2 }, { checksum: 1 }, 'confused'],
  [{ remainingLifetime: 1 }, { remainingLifetime: 1200 }, 'same'],
])('%j beside %j is %s', (a, b, relation) => {
  const version = { sequence: 7, checksum: 9, remainingLifetime: 600 };
  expect(compareVersions({ ...version, ...a }, { ...version, ...b })).toBe(relation);
});

test('lifetimes are whole seconds, at least one until the purge, and at most what the field can hold', () => {
  const alive = stored(ONE, 0, 0, { expiresAt: 10_000 });
  const left = (now: number): number => lifetimeOf(alive, now);
  expect([left(0), left(1), left(8000), left(8001), left(9999), left(10_000), left(99_999)]).toEqual([
    ...[10, 9, 2, 1, 1, 1, 1],
  ]);
  expect([left(-65_525_000), left(-65_526_000)]).toEqual([65_535, 65_535]);
  const purged = { ...alive, purged: true };
  expect({ lifetimeOf: lifetimeOf(purged, 0), versionOf: versionOf(purged, 0) }).toEqual({
    lifetimeOf: 0,
    versionOf: { sequence: 7, checksum: 1, remainingLifetime: 0 },
  });
  expect(versionOf(alive, 5000)).toEqual({ sequence: 7, checksum: 1, remainingLifetime: 5 });
});

describe('the stored LSPs', () => {
  const keys = (lsps: Iterable<StoredLsp>): string[] => [...lsps].map(({ key }) => key.slice(12));
  const filled = (): Lsdb => {
    const db = newLsdb(100, 1 << 20);
    for (const [system, pseudonode, fragment] of [
      [THREE, 0, 0],
      [TWO, 0, 9],
      [TWO, 3, 0],
      [TWO, 0, 0],
      [ONE, 255, 255],
      [TWO, 0, 1],
    ] as const)
      put(db, stored(system, pseudonode, fragment));
    return db;
  };

  test('of a system: its own and those of its pseudonodes; of a node: its fragments in order', () => {
    const db = filled();
    expect(keys([...lspsOf(db, TWO)])).toEqual(['02.00-00', '02.00-01', '02.00-09', '02.03-00']);
    expect({
      one: keys(lspsOf(db, ONE)),
      three: keys(lspsOf(db, THREE)),
      four: keys(lspsOf(db, '0000.0000.0004')),
    }).toEqual({ one: ['01.ff-ff'], three: ['03.00-00'], four: [] });
    expect(keys(fragmentsOf(db, `${TWO}.00`))).toEqual(['02.00-00', '02.00-01', '02.00-09']);
    expect({
      pseudonode3: keys(fragmentsOf(db, `${TWO}.03`)),
      pseudonode4: keys(fragmentsOf(db, `${TWO}.04`)),
    }).toEqual({ pseudonode3: ['02.03-00'], pseudonode4: [] });
  });

  test('a purge replaces the LSP that it purges, and is not a fragment of the node', () => {
    const db = filled();
    const alive = db.byKey.get(`${TWO}.00-01`)!;
    const purge = stored(TWO, 0, 1, { purged: true });
    expect(put(db, purge)).toBe(alive);
    expect(keys(fragmentsOf(db, `${TWO}.00`))).toEqual(['02.00-00', '02.00-09']);
    expect(keys(lspsOf(db, TWO))).toHaveLength(4);
    // Removing a version replaced long ago does not remove the current one.
    put(db, stored(TWO, 3, 0, { purged: true }));
    expect(db.nodes.has(`${TWO}.03`)).toBe(false);
    const again = stored(TWO, 0, 1);
    expect(put(db, again)).toBe(purge);
    expect(keys(fragmentsOf(db, `${TWO}.00`))).toEqual(['02.00-00', '02.00-01', '02.00-09']);
  });

  test('a removed LSP is gone from every index; removing it again changes nothing', () => {
    const db = filled();
    const gone = db.byKey.get(`${TWO}.00-01`)!;
    remove(db, gone);
    const left = { order: [...db.order], bytes: db.bytes };
    expect({
      orderLength: db.order.length,
      byKeySize: db.byKey.size,
      keys: keys(fragmentsOf(db, `${TWO}.00`)),
    }).toEqual({ orderLength: 5, byKeySize: 5, keys: ['02.00-00', '02.00-09'] });
    remove(db, gone);
    expect({ order: db.order, bytes: db.bytes }).toEqual(left);
  });

  test('the next sweep is due when the first of them expires', () => {
    const db = newLsdb(100, 1 << 20);
    expect(db.sweepAt).toBe(Infinity);
    const due = [5000, 3000, 4000].map((expiresAt, i) => (put(db, stored(ONE, 0, i, { expiresAt })), db.sweepAt));
    expect(due).toEqual([5000, 3000, 3000]);
  });
});

describe('the cost', () => {
  const edges = [
    { node: `${TWO}.00`, metric: 1 },
    { node: `${THREE}.00`, metric: 1 },
  ];

  test('an LSP costs its bytes, its neighbors, and its learned entries while expanded', () => {
    const each = stored(ONE, 0, 0, { content: { ...NO_CONTENT, edges }, entries: 3 });
    const plain = LSP_COST + 27 + 2 * EDGE_COST;
    expect({ plain: costOf(each), expanded: costOf({ ...each, expanded: true }) }).toEqual({
      plain,
      expanded: plain + 3 * ENTRY_COST,
    });
  });

  test('the database costs the sum of its LSPs and stays ordered, after any sequence of changes', () => {
    const step = fc.record({
      ...{ system: fc.constantFrom(ONE, TWO, THREE), fragment: fc.nat(2), entries: fc.nat(5), expanded: fc.boolean() },
      ...{ purged: fc.boolean(), linked: fc.boolean(), kind: fc.constantFrom('put', 'remove', 'expand') },
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const db = newLsdb(100, 1 << 20);
        for (const { system, fragment, kind, linked, ...more } of steps) {
          const known = db.byKey.get(`${system}.00-0${fragment}`);
          const content = linked ? { ...NO_CONTENT, edges } : NO_CONTENT;
          if (kind === 'put') expect(put(db, stored(system, 0, fragment, { ...more, content }))).toBe(known);
          else if (known && kind === 'remove') remove(db, known);
          else if (known) setExpanded(db, known, more.expanded, content);
        }
        const all = [...db.byKey.values()];
        expect(db.bytes).toBe(all.reduce((sum, each) => sum + costOf(each), 0));
        expect(db.order).toEqual(all.map(({ key }) => key).sort());
        const live = all.filter(({ purged }) => !purged);
        expect(new Set([...db.nodes.keys()].flatMap((node) => fragmentsOf(db, node)))).toEqual(new Set(live));
        expect(new Set(db.nodes.keys())).toEqual(new Set(live.map(({ node }) => node)));
      }),
      { numRuns: 100 },
    );
  });
});
