import { expect, test } from 'vitest';
import { ROOT, type SchemaNode } from '../schema.ts';
import { KeptPlaces } from './kept-places.ts';
import { type Place, leavesOf } from './places.ts';

const child = (node: SchemaNode, name: string): SchemaNode =>
  [...node.children.values()].find((one) => one.name === name)!;
const CNPD = child(ROOT, 'cnpd');
const SENDERS = child(CNPD, 'senders');
const TOP: Place = { parent: undefined, node: ROOT, keys: [], depth: 0 };

/** Copies of the texts, as a reading makes them. */
const row = (values: Readonly<Record<string, string>>) =>
  leavesOf(SENDERS).map(({ name }) => values[name] && Buffer.from(values[name]).toString());
const KEYS = { prefix: '2001:db8:1::/64', carrier: 'isis', source: 'r1' };
const texts = Object.values(KEYS);

test('a place is found again by its keys, until it is removed', () => {
  const kept = new KeptPlaces();
  const parent = kept.placeIn(TOP, CNPD, []);
  const place = kept.placeIn(parent, SENDERS, texts);
  expect(kept.placeIn(TOP, CNPD, [])).toBe(parent);
  expect(kept.placeIn(parent, SENDERS, [...texts])).toBe(place);
  expect(kept.placeIn(parent, SENDERS, ['2001:db8:1::/64', 'isis', 'r2'])).not.toBe(place);
  kept.keep(place, row({ ...KEYS, proxy: '2001:db8::1' }));
  expect([place.keys, place.depth, kept.rows.size]).toEqual([texts, 2, 1]);
  kept.remove(place);
  expect(kept.rows.size).toBe(0);
  expect(kept.placeIn(parent, SENDERS, texts)).not.toBe(place);
});

test('an empty key is told from the ones beside it', () => {
  const kept = new KeptPlaces();
  const parent = kept.placeIn(TOP, CNPD, []);
  expect(kept.placeIn(parent, SENDERS, ['a', 'b', ''])).not.toBe(kept.placeIn(parent, SENDERS, ['a', '', 'b']));
});
