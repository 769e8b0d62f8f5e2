// Declarations: which parts are advertised, and which fragments a change issues again.
import { byKind, type Declared } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../../../model/address.ts';
import { adjacency } from '../hostile.fixture.ts';
import { endCon, originate, origination, proxied } from '../simulation.fixture.ts';

const SID = endCon('2001:db8:c::1', '2001:db8:c::/48');
const addresses = (...texts: string[]) => texts.map((text) => address(text));

describe('a change', () => {
  const first: Declared = {
    ...{ sids: [SID], routerAddresses: addresses('192.0.2.1', '2001:db8::1'), identity: addresses('192.0.2.9') },
  };
  const proxies = [proxied('2001:db8:1::/64')];

  test.each<[string, Declared, number]>([
    ['of no field', first, 0],
    ['of the IPv4 router address', { ...first, routerAddresses: addresses('192.0.2.2', '2001:db8::1') }, 1],
    ['of the IPv6 router address', { ...first, routerAddresses: addresses('192.0.2.1', '2001:db8::2') }, 1],
    ['that removes one of them', { ...first, routerAddresses: addresses('192.0.2.1') }, 1],
    ['of their order', { ...first, routerAddresses: addresses('2001:db8::1', '192.0.2.1') }, 0],
    ['of the identity', { ...first, identity: addresses('192.0.2.8') }, 1],
    ['of an unused identity', { ...first, identity: addresses('192.0.2.9', '2001:db8::9') }, 0],
    ['that removes the last SID', { ...first, sids: [] }, 2],
    ['that adds another SID', { ...first, sids: [SID, endCon('2001:db8:c::2', '2001:db8:c::/48')] }, 1],
    ['of the behavior of the SID', { ...first, sids: [{ ...SID, behavior: 18 }] }, 1],
  ])('%s: number of fragments issued again', (_what, second, issued) => {
    const { a, simulation } = adjacency();
    a.event(originate(proxies, first));
    simulation.run(1000);
    const before = a.count('isis.own.issued');
    a.event(originate(proxies, second));
    simulation.run(1000);
    expect(a.count('isis.own.issued') - before).toBe(issued);
  });

  test.each([
    ['the same again', [proxied('2001:db8:1::/64')], 0],
    ['another proxy', [proxied('2001:db8:1::/64', '2001:db8:ffff::2')], 1],
    ['another prefix', [proxied('2001:db8:2::/64')], 1],
    ['an additional prefix', [proxied('2001:db8:1::/64'), proxied('2001:db8:2::/64')], 1],
  ])('%s of a declared prefix', (_what, next, issued) => {
    const { a, b, simulation } = adjacency();
    a.event(originate(proxies));
    simulation.run(1000);
    const before = a.count('isis.own.issued');
    a.event(originate(next));
    expect(a.speaker.pending.size > 0).toBe(issued > 0);
    simulation.run(1000);
    expect({ isisOwnIssued: a.count('isis.own.issued') - before, prefixesLength: b.prefixes().length }).toEqual({
      isisOwnIssued: issued,
      prefixesLength: next.length,
    });
  });
});

describe('duplicates', () => {
  test.each([
    ['192.0.2.1', '192.0.2.2', '192.0.2.1'],
    ['192.0.2.2', '192.0.2.1', '192.0.2.1'],
    ['2001:db8::2', '2001:db8::1', '2001:db8::1'],
    ['2001:db8::1', '192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '2001:db8::1', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ])('D7: a prefix declared with the proxies %s and %s has the lower one, %s', (one, two, lower) => {
    const { a, b, simulation } = adjacency();
    a.event(originate([proxied('10.0.0.0/8', one), proxied('10.0.0.0/8', two)]));
    simulation.run(1000);
    expect({
      prefixes: b.prefixes().map(({ proxy }) => proxy && formatAddress(proxy)),
      isisOriginateDuplicatePrefix: a.count('isis.originate.duplicate-prefix'),
    }).toEqual({ prefixes: [lower], isisOriginateDuplicatePrefix: 1 });
  });

  test('router addresses: the first host address of each family; the number left out is logged', () => {
    const { a, b, simulation } = adjacency();
    const routerAddresses = addresses('127.0.0.1', '192.0.2.1', '192.0.2.2', 'ff02::1', '2001:db8::1', '2001:db8::2');
    a.event(originate([], { routerAddresses }));
    simulation.run(1000);
    const learned = [...b.reports.values()].flatMap((report) => byKind(report.advertisements).routerAddresses);
    expect(learned.map(formatAddress)).toEqual(['192.0.2.1', '2001:db8::1']);
    expect(a.logged.map(({ fields }) => fields)).toContainEqual({
      ...{ counter: 'isis.originate.router-address-left-out', dropped: 4 },
    });
    const fine = adjacency();
    fine.a.event(originate([], { routerAddresses: addresses('2001:db8::1', '192.0.2.1') }));
    fine.a.event({ type: 'originate', origination: origination([], { routerAddresses: addresses('192.0.2.1') }) });
    expect(fine.a.count('isis.originate.router-address-left-out')).toBe(0);
  });
});
