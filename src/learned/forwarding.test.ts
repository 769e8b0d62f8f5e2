// The order of changes for the dataplane's table: at any moment in between a source address has its old answer or its
// new one.
import { expect, test } from 'vitest';
import { changesText, fixture, flagged, plain } from './table.fixture.ts';

const LENGTHS = [24, 8, 32, 12, 28, 16, 20];

test('upserts go from the longest prefix to the shortest, deletes from the shortest to the longest', () => {
  const { table, report } = fixture();
  const prefixes = LENGTHS.map((length) => flagged(`10.0.0.0/${length}`, '192.0.2.1'));
  report('leaf1', prefixes);
  const lengths = (texts: string[]): number[] => texts.map((text) => Number(/\/(\d+)/.exec(text)![1]));
  const first = changesText(table.takeChanges());
  expect({ upserts: lengths(first.upserts), deletes: first.deletes }).toEqual({
    upserts: [32, 28, 24, 20, 16, 12, 8],
    deletes: [],
  });
  report('leaf1', []);
  const last = changesText(table.takeChanges());
  expect({ upserts: last.upserts, deletes: lengths(last.deletes) }).toEqual({
    upserts: [],
    deletes: [8, 12, 16, 20, 24, 28, 32],
  });
});

test('an IPv4 prefix is as long as it is in the common space of both families', () => {
  const { table, report } = fixture();
  report('leaf1', [
    flagged('2001:db8::/32', '192.0.2.1'),
    flagged('10.0.0.0/8', '192.0.2.1'),
    flagged('2001:db8::1/128', '192.0.2.1'),
    flagged('10.0.0.1/32', '192.0.2.1'),
  ]);
  const order = (texts: string[]): string[] =>
    texts.map((text) => text.split(' ')[0]!).filter((text) => text !== '0.0.0.0/0');
  const upserts = order(changesText(table.takeChanges()).upserts);
  expect({ first: new Set(upserts.slice(0, 2)), rest: upserts.slice(2) }).toEqual({
    first: new Set(['2001:db8::1/128', '10.0.0.1/32']),
    rest: ['10.0.0.0/8', '2001:db8::/32'],
  });
  report('leaf1', []);
  const deletes = order(changesText(table.takeChanges()).deletes);
  expect(deletes.slice(0, 2)).toEqual(['2001:db8::/32', '10.0.0.0/8']);
});

test('an unflagged prefix is in the table only below a proxy, and is removed with it', () => {
  const { table, report } = fixture();
  report('leaf1', [plain('10.1.0.0/16')]);
  expect(changesText(table.takeChanges())).toEqual({ upserts: [], deletes: [] });
  report('leaf2', [flagged('10.0.0.0/8', '192.0.2.1')]);
  expect(changesText(table.takeChanges())).toEqual({
    upserts: ['10.1.0.0/16 none', '10.0.0.0/8 192.0.2.1'],
    deletes: [],
  });
  report('leaf2', []);
  expect(changesText(table.takeChanges())).toEqual({ upserts: [], deletes: ['10.0.0.0/8', '10.1.0.0/16'] });
});
