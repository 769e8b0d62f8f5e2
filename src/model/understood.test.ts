// Sets of formats, and which of them can reach a sender in a prefix.
import { expect, test } from 'vitest';
import { prefix } from './prefix.ts';
import { SENDER_FORMATS, possibleIn, understood } from './understood.ts';

test('a set is the same object in whatever order, and as often as a format is named; the empty set is none', () => {
  expect(understood(['long-haul-roce', 'fast-cnp', 'fast-cnp'])).toBe(understood(['fast-cnp', 'long-haul-roce']));
  expect(understood([])).toBeUndefined();
});

test.each([
  ['2001:db8:1::/64', ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce']],
  ['fc00::/7', ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce']],
  ['2000::/3', ['fast-cnp', 'long-haul-icmpv6']],
  ['::/0', ['fast-cnp', 'long-haul-icmpv6']],
  ['10.0.0.0/8', ['long-haul-roce']],
  ['0.0.0.0/0', undefined],
])('FCNP-3-d, LHCNP-4-a, LHCNP-10.5-b: in %s these are possible: %j', (text, possible) =>
  expect(possibleIn(prefix(text), SENDER_FORMATS)).toEqual(possible),
);
