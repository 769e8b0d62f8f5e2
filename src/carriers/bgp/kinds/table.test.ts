// The table of kinds: only rows answer for entries.
import { expect, test } from 'vitest';
import { COLOUR, WITH_COLOUR } from './colour.fixture.ts';
import { BGP_KINDS } from './table.ts';

test('nothing is placed of a kind without a row', () => {
  expect(() => BGP_KINDS.codecOf({ kind: 'colour', key: '' })).toThrow(/colour/);
  expect(WITH_COLOUR.codecOf({ kind: 'colour', key: '' })).toBe(COLOUR.own.entries);
});

test('of what a host route contains only the proxy is for the paths through that host', () => {
  expect(WITH_COLOUR.viaNextHop.map(({ kind }) => kind)).toEqual(['sender-prefix']);
});
