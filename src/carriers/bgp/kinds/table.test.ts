// The table of kinds: only rows answer for entries.
import { expect, test } from 'vitest';
import { COLOR, WITH_COLOR } from './color.fixture.ts';
import { BGP_KINDS } from './table.ts';

test('nothing is placed of a kind without a row', () => {
  expect(() => BGP_KINDS.codecOf({ kind: 'color', key: '' })).toThrow(/color/);
  expect(WITH_COLOR.codecOf({ kind: 'color', key: '' })).toBe(COLOR.own.entries);
});

test('of what a host route contains only the proxy is for the paths through that host', () => {
  expect(WITH_COLOR.viaNextHop.map(({ kind }) => kind)).toEqual(['sender-prefix']);
});
