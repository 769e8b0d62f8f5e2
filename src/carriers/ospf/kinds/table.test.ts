// What the table makes of its rows.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import { DEFAULT_PRIVATE_TYPES } from '../../../packet/ospf/lsa.ts';
import { VERSIONS } from '../leaking/leaking.fixture.ts';
import { COLOR, WITH_COLOR } from './color.fixture.ts';
import type { Entry } from './kind.ts';
import { KINDS } from './reading.fixture.ts';
import { plainEntry } from './sender-prefix-reader.ts';
import type { SidEntry } from './sid.ts';
import { OspfKinds } from './table.ts';

const sender = plainEntry(prefix('2001:db8:1::/48'), 1, 'intra-area');
const SID: SidEntry = {
  kind: 'sid',
  sid: address('2001:db8:c::1'),
  behavior: 1,
  locator: prefix('2001:db8:c::/48'),
  algorithm: 0,
  route: 'intra-area',
};
const copy = <E extends Entry>(entry: E): E => ({ ...entry, route: 'inter-area' });
const color = { kind: 'color' } as Entry;

describe.each(VERSIONS)('OSPFv%d', (version) => {
  const withColor = new OspfKinds(version, WITH_COLOR);

  test('an entry goes into an LSA of its own kind, also behind a row that has been added', () => {
    const types = [sender, copy(sender), SID, copy(SID), color].map((entry) =>
      withColor.lsas[withColor.lsaOf(entry)]!.type(DEFAULT_PRIVATE_TYPES),
    );
    expect(types).toEqual(version === 2 ? [10, 10, 10, 10, 10] : [0xa029, 0xa023, 0xa02a, 0xa02a, 0xbfff]);
    const indices = [sender, copy(sender), SID, copy(SID), color].map((entry) => withColor.lsaOf(entry));
    // Group memberships have two kinds of LSA, between SIDs and the row that has been added.
    expect(indices).toEqual(version === 2 ? [0, 0, 1, 2, 5] : [0, 1, 2, 2, 5]);
    expect(withColor.lsas).toHaveLength(6);
  });

  test('nothing is placed or copied of a kind without a row, or whose row says so', () => {
    for (const kind of ['color', 'router-address']) {
      expect(() => KINDS[version].entriesOf({ kind })).toThrow(kind);
      expect(() => KINDS[version].leakingOf({ kind })).toThrow(kind);
    }
    expect(KINDS[version].isLeakable({ kind: 'router-address' })).toBe(false);
    expect(withColor.leakingOf(color)).toBe(COLOR.leaking);
  });

  test('what one LSA lists is taken kind by kind, in the order of the rows', () => {
    const byKind = (...entries: Entry[]): unknown[] =>
      withColor.byKind(entries).map(({ row, entries: ofKind }) => [row.kind, ...ofKind]);
    expect({ byKind: byKind(), sidSid: byKind(SID, SID) }).toEqual({ byKind: [], sidSid: [['sid', SID, SID]] });
    expect(byKind(color, SID, sender, SID)).toEqual([
      ['sender-prefix', sender],
      ['sid', SID, SID],
      ['color', color],
    ]);
    expect(withColor.proxyPrefixes([color, { ...sender, pnc: true }, SID, sender])).toBe(1);
  });
});
