import { expect, test } from 'vitest';
import type { Domain } from '../learning/domain.ts';
import { NOBODY, OWN_PATTERN, SET, domainEntries, inFront, isOwnSet, peersOf } from './policy.ts';

const DOMAIN: Domain = { ownAs: 65_001, domain: new Set([65_010]), members: new Set([65_101]) };
const entries = (...peers: readonly (readonly [string, number])[]) =>
  [
    ...domainEntries(
      peers.map(([address, as]) => ({ address, as })),
      DOMAIN,
    ),
  ].sort();

test('PNC-6-a: of the domain are gobgpd’s own AS, those that are declared, and members of its confederation; who is not known is outside', () => {
  expect(
    entries(
      ['192.0.2.1', 65_001],
      ['192.0.2.2', 65_010],
      ['2001:db8::3', 65_101],
      ['192.0.2.4', 65_003],
      ['192.0.2.5', 0],
    ),
  ).toEqual([NOBODY, '192.0.2.1/32', '192.0.2.2/32', '2001:db8::3/128']);
  expect(entries()).toEqual([NOBODY]);
});

test('one link-local address on two links, outside on one of them, is outside', () => {
  expect(entries(['fe80::1%eth0', 65_001])).toEqual([NOBODY, 'fe80::1/128']);
  expect(entries(['fe80::1%eth0', 65_001], ['fe80::1%eth1', 65_003])).toEqual([NOBODY]);
  expect(
    peersOf(
      ['fe80::1/128'],
      [
        { address: 'fe80::1%eth0', as: 1 },
        { address: 'fe80::2%eth0', as: 1 },
      ],
    ),
  ).toEqual(['fe80::1%eth0']);
});

test('ours comes first, once, and the operator’s keep their order', () => {
  expect(inFront('cnpd-export', ['a', 'cnpd-export', 'b'])).toEqual(['cnpd-export', 'a', 'b']);
});

test('a set is cnpd’s by what is in it, not by its name alone', () => {
  expect({
    own: isOwnSet(SET.own, [OWN_PATTERN]),
    domainNobody: isOwnSet(SET.domain, [NOBODY]),
    domain: isOwnSet(SET.domain, ['192.0.2.1/32', NOBODY]),
  }).toEqual({ own: true, domainNobody: true, domain: true });
  for (const list of [[], ['^1:2:3$'], [OWN_PATTERN, '^1:2:3$']]) expect(isOwnSet(SET.own, list)).toBe(false);
  for (const list of [[], ['192.0.2.1/32']]) expect(isOwnSet(SET.domain, list)).toBe(false);
});
